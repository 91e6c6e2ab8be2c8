// `URL` and `URLSearchParams`. Addresses are taken apart by a parser beside the engine (worker/url.py),
// whose answers are the parts, one a line; searches are taken apart here.
(function (kit, text) {
  "use strict";

  const { url: native, stringify, views } = kit;
  const PARTS = [
    "href", "origin", "protocol", "username", "password", "host", "hostname", "port", "pathname", "search", "hash",
  ];
  const LONGEST = 1_048_576; // in UTF-16 units

  const words = (value) => `${value}`.toWellFormed();

  // The parts, or null where there is no such address. `order` is "parse" or the part to set.
  function ask(order, one, other) {
    if (one.length > LONGEST || (other !== undefined && other.length > LONGEST)) return null;
    const answer = native(order, stringify(one), other === undefined ? "" : stringify(other));
    return answer === "" ? null : answer.split("\n");
  }

  function parse(url, base) {
    return ask("parse", words(url), base === undefined ? undefined : words(base));
  }

  // ---- application/x-www-form-urlencoded --------------------------------------------------------

  const escaped = (part) =>
    encodeURIComponent(part).replace(/[!~'()]/g, (letter) => "%" + letter.charCodeAt(0).toString(16).toUpperCase())
      .replaceAll("%20", "+");

  function unescaped(part) {
    part = part.replaceAll("+", " ");
    if (!part.includes("%")) return part;
    const bytes = text.encode(part);
    let length = 0;
    for (let i = 0; i < bytes.length; i += 1) {
      const pair = bytes[i] === 37 ? String.fromCharCode(bytes[i + 1], bytes[i + 2]) : "";
      const isPair = /^[0-9A-Fa-f]{2}$/.test(pair);
      bytes[length] = isPair ? parseInt(pair, 16) : bytes[i];
      if (isPair) i += 2;
      length += 1;
    }
    return text.decode(bytes.subarray(0, length));
  }

  function pairsOf(query) {
    const pairs = [];
    for (const each of query.split("&")) {
      if (each === "") continue;
      const at = each.indexOf("=");
      pairs.push(at < 0 ? [unescaped(each), ""] : [unescaped(each.slice(0, at)), unescaped(each.slice(at + 1))]);
    }
    return pairs;
  }

  function pairsFrom(init) {
    if ((typeof init !== "object" && typeof init !== "function") || init === null) {
      const query = words(init);
      return pairsOf(query.startsWith("?") ? query.slice(1) : query);
    }
    if (init[Symbol.iterator] === undefined || init[Symbol.iterator] === null) {
      const record = new Map(); // of two keys that are one when made well-formed, the last counts
      for (const key of Reflect.ownKeys(init)) {
        if (!Object.getOwnPropertyDescriptor(init, key)?.enumerable) continue;
        record.set(words(key), words(init[key]));
      }
      return [...record];
    }
    return [...init].map((each) => {
      const pair = typeof each === "object" && each !== null ? [...each] : [];
      if (pair.length !== 2) throw new TypeError("each search parameter must be a pair: [name, value]");
      return [words(pair[0]), words(pair[1])];
    });
  }

  let link, refill, listOf; // for URL: the class's private parts

  class URLSearchParams {
    #pairs;
    #changed = () => {};

    static {
      link = (params, changed) => { params.#changed = changed; };
      refill = (params, query) => { params.#pairs = pairsOf(query); };
      listOf = (params) => (#pairs in params ? params.#pairs : undefined);
    }

    constructor(init = "") {
      this.#pairs = pairsFrom(init);
    }

    get size() {
      return this.#pairs.length;
    }

    append(name, value) {
      need(arguments, 2);
      this.#pairs.push([words(name), words(value)]);
      this.#changed();
    }

    delete(name, value) {
      need(arguments, 1);
      const matches = this.#matcher(name, value);
      this.#pairs = this.#pairs.filter((pair) => !matches(pair));
      this.#changed();
    }

    get(name) {
      need(arguments, 1);
      return this.#pairs.find(this.#matcher(name))?.[1] ?? null;
    }

    getAll(name) {
      need(arguments, 1);
      return this.#pairs.filter(this.#matcher(name)).map((pair) => pair[1]);
    }

    has(name, value) {
      need(arguments, 1);
      return this.#pairs.some(this.#matcher(name, value));
    }

    set(name, value) {
      need(arguments, 2);
      const matches = this.#matcher(name);
      const first = this.#pairs.find(matches);
      if (first === undefined) {
        this.#pairs.push([words(name), words(value)]);
      } else {
        first[1] = words(value);
        this.#pairs = this.#pairs.filter((pair) => pair === first || !matches(pair));
      }
      this.#changed();
    }

    sort() {
      this.#pairs.sort(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0));
      this.#changed();
    }

    forEach(callback, self) {
      if (typeof callback !== "function") throw new TypeError("forEach takes a function");
      for (const [name, value] of this) callback.call(self, value, name, this);
    }

    *keys() {
      for (const [name] of this) yield name;
    }

    *values() {
      for (const [, value] of this) yield value;
    }

    *entries() {
      for (let i = 0; i < this.#pairs.length; i += 1) yield [...this.#pairs[i]];
    }

    toString() {
      return this.#pairs.map(([name, value]) => `${escaped(name)}=${escaped(value)}`).join("&");
    }

    #matcher(name, value) {
      const wanted = words(name);
      if (value === undefined) return (pair) => pair[0] === wanted;
      const valued = words(value);
      return (pair) => pair[0] === wanted && pair[1] === valued;
    }
  }
  Object.defineProperty(URLSearchParams.prototype, Symbol.iterator, {
    value: URLSearchParams.prototype.entries, writable: true, configurable: true,
  });

  function need(given, count) {
    if (given.length < count) throw new TypeError(`${count} argument${count === 1 ? " is" : "s are"} needed`);
  }

  // ---- URL --------------------------------------------------------------------------------------

  let partsOf;

  class URL {
    #parts;
    #params = null; // made when it is first asked for

    static {
      partsOf = (url) => (#parts in url ? url.#parts : undefined);
    }

    constructor(url, base) {
      need(arguments, 1);
      this.#parts = parse(url, base) ?? invalid(url);
    }

    static canParse(url, base) {
      need(arguments, 1);
      return parse(url, base) !== null;
    }

    static parse(url, base) {
      need(arguments, 1);
      return URL.canParse(url, base) ? new URL(url, base) : null;
    }

    static read(url, index) {
      return url.#parts[index];
    }

    static change(url, part, value) {
      const parts = ask(part, url.#parts[0], words(value));
      if (parts === null) {
        if (part === "href") invalid(value);
        return;
      }
      url.#parts = parts;
      if (url.#params !== null) refill(url.#params, url.search.slice(1));
    }

    get searchParams() {
      if (this.#params === null) {
        this.#params = new URLSearchParams(this.search);
        link(this.#params, () => {
          const query = this.#params.toString();
          this.#parts = ask("search", this.#parts[0], query) ?? this.#parts;
        });
      }
      return this.#params;
    }

    toString() {
      return this.href;
    }

    toJSON() {
      return this.href;
    }
  }

  const { read, change } = URL;
  delete URL.read;
  delete URL.change;
  for (const [index, part] of PARTS.entries()) {
    const { get, set } = Object.getOwnPropertyDescriptor({
      get [part]() { return read(this, index); },
      set [part](value) { change(this, part, value); },
    }, part);
    Object.defineProperty(URL.prototype, part, {
      get, set: part === "origin" ? undefined : set, enumerable: true, configurable: true,
    });
  }
  for (const type of [URL, URLSearchParams]) {
    Object.defineProperty(type.prototype, Symbol.toStringTag, { value: type.name, configurable: true });
  }

  function invalid(input) {
    throw Object.assign(new TypeError("Invalid URL"), { code: "ERR_INVALID_URL", input: `${input}`.slice(0, 2048) });
  }

  // ---- on the console ---------------------------------------------------------------------------

  const quoted = (name) => `'${name.replace(/[\\']/g, "\\$&")}'`;
  views[views.length] = (value) => {
    const pairs = listOf(value);
    if (pairs !== undefined) {
      const rows = pairs.map(([name, item]) => ({ __proto__: null, label: `${quoted(name)} => `, value: item }));
      return { __proto__: null, text: value.toString(), rows };
    }
    const parts = partsOf(value);
    if (parts === undefined) return undefined;
    const rows = PARTS.map((part, i) => ({ __proto__: null, label: `${part}: `, value: parts[i] }));
    rows.splice(10, 0, { __proto__: null, label: "searchParams: ", value: new URLSearchParams(parts[9]) });
    return { __proto__: null, text: parts[0], rows };
  };

  return { __proto__: null, URL, URLSearchParams };
})
