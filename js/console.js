// What `console` does beyond a line of plain text: format specifiers, tables, groups, counts, timers.
//
// Evaluated when a script first uses it. Levels follow the console standard: count, timeEnd and the
// like are `info`, assert is `error`, what is told of a wrong label is `warn`.
(function (kit, inspect, layout) {
  "use strict";

  const { width } = layout;
  const { slice, indexOf, repeat, StringOf, ownKeys, getOwnPropertyDescriptor, defineProperty, hasOwn, isArray } = kit;
  const { holds, target, textOf, isError, list, stringify, primitive, now } = kit;

  const isObject = (value) => typeof value === "object" && value !== null;
  const textOrShown = (value) => (typeof value === "string" ? value : inspect(value));

  // ---- format -----------------------------------------------------------------------------------

  function format(values) {
    let text = "", used = 0;
    if (values.length > 1 && typeof values[0] === "string") {
      const made = fillIn(values);
      text = made.text;
      used = made.used;
    }
    for (let i = used; i < values.length; i += 1) text += (i === 0 ? "" : " ") + textOrShown(values[i]);
    return text;
  }

  function fillIn(values) {
    const pattern = values[0];
    let text = "", from = 0, used = 1;
    for (let i = indexOf(pattern, "%"); i >= 0 && i < pattern.length - 1; i = indexOf(pattern, "%", i)) {
      const letter = pattern[i + 1];
      let by;
      if (letter === "%") {
        by = "%";
      } else if (used < values.length && letter in SPECIFIERS) {
        by = SPECIFIERS[letter](values[used]);
        used += 1;
      } else {
        i += 1;
        continue;
      }
      text += slice(pattern, from, i) + by;
      from = i += 2;
    }
    return { __proto__: null, text: text + slice(pattern, from), used };
  }

  // What would be converted by running the guest is no number.
  const numeric = (read) => (value) =>
    typeof value === "bigint" ? primitive(value)
    : typeof value === "symbol" || typeof value === "function" || isObject(value) ? "NaN"
    : primitive(read(value));

  const SPECIFIERS = {
    __proto__: null,
    s: (value) =>
      typeof value === "string" ? value
      : typeof value === "function" && target(value) === value ? kit.functionText(value)
      : isObject(value) ? inspect(value, { __proto__: null, depth: 0 })
      : inspect(value),
    d: numeric((value) => +value),
    i: numeric(kit.parseInt),
    f: numeric(kit.parseFloat),
    // The script asks for JSON, and gets it as from JSON.stringify: its toJSON and getters included.
    j: (value) => {
      try {
        return StringOf(stringify(value));
      } catch (problem) {
        if (isError(problem) && indexOf(textOf(problem, "message", ""), "circular") >= 0) return "[Circular]";
        throw problem;
      }
    },
    o: (value) => inspect(value, { __proto__: null, hidden: true, depth: 4 }),
    O: (value) => inspect(value),
    c: () => "",
  };

  // ---- tables -----------------------------------------------------------------------------------

  function table(rows, only) {
    if (!isObject(rows)) return format([rows]);
    rows = target(rows);
    if (rows === null) return format([rows]);
    const columns = { __proto__: null }, index = list();
    const put = (head, row, text) => {
      columns[head] ??= { __proto__: null };
      columns[head][row] = text;
    };
    let values = null, indexHead = "(index)";
    const addRow = (name, item) => {
      const row = index.length;
      index[row] = name;
      item = isObject(item) || typeof item === "function" ? target(item) : item;
      if (isObject(item) || typeof item === "function") {
        eachColumn(item, only, (key, text) => put(key, row, text));
      } else {
        values ??= { __proto__: null };
        values[row] = cell(item);
      }
    };
    if (holds(kit.mapSize, rows)) {
      indexHead = "(iteration index)";
      values = { __proto__: null };
      kit.mapForEach(rows, (item, key) => {
        put("Key", index.length, cell(key));
        values[index.length] = cell(item);
        index[index.length] = StringOf(index.length);
      });
    } else if (holds(kit.setSize, rows)) {
      indexHead = "(iteration index)";
      values = { __proto__: null };
      kit.setForEach(rows, (item) => {
        values[index.length] = cell(item);
        index[index.length] = StringOf(index.length);
      });
    } else {
      eachOwn(rows, (key, property) => addRow(key, hasOwn(property, "value") ? property.value : undefined));
    }
    return draw(indexHead, index, columns, values);
  }

  function eachColumn(item, only, put) {
    const show = (key, property) => put(key, hasOwn(property, "value") ? cell(property.value) : "[Getter]");
    if (!isArray(only)) {
      eachOwn(item, show);
      return;
    }
    for (let i = 0; i < only.length; i += 1) {
      const key = textOrShown(only[i]);
      const property = getOwnPropertyDescriptor(item, key);
      if (property === undefined) put(key, "");
      else show(key, property);
    }
  }

  function eachOwn(value, visit) {
    const keys = ownKeys(value);
    for (let i = 0; i < keys.length; i += 1) {
      if (typeof keys[i] !== "string") continue;
      const property = getOwnPropertyDescriptor(value, keys[i]);
      if (property !== undefined && property.enumerable) visit(keys[i], property);
    }
  }

  function cell(value) {
    let depth = 0;
    if (isObject(value) && target(value) !== null && !isArray(target(value))) {
      let count = 0;
      eachOwn(target(value), () => { count += 1; });
      if (count > 2) depth = -1;
    }
    return inspect(value, { __proto__: null, depth, items: 3, line: Infinity });
  }

  // The columns are {head: {row: text}}, and `values` is one more for what has none; null for no such.
  function draw(indexHead, index, columns, values) {
    const heads = ownKeys(columns), cells = list(), widths = list();
    for (let i = 0; i < heads.length; i += 1) cells[i] = columns[heads[i]];
    if (values !== null) {
      cells[heads.length] = values;
      defineProperty(heads, heads.length, { __proto__: null, value: "Values" });
    }
    for (let column = -1; column < heads.length; column += 1) {
      let most = width(column < 0 ? indexHead : heads[column]);
      for (let row = 0; row < index.length; row += 1) {
        const wide = width(column < 0 ? index[row] : cells[column][row] ?? "");
        if (wide > most) most = wide;
      }
      widths[column + 1] = most;
    }
    const rule = (left, between, right) => {
      let text = left;
      for (let i = 0; i < widths.length; i += 1) text += (i === 0 ? "" : between) + repeat("\u2500", widths[i] + 2);
      return text + right;
    };
    const line = (textAt) => {
      let text = "\u2502";
      for (let i = 0; i < widths.length; i += 1) {
        const shown = textAt(i - 1);
        text += " " + shown + repeat(" ", widths[i] - width(shown)) + " \u2502";
      }
      return text + "\n";
    };
    let text = rule("\u250c", "\u252c", "\u2510") + "\n";
    text += line((column) => (column < 0 ? indexHead : heads[column]));
    text += rule("\u251c", "\u253c", "\u2524") + "\n";
    for (let row = 0; row < index.length; row += 1) {
      text += line((column) => (column < 0 ? index[row] : cells[column][row] ?? ""));
    }
    return text + rule("\u2514", "\u2534", "\u2518");
  }

  // ---- the rest of console: each prints by `print(level, text)` ------------------------------------

  const counts = { __proto__: null };
  const timers = { __proto__: null };
  const labelOf = (label) => (label === undefined ? "default" : textOrShown(label));

  function assert(values) {
    if (typeof values[0] === "string") values[0] = "Assertion failed: " + values[0];
    else if (values.length === 0) values[0] = "Assertion failed";
    else {
      kit.print("error", "Assertion failed " + format(values));
      return;
    }
    kit.print("error", format(values));
  }

  function spent(label, method) {
    if (label in timers) return duration(now() - timers[label]);
    kit.print("warn", "No such label '" + label + "' for console." + method + "()");
    return undefined;
  }

  function duration(ms) {
    return ms < 1000 ? +kit.toFixed(ms, 3) + "ms" : kit.toFixed(ms / 1000, 3) + "s";
  }

  return {
    __proto__: null,
    format,
    assert,
    table: (rows, only) => kit.print("log", table(rows, only)),
    dir(value, given) {
      const options = { __proto__: null };
      if (isObject(given)) {
        if (given.depth === null || typeof given.depth === "number") options.depth = given.depth ?? Infinity;
        options.hidden = given.showHidden === true;
      }
      kit.print("log", inspect(value, options));
    },
    dirxml: (...values) => kit.print("log", format(values)),
    trace(...values) {
      const text = values.length === 0 ? "Trace" : "Trace: " + format(values);
      const frames = kit.frames(new kit.Error());
      kit.print("log", frames === "" ? text : text + "\n" + frames);
    },
    group(...values) {
      if (values.length > 0) kit.print("log", format(values));
      kit.shift(1);
    },
    groupCollapsed(...values) {
      if (values.length > 0) kit.print("log", format(values));
      kit.shift(1);
    },
    groupEnd: () => kit.shift(-1),
    count(given) {
      const label = labelOf(given);
      counts[label] = (counts[label] ?? 0) + 1;
      kit.print("info", label + ": " + counts[label]);
    },
    countReset(given) {
      const label = labelOf(given);
      if (label in counts) counts[label] = 0;
      else kit.print("warn", "Count for '" + label + "' does not exist");
    },
    time(given) {
      const label = labelOf(given);
      if (label in timers) kit.print("warn", "Label '" + label + "' already exists for console.time()");
      else timers[label] = now();
    },
    timeLog(given, ...values) {
      const label = labelOf(given);
      const text = spent(label, "timeLog");
      if (text !== undefined) {
        kit.print("log", label + ": " + text + (values.length === 0 ? "" : " " + format(values)));
      }
    },
    timeEnd(given) {
      const label = labelOf(given);
      const text = spent(label, "timeEnd");
      if (text === undefined) return;
      delete timers[label];
      kit.print("info", label + ": " + text);
    },
    clear() {},
  };
})
