// How what is shown is laid out: strings in quotes, items on one line, one below the other or in columns.
//
// Evaluated with `inspect.js`; it knows texts only.
(function (kit) {
  "use strict";

  const { getOwnPropertyDescriptor, hasOwn, isArray, list, max, min, round, floor, sqrt } = kit;
  const { slice, indexOf, charCode, codePoint, repeat, padStart, padEnd, match } = kit;

  const COMPACT = 3; // so many levels, counted from the innermost, may share a line
  const MAX_STRING = 10_000;

  // ---- strings ----------------------------------------------------------------------------------

  function showString(way, value) {
    let rest = "";
    if (value.length > MAX_STRING) {
      const more = value.length - MAX_STRING;
      rest = "... " + more + " more character" + (more === 1 ? "" : "s");
      value = slice(value, 0, MAX_STRING);
    }
    if (value.length <= 16 || value.length <= way.line - way.indent - 4) return quote(value) + rest;
    let text = "", from = 0;
    const glue = " +\n" + repeat(" ", way.indent + 2);
    for (let at = indexOf(value, "\n"); at >= 0 && at < value.length - 1; at = indexOf(value, "\n", from)) {
      text += quote(slice(value, from, at + 1)) + glue;
      from = at + 1;
    }
    return text + quote(slice(value, from)) + rest;
  }

  function quote(text) {
    const mark = indexOf(text, "'") < 0 ? "'" : indexOf(text, '"') < 0 ? '"'
      : indexOf(text, "`") < 0 && indexOf(text, "${") < 0 ? "`" : "'";
    return mark + escape(text, mark) + mark;
  }

  const SHORT = { __proto__: null, 8: "\\b", 9: "\\t", 10: "\\n", 12: "\\f", 13: "\\r", 92: "\\\\" };

  function escape(text, mark) {
    let out = "", from = 0;
    for (let i = 0; i < text.length; i += 1) {
      const code = charCode(text, i);
      let by;
      if (code < 32 || code === 92 || (code >= 127 && code < 160)) {
        by = SHORT[code] ?? "\\x" + (code < 16 ? "0" : "") + kit.upper(kit.radix(code, 16));
      } else if (mark === "'" && code === 39) {
        by = "\\'";
      } else if (code >= 0xd800 && code <= 0xdfff) {
        if (codePoint(text, i) > 0xffff) {
          i += 1;
          continue;
        }
        by = "\\u" + kit.radix(code, 16);
      } else {
        continue;
      }
      out += slice(text, from, i) + by;
      from = i + 1;
    }
    return from === 0 ? text : out + slice(text, from);
  }

  // ---- lines ------------------------------------------------------------------------------------

  function fit(way, out, base, form, level) {
    const { open, close, values } = form;
    const entries = out.length;
    const rows = values !== null && entries > 6 ? columns(way, out, values) : out;
    const before = base === "" ? "" : base + " ";
    if (way.deepest - level < COMPACT && rows.length === entries) {
      let total = 2 * entries + way.indent + open.length + base.length + 10;
      for (let i = 0; i < entries && total <= way.line; i += 1) total += rows[i].length;
      if (total <= way.line && (base === "" || indexOf(base, "\n") < 0)) {
        const joined = join(rows, ", ");
        if (indexOf(joined, "\n") < 0) return before + open + " " + joined + " " + close;
      }
    }
    const margin = "\n" + repeat(" ", way.indent);
    return before + open + margin + "  " + join(rows, "," + margin + "  ") + margin + close;
  }

  function join(rows, glue) {
    let text = "";
    for (let i = 0; i < rows.length; i += 1) text += (i === 0 ? "" : glue) + rows[i];
    return text;
  }

  // More than six short items are put in columns, whose number makes the whole about 2.5 times as wide
  // as high. The numbers are Node's.
  function columns(way, out, values) {
    const rest = out.length > way.items ? 1 : 0;
    const count = out.length - rest;
    const widths = list();
    let total = 0, widest = 0;
    for (let i = 0; i < count; i += 1) {
      widths[i] = width(out[i]);
      total += widths[i] + 2;
      widest = max(widest, widths[i]);
    }
    const each = widest + 2;
    if (each * 3 + way.indent >= way.line || (total / each <= 5 && widest > 6)) return out;
    const biased = max(each - 3 - sqrt(each - total / out.length), 1);
    const across = min(
      round(sqrt(2.5 * biased * count) / biased), floor((way.line - way.indent) / each), COMPACT * 4, 15,
    );
    if (across <= 1) return out;
    const room = list();
    for (let column = 0; column < across; column += 1) {
      let most = 0;
      for (let i = column; i < count; i += across) most = max(most, widths[i]);
      room[column] = most + 2;
    }
    const pad = areNumbers(values, out.length) ? padStart : padEnd;
    const rows = list();
    for (let i = 0; i < count; i += across) {
      const end = min(i + across, count);
      let row = "";
      for (let j = i; j < end - 1; j += 1) row += pad(out[j] + ", ", room[j - i] + out[j].length - widths[j]);
      const last = end - 1;
      row += pad === padStart ? padStart(out[last], room[last - i] + out[last].length - widths[last] - 2) : out[last];
      rows[rows.length] = row;
    }
    if (rest === 1) rows[rows.length] = out[count];
    return rows;
  }

  function areNumbers(values, length) {
    if (!isArray(values)) return true;
    for (let i = 0; i < length; i += 1) {
      const property = getOwnPropertyDescriptor(values, i);
      const type = property !== undefined && hasOwn(property, "value") ? typeof property.value : "";
      if (type !== "number" && type !== "bigint") return false;
    }
    return true;
  }

  // How many columns of a terminal: none for what combines, two for East Asian wide text and emoji.
  const NARROW = /^[\x20-\x7e]*$/;
  const NONE = /^[\p{Mn}\p{Me}\p{Cf}\p{Cc}]$/u;
  const WIDE =
    /^[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe6f\uff01-\uff60\uffe0-\uffe6]$/;
  const WIDE_PAIR = /^[\u{1f300}-\u{1f64f}\u{1f900}-\u{1f9ff}\u{20000}-\u{3fffd}]$/u;
  function width(text) {
    if (match(NARROW, text) !== null) return text.length;
    let total = 0;
    for (let i = 0; i < text.length; i += 1) {
      const point = codePoint(text, i);
      const character = slice(text, i, point > 0xffff ? i + 2 : i + 1);
      if (point > 0xffff) i += 1;
      total += match(point > 0xffff ? WIDE_PAIR : WIDE, character) !== null ? 2 : match(NONE, character) !== null ? 0 : 1;
    }
    return total;
  }

  return { __proto__: null, quote, escape, showString, fit, width };
})
