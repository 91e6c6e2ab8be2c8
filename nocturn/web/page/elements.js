// Builds elements. Whatever a guest wrote goes in as text: there is no way from here to HTML.

export function element(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (key === "class") made.className = value;
    else if (key === "hidden" || key === "disabled") made.toggleAttribute(key, value);
    else if (value !== null) made.setAttribute(key, value);
  }
  made.append(...children.flat(Infinity).filter((child) => child !== null));
  return made;
}

export function count(number, one, many = `${one}s`) {
  return `${number.toLocaleString("en")} ${number === 1 ? one : many}`;
}

const CLOCK = { timeStyle: "short" };
const DAY = { dateStyle: "medium", timeStyle: "short" };
const EXACT = { dateStyle: "full", timeStyle: "long" };

export function time(iso, today = CLOCK, before = "today, ") {
  const moment = new Date(iso);
  if (Number.isNaN(moment.valueOf())) return element("span", {}, String(iso));
  const isToday = moment.toDateString() === new Date().toDateString();
  const shown = moment.toLocaleString("en-GB", isToday ? today : DAY);
  const exact = moment.toLocaleString("en-GB", EXACT);
  return element("time", { datetime: iso, title: exact }, isToday ? before + shown : shown);
}

export function empty(title, more) {
  return element("div", { class: "empty" }, element("p", {}, title), element("p", {}, more));
}

// Of what was asked for twice, only the last answer counts: a slow one must not cover it.
export function latest() {
  let turn = 0;
  return () => {
    const mine = ++turn;
    return () => mine === turn;
  };
}
