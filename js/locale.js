// `toLocaleString` of numbers: there is no Intl, so every locale is told as en-US tells it.
(function () {
  "use strict";

  const SIGNS = { __proto__: null, USD: "$", EUR: "\u20ac", GBP: "\u00a3", JPY: "\u00a5", INR: "\u20b9" };

  function group(digits) {
    return digits.replace(/\B(?=(?:\d{3})+$)/g, ",");
  }

  function digitsOf(given, name, otherwise) {
    const value = given[name] === undefined ? otherwise : Math.floor(Number(given[name]));
    if (value >= 0 && value <= 100) return value;
    throw new RangeError(`${name} must be from 0 to 100`);
  }

  // `value` is a number or a bigint.
  function show(value, options) {
    const given = options ?? {};
    const money = given.style === "currency" ? `${given.currency}`.toUpperCase() : "";
    const percent = given.style === "percent";
    const usual = money === "" ? 0 : money === "JPY" ? 0 : 2;
    const least = digitsOf(given, "minimumFractionDigits", Math.min(usual, given.maximumFractionDigits ?? usual));
    const most = digitsOf(given, "maximumFractionDigits", Math.max(least, money !== "" ? usual : percent ? 0 : 3));
    if (least > most) throw new RangeError("minimumFractionDigits is over maximumFractionDigits");
    const before = money === "" ? "" : SIGNS[money] ?? `${money}\u00a0`;
    const negative = value < 0 || Object.is(value, -0);
    const text = before + fixed(value, percent, least, most, given.useGrouping !== false) + (percent ? "%" : "");
    return negative ? `-${text}` : text;
  }

  function fixed(value, percent, least, most, grouped) {
    if (typeof value === "bigint") {
      const digits = String(value < 0n ? -value : value) + (percent ? "00" : "");
      return (grouped ? group(digits) : digits) + (least > 0 ? `.${"0".repeat(least)}` : "");
    }
    const size = Math.abs(percent ? value * 100 : value);
    if (Number.isNaN(size)) return "NaN";
    if (size === Infinity) return "\u221e";
    const [whole, rest = ""] = size < 2 ** 53 ? size.toFixed(most).split(".") : [wholeDigits(size)];
    let fraction = rest.padEnd(least, "0");
    while (fraction.length > least && fraction.endsWith("0")) fraction = fraction.slice(0, -1);
    return (grouped ? group(whole) : whole) + (fraction === "" ? "" : `.${fraction}`);
  }

  // The digits that tell it from its neighbours, then zeros.
  function wholeDigits(size) {
    const [digits, exponent] = size.toExponential().split("e");
    return digits.replace(".", "").padEnd(+exponent + 1, "0");
  }

  return { __proto__: null, show };
})
