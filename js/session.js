// What a session has besides a run: its last value, what is declared, and what completes a name.
//
// Evaluated when a session begins. It runs nothing of the guest's: values are looked at by their
// descriptors, a proxy is not entered, a getter is named.
(function (kit, inspect, layout) {
  "use strict";

  const { world, native, clear, deleteProperty, defineProperty, getOwnPropertyDescriptor } = kit;
  const { getPrototypeOf, ownKeys, hasOwn, list, match, data, isError, isProxy } = kit;
  const { slice, indexOf, is, isArray, isObject, stringify, stackText, target, typedArrayTag } = kit;
  const { scope } = native; // undefined where the engine does not give it
  if (scope !== undefined) deleteProperty(scope, "__nocturn_probe");

  const MOST_SHOWN = 8_192; // characters of a value
  const MOST_ROW = 120; // characters of a variable's value
  const MOST_NAMES = 1_000;
  const MOST_NAME = 200; // characters of one
  const MOST_STEPS = 16; // of a path, and of a prototype chain

  const DECLARED = /^redeclaration of '(.*)'$/;
  const IDENTIFIER = /^[\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]*$/u;
  const PATH = /(?:^|[^\p{ID_Continue}$.])((?:[\p{ID_Start}$_][\p{ID_Continue}$]*(?:\[\d{1,9}\])*\??\.)*)([\p{ID_Continue}$]*)$/u;
  const STEP = /^(?:([\p{ID_Continue}$]+)|\[(\d+)\])\??\.?/u;
  const PLACE = /:(\d{1,9}:\d{1,9})/;
  const HASHBANG = /^#!/;
  // Each alternative ends where it must, so that there is one way to match.
  const STRICT =
    /^(?:\s|\/\/.*(?=[\r\n]|$)|\/\*(?:[^*]|\*(?!\/))*\*\/)*(["'])use strict\1[ \t]*(?:[;\r\n]|$)/;

  // What the world had before any guest: not the session's own.
  const ours = { __proto__: null };
  for (const name of ownKeys(world)) if (typeof name === "string") ours[name] = true;
  ours.nocturn = true;
  let last; // the last value, under `_` until the guest has one of its own
  let isOurs = true;

  const cut = (text, most) => (text.length > most ? slice(text, 0, most) + "…" : text);

  function shown(value, most, depth = 2) {
    try {
      if (typeof value === "string") value = slice(value, 0, most + 1); // its end would not be seen
      return cut(inspect(value, { __proto__: null, depth }), most);
    } catch {
      return "(a value that cannot be shown)";
    }
  }

  // Whether a property has a value. A name that waits for its own, or whose own has failed, has one of
  // no type in `scope`, which nothing but `typeof` may touch.
  const hasValue = (found) => found !== undefined && hasOwn(found, "value") && typeof found.value !== "unknown";

  // The value of a name; undefined where telling it would run something.
  function valueOf(name) {
    const found =
      (scope !== undefined && getOwnPropertyDescriptor(scope, name)) || getOwnPropertyDescriptor(world, name);
    return hasValue(found) ? found.value : undefined;
  }

  function keepLast(value) {
    if (value === undefined || !isOurs) return;
    const now = getOwnPropertyDescriptor(world, "_");
    const isSame = now === undefined ? last === undefined : hasOwn(now, "value") && is(now.value, last);
    isOurs = isSame && !(scope !== undefined && hasOwn(scope, "_"));
    if (!isOurs) return;
    last = value;
    defineProperty(world, "_", { __proto__: null, value, writable: true, enumerable: false, configurable: true });
  }

  // One of the engine's own, whatever the guest has made of the class.
  const SyntaxErrorPrototype = SyntaxError.prototype;
  const isSyntaxError = (value) => isError(value) && getPrototypeOf(value) === SyntaxErrorPrototype;

  // ---- a line's beginning -------------------------------------------------------------------------

  // What the line has taken the place of, as {name, property, next}: put back if it cannot begin after all.
  let taken = null;

  function begin() {
    clear();
    taken = null;
    const { source } = native;
    native.strict = match(STRICT, source) !== null;
    if (match(HASHBANG, source) !== null) native.source = "//" + slice(source, 2);
  }

  // Told why a line could not begin: whether a name was in its way, and is free now.
  native.declared = (error) => {
    if (scope === undefined || !isSyntaxError(error)) return false;
    const found = match(DECLARED, data(error, "message"));
    if (found === null) return false;
    const name = found[1];
    const property = getOwnPropertyDescriptor(scope, name);
    if (property !== undefined && deleteProperty(scope, name)) {
      taken = { __proto__: null, name, property, next: taken };
      return true;
    }
    for (; taken !== null; taken = taken.next) defineProperty(scope, taken.name, taken.property);
    const value = found[0] + ": what var or function has declared can only be declared so again, or assigned to";
    defineProperty(error, "message", { __proto__: null, value });
    return false;
  };

  const isClass = (value) => typeof value === "function" && match(/^class\b/, kit.functionText(value)) !== null;

  function row(name, kind, value) {
    const type = value === null ? "null" : typeof value;
    return { __proto__: null, name: cut(name, MOST_NAME), kind, type, shown: shown(value, MOST_ROW, 0) };
  }

  function vars() {
    const rows = list();
    const names = scope === undefined ? list() : ownKeys(scope);
    for (let i = 0; i < names.length && rows.length < MOST_NAMES; i += 1) {
      const found = getOwnPropertyDescriptor(scope, names[i]);
      if (!hasValue(found)) continue;
      const kind = isClass(found.value) ? "class" : found.writable ? "let" : "const";
      rows[rows.length] = row(names[i], kind, found.value);
    }
    const globals = ownKeys(world);
    for (let i = 0; i < globals.length && rows.length < MOST_NAMES; i += 1) {
      const name = globals[i];
      if (typeof name !== "string" || name in ours || name === "_") continue;
      const found = getOwnPropertyDescriptor(world, name);
      if (!hasValue(found)) continue;
      rows[rows.length] = row(name, typeof found.value === "function" ? "function" : "var", found.value);
    }
    return rows;
  }

  function namesOf(value, prefix, into, seen) {
    for (let at = value, steps = 0; at !== null && steps < MOST_STEPS && !isProxy(at); steps += 1) {
      const names = namesIn(at);
      for (let i = 0; i < names.length && into.length < MOST_NAMES; i += 1) {
        const name = names[i];
        if (typeof name !== "string" || name.length > MOST_NAME || name in seen || indexOf(name, prefix) !== 0) continue;
        if (match(IDENTIFIER, name) === null) continue;
        seen[name] = true;
        into[into.length] = name;
      }
      at = getPrototypeOf(at);
    }
  }

  // A long list's own keys are its indices, which may be millions and complete nothing.
  const LIST = ["length"];
  const namesIn = (value) =>
    isArray(value) && value.length > MOST_NAMES ? LIST : typedArrayTag(value) !== undefined ? list() : ownKeys(value);

  // What a primitive inherits from.
  const boxes = {
    __proto__: null,
    string: String.prototype, number: Number.prototype, boolean: Boolean.prototype,
    bigint: BigInt.prototype, symbol: Symbol.prototype,
  };

  // The value of a data property; a getter, or a proxy anywhere on the way, ends it.
  function memberOf(value, name) {
    if (!isObject(value) && typeof value !== "function") return undefined;
    for (let at = value, steps = 0; at !== null && steps < MOST_STEPS && !isProxy(at); steps += 1) {
      const found = getOwnPropertyDescriptor(at, name);
      if (found !== undefined) return hasValue(found) ? found.value : undefined;
      at = getPrototypeOf(at);
    }
    return undefined;
  }

  function complete(text) {
    const into = list();
    const found = match(PATH, text);
    if (found === null) return into;
    const seen = { __proto__: null };
    if (found[1] === "") {
      if (scope !== undefined) namesOf(scope, found[2], into, seen);
      namesOf(world, found[2], into, seen);
      return into;
    }
    let value, rest = found[1];
    for (let steps = 0; rest !== ""; steps += 1) {
      if (steps === MOST_STEPS) return into;
      const step = match(STEP, rest);
      const name = step[1] === undefined ? step[2] : step[1];
      value = steps === 0 ? valueOf(name) : memberOf(value, name);
      rest = slice(rest, step[0].length);
    }
    if (value === undefined || value === null) return into;
    if (!isObject(value) && typeof value !== "function") value = boxes[typeof value];
    namesOf(value, found[2], into, seen);
    return into;
  }

  // A SyntaxError's message, and where it stands as LINE:COLUMN.
  native.told = (error) => {
    const found = isSyntaxError(error) ? match(PLACE, stackText(error)) : null;
    return slice((found === null ? "0:0" : found[1]) + " " + data(error, "message"), 0);
  };

  return (encodeWithin) => ({
    __proto__: null,
    begin,
    hasScope: scope !== undefined,
    ending(value, ceiling) {
      let text;
      try {
        const most = ceiling - MOST_SHOWN * 6;
        text = encodeWithin(most, value, "value");
        if (text !== undefined && text.length > most) text = undefined;
      } catch {
        text = undefined; // it is no error here: it is shown
      }
      keepLast(value);
      const told = value === undefined ? "null" : stringify(slice(shown(value, MOST_SHOWN), 0));
      return '{"type":"done","status":"ok","value":' + (text === undefined ? "null" : text) + ',"shown":' + told + "}";
    },
    ask(text) {
      let answer;
      try {
        answer = text === "vars" ? vars() : complete(slice(text, 9));
      } catch { // a module's name that has no value yet, and what else the guest may think of
        answer = list();
      }
      return slice(encodeWithin(Infinity, answer, "answer"), 0);
    },
  });
})
