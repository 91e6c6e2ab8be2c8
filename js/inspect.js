// A value as a person reads it, shown as Node's `util.inspect` shows it.
//
// Evaluated when a script first shows what is no plain text. It runs nothing of the guest's: own
// data properties are read by their descriptors, getters are named, a proxy is looked through to its
// target. All that it works with was captured by the prelude; its own lists have no prototype, so
// that a setter which the guest puts on one is not asked either.
(function (kit, layout) {
  "use strict";

  const { getOwnPropertyDescriptor, getPrototypeOf, ownKeys, hasOwn, isArray } = kit;
  const { slice, indexOf, repeat, match, StringOf } = kit;
  const { holds, parent, target, data, textOf, isError, isPromise, toStringTag, list } = kit;
  const { quote, escape, showString, fit } = layout;
  const { min } = kit;

  const LINE = 80;
  const MAX_ITEMS = 100;
  const MAX_KEYS = 1_000; // Node shows them all
  const MAX_BUFFER = 50;
  const MAX_LENGTH = 4_294_967_295; // of an array, which is no index of one
  const IDENTIFIER = /^[A-Za-z_][A-Za-z_0-9]*$/;
  const INDEX = /^(?:0|[1-9]\d{0,9})$/;

  // ---- what is shown: one line of `way` is all that the depth of the walk carries ---------------

  function inspect(value, options) {
    const way = {
      __proto__: null,
      depth: 2, // how deep is shown; Infinity for all
      hidden: false, // non-enumerable properties too
      items: MAX_ITEMS,
      line: LINE,
      seen: null, // the objects around this one, as {value, up}
      indent: 0,
      deepest: 0, // of what was shown last
      circles: list(), // the objects that something within them refers back to
    };
    for (const key in options) way[key] = options[key];
    return show(way, value, 0);
  }

  function show(way, value, level) {
    if (typeof value !== "function" && (typeof value !== "object" || value === null)) {
      return typeof value === "string" ? showString(way, value) : kit.primitive(value);
    }
    value = target(value);
    if (value === null) return "<Revoked Proxy>";
    for (let each = way.seen; each !== null; each = each.up) {
      if (each.value === value) return "[Circular *" + circle(way, value) + "]";
    }
    return showObject(way, value, level);
  }

  // The number of a circle, from 1, given when something first refers back.
  function circle(way, value) {
    const { circles } = way;
    for (let i = 0; i < circles.length; i += 1) if (circles[i] === value) return i + 1;
    circles[circles.length] = value;
    return circles.length;
  }

  function showObject(way, value, level) {
    const form = formOf(way, value);
    if (form.keys.length === 0 && form.fill === null) return form.bare;
    if (level > way.depth) return form.short;
    way.seen = { __proto__: null, value, up: way.seen };
    way.deepest = level;
    const out = list();
    if (form.fill !== null) form.fill(way, out, level + 1);
    const { keys } = form;
    for (let i = 0; i < keys.length; i += 1) out[out.length] = showProperty(way, value, keys[i], level + 1);
    if (keys.more > 0) out[out.length] = "... " + keys.more + " more properties";
    way.seen = way.seen.up;
    let { base } = form;
    for (let i = 0; i < way.circles.length; i += 1) {
      if (way.circles[i] === value) base = "<ref *" + (i + 1) + ">" + (base === "" ? "" : " " + base);
    }
    return fit(way, out, base, form, level);
  }

  // ---- what an object is: {base, open, close, keys, fill, bare, short} --------------------------
  //
  // `base` stands before the braces, `fill` adds what is no property, `bare` is the whole where there
  // is nothing in it, `short` what stands for it too deep. Each kind is told by a method that throws on
  // anything else, so a guest's prototype can neither fake nor hide one.

  function formOf(way, value) {
    const name = constructorName(value);
    if (isArray(value)) return arrayForm(way, value, name, tagOf(value));
    const typed = kit.typedArrayTag(value);
    if (typed !== undefined) return typedForm(way, value, name, typed);
    const tag = tagOf(value);
    if (typeof value === "function") return functionForm(way, value, name, tag);
    for (let i = 0; i < KINDS.length; i += 1) {
      const form = KINDS[i](way, value, name, tag);
      if (form !== undefined) return form;
    }
    return plainForm(way, value, name, tag);
  }

  function makeForm(way, value, prefix, fields) {
    const form = {
      __proto__: null,
      base: "",
      open: prefix + "{",
      close: "}",
      keys: null,
      fill: null, // (way, out, level)
      bare: prefix + "{}",
      short: "[" + slice(prefix, 0, -1) + "]",
      values: null, // an array's, whose items may be put in columns
    };
    for (const key in fields) form[key] = fields[key];
    if (form.keys === null) form.keys = keysOf(way, value, false);
    return form;
  }

  function arrayForm(way, value, name, tag) {
    const { length } = value;
    const prefix = prefixOf(name, tag, "Array", "(" + length + ")");
    const open = (name === "Array" && tag === "" ? "" : prefix) + "[";
    return makeForm(way, value, prefixOf(name, tag, "Array"), {
      __proto__: null, open, close: "]", keys: keysOf(way, value, true), bare: open + "]", values: value,
      fill: length === 0 ? null : (_, out, level) => addItems(way, out, value, level),
    });
  }

  function typedForm(way, value, name, typed) {
    const length = kit.typedArrayLength(value);
    const open = prefixOf(name, typed, typed, "(" + length + ")") + "[";
    const keys = keysOf(way, value, true);
    if (name === "Buffer" && keys.length === 0) {
      const bare = "<Buffer" + (length === 0 ? "" : " ") + hex(value, length, MAX_BUFFER) + ">";
      return makeForm(way, value, "", { __proto__: null, keys, bare });
    }
    const fill = (_, out) => {
      const most = min(length, way.items);
      for (let i = 0; i < most; i += 1) out[i] = kit.primitive(value[i]);
      addRest(out, length - most);
    };
    return makeForm(way, value, prefixOf(name, typed, typed), {
      __proto__: null, open, close: "]", keys, bare: open + "]", values: value, fill: length === 0 ? null : fill,
    });
  }

  function functionForm(way, value, name, tag) {
    const called = textOf(value, "name", "");
    const text = kit.functionText(value);
    let base;
    if (slice(text, 0, 5) === "class" && slice(text, -1) === "}") {
      base = "[class " + (called === "" ? "(anonymous)" : called);
      if (name !== "Function" && name !== null) base += " [" + name + "]";
      const above = parent(value);
      const from = above === null ? "[null prototype]" : textOf(above, "name", "");
      base += (from === "" ? "" : " extends " + from) + "]";
    } else {
      const kind = tag === "" ? "Function" : tag; // AsyncFunction, GeneratorFunction and the like
      base = "[" + kind + (name === null ? " (null prototype)" : "");
      base += (called === "" ? " (anonymous)" : ": " + called) + "]";
      if (name !== null && name !== kind && name !== "Function") base += " " + name;
    }
    return makeForm(way, value, prefixOf(name, tag, "Function"), { __proto__: null, base, open: "{", bare: base });
  }

  const KINDS = [
    function told(way, value, name) { // as a class of ours says
      let view;
      for (let i = 0; i < kit.views.length && view === undefined; i += 1) view = kit.views[i](value);
      if (view === undefined) return undefined;
      const { rows } = view;
      const fill = (_, out, level) => {
        for (let i = 0; i < rows.length; i += 1) out[i] = rows[i].label + nested(way, rows[i].value, level, 2);
      };
      return makeForm(way, value, prefixOf(name, "", "Object"), {
        __proto__: null, keys: list(), fill: rows.length === 0 ? null : fill,
      });
    },
    function map(way, value, name, tag) {
      if (!holds(kit.mapSize, value)) return undefined;
      const size = kit.mapSize(value);
      const fill = (_, out, level) => {
        let count = 0;
        kit.mapForEach(value, (item, key) => {
          if (count < way.items) out[count] = nested(way, key, level, 2) + " => " + nested(way, item, level, 2);
          count += 1;
        });
        addRest(out, count - out.length);
      };
      return sized(way, value, prefixOf(name, tag, "Map", "(" + size + ")"), prefixOf(name, tag, "Map"), size, fill);
    },
    function set(way, value, name, tag) {
      if (!holds(kit.setSize, value)) return undefined;
      const size = kit.setSize(value);
      const fill = (_, out, level) => {
        let count = 0;
        kit.setForEach(value, (item) => {
          if (count < way.items) out[count] = nested(way, item, level, 2);
          count += 1;
        });
        addRest(out, count - out.length);
      };
      return sized(way, value, prefixOf(name, tag, "Set", "(" + size + ")"), prefixOf(name, tag, "Set"), size, fill);
    },
    function error(way, value, name, tag) {
      if (!isError(value)) return undefined;
      const keys = keysOf(way, value, false);
      const head = errorHead(value, name, tag);
      const base = errorText(way, value, head);
      const kept = list();
      for (let i = 0; i < keys.length; i += 1) {
        const said = keys[i] === "name" || keys[i] === "message" || keys[i] === "stack"
          ? textOf(value, keys[i], "\0") : "\0";
        if (indexOf(base, said) < 0) kept[kept.length] = keys[i];
      }
      if (isHidden(way, value, "cause")) kept[kept.length] = "cause";
      if (isHidden(way, value, "errors")) kept[kept.length] = "errors";
      return makeForm(way, value, prefixOf(name, tag, "Error"), {
        __proto__: null, base, open: "{", keys: kept, bare: base,
      });
    },
    function date(way, value, name, tag) {
      if (!holds(kit.dateTime, value)) return undefined;
      const time = kit.dateTime(value);
      const text = time === time ? kit.toISOString(value) : "Invalid Date";
      return based(way, value, prefixOf(name, tag, "Date"), "Date ", text);
    },
    function regExp(way, value, name, tag) {
      const text = kit.regExpText(value);
      return text === undefined ? undefined : based(way, value, prefixOf(name, tag, "RegExp"), "RegExp ", text, true);
    },
    function boxed(way, value, name, tag) {
      for (const kind in kit.boxes) {
        if (!holds(kit.boxes[kind], value)) continue;
        const inner = kit.boxes[kind](value);
        let base = "[" + kind + (name === kind ? "" : name === null ? " (null prototype)" : " (" + name + ")");
        base += ": " + (kind === "String" ? quote(inner) : kit.primitive(inner)) + "]";
        if (tag !== "" && tag !== name) base += " [" + tag + "]";
        const keys = keysOf(way, value, kind === "String");
        return makeForm(way, value, prefixOf(name, tag, kind), { __proto__: null, base, open: "{", keys, bare: base });
      }
      return undefined;
    },
    function buffer(way, value, name, tag) {
      const at = holds(kit.bufferLengths[0], value) ? 0 : holds(kit.bufferLengths[1], value) ? 1 : 2;
      if (at === 2) return undefined;
      const fill = (_, out) => {
        const bytes = kit.bytesOf(value);
        out[0] = bytes === undefined ? "(detached)"
          : "[Uint8Contents]: <" + hex(bytes, kit.typedArrayLength(bytes), way.items) + ">";
        out[1] = "byteLength: " + kit.bufferLengths[at](value);
      };
      return makeForm(way, value, prefixOf(name, tag, at === 0 ? "ArrayBuffer" : "SharedArrayBuffer"), { __proto__: null, fill });
    },
    function view(way, value, name, tag) {
      if (!holds(kit.viewBuffer, value)) return undefined;
      const fill = (_, out, level) => {
        let length = 0, offset = 0;
        try {
          length = kit.viewLength(value);
          offset = kit.viewOffset(value);
        } catch {} // its buffer has shrunk from under it
        out[0] = "byteLength: " + length;
        out[1] = "byteOffset: " + offset;
        out[2] = "buffer: " + nested(way, kit.viewBuffer(value), level, 2);
      };
      return makeForm(way, value, prefixOf(name, tag, "DataView"), { __proto__: null, fill });
    },
    function unseen(way, value, name, tag) { // what no script can look into without changing it
      const told = isPromise(value) ? "<not awaited>"
        : kit.isWeak(value) ? "<items unknown>" : "";
      if (told === "") return undefined;
      return makeForm(way, value, prefixOf(name, tag, "Object"), {
        __proto__: null, fill: (_, out) => { out[0] = told; },
      });
    },
  ];

  function plainForm(way, value, name, tag) {
    if (kit.isArguments(value)) return makeForm(way, value, "[Arguments] ", null);
    if (name === "Object" && tag === "") return makeForm(way, value, "Object ", { __proto__: null, open: "{", bare: "{}" });
    return makeForm(way, value, prefixOf(name, tag, "Object"), null);
  }

  const sized = (way, value, prefix, shortly, size, fill) => {
    const fields = { __proto__: null, short: "[" + slice(shortly, 0, -1) + "]", fill: size === 0 ? null : fill };
    return makeForm(way, value, prefix, fields);
  };

  // A text that is the whole, unless there are properties or another class.
  function based(way, value, prefix, usual, text, whole = false) {
    const base = prefix === usual ? text : prefix + text;
    const short = whole ? base : "[" + slice(prefix, 0, -1) + "]";
    return makeForm(way, value, prefix, { __proto__: null, base, open: "{", bare: base, short });
  }

  // ---- names and keys ---------------------------------------------------------------------------

  // The name of the class that it is an instance of, by data properties alone; null where it has none.
  function constructorName(value) {
    for (let at = value, steps = 0; at !== null && steps < 100; at = parent(at), steps += 1) {
      if (at === kit.ObjectPrototype && at !== value) return "Object"; // whatever the guest put there
      const property = getOwnPropertyDescriptor(at, "constructor");
      if (property === undefined || !hasOwn(property, "value") || typeof property.value !== "function") continue;
      const made = target(property.value);
      const name = made === null ? "" : textOf(made, "name", "");
      if (name !== "" && isInstance(value, data(made, "prototype"))) return name;
    }
    return getPrototypeOf(value) === null ? null : "Object <[Object: null prototype] {}>";
  }

  function isInstance(value, prototype) {
    for (let at = parent(value), steps = 0; at !== null && steps < 100; at = parent(at), steps += 1) {
      if (at === prototype) return true;
    }
    return false;
  }

  function tagOf(value) {
    const tag = data(value, toStringTag);
    if (typeof tag !== "string" || tag === "") return "";
    const own = getOwnPropertyDescriptor(value, toStringTag);
    return own !== undefined && own.enumerable ? "" : slice(tag, 0, 64);
  }

  function prefixOf(name, tag, fallback, size = "") {
    if (name === null) {
      return "[" + fallback + size + ": null prototype] " + (tag === "" || tag === fallback ? "" : "[" + tag + "] ");
    }
    return name + size + (tag === "" || tag === name ? " " : " [" + tag + "] ");
  }

  function keysOf(way, value, withoutItems) {
    const all = ownKeys(value), keys = list();
    for (let i = withoutItems ? indices(all) : 0; i < all.length; i += 1) {
      const key = all[i];
      if (keys.length === MAX_KEYS) {
        keys.more = all.length - i;
        break;
      }
      const property = getOwnPropertyDescriptor(value, key);
      if (property !== undefined && (way.hidden || property.enumerable)) keys[keys.length] = key;
    }
    return keys;
  }

  // How many of the keys are indices; those come first, and may be millions.
  function indices(keys) {
    let low = 0, high = keys.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const key = keys[middle];
      if (typeof key === "string" && match(INDEX, key) !== null && +key < MAX_LENGTH) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  // An own property that `keysOf` left out.
  function isHidden(way, value, key) {
    const property = getOwnPropertyDescriptor(value, key);
    return property !== undefined && !property.enumerable && !way.hidden;
  }

  function showProperty(way, value, key, level) {
    const property = getOwnPropertyDescriptor(value, key);
    if (property === undefined) return StringOf(key) + ": <gone>";
    const text = showSlot(way, property, level);
    let label;
    if (typeof key === "symbol") label = "[" + escape(kit.primitive(key), "") + "]";
    else if (key === "__proto__") label = "['__proto__']";
    else if (!property.enumerable) label = "[" + escape(key, "") + "]";
    else label = match(IDENTIFIER, key) === null ? quote(key) : key;
    return label + ": " + text;
  }

  function showSlot(way, property, level) {
    if (hasOwn(property, "value")) return nested(way, property.value, level, 2);
    if (property.get === undefined) return property.set === undefined ? "undefined" : "[Setter]";
    return property.set === undefined ? "[Getter]" : "[Getter/Setter]";
  }

  function nested(way, value, level, indent) {
    way.indent += indent;
    const text = show(way, value, level);
    way.indent -= indent;
    return text;
  }

  // ---- items ------------------------------------------------------------------------------------

  // By the keys there are, so that four billion holes take no time.
  function addItems(way, out, value, level) {
    const { length } = value;
    let next = 0;
    for (let found; next < length && next < way.items; next += 1) {
      if ((found = getOwnPropertyDescriptor(value, next)) === undefined) break;
      out[next] = showSlot(way, found, level);
    }
    if (next === length || next >= way.items) return addRest(out, length - next);
    const keys = ownKeys(value);
    const skip = (to) => {
      if (to > next && out.length < way.items) {
        out[out.length] = "<" + (to - next) + " empty item" + (to - next === 1 ? ">" : "s>");
        next = to;
      }
    };
    for (let i = next; i < keys.length && out.length < way.items; i += 1) {
      const key = keys[i];
      if (typeof key !== "string" || match(INDEX, key) === null) break;
      skip(+key);
      if (out.length >= way.items) break;
      out[out.length] = showSlot(way, getOwnPropertyDescriptor(value, key), level);
      next = +key + 1;
    }
    skip(length);
    addRest(out, length - next);
  }

  function addRest(out, count) {
    if (count > 0) out[out.length] = "... " + count + " more item" + (count === 1 ? "" : "s");
  }

  const DIGITS = "0123456789abcdef";
  function hex(bytes, length, most) {
    let text = "";
    for (let i = 0; i < length && i < most; i += 1) {
      text += (i === 0 ? "" : " ") + DIGITS[bytes[i] >> 4] + DIGITS[bytes[i] & 15];
    }
    return text + (length > most ? " ... " + (length - most) + " more byte" + (length - most === 1 ? "" : "s") : "");
  }

  // ---- errors -----------------------------------------------------------------------------------

  function errorHead(value, name, tag) {
    let said = kit.nameOf(value);
    const kind = slice(prefixOf(name, tag, "Error"), 0, -1);
    if (said !== kind && (name === null || slice(said, -5) === "Error")) {
      said = indexOf(kind, said) >= 0 ? kind : kind + " [" + said + "]";
    }
    const message = kit.messageOf(value);
    return said === "" ? message : said + (message === "" ? "" : ": " + message);
  }

  function errorText(way, value, head) {
    const frames = kit.frames(value);
    if (frames === "") return indexOf(head, "\n") < 0 ? "[" + head + "]" : "[" + indented(head, way.indent) + "]";
    return indented(head + "\n" + frames, way.indent);
  }

  const indented = (text, indent) => indent === 0 ? text : kit.replaceLines(text, "\n" + repeat(" ", indent));

  return inspect;
})
