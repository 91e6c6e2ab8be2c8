// TextEncoder and TextDecoder, as the Encoding standard has them, for UTF-8, UTF-16LE and windows-1252
// (which is what the standard means by latin1 and ascii).
(function () {
  "use strict";

  const { fromCharCode } = String;
  const CHUNK = 8192; // characters in one call of fromCharCode, whose arguments are on the stack

  // ---- UTF-8 ------------------------------------------------------------------------------------

  // Writes what fits, never half a character: {read, written}, in UTF-16 units and bytes.
  function encodeInto(text, bytes) {
    let read = 0, written = 0;
    const room = bytes.length;
    while (read < text.length) {
      let point = text.charCodeAt(read);
      let units = 1;
      if (point >= 0xd800 && point < 0xe000) {
        point = text.codePointAt(read);
        if (point > 0xffff) units = 2;
        else point = 0xfffd; // half a pair
      }
      const size = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
      if (written + size > room) break;
      if (size === 1) {
        bytes[written] = point;
      } else {
        for (let i = size - 1; i > 0; i -= 1) {
          bytes[written + i] = 0x80 | (point & 63);
          point >>= 6;
        }
        bytes[written] = ((0xf00 >> size) & 0xff) | point;
      }
      written += size;
      read += units;
    }
    return { read, written };
  }

  function encode(text) {
    const bytes = new Uint8Array(text.length * 3);
    return bytes.slice(0, encodeInto(text, bytes).written);
  }

  // Units gathered into text by and by.
  class Units {
    #text = "";
    #some = [];

    add(point) {
      if (point > 0xffff) {
        this.#some.push(0xd800 + ((point - 0x10000) >> 10), 0xdc00 + ((point - 0x10000) & 0x3ff));
      } else {
        this.#some.push(point);
      }
      if (this.#some.length >= CHUNK) this.#flush();
    }

    text() {
      this.#flush();
      return this.#text;
    }

    #flush() {
      this.#text += fromCharCode.apply(null, this.#some);
      this.#some = [];
    }
  }

  // Each decoder takes one byte at a time, or -1 at the end, and returns a code point, NONE for "more",
  // BAD for an error, or AGAIN for an error after which the same byte is taken once more.
  const NONE = -1, BAD = -2, AGAIN = -3;

  function utf8() {
    let point = 0, needed = 0, lower = 0x80, upper = 0xbf;
    return (byte) => {
      if (byte < 0) {
        const cut = needed > 0;
        needed = 0;
        return cut ? BAD : NONE;
      }
      if (needed === 0) {
        if (byte < 0x80) return byte;
        if (byte < 0xc2 || byte > 0xf4) return BAD;
        needed = byte < 0xe0 ? 1 : byte < 0xf0 ? 2 : 3;
        point = byte & (0x3f >> needed);
        if (byte === 0xe0) lower = 0xa0;
        else if (byte === 0xed) upper = 0x9f;
        else if (byte === 0xf0) lower = 0x90;
        else if (byte === 0xf4) upper = 0x8f;
        return NONE;
      }
      const fits = byte >= lower && byte <= upper;
      lower = 0x80;
      upper = 0xbf;
      if (!fits) {
        needed = 0;
        return AGAIN;
      }
      point = (point << 6) | (byte & 63);
      needed -= 1;
      return needed === 0 ? point : NONE;
    };
  }

  function utf16le() {
    let low = -1, lead = -1;
    return (byte) => {
      if (byte < 0) {
        const cut = low >= 0 || lead >= 0;
        low = lead = -1;
        return cut ? BAD : NONE;
      }
      if (low < 0) {
        low = byte;
        return NONE;
      }
      const unit = low | (byte << 8);
      if (lead >= 0) {
        const high = lead;
        lead = -1;
        if (unit >= 0xdc00 && unit <= 0xdfff) {
          low = -1;
          return 0x10000 + ((high - 0xd800) << 10) + (unit - 0xdc00);
        }
        return AGAIN; // `low` is kept: this unit is read again
      }
      low = -1;
      if (unit >= 0xd800 && unit <= 0xdbff) {
        lead = unit;
        return NONE;
      }
      return unit >= 0xdc00 && unit <= 0xdfff ? BAD : unit;
    };
  }

  // What 0x80 to 0x9f are in windows-1252 (index-windows-1252 of the standard).
  const HIGH = [
    0x20ac, 0x81, 0x201a, 0x192, 0x201e, 0x2026, 0x2020, 0x2021, 0x2c6, 0x2030, 0x160, 0x2039, 0x152, 0x8d, 0x17d,
    0x8f, 0x90, 0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014, 0x2dc, 0x2122, 0x161, 0x203a, 0x153, 0x9d,
    0x17e, 0x178,
  ];
  const windows1252 = () => (byte) => byte < 0 ? NONE : byte >= 0x80 && byte < 0xa0 ? HIGH[byte - 0x80] : byte;

  const ENCODINGS = {
    __proto__: null,
    "utf-8": { labels: "unicode-1-1-utf-8 unicode11utf8 unicode20utf8 utf-8 utf8 x-unicode20utf8", make: utf8 },
    "utf-16le": { labels: "csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff utf-16 utf-16le", make: utf16le },
    "windows-1252": {
      labels: "ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 iso8859-1 iso88591 " +
        "iso_8859-1 iso_8859-1:1987 l1 latin1 us-ascii windows-1252 x-cp1252",
      make: windows1252,
    },
  };

  function encodingOf(label) {
    const wanted = `${label}`.replace(/^[\t\n\f\r ]+|[\t\n\f\r ]+$/g, "").toLowerCase();
    for (const name in ENCODINGS) {
      if (wanted !== "" && ENCODINGS[name].labels.split(" ").includes(wanted)) return name;
    }
    throw new RangeError(`the encoding ${JSON.stringify(wanted)} is not there; utf-8, utf-16le and latin1 are`);
  }

  function bytesOf(source) {
    if (source === undefined) return new Uint8Array(0);
    if (ArrayBuffer.isView(source)) return new Uint8Array(source.buffer, source.byteOffset, source.byteLength);
    if (source instanceof ArrayBuffer || source instanceof SharedArrayBuffer) return new Uint8Array(source);
    throw new TypeError("decode takes an ArrayBuffer or a view of one");
  }

  // ---- the classes ------------------------------------------------------------------------------

  class TextEncoder {
    get encoding() {
      return "utf-8";
    }

    encode(text = "") {
      return encode(`${text}`);
    }

    encodeInto(text, bytes) {
      if (!(bytes instanceof Uint8Array)) throw new TypeError("encodeInto writes into a Uint8Array");
      return encodeInto(`${text}`, bytes);
    }
  }

  class TextDecoder {
    #encoding;
    #fatal;
    #ignoreBOM;
    #decoder = null; // null: the next call begins anew
    #seen = false; // whether the place of a byte order mark is behind us

    constructor(label = "utf-8", options = {}) {
      this.#encoding = encodingOf(label);
      this.#fatal = Boolean(options?.fatal);
      this.#ignoreBOM = Boolean(options?.ignoreBOM);
    }

    get encoding() {
      return this.#encoding;
    }

    get fatal() {
      return this.#fatal;
    }

    get ignoreBOM() {
      return this.#ignoreBOM;
    }

    decode(source, options = {}) {
      const bytes = bytesOf(source);
      if (this.#decoder === null) {
        this.#decoder = ENCODINGS[this.#encoding].make();
        this.#seen = this.#ignoreBOM || this.#encoding === "windows-1252";
      }
      const units = new Units();
      try {
        for (let i = 0; i < bytes.length; i += 1) {
          const got = this.#decoder(bytes[i]);
          if (got !== NONE) this.#put(units, got);
          if (got === AGAIN) i -= 1;
        }
        if (!options?.stream) {
          if (this.#decoder(-1) === BAD) this.#put(units, BAD);
          this.#decoder = null;
        }
      } catch (problem) {
        this.#decoder = null;
        throw problem;
      }
      return units.text();
    }

    #put(units, got) {
      if (got < 0 && this.#fatal) throw new TypeError(`the bytes are not valid ${this.#encoding}`);
      const point = got < 0 ? 0xfffd : got;
      if (!this.#seen) {
        this.#seen = true;
        if (point === 0xfeff) return;
      }
      units.add(point);
    }
  }

  for (const type of [TextEncoder, TextDecoder]) {
    Object.defineProperty(type.prototype, Symbol.toStringTag, { value: type.name, configurable: true });
  }

  const decode = (bytes) => new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
  return { __proto__: null, TextEncoder, TextDecoder, encode, decode };
})
