// What a guest finds when it starts: `nocturn`, `console`, `print` and `NocturnError`.
//
// This is convenience, never a boundary: the guest may break all of it, and the host checks every
// frame as if it had. It is one function, so that nothing of it is a global, and everything that it
// uses is captured here, before the guest's first character runs. It returns the one function by
// which the worker drives it.
(function () {
  "use strict";

  const { exchange, send, lower } = globalThis.__nocturn_wire;
  delete globalThis.__nocturn_wire;
  // A handler that the guest sets here is called with the frames of this file: take it away.
  delete Error.prepareStackTrace;

  // ---- captured primordials -------------------------------------------------------------------

  const { apply, construct, defineProperty, getOwnPropertyDescriptor, getPrototypeOf, ownKeys } = Reflect;
  const { create, freeze, is, hasOwn } = Object;
  const { isArray } = Array;
  const { isInteger } = Number;
  const { parse, stringify } = JSON;
  const { iterator, toStringTag } = Symbol;
  const evaluate = eval;
  const StringOf = String;
  const PromiseOf = Promise;
  const ObjectPrototype = Object.prototype;
  const RegExpPrototype = RegExp.prototype;
  const uncurry = (method) => (self, ...args) => apply(method, self, args);
  const getter = (prototype, key) => uncurry(getOwnPropertyDescriptor(prototype, key).get);
  const slice = uncurry(String.prototype.slice);
  const repeat = uncurry(String.prototype.repeat);
  const match = uncurry(RegExp.prototype.exec);
  const then = uncurry(Promise.prototype.then);
  const stackOf = getter(Error.prototype, "stack");
  const toISOString = uncurry(Date.prototype.toISOString);
  const bigIntText = uncurry(BigInt.prototype.toString);
  const symbolText = uncurry(Symbol.prototype.toString);
  const regExpSource = getter(RegExp.prototype, "source");
  const regExpFlags = "dgimsuvy";
  const regExpHas = {
    __proto__: null,
    d: getter(RegExp.prototype, "hasIndices"),
    g: getter(RegExp.prototype, "global"),
    i: getter(RegExp.prototype, "ignoreCase"),
    m: getter(RegExp.prototype, "multiline"),
    s: getter(RegExp.prototype, "dotAll"),
    u: getter(RegExp.prototype, "unicode"),
    v: getter(RegExp.prototype, "unicodeSets"),
    y: getter(RegExp.prototype, "sticky"),
  };
  const functionText = uncurry(Function.prototype.toString);
  const mapForEach = uncurry(Map.prototype.forEach);
  const setForEach = uncurry(Set.prototype.forEach);
  const typedArrayPrototype = getPrototypeOf(Uint8Array.prototype);
  const typedArrayTag = getter(typedArrayPrototype, toStringTag);
  const typedArrayLength = getter(typedArrayPrototype, "length");
  const mapSize = getter(Map.prototype, "size");
  const setSize = getter(Set.prototype, "size");

  const MAX_DEPTH = 256;
  // Python reads no longer integer literal (sys.int_info.default_max_str_digits).
  const MAX_DIGITS = 4300;
  const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;

  // A rope (a string made by `+`) cannot cross to Python; a slice of it is flat.
  const flat = (text) => slice(text, 0);

  // ---- what crosses: JSON text made by hand ---------------------------------------------------
  //
  // JSON.stringify would call a guest's toJSON and getters, so only strings go through it. Numbers
  // that JSON cannot say are written as Python's reader takes them: NaN, Infinity, -0.0.

  class Unsendable {
    #text; // private: no setter or proxy of the guest's is asked
    constructor(at, key, reason) {
      let place = typeof key === "undefined" ? "" : step(key);
      for (; at !== null && at.up !== null; at = at.up) place = step(at.key) + place;
      this.#text = slice((at === null ? "value" : at.key) + place, 0, 900) + " " + reason;
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

  // `at` is where we are: {value, key, up}, the root's key being what the place begins with.
  function encode(value, at, key) {
    switch (typeof value) {
      case "string":
        return stringify(value);
      case "number":
        if (isInteger(value)) return is(value, -0) ? "-0.0" : StringOf(value);
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
      default:
        return undefined; // undefined, a function, a symbol: as in JSON, not there
    }
  }

  function encodeObject(value, up, key) {
    let depth = 0;
    for (let each = up; each !== null; each = each.up) {
      if (each.value === value) throw new Unsendable(up, key, "refers back to itself");
      depth += 1;
    }
    if (depth > MAX_DEPTH) throw new Unsendable(up, key, "is nested more than 256 deep");
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
      // An accessor is left out: reading it would run the guest.
      if (property === undefined || !property.enumerable || !hasOwn(property, "value")) continue;
      const text = encode(property.value, at, name);
      if (text !== undefined) out += (out === "" ? "" : ",") + stringify(name) + ":" + text;
    }
    return "{" + out + "}";
  }

  function encodeList(list, length, at) {
    let out = "";
    for (let i = 0; i < length; i += 1) {
      const text = encode(list[i], at, i);
      out += (i === 0 ? "" : ",") + (text === undefined ? "null" : text);
    }
    return "[" + out + "]";
  }

  // Objects whose data is not in their properties. Each line asks by a method that throws on
  // anything else, so a guest's prototype can neither fake nor hide one.
  function encodeExotic(value, at) {
    const tag = typedArrayTag(value);
    if (tag !== undefined) return encodeList(value, typedArrayLength(value), at);
    if (holds(toISOString, value)) return stringify(toISOString(value));
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
    return undefined;
  }

  function holds(method, value) {
    try {
      method(value);
      return true;
    } catch {
      return false;
    }
  }

  // ---- errors ---------------------------------------------------------------------------------

  class NocturnError extends Error {
    #genuine = true;

    constructor(code, message, tool, detail) {
      super(message);
      const put = (key, value) =>
        defineProperty(this, key, { __proto__: null, value, writable: false, enumerable: true });
      put("code", code);
      put("tool", tool);
      put("detail", detail);
    }

    static isGenuine(value) {
      return #genuine in value;
    }
  }
  const isGenuine = NocturnError.isGenuine;
  delete NocturnError.isGenuine;
  defineProperty(NocturnError.prototype, "name", { __proto__: null, value: "NocturnError" });
  freeze(NocturnError.prototype);
  freeze(NocturnError);

  const isObject = (value) => typeof value === "object" && value !== null;
  const isError = (value) => isObject(value) && typeof stackOf(value) === "string";

  // The value of a data property, own or inherited, without running a getter or a proxy's trap
  // more than the language makes us.
  function data(value, key) {
    for (let depth = 0; value !== null && depth < 16; depth += 1) {
      const property = getOwnPropertyDescriptor(value, key);
      if (property !== undefined) return hasOwn(property, "value") ? property.value : undefined;
      value = getPrototypeOf(value);
    }
    return undefined;
  }

  function textOf(value, key, otherwise) {
    const found = data(value, key);
    return typeof found === "string" ? slice(found, 0, textLimit) : otherwise;
  }
  const nameOf = (error) => textOf(error, "name", "Error");
  const messageOf = (error) => textOf(error, "message", "");

  // What was thrown, as {name, message, stack, code, tool, detail}; calls nothing of the guest's.
  function describe(thrown) {
    const told = { __proto__: null, name: "Thrown", message: "", stack: "", code: null };
    try {
      if (isError(thrown)) {
        told.name = nameOf(thrown);
        told.message = messageOf(thrown);
        told.stack = slice(stackOf(thrown), 0, textLimit);
        if (isGenuine(thrown)) {
          told.code = textOf(thrown, "code", null);
          told.tool = textOf(thrown, "tool", null);
          told.detail = data(thrown, "detail");
        }
      } else if (isObject(thrown)) {
        told.name = textOf(thrown, "name", "Thrown");
        told.message = textOf(thrown, "message", slice(inspect(thrown), 0, textLimit));
      } else {
        told.message = slice(inspect(thrown), 0, textLimit);
      }
    } catch {
      told.message = "(what was thrown cannot be shown)";
    }
    return told;
  }

  // ---- calls ----------------------------------------------------------------------------------

  let ceiling = 1; // the longest frame, in UTF-16 units, that the host will read
  let textLimit = 1; // the longest text in an error, so that five of them, escaped, are below it
  let consoleLimit = 1; // the most console text, in bytes, hence in UTF-16 units too

  const call = (tool, args) => {
    const head = '{"type":"call","tool":' +
      (typeof tool === "string" ? stringify(slice(tool, 0, 4096)) : "null") + ",";
    let text;
    try {
      const body = args === undefined ? "{}" : encode(args, null, "arguments");
      text = head + '"args":' + (body === undefined ? "null" : body) + "}";
      if (text.length > ceiling) text = head + '"size":' + text.length + "}";
    } catch (problem) {
      const reason = Unsendable.textOf(problem);
      if (reason === undefined) throw problem;
      text = head + '"unsendable":' + stringify(reason) + "}";
    }
    const reply = parse(exchange(flat(text)));
    if (hasOwn(reply, "error")) {
      const { code, message, tool: name, detail } = reply.error;
      throw new NocturnError(code, message, name, detail);
    }
    return reply.value;
  };
  const now = () => call("time_now");

  // An argument object without a prototype, so that nothing the guest put on one is read.
  function named(fields) {
    const out = create(null);
    for (const key in fields) if (fields[key] !== undefined) out[key] = fields[key];
    return out;
  }
  const options = (given, ...keys) => {
    const out = create(null);
    if (!isObject(given)) return out;
    for (let i = 0; i < keys.length; i += 1) {
      const key = keys[i];
      if (given[key] !== undefined) out[key] = given[key];
    }
    return out;
  };

  const memory = freeze({
    __proto__: null,
    write: (path, summary, content, given) =>
      call("memory_write", named({ __proto__: null, path, summary, content, ...options(given, "ifVersion") })),
    append: (path, text, given) =>
      call("memory_append", named({ __proto__: null, path, text, ...options(given, "ifVersion") })),
    edit: (path, old, text, given) =>
      call("memory_edit", named({ __proto__: null, path, old, new: text, ...options(given, "ifVersion") })),
    move: (path, to, given) =>
      call("memory_move", named({ __proto__: null, path, to, ...options(given, "ifVersion") })),
    read: (path) => call("memory_read", named({ __proto__: null, path })),
    stat: (path) => call("memory_stat", named({ __proto__: null, path })),
    list: (given) => call("memory_list", options(given, "limit", "cursor")),
    remove: (path, given) =>
      call("memory_remove", named({ __proto__: null, path, ...options(given, "ifVersion") })),
  });

  freeze(call);
  freeze(now);
  for (const name in memory) freeze(memory[name]);

  // ---- console --------------------------------------------------------------------------------

  // A value as a person reads it: own data properties only, nothing of the guest's is run.
  function inspect(value, depth = 0, seen = null) {
    switch (typeof value) {
      case "string":
        return depth === 0 ? value : stringify(value);
      case "bigint":
        return bigIntText(value) + "n";
      case "symbol":
        return symbolText(value);
      case "number":
        return is(value, -0) ? "-0" : StringOf(value);
      case "function": {
        const name = textOf(value, "name", "");
        const kind = match(/^class\b/, functionText(value)) === null ? "Function" : "class";
        return "[" + kind + (name === "" ? " (anonymous)" : ": " + name) + "]";
      }
      case "object":
        return value === null ? "null" : inspectObject(value, depth, seen);
      default:
        return StringOf(value);
    }
  }

  function inspectObject(value, depth, seen) {
    for (let each = seen; each !== null; each = each.up) {
      if (each.value === value) return "[Circular]";
    }
    if (isError(value)) {
      const message = messageOf(value);
      return nameOf(value) + (message === "" ? "" : ": " + message);
    }
    if (holds(toISOString, value)) return toISOString(value);
    if (getPrototypeOf(value) === RegExpPrototype && holds(regExpSource, value)) return regExpText(value);
    const up = { __proto__: null, value, up: seen };
    const inner = (item) => inspect(item, depth + 1, up);
    const parts = { __proto__: null, text: "", count: 0 };
    const add = (text) => {
      parts.count += 1;
      if (parts.count <= 100) parts.text += (parts.count === 1 ? "" : ", ") + text;
    };
    const close = (open, end) => {
      if (parts.count > 100) parts.text += ", … " + (parts.count - 100) + " more";
      if (parts.text === "") return open + end;
      return open === "[" ? open + parts.text + end : open + " " + parts.text + " " + end;
    };
    const deep = depth >= 4;
    if (isArray(value) || typedArrayTag(value) !== undefined) {
      const tag = isArray(value) ? "" : typedArrayTag(value) + "(" + typedArrayLength(value) + ") ";
      if (deep) return "[Array]";
      const length = isArray(value) ? value.length : typedArrayLength(value);
      for (let i = 0; i < length && i < 100; i += 1) {
        const property = getOwnPropertyDescriptor(value, i);
        add(property === undefined ? "<empty>" : hasOwn(property, "value") ? inner(property.value) : "[Getter]");
      }
      parts.count = length > 100 ? length : parts.count;
      return tag + close("[", "]");
    }
    if (holds(mapSize, value)) {
      if (deep) return "[Map]";
      mapForEach(value, (item, key) => add(inner(key) + " => " + inner(item)));
      return "Map(" + mapSize(value) + ") " + close("{", "}");
    }
    if (holds(setSize, value)) {
      if (deep) return "[Set]";
      setForEach(value, (item) => add(inner(item)));
      return "Set(" + setSize(value) + ") " + close("{", "}");
    }
    const prototype = getPrototypeOf(value);
    let name = "";
    if (prototype === null) name = "[Object: null prototype] ";
    else if (prototype !== ObjectPrototype) {
      const constructor = data(prototype, "constructor");
      if (typeof constructor === "function") name = textOf(constructor, "name", "") + " ";
    }
    if (deep) return "[" + (name === "" ? "Object" : slice(name, 0, -1)) + "]";
    const keys = ownKeys(value);
    for (let i = 0; i < keys.length; i += 1) {
      const key = keys[i];
      const property = getOwnPropertyDescriptor(value, key);
      if (property === undefined || !property.enumerable) continue;
      const label = typeof key === "symbol" ? "[" + symbolText(key) + "]"
        : match(IDENTIFIER, key) !== null ? key : stringify(key);
      add(label + ": " + (hasOwn(property, "value") ? inner(property.value) : "[Getter]"));
    }
    return name + close("{", "}");
  }

  // RegExp.prototype.toString would ask the guest's `source` and `flags`.
  function regExpText(value) {
    let text = "/" + regExpSource(value) + "/";
    for (let i = 0; i < regExpFlags.length; i += 1) {
      if (regExpHas[regExpFlags[i]](value)) text += regExpFlags[i];
    }
    return text;
  }

  function line(level, values) {
    let text = "";
    for (let i = 0; i < values.length; i += 1) {
      let part;
      try {
        part = inspect(values[i]);
      } catch {
        part = "(a value that cannot be shown)";
      }
      text += (i === 0 ? "" : " ") + part;
    }
    if (text.length > consoleLimit) text = slice(text, 0, consoleLimit + 1); // it is over already
    send(flat('{"type":"console","level":"' + level + '","text":' + stringify(text) + "}"));
  }

  const console = {
    __proto__: ObjectPrototype,
    log: (...values) => line("log", values),
    info: (...values) => line("info", values),
    warn: (...values) => line("warn", values),
    error: (...values) => line("error", values),
    debug: (...values) => line("debug", values),
  };

  // ---- JSON.stringify, made to end ------------------------------------------------------------
  //
  // The engine looks for cycles along the whole path at each level, so a value that is nested until
  // the stack ends takes seconds. With less stack it ends at some 6,000 levels, at once. A caller
  // who is deep in a recursion of his own may have less than that left: he gets the whole stack.

  const ROOM = repeat("[", 4000) + repeat("]", 4000);

  const safeJSON = {
    stringify(value, replacer, space) {
      let problem, room = false;
      lower(true);
      try {
        return stringify(value, replacer, space);
      } catch (thrown) {
        problem = thrown;
        try { room = hasRoom(); } catch {} // there may be none even to ask
      } finally {
        lower(false);
      }
      if (room || !isError(problem) || nameOf(problem) !== "RangeError") throw problem;
      return stringify(value, replacer, space);
    },
  };

  function hasRoom() {
    try {
      parse(ROOM);
      return true;
    } catch {
      return false;
    }
  }
  defineProperty(JSON, "stringify", {
    __proto__: null, value: safeJSON.stringify, writable: true, enumerable: false, configurable: true,
  });

  // ---- jobs that nobody awaits ----------------------------------------------------------------
  //
  // What they throw would leave the engine as an exception, which runs the guest where no call can
  // be made (the process would abort), so it is caught here and ends the run as an uncaught error.

  const guarded = (callback) => (...given) => {
    try {
      apply(callback, undefined, given);
    } catch (thrown) {
      if (outcome.uncaught === null) outcome.uncaught = { __proto__: null, thrown };
    }
  };
  const replace = (holder, name, value) =>
    defineProperty(holder, name, { __proto__: null, value, writable: true, enumerable: false, configurable: true });

  const later = globalThis.queueMicrotask;
  replace(globalThis, "queueMicrotask", { queueMicrotask(callback) {
    later(typeof callback === "function" ? guarded(callback) : callback);
  } }.queueMicrotask);

  const Registry = globalThis.FinalizationRegistry;
  function GuardedRegistry(callback) {
    const given = typeof callback === "function" ? guarded(callback) : callback;
    return construct(Registry, [given], new.target); // throws without `new`, as it should
  }
  defineProperty(GuardedRegistry, "name", { __proto__: null, value: "FinalizationRegistry" });
  defineProperty(GuardedRegistry, "prototype", { __proto__: null, value: Registry.prototype, writable: false });
  replace(Registry.prototype, "constructor", GuardedRegistry);
  replace(globalThis, "FinalizationRegistry", GuardedRegistry);

  // ---- Math.random ----------------------------------------------------------------------------
  //
  // The engine's own state is the same in every worker that is forked from one zygote. This is
  // sfc32 (Chris Doty-Humphrey, PractRand): fast, small, not for secrets, as the language says.
  function randomFrom([a, b, c, d]) {
    const next = () => {
      const sum = (((a + b) | 0) + d) | 0;
      d = (d + 1) | 0;
      a = b ^ (b >>> 9);
      b = (c + (c << 3)) | 0;
      c = (((c << 21) | (c >>> 11)) + sum) | 0;
      return sum >>> 0;
    };
    const holder = { random: () => (next() * 2097152 + (next() >>> 11)) / 9007199254740992 };
    for (let i = 0; i < 12; i += 1) next();
    return holder.random;
  }

  // ---- the worker's side ----------------------------------------------------------------------

  // The engine calls every source `<input>`: lines after this many are the guest's, not ours. The
  // host takes them off again (host/location.py).
  const LEAD = repeat("\n", 1000);

  const outcome = { __proto__: null, state: "none", value: undefined, source: "", uncaught: null };
  const settle = (state, value) => {
    outcome.state = state;
    outcome.value = value;
  };

  function start(text) {
    const given = parse(text);
    outcome.source = given.source;
    ceiling = given.ceiling;
    textLimit = ceiling > 40 * 8192 ? 8192 : (ceiling / 40) | 0;
    consoleLimit = given.console_bytes;
    const lasting = (name, value, writable) =>
      defineProperty(globalThis, name, { __proto__: null, value, writable, enumerable: false, configurable: writable });
    defineProperty(Math, "random", {
      __proto__: null, value: randomFrom(given.seed), writable: true, enumerable: false, configurable: true,
    });
    lasting("nocturn", freeze({
      __proto__: null,
      call,
      memory,
      now,
      args: freeze(given.args),
    }), false);
    lasting("NocturnError", NocturnError, true);
    lasting("console", console, true);
    lasting("print", (...values) => line("log", values), true);
  }

  function run() {
    try {
      const source = LEAD + outcome.source;
      outcome.source = "";
      const value = evaluate(source);
      if (isObject(value) && isPromise(value)) {
        settle("pending", undefined);
        then(value, (item) => settle("value", item), (reason) => settle("thrown", reason));
      } else {
        settle("value", value);
      }
    } catch (thrown) {
      settle("thrown", thrown);
    }
  }

  // `then` throws on what is no promise; a guest's thenable is a value, not awaited.
  function isPromise(value) {
    for (let each = value, depth = 0; each !== null && depth < 16; depth += 1) {
      if (each === PromiseOf.prototype) return true;
      each = getPrototypeOf(each);
    }
    return false;
  }

  // What every run does, done once for nothing, so that the fork's pages are its own.
  function warm(text) {
    const given = parse(text);
    randomFrom(given.seed);
    freeze(given.args);
    evaluate(given.source);
    flat('{"value":' + encode(given, null, "value") + "}");
  }

  // `exhausted`: the heap was nearly used up at some time. Then a thrown null is the engine's, and a
  // promise that nobody settles may have lost its reaction.
  function finish(exhausted) {
    const lost = outcome.state === "pending" || (outcome.state === "thrown" && outcome.value === null);
    // No outcome at all: there was not even room to keep what was thrown.
    if (outcome.state === "none" || (exhausted && lost)) {
      settle("thrown", { __proto__: null, name: "InternalError", message: "out of memory" });
    } else if (outcome.uncaught !== null) {
      settle("thrown", outcome.uncaught.thrown);
    }
    if (outcome.state === "pending") return '{"type":"done","status":"never_settles"}';
    try {
      if (outcome.state === "value") {
        const text = encode(outcome.value, null, "value");
        if (text !== undefined && text.length > ceiling) {
          return '{"type":"done","status":"output_limit","size":' + text.length + "}";
        }
        return flat('{"type":"done","status":"ok","value":' + (text === undefined ? "null" : text) + "}");
      }
    } catch (problem) {
      const reason = Unsendable.textOf(problem);
      outcome.value = reason === undefined ? problem
        : { __proto__: null, name: "TypeError", message: "the result cannot leave: " + reason };
    }
    const told = describe(outcome.value);
    let text = "";
    try {
      text = encode(told, null, "error");
    } catch {
      // The detail is the guest's, so it may be anything.
    }
    if (text === "" || text.length > ceiling) {
      told.detail = null;
      text = encode(told, null, "error");
    }
    const noMemory = told.name === "InternalError" && told.message === "out of memory";
    const status = noMemory ? "memory_limit" : "guest_error";
    return flat('{"type":"done","status":"' + status + '","error":' + text + "}");
  }

  return function control(order, text) {
    if (order === "run") return run();
    if (order === "start") return start(text);
    if (order === "warm") return warm(text);
    return finish(text);
  };
})()
