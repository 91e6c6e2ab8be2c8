// What a guest finds when it starts: `nocturn`, `console`, `print` and `NocturnError`.
//
// This is convenience, never a boundary: the guest may break all of it, and the host checks every
// frame as if it had. It is one function, so that nothing of it is a global, and everything that it
// uses is captured here, before the guest's first character runs. It returns the one function by
// which the worker drives it.
(function () {
  "use strict";

  const { exchange, receive, send, lower, random, url, native, pieces } = globalThis.__nocturn_wire;
  delete globalThis.__nocturn_wire;
  // A handler that the guest sets here is called with the frames of this file: take it away.
  delete Error.prepareStackTrace;

  // ---- captured primordials -------------------------------------------------------------------

  const world = globalThis;
  const { apply, defineProperty, deleteProperty, getOwnPropertyDescriptor, getPrototypeOf, ownKeys } = Reflect;
  const { create, freeze, is, hasOwn, setPrototypeOf } = Object;
  const { isArray } = Array;
  const { isInteger, isSafeInteger } = Number;
  const { parse, stringify } = JSON;
  const { toStringTag } = Symbol;
  const evaluate = eval;
  const StringOf = String;
  const BigIntOf = BigInt;
  const TypeErrorOf = TypeError;
  const PromiseOf = Promise;
  const PromisePrototype = Promise.prototype;
  const ObjectPrototype = Object.prototype;
  const RegExpPrototype = RegExp.prototype;
  const uncurry = (method) => (self, ...args) => apply(method, self, args);
  const getter = (prototype, key) => uncurry(getOwnPropertyDescriptor(prototype, key).get);
  const slice = uncurry(String.prototype.slice);
  const repeat = uncurry(String.prototype.repeat);
  const match = uncurry(RegExp.prototype.exec);
  const then = uncurry(Promise.prototype.then);
  const mapGet = uncurry(Map.prototype.get);
  const mapPut = uncurry(Map.prototype.set);
  const mapDelete = uncurry(Map.prototype.delete);
  const stackOf = getter(Error.prototype, "stack");
  const exceptionName = getter(DOMException.prototype, "name");
  const exceptionMessage = getter(DOMException.prototype, "message");
  const toISOString = uncurry(Date.prototype.toISOString);
  const bigIntText = uncurry(BigInt.prototype.toString);
  const symbolText = uncurry(Symbol.prototype.toString);
  const regExpFlags = "dgimsuvy";
  const regExpSource = getter(RegExp.prototype, "source");
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
  const bufferLengths = [getter(ArrayBuffer.prototype, "byteLength"), getter(SharedArrayBuffer.prototype, "byteLength")];
  const dateTime = uncurry(Date.prototype.getTime);
  const boxes = {
    __proto__: null,
    Number: uncurry(Number.prototype.valueOf),
    String: uncurry(String.prototype.valueOf),
    Boolean: uncurry(Boolean.prototype.valueOf),
    BigInt: uncurry(BigInt.prototype.valueOf),
    Symbol: uncurry(Symbol.prototype.valueOf),
  };
  const indexOf = uncurry(String.prototype.indexOf);
  const weakMapHas = uncurry(WeakMap.prototype.has);
  const weakSetHas = uncurry(WeakSet.prototype.has);
  const Bytes = Uint8Array;

  const MOST_REJECTIONS = 16;
  const MOST_ERRORS = 16; // an error's causes and parts, itself included

  const replace = (holder, name, value) =>
    defineProperty(holder, name, { __proto__: null, value, writable: true, enumerable: false, configurable: true });

  const { isProxy, target } = pieces.proxies({ __proto__: null, defineProperty, replace });

  // A rope (a string made by `+`) cannot cross to Python; a slice of it is flat.
  const flat = (text) => slice(text, 0);

  function holds(method, value) {
    try {
      method(value);
      return true;
    } catch {
      return false;
    }
  }

  // What classes of ours say of themselves: value => {text, rows} or undefined.
  const views = setPrototypeOf([], null);

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
  const isError = (value) => isObject(value) && typeof stackText(value) === "string";
  // A DOMException is no Error to the engine: its stack is a property like any other.
  const stackText = (value) => stackOf(value) ?? (holds(exceptionName, value) ? textOf(value, "stack", "") : undefined);

  // The value of a data property, own or inherited, without running a getter or a proxy's trap.
  function data(value, key) {
    value = target(value);
    for (let depth = 0; value !== null && depth < 16; depth += 1) {
      const property = getOwnPropertyDescriptor(value, key);
      if (property !== undefined) return hasOwn(property, "value") ? property.value : undefined;
      value = parent(value);
    }
    return undefined;
  }
  const parent = (value) => target(getPrototypeOf(value));

  function own(value, key) {
    const property = getOwnPropertyDescriptor(value, key);
    return property !== undefined && hasOwn(property, "value") ? property.value : undefined;
  }

  function textOf(value, key, otherwise) {
    const found = data(value, key);
    return typeof found === "string" ? slice(found, 0, textLimit) : otherwise;
  }
  // A DOMException keeps its own where no property shows them.
  const nameOf = (error) =>
    holds(exceptionName, error) ? slice(exceptionName(error), 0, textLimit) : textOf(error, "name", "Error");
  const messageOf = (error) =>
    holds(exceptionName, error) ? slice(exceptionMessage(error), 0, textLimit) : textOf(error, "message", "");

  // What was thrown, as {name, message, stack, code, tool, detail, cause, errors}; calls nothing of
  // the guest's. `room` bounds the errors within errors, and with them the cycles among them.
  function describe(thrown, room = { __proto__: null, left: MOST_ERRORS }) {
    const told = { __proto__: null, name: "Thrown", message: "", stack: "", code: null };
    room.left -= 1;
    try {
      if (isError(thrown)) {
        told.name = nameOf(thrown);
        told.message = messageOf(thrown) + hintFor(told.name, messageOf(thrown));
        told.stack = slice(stackText(thrown), 0, textLimit);
        if (isGenuine(thrown)) {
          told.code = textOf(thrown, "code", null);
          told.tool = textOf(thrown, "tool", null);
          told.detail = data(thrown, "detail");
        }
        describeOthers(thrown, told, room);
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

  function describeOthers(error, told, room) {
    const cause = own(error, "cause"), errors = own(error, "errors");
    if (cause !== undefined && room.left > 0) told.cause = describe(cause, room);
    if (!isObject(errors) || isProxy(errors) || !isArray(errors)) return;
    const list = (told.errors = []);
    for (let i = 0, length = own(errors, "length"); i < length && room.left > 0; i += 1) {
      const part = { __proto__: null, value: describe(own(errors, i), room), enumerable: true };
      defineProperty(list, i, part);
    }
  }

  // What `describe` told, as JSON text of at most so many characters, at the price of what is least needed.
  function errorText(told, most) {
    for (let attempt = 0; attempt < 3; attempt += 1) {
      try {
        const text = encode(told, null, "error");
        if (text.length <= most) return text;
      } catch {
        // The detail is the guest's, so it may be anything.
      }
      if (attempt === 0) told.detail = null;
      else told.cause = told.errors = null;
    }
    return null;
  }

  // A script that was written for Node or a browser misses something: say what is here.
  const UNDEFINED = /^'?(\w+)'? is not defined$/;
  const INSTEAD = {
    __proto__: null,
    require: "there are no packages and no files here: the tools are in nocturn, and Buffer, URL and crypto are globals",
    module: "a script's result is the value of its last statement",
    exports: "a script's result is the value of its last statement",
    process: "a script's arguments are nocturn.args, and it has no environment",
    fetch: "a script has no network, only the tools in nocturn",
    XMLHttpRequest: "a script has no network, only the tools in nocturn",
    window: "there is no page here; globals are in globalThis",
    document: "there is no page here",
    Intl: "the engine has none; numbers have toLocaleString, dates toISOString",
    WebAssembly: "the engine has none",
  };
  function hintFor(name, message) {
    const missed = name === "ReferenceError" ? match(UNDEFINED, message) : null;
    if (missed === null) return "";
    if (missed[1] in INSTEAD) return "; " + INSTEAD[missed[1]];
    return session === undefined || session.hasScope ? "" : "; on this platform only var and function live on from line to line";
  }

  // ---- calls ----------------------------------------------------------------------------------

  let ceiling = 1; // the longest frame, in UTF-16 units, that the host will read
  let textLimit = 1; // the longest text in an error, so that five of them, escaped, are below it
  let consoleLimit = 1; // the most console text, in bytes, hence in UTF-16 units too

  // What comes after the head, which tells calls in flight apart.
  function request(tool, args) {
    const name = '"tool":' + (typeof tool === "string" ? stringify(slice(tool, 0, 4096)) : "null") + ",";
    try {
      const body = args === undefined ? "{}" : encode(args, null, "arguments");
      const text = name + '"args":' + (body === undefined ? "null" : body) + "}";
      return text.length > ceiling ? name + '"size":' + text.length + "}" : text;
    } catch (problem) {
      const reason = Unsendable.textOf(problem);
      if (reason === undefined) throw problem;
      return name + '"unsendable":' + stringify(reason) + "}";
    }
  }

  function valueOf(reply) {
    if (!hasOwn(reply, "error")) return reply.value;
    const { code, message, tool, detail } = reply.error;
    throw new NocturnError(code, message, tool, detail);
  }

  const call = (tool, args) => {
    const text = request(tool, args);
    while (flights.count >= mostFlights) land(parse(receive())); // this one is in flight, too
    let reply = parse(exchange(flat('{"type":"call",' + text)));
    while (hasOwn(reply, "id")) {
      land(reply);
      reply = parse(receive());
    }
    depart();
    return valueOf(reply);
  };

  // Calls in flight by their id, and those that wait for room: the host refuses one too many.
  // Once it is over, none leaves any more.
  const flights = { __proto__: null, open: new Map(), count: 0, last: 0, first: null, end: null, over: false };
  let mostFlights = 1;

  const callAsync = (tool, args) =>
    new PromiseOf((resolve, reject) => {
      const entry = { __proto__: null, text: request(tool, args), resolve, reject, next: null };
      if (flights.first === null) flights.first = entry;
      else flights.end.next = entry;
      flights.end = entry;
      depart();
    });

  function depart() {
    while (!flights.over && flights.first !== null && flights.count < mostFlights) {
      const entry = flights.first;
      flights.first = entry.next;
      flights.count += 1;
      flights.last += 1;
      mapPut(flights.open, flights.last, entry);
      send(flat('{"type":"call","id":' + flights.last + "," + entry.text));
    }
  }

  function land(reply) {
    const entry = mapGet(flights.open, reply.id);
    mapDelete(flights.open, reply.id);
    flights.count -= 1;
    try {
      entry.resolve(valueOf(reply));
    } catch (refused) {
      entry.reject(refused);
    }
  }

  // An argument object without a prototype, so that nothing the guest put on one is read.
  function named(fields) {
    const out = create(null);
    for (const key in fields) if (fields[key] !== undefined) out[key] = fields[key];
    return out;
  }
  // What is not one of the keys goes along under a name that no tool has, so that the host refuses it:
  // a version whose name is misspelt would let a write go unguarded.
  const options = (given, ...keys) => {
    const out = create(null);
    if (given === undefined) return out;
    if (!isObject(given)) {
      out.options = given;
      return out;
    }
    const names = ownKeys(given);
    for (let i = 0; i < keys.length; i += 1) {
      const key = keys[i];
      if (given[key] !== undefined) out[key] = given[key];
      for (let j = 0; j < names.length; j += 1) if (names[j] === key) names[j] = undefined;
    }
    for (let i = 0; i < names.length; i += 1) {
      const name = names[i];
      if (typeof name !== "string" || !getOwnPropertyDescriptor(given, name)?.enumerable) continue;
      if (given[name] !== undefined) out["options." + name] = given[name];
    }
    return out;
  };

  // A function that calls a tool at once, with `.async` beside it.
  const wrapper = (tool, shape) => {
    const blocking = (...given) => call(tool, apply(shape, undefined, given));
    const promising = (...given) => {
      let args;
      try {
        args = apply(shape, undefined, given);
      } catch (problem) { // an option of the guest's threw as it was read
        return new PromiseOf((_, reject) => reject(problem));
      }
      return callAsync(tool, args);
    };
    defineProperty(blocking, "async", { __proto__: null, value: freeze(promising), enumerable: true });
    return freeze(blocking);
  };

  const now = wrapper("time_now", () => create(null));
  const memory = freeze({
    __proto__: null,
    write: wrapper("memory_write", (path, summary, content, given) =>
      named({ __proto__: null, path, summary, content, ...options(given, "ifVersion") })),
    append: wrapper("memory_append", (path, text, given) =>
      named({ __proto__: null, path, text, ...options(given, "ifVersion") })),
    edit: wrapper("memory_edit", (path, old, text, given) =>
      named({ __proto__: null, path, old, new: text, ...options(given, "ifVersion") })),
    move: wrapper("memory_move", (path, to, given) =>
      named({ __proto__: null, path, to, ...options(given, "ifVersion") })),
    read: wrapper("memory_read", (path) => named({ __proto__: null, path })),
    stat: wrapper("memory_stat", (path) => named({ __proto__: null, path })),
    list: wrapper("memory_list", (given) => options(given, "limit", "cursor")),
    search: wrapper("memory_search", (query, given) =>
      named({ __proto__: null, query, ...options(given, "limit") })),
    remove: wrapper("memory_remove", (path, given) =>
      named({ __proto__: null, path, ...options(given, "ifVersion") })),
  });
  const persona = freeze({
    __proto__: null,
    add: wrapper("memory", (text, given) =>
      named({ __proto__: null, action: "add", text, ...options(given, "target") })),
    replace: wrapper("memory", (text, instead, given) =>
      named({ __proto__: null, action: "replace", text, with: instead, ...options(given, "target", "all") })),
    remove: wrapper("memory", (text, given) =>
      named({ __proto__: null, action: "remove", text, ...options(given, "target", "all") })),
  });

  freeze(call);
  freeze(callAsync);

  // ---- pieces: what only some scripts touch -------------------------------------------------------
  //
  // The worker hands over their texts, and each is evaluated when a script first needs it. It works with
  // `kit`, what was captured here, and not with what the guest has made of the language since.

  const texts = { __proto__: null };
  const loaded = { __proto__: null };
  const NEEDS = {
    __proto__: null, inspect: ["layout"], console: ["inspect", "layout"], buffer: ["text"], url: ["text"],
    session: ["inspect", "layout"],
  };
  function piece(name) {
    if (name in loaded) return loaded[name];
    const needs = NEEDS[name] ?? [];
    const first = needs.length > 0 ? piece(needs[0]) : undefined;
    const second = needs.length > 1 ? piece(needs[1]) : undefined;
    return (loaded[name] = evaluate(texts[name])(kit, first, second));
  }

  // A global that becomes a plain one when it is first touched, or is set to something else before.
  function lazily(name, from) {
    defineProperty(world, name, {
      __proto__: null,
      get() {
        const value = piece(from)[name];
        replace(world, name, value);
        return value;
      },
      set(value) {
        defineProperty(world, name, {
          __proto__: null, value, writable: true, enumerable: true, configurable: true,
        });
      },
      enumerable: false,
      configurable: true,
    });
  }
  const LAZY = {
    __proto__: null,
    TextEncoder: "text",
    TextDecoder: "text",
    Buffer: "buffer",
    URL: "url",
    URLSearchParams: "url",
    structuredClone: "clone",
    Crypto: "crypto",
    crypto: "crypto",
  };
  for (const name in LAZY) lazily(name, LAZY[name]);

  // The engine has no Intl, and leaves numbers without their separators.
  const numberOf = uncurry(Number.prototype.valueOf);
  const bigIntOf = uncurry(BigInt.prototype.valueOf);
  replace(Number.prototype, "toLocaleString", { toLocaleString(locales, options) {
    return piece("locale").show(numberOf(this), options);
  } }.toLocaleString);
  replace(BigInt.prototype, "toLocaleString", { toLocaleString(locales, options) {
    return piece("locale").show(bigIntOf(this), options);
  } }.toLocaleString);

  // ---- console ----------------------------------------------------------------------------------

  const printer = () => piece("console");
  const inspect = (value) => typeof value === "string" ? value : piece("inspect")(value);

  // As a person reads it; undefined for what is more than one word.
  function primitive(value) {
    switch (typeof value) {
      case "bigint":
        return bigIntText(value) + "n";
      case "symbol":
        return symbolText(value);
      case "number":
        return is(value, -0) ? "-0" : StringOf(value);
      case "function":
        return undefined;
      default:
        return typeof value === "object" && value !== null ? undefined : StringOf(value);
    }
  }

  // A line of plain text, as most are; undefined where it takes more.
  function plain(values) {
    if (values.length > 1 && typeof values[0] === "string" && indexOf(values[0], "%") >= 0) return undefined;
    let text = "";
    for (let i = 0; i < values.length; i += 1) {
      const part = primitive(values[i]);
      if (part === undefined) return undefined;
      text += (i === 0 ? "" : " ") + part;
    }
    return text;
  }

  let margin = "";
  function print(level, text) {
    if (margin !== "") text = margin + replaceLines(text, "\n" + margin);
    if (text.length > consoleLimit) text = slice(text, 0, consoleLimit + 1); // it is over already
    send(flat('{"type":"console","level":"' + level + '","text":' + stringify(text) + "}"));
  }

  function replaceLines(text, by) {
    let out = "", from = 0;
    for (let at = indexOf(text, "\n"); at >= 0; at = indexOf(text, "\n", from)) {
      out += slice(text, from, at) + by;
      from = at + 1;
    }
    return out + slice(text, from);
  }

  function line(level, values) {
    let text = plain(values);
    if (text === undefined) {
      try {
        text = printer().format(values);
      } catch {
        text = "(a value that cannot be shown)";
      }
    }
    print(level, text);
  }

  const console = {
    __proto__: ObjectPrototype,
    log: (...values) => line("log", values),
    info: (...values) => line("info", values),
    warn: (...values) => line("warn", values),
    error: (...values) => line("error", values),
    debug: (...values) => line("debug", values),
    assert(condition, ...values) {
      if (!condition) printer().assert(values);
    },
  };
  for (const name of ["table", "dir", "dirxml", "trace", "group", "groupCollapsed", "groupEnd", "count",
    "countReset", "time", "timeLog", "timeEnd", "clear"]) {
    console[name] = { [name]: (...values) => apply(printer()[name], undefined, values) }[name];
  }

  // RegExp.prototype.toString would ask the guest's `source` and `flags`.
  function regExpText(value) {
    if (value === RegExpPrototype || !holds(regExpHas.g, value)) return undefined;
    let text = "/" + regExpSource(value) + "/";
    for (let i = 0; i < regExpFlags.length; i += 1) {
      if (regExpHas[regExpFlags[i]](value)) text += regExpFlags[i];
    }
    return text;
  }

  // The bytes of a buffer; undefined where it has none any more.
  function bytesOf(buffer) {
    try {
      return new Bytes(buffer);
    } catch {
      return undefined;
    }
  }

  // An arguments object, told without asking for a tag that might be a getter.
  const objectText = uncurry(Object.prototype.toString);
  function isArguments(value) {
    for (let at = value, steps = 0; at !== null && steps < 16; at = getPrototypeOf(at), steps += 1) {
      if (isProxy(at) || hasOwn(at, toStringTag)) return false;
    }
    return objectText(value) === "[object Arguments]";
  }

  // The frames of an error that are the script's, one a line. Ours have no name and a low line.
  const FRAME = /^    at (?:(.*) \()?(.*):(\d+):(\d+)\)?$/;
  function frames(error) {
    const stack = stackText(error);
    let out = "";
    if (typeof stack !== "string") return out;
    for (let from = 0, to = 0; to >= 0 && from < stack.length; from = to + 1) {
      to = indexOf(stack, "\n", from);
      const found = match(FRAME, to < 0 ? slice(stack, from) : slice(stack, from, to));
      if (found === null) continue;
      const lead = found[2] === "<input>" ? LEAD.length : 0;
      if (lead > 0 && +found[3] <= lead) continue;
      const place = found[2] + ":" + (+found[3] - lead) + ":" + found[4];
      const name = found[1] === "<eval>" || found[1] === "<anonymous>" ? undefined : found[1];
      out += (out === "" ? "" : "\n") + "    at " + (name === undefined ? place : name + " (" + place + ")");
    }
    return out;
  }

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

  // ---- what is there later, or once --------------------------------------------------------------

  const uncaught = (thrown) => {
    if (outcome.uncaught === null) outcome.uncaught = { __proto__: null, thrown };
  };
  const timers = pieces.timers({ __proto__: null, apply, replace, uncaught, uncurry });
  pieces.abort({ __proto__: null, replace, uncaught, later: timers.later });

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

  const outcome = { __proto__: null, state: "none", value: undefined, source: "", uncaught: null, refused: false, missing: null };
  const settle = (state, value) => {
    outcome.state = state;
    outcome.value = value;
  };

  let begun = false;
  function start(text) {
    const given = parse(text);
    native.source = outcome.source = given.source;
    native.name = given.name;
    if (session !== undefined) session.begin();
    modules = given.modules;
    native.modules = { __proto__: null, ...modules, nocturn: OWN_MODULE };
    ceiling = given.ceiling;
    mostFlights = given.calls_in_flight;
    textLimit = ceiling > 40 * 8192 ? 8192 : (ceiling / 40) | 0;
    consoleLimit = given.console_bytes;
    if (begun) return; // a session's next line
    begun = true;
    replace(Math, "random", randomFrom(given.seed));
    const nocturn = freeze({ __proto__: null, call, callAsync, memory, persona, now, args: freeze(given.args) });
    defineProperty(world, "nocturn", {
      __proto__: null, value: nocturn, writable: false, enumerable: false, configurable: false,
    });
  }

  replace(globalThis, "NocturnError", NocturnError);
  replace(globalThis, "console", console);
  replace(globalThis, "print", (...values) => line("log", values));

  // ---- the engine's own interface, where it has one (worker/native.py) ---------------------------

  const OWN_MODULE =
    "const all = globalThis.nocturn;\nexport default all;\n" +
    "export const { call, callAsync, memory, persona, now, args } = all;\n" +
    "const { NocturnError } = globalThis;\nexport { NocturnError };\n";
  let modules = create(null);

  // How the source ended. What is neither a script nor a module was meant to be what was read further.
  native.ended = (how, value, other) => {
    if (how === "value" || how === "pending") return settle(how, value);
    if (how === "neither" && placeOf(other) > placeOf(value)) return settle("thrown", other);
    outcome.refused = how === "missed";
    settle("thrown", value);
  };

  // With `await` at its top, the engine puts a script's value into an object.
  native.boxed = (box) => {
    if (!hasOwn(box, "value")) throw new TypeErrorOf("the script's value was lost: Object.prototype has a value");
    return own(box, "value");
  };

  // A module's value is its default export.
  native.module = (namespace) => own(namespace, "default");

  native.lost = uncaught;
  native.world = world;

  native.missing = (name) => {
    outcome.missing = name;
    let offered = "nocturn";
    const names = ownKeys(modules);
    for (let i = 0; i < names.length; i += 1) offered += ", " + stringify(names[i]);
    const error = new TypeErrorOf("there is no module " + stringify(slice(name, 0, 900)) + "; there are: " +
      slice(offered, 0, 4096));
    return error;
  };

  // Told at the end: why promises were rejected that nobody has looked at.
  native.rejected = (reason) => {
    if (rejections.count === MOST_REJECTIONS) return;
    const entry = { __proto__: null, reason, next: null };
    if (rejections.count === 0) rejections.first = entry;
    else rejections.last.next = entry;
    rejections.last = entry;
    rejections.count += 1;
  };
  const rejections = { __proto__: null, count: 0, first: null, last: null };

  // Line and column of a SyntaxError, as one number.
  function placeOf(error) {
    const found = isError(error) ? match(/:(\d{1,9}):(\d{1,9})/, stackOf(error)) : null;
    return found === null ? 0 : found[1] * 1e9 + +found[2];
  }

  // Without that interface: no `await` at the top, no modules, and each source is called `<input>`.
  // Lines after this many are the guest's, not ours; the host takes them off (host/location.py).
  const LEAD = repeat("\n", 1000);

  function run() {
    try {
      const value = evaluate(LEAD + outcome.source);
      if (!isObject(value) || !isPromise(value)) return settle("value", value);
      settle("pending", undefined);
      then(value, (item) => settle("value", item), (reason) => settle("thrown", reason));
    } catch (thrown) {
      if (isError(thrown) && nameOf(thrown) === "SyntaxError" && match(NEEDS_NATIVE, outcome.source) !== null) {
        const message = messageOf(thrown) + " (on this platform there is no await at the top of a script, and no module)";
        defineProperty(thrown, "message", { __proto__: null, value: message });
      }
      settle("thrown", thrown);
    }
  }
  const NEEDS_NATIVE = /\b(?:await|import|export)\b/;

  // What the worker waits for once no job is left: "" for nothing, "reply", or a timer's milliseconds.
  function next() {
    if (outcome.uncaught !== null || outcome.state === "none" || outcome.state === "thrown") {
      if (session === undefined || flights.count === 0) return "";
      flights.over = true; // a session goes on once what is under way has come back
      return "reply";
    }
    const wait = timers.wait(outcome.state === "pending");
    if (wait >= 0) return StringOf(wait);
    return flights.count > 0 ? "reply" : "";
  }

  function turn(text) {
    if (text === "") return timers.turn();
    land(parse(text));
    depart();
  }

  // `then` throws on what is no promise; a guest's thenable is a value, not awaited.
  function isPromise(value) {
    for (let each = value, depth = 0; each !== null && depth < 16; depth += 1) {
      if (each === PromisePrototype) return !isProxy(value);
      each = parent(each);
    }
    return false;
  }

  // Keeps the text of a piece: its name, a line break, its source.
  function keep(text) {
    const end = indexOf(text, "\n");
    texts[slice(text, 0, end)] = slice(text, end + 1);
  }

  // What a session has besides (js/session.js): its lines follow one another in the same world.
  let session;
  const clear = () => {
    timers.clear();
    settle("none", undefined);
    outcome.uncaught = outcome.missing = null;
    outcome.refused = false;
    rejections.count = 0;
    rejections.first = rejections.last = null;
    flights.first = null;
    flights.over = false;
  };

  // What every run does, done once for nothing, so that the fork's pages are its own.
  function warm(text) {
    const given = parse(text);
    replace(Math, "random", randomFrom(given.seed));
    replace(globalThis, "nocturn", freeze({ __proto__: null, call, callAsync, memory, persona, now, args: freeze(given.args) }));
    delete globalThis.nocturn;
    native.source = outcome.source = given.source;
    native.name = given.name;
    flat('{"value":' + encode(given, null, "value") + "}");
  }

  // `how` the heap is. `exhausted`: it was nearly used up at some time. Then a thrown null is the
  // engine's, and a promise that nobody settles may have lost its reaction. `spent`: it is used up.
  function finish(how) {
    const lost = outcome.state === "pending" || (outcome.state === "thrown" && outcome.value === null);
    // No outcome at all: there was not even room to keep what was thrown.
    if (how === "spent" || outcome.state === "none" || (how !== "" && lost)) {
      settle("thrown", { __proto__: null, name: "InternalError", message: "out of memory" });
    } else if (outcome.uncaught !== null) {
      settle("thrown", outcome.uncaught.thrown);
    }
    const text = ending();
    const whole = flat(slice(text, 0, -1) + unhandledText(ceiling - text.length) + "}");
    settle("none", undefined); // a rehearsal leaves nothing
    return whole;
  }

  function ending() {
    if (outcome.state === "pending") return '{"type":"done","status":"never_settles"}';
    try {
      if (outcome.state === "value") {
        if (session !== undefined) return session.ending(outcome.value, ceiling);
        const text = encode(outcome.value, null, "value");
        if (text !== undefined && text.length > ceiling) {
          return '{"type":"done","status":"output_limit","size":' + text.length + "}";
        }
        return '{"type":"done","status":"ok","value":' + (text === undefined ? "null" : text) + "}";
      }
    } catch (problem) {
      const reason = Unsendable.textOf(problem);
      outcome.value = reason === undefined ? problem
        : { __proto__: null, name: "TypeError", message: "the result cannot leave: " + reason };
    }
    const told = describe(outcome.value);
    if (outcome.refused) told.module = outcome.missing;
    const noMemory = told.name === "InternalError" && told.message === "out of memory";
    const status = noMemory ? "memory_limit" : outcome.refused ? "refused_source" : "guest_error";
    const text = errorText(told, ceiling);
    return '{"type":"done","status":"' + status + '"' + (text === null ? "" : ',"error":' + text) + "}";
  }

  // The rejections, as many as there is room for; what ended the run is told as its error.
  function unhandledText(room) {
    let out = "";
    for (let each = rejections.first; each !== null; each = each.next) {
      if (outcome.state === "thrown" && each.reason === outcome.value) continue;
      const text = errorText(describe(each.reason), room - out.length - 32);
      if (text !== null) out += (out === "" ? ',"unhandled":[' : ",") + text;
    }
    return out === "" ? "" : out + "]";
  }

  const kit = freeze({
    __proto__: null,
    defineProperty, getOwnPropertyDescriptor, getPrototypeOf, ownKeys, hasOwn, isArray, toStringTag, StringOf,
    ObjectPrototype, is, isInteger, isSafeInteger, isObject, BigIntOf, bigIntText, mapGet, mapPut,
    slice, repeat, match, indexOf, stringify,
    charCode: uncurry(String.prototype.charCodeAt),
    codePoint: uncurry(String.prototype.codePointAt),
    padStart: uncurry(String.prototype.padStart),
    padEnd: uncurry(String.prototype.padEnd),
    upper: uncurry(String.prototype.toUpperCase),
    radix: uncurry(Number.prototype.toString),
    toFixed: uncurry(Number.prototype.toFixed),
    max: Math.max, min: Math.min, round: Math.round, floor: Math.floor, sqrt: Math.sqrt,
    parseInt, parseFloat, Error,
    now: performance.now,
    holds, parent, target, isProxy, data, stackText, textOf, isError, nameOf, messageOf, isPromise, isArguments, primitive, frames, replaceLines,
    list: () => setPrototypeOf([], null), // an array whose items no setter of the guest's sees
    functionText, toISOString, dateTime, regExpText, boxes, bufferLengths,
    typedArrayTag, typedArrayLength, mapSize, mapForEach, setSize, setForEach,
    bytesOf,
    viewBuffer: getter(DataView.prototype, "buffer"),
    viewLength: getter(DataView.prototype, "byteLength"),
    viewOffset: getter(DataView.prototype, "byteOffset"),
    isWeak: (value) => holds(weakMapHas, value) || holds(weakSetHas, value),
    views, random, url, world, native, clear, deleteProperty,
    print,
    shift: (by) => { margin = by > 0 ? margin + "  " : slice(margin, 2); },
  });

  const { encode, encodeWithin, Unsendable } = pieces.values(kit);

  return function control(order, text) {
    if (order === "next") return next();
    if (order === "turn") return turn(text);
    if (order === "run") return run();
    if (order === "text") return keep(text);
    if (order === "load") return void piece(text);
    if (order === "start") return start(text);
    if (order === "session") return void (session = piece("session")(encodeWithin));
    if (order === "ask") return session.ask(text);
    if (order === "warm") return warm(text);
    return finish(text);
  };
})()
