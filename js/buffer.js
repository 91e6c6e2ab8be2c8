// `Buffer`, as much of Node's as text in and out of bytes takes.
(function (kit, text) {
  "use strict";

  const { encode, decode } = text;

  // Node's way with what is not valid: base64 skips what is not of it, hex ends there.
  function fromBase64(given) {
    let clean = given.split("=", 1)[0].replace(/-/g, "+").replace(/_/g, "/").replace(/[^A-Za-z0-9+/]/g, "");
    if (clean.length % 4 === 1) clean = clean.slice(0, -1);
    return Uint8Array.fromBase64(clean);
  }

  function fromHex(given) {
    const [valid] = /^(?:[0-9A-Fa-f]{2})*/.exec(given);
    return Uint8Array.fromHex(valid);
  }

  function fromUnits(given, bytesEach) {
    const bytes = new Uint8Array(given.length * bytesEach);
    for (let i = 0; i < given.length; i += 1) {
      const unit = given.charCodeAt(i);
      bytes[i * bytesEach] = unit;
      if (bytesEach === 2) bytes[i * 2 + 1] = unit >> 8;
    }
    return bytes;
  }

  function toUnits(bytes, bytesEach, mask) {
    let out = "";
    for (let i = 0; i + bytesEach <= bytes.length; i += bytesEach) {
      out += String.fromCharCode(bytesEach === 2 ? bytes[i] | (bytes[i + 1] << 8) : bytes[i] & mask);
    }
    return out;
  }

  const UTF8 = { from: encode, to: decode };
  const LATIN1 = { from: (given) => fromUnits(given, 1), to: (bytes) => toUnits(bytes, 1, 0xff) };
  const UTF16 = { from: (given) => fromUnits(given, 2), to: (bytes) => toUnits(bytes, 2) };
  const ENCODINGS = {
    __proto__: null,
    utf8: UTF8,
    "utf-8": UTF8,
    hex: { from: fromHex, to: (bytes) => bytes.toHex() },
    base64: { from: fromBase64, to: (bytes) => bytes.toBase64() },
    base64url: { from: fromBase64, to: (bytes) => bytes.toBase64({ alphabet: "base64url", omitPadding: true }) },
    latin1: LATIN1,
    binary: LATIN1,
    ascii: { from: LATIN1.from, to: (bytes) => toUnits(bytes, 1, 0x7f) },
    utf16le: UTF16,
    "utf-16le": UTF16,
    ucs2: UTF16,
  };

  function encodingOf(name = "utf8") {
    const found = ENCODINGS[`${name}`.toLowerCase()];
    if (found !== undefined) return found;
    throw new TypeError(`Unknown encoding: ${name}; there are ${Object.keys(ENCODINGS).join(", ")}`);
  }

  // A view of the same bytes as a plain Uint8Array, whose methods are the engine's.
  const plain = (bytes) => new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);

  class Buffer extends Uint8Array {
    static from(value, encoding, length) {
      if (typeof value === "string") return adopt(encodingOf(encoding).from(value));
      if (value instanceof ArrayBuffer || value instanceof SharedArrayBuffer) {
        return new Buffer(value, encoding, length);
      }
      if (typeof value !== "object" || value === null) {
        throw new TypeError("Buffer.from takes a string, bytes, an ArrayBuffer or an array");
      }
      const inner = value.valueOf?.();
      if (typeof inner === "string") return Buffer.from(inner, encoding);
      return adopt(Uint8Array.from(value.type === "Buffer" && Array.isArray(value.data) ? value.data : value));
    }

    static alloc(size, fill = 0, encoding) {
      const buffer = new Buffer(size);
      return fill === 0 ? buffer : buffer.fill(fill, encoding);
    }

    static allocUnsafe(size) {
      return new Buffer(size);
    }

    static concat(list, total = list.reduce((sum, each) => sum + each.length, 0)) {
      const buffer = new Buffer(total);
      let at = 0;
      for (const each of list) {
        const part = at + each.length > total ? each.subarray(0, total - at) : each;
        buffer.set(part, at);
        at += part.length;
      }
      return buffer;
    }

    static isBuffer(value) {
      return value instanceof Buffer;
    }

    static isEncoding(name) {
      return typeof name === "string" && name.toLowerCase() in ENCODINGS;
    }

    static byteLength(value, encoding) {
      return typeof value === "string" ? encodingOf(encoding).from(value).length : value.byteLength;
    }

    static compare(one, other) {
      const shared = Math.min(one.length, other.length);
      for (let i = 0; i < shared; i += 1) if (one[i] !== other[i]) return one[i] < other[i] ? -1 : 1;
      return Math.sign(one.length - other.length);
    }

    toString(encoding, start = 0, end = this.length) {
      return encodingOf(encoding).to(plain(this.subarray(start, Math.max(start, end))));
    }

    toJSON() {
      return { type: "Buffer", data: [...this] };
    }

    equals(other) {
      return Buffer.compare(this, other) === 0;
    }

    compare(other) {
      return Buffer.compare(this, other);
    }

    // Node's slice shares the bytes; Uint8Array's copies.
    slice(start, end) {
      return this.subarray(start, end);
    }

    fill(value, start, end, encoding) {
      if (typeof value !== "string") return super.fill(value, start, end);
      const [from, to, named] = typeof start === "string" ? [0, this.length, start]
        : [start ?? 0, end ?? this.length, encoding];
      const pattern = encodingOf(named).from(value);
      for (let i = from; i < to; i += 1) this[i] = pattern.length === 0 ? 0 : pattern[(i - from) % pattern.length];
      return this;
    }

    write(value, start = 0, encoding = "utf8") {
      const bytes = encodingOf(encoding).from(value).subarray(0, this.length - start);
      this.set(bytes, start);
      return bytes.length;
    }

    indexOf(value, start, encoding) {
      if (typeof value === "number") return super.indexOf(value, start);
      const wanted = typeof value === "string" ? encodingOf(encoding).from(value) : value;
      for (let at = start ?? 0; at + wanted.length <= this.length; at += 1) {
        if (wanted.every((byte, i) => this[at + i] === byte)) return at;
      }
      return -1;
    }

    includes(value, start, encoding) {
      return this.indexOf(value, start, encoding) >= 0;
    }
  }

  const adopt = (bytes) => new Buffer(bytes.buffer, bytes.byteOffset, bytes.byteLength);

  return { __proto__: null, Buffer };
})
