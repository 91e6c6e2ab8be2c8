// What crosses to the host: JSON text made by hand, exact, or refused by the place of what is not.
//
// JSON.stringify would call a guest's toJSON and getters, so only strings go through it. Numbers
// that JSON cannot say are written as Python's reader takes them: NaN, Infinity, -0.0.
(function (kit) {
  "use strict";

  const { getOwnPropertyDescriptor, getPrototypeOf, ownKeys, hasOwn, is, isArray, isInteger, isSafeInteger,
    isObject, isError, isProxy, nameOf, messageOf, parent, holds, views, stringify, slice, match, StringOf,
    BigIntOf, bigIntText, mapGet, mapPut, mapSize, mapForEach, setSize, setForEach, dateTime, toISOString,
    typedArrayTag, typedArrayLength, boxes, ObjectPrototype } = kit;

  const MAX_DEPTH = 256;
  // Python reads no longer integer literal (sys.int_info.default_max_str_digits).
  const MAX_DIGITS = 4300;
  const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;

  class Unsendable {
    #text; // private: no setter or proxy of the guest's is asked
    constructor(at, key, reason) {
      let place = at === null ? key : step(key); // the root's key is what the place begins with
      for (; at !== null; at = at.up) place = (at.up === null ? at.key : step(at.key)) + place;
      this.#text = slice(place, 0, 900) + " " + reason;
    }

    // What was caught may be anything of the guest's.
    static textOf(caught) {
      return isObject(caught) && #text in caught ? caught.#text : undefined;
    }
  }

  const step = (key) =>
    typeof key === "number" ? "[" + key + "]"
    : key.length <= 64 && match(IDENTIFIER, key) !== null ? "." + key
    : "[" + stringify(slice(key, 0, 64)) + "]";

  let longest = Infinity; // of a text that is of use

  // As `encode`; a text that is longer than so many characters is given up on early.
  function encodeWithin(most, value, key) {
    longest = most;
    try {
      return encode(value, null, key);
    } finally {
      longest = Infinity;
    }
  }

  // `at` is where we are: {value, key, up}, the root's key being what the place begins with.
  function encode(value, at, key) {
    switch (typeof value) {
      case "string":
        return stringify(value);
      case "number":
        if (is(value, -0)) return "-0.0";
        // Its own text rounds what is beyond 2**53, which Python would read as another whole number.
        if (isInteger(value) && !isSafeInteger(value) && value < 1e21 && value > -1e21) {
          return bigIntText(BigIntOf(value));
        }
        return StringOf(value);
      case "boolean":
        return value ? "true" : "false";
      case "bigint": {
        const text = bigIntText(value);
        if (text.length > MAX_DIGITS) throw new Unsendable(at, key, "has more than 4300 digits");
        return text;
      }
      case "object":
        return value === null ? "null" : encodeObject(value, at, key);
      case "undefined":
        return undefined; // as in JSON: not there, and null in a list
      case "function":
        if (at === null) return undefined; // a script that ends in a definition has no value
        throw new Unsendable(at, key, "is a function: send what it returns");
      default:
        throw new Unsendable(at, key, "is a symbol");
    }
  }

  function encodeObject(value, up, key) {
    let depth = 0;
    for (let each = up; each !== null; each = each.up) {
      if (each.value === value) throw new Unsendable(up, key, "refers back to itself");
      depth += 1;
    }
    if (depth > MAX_DEPTH) throw new Unsendable(up, key, "is nested more than 256 deep");
    if (isProxy(value)) throw new Unsendable(up, key, "is a Proxy: send a plain copy of it");
    const at = { __proto__: null, value, key, up };
    if (isArray(value)) return encodeList(value, value.length, at);
    const prototype = getPrototypeOf(value);
    if (prototype !== ObjectPrototype && prototype !== null) {
      const text = encodeExotic(value, at);
      if (text !== undefined) return text;
    }
    let out = "";
    const keys = ownKeys(value);
    for (let i = 0; i < keys.length; i += 1) {
      const name = keys[i];
      if (typeof name !== "string") continue;
      const property = getOwnPropertyDescriptor(value, name);
      // An accessor is left out, since reading it would run the guest; and so is a method, as in JSON.
      if (property === undefined || !property.enumerable || !hasOwn(property, "value")) continue;
      if (typeof property.value === "function") continue;
      const text = encode(property.value, at, name);
      if (text !== undefined) out += (out === "" ? "" : ",") + stringify(name) + ":" + text;
      if (out.length > longest) throw new Unsendable(at.up, at.key, "is too long");
    }
    return "{" + out + "}";
  }

  function encodeList(list, length, at) {
    let out = "";
    for (let i = 0; i < length; i += 1) {
      const text = encode(list[i], at, i);
      out += (i === 0 ? "" : ",") + (text === undefined ? "null" : text);
      if (out.length > longest) throw new Unsendable(at.up, at.key, "is too long");
    }
    return "[" + out + "]";
  }

  // Objects whose data is not in their properties. Each line asks by a method that throws on
  // anything else, so a guest's prototype can neither fake nor hide one.
  function encodeExotic(value, at) {
    const tag = typedArrayTag(value);
    if (tag !== undefined) return encodeList(value, typedArrayLength(value), at);
    if (holds(dateTime, value)) {
      if (holds(toISOString, value)) return stringify(toISOString(value));
      throw new Unsendable(at.up, at.key, "is an invalid Date");
    }
    if (holds(mapSize, value)) {
      let out = "";
      mapForEach(value, (item, name) => {
        out += (out === "" ? "" : ",") + encodeList([name, item], 2, at);
      });
      return "[" + out + "]";
    }
    if (holds(setSize, value)) {
      let out = "";
      setForEach(value, (item) => {
        const text = encode(item, at, "(item)");
        out += (out === "" ? "" : ",") + (text === undefined ? "null" : text);
      });
      return "[" + out + "]";
    }
    if (isError(value)) {
      return "{\"name\":" + stringify(nameOf(value)) + ",\"message\":" + stringify(messageOf(value)) + "}";
    }
    return encodeByClass(value, at);
  }

  // The rest is told by its prototypes, which a guest may change, to lose what it would have sent.
  function encodeByClass(value, at) {
    for (let i = 0; i < views.length; i += 1) {
      const told = views[i](value);
      if (told !== undefined) return stringify(told.text);
    }
    for (let each = parent(value), steps = 0; each !== null && steps < 16; each = parent(each), steps += 1) {
      const told = mapGet(CLASSES, each);
      if (told === undefined) continue;
      if (typeof told === "string") throw new Unsendable(at.up, at.key, told);
      if (holds(told, value)) return encode(told(value), at.up, at.key);
    }
    return undefined;
  }

  // By prototype: why an object of the class cannot be sent, or how what is in it is taken out.
  const CLASSES = new Map();
  const REFUSALS = {
    __proto__: null,
    "is a RegExp: send its source": [RegExp],
    "is a Promise: await it": [Promise],
    "is a buffer: send a typed array of it": [ArrayBuffer, SharedArrayBuffer, DataView],
    "cannot be looked into": [WeakMap, WeakSet, WeakRef],
    "is an iterator: spread it into an array": [Iterator],
  };
  for (const reason in REFUSALS) {
    for (let i = 0; i < REFUSALS[reason].length; i += 1) mapPut(CLASSES, REFUSALS[reason][i].prototype, reason);
  }
  mapPut(CLASSES, getPrototypeOf(getPrototypeOf((async function* () {}).prototype)), "is an iterator: await its items");
  mapPut(CLASSES, Number.prototype, boxes.Number);
  mapPut(CLASSES, String.prototype, boxes.String);
  mapPut(CLASSES, Boolean.prototype, boxes.Boolean);
  mapPut(CLASSES, BigInt.prototype, boxes.BigInt);
  mapPut(CLASSES, Symbol.prototype, boxes.Symbol);

  return { __proto__: null, encode, encodeWithin, Unsendable };
})
