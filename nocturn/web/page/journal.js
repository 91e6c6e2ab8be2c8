// The journal, the newest line first, and whether its chain is whole.

import { count, element, empty, latest, time } from "./elements.js";
import { get } from "./server.js";

const LINES = 200;
const MOST_LINES = 1000;
const HEADS = ["When", "Who", "Tool", "What", "Outcome", "Took"];

export class Journal {
  constructor() {
    this.turn = latest();
    // The roles are said, since on a phone the table is laid out as blocks, and would be none.
    this.rows = element("tbody", { role: "rowgroup" });
    this.verdict = element("div", { class: "verdict", role: "status" });
    this.filter = element("input", { type: "search", id: "filter", autocomplete: "off", spellcheck: "false" });
    this.filter.addEventListener("input", () => this.sift());
    this.more = element("button", { class: "quiet wide", hidden: true, onclick: () => this.load(MOST_LINES) }, "Show more");
    this.none = element("div", {});
    this.view = element(
      "section",
      {},
      element("h1", {}, "Journal"),
      this.verdict,
      element("div", { class: "field" }, element("label", { for: "filter" }, "Only lines with"), this.filter),
      this.none,
      element(
        "table",
        { class: "journal", role: "table" },
        element(
          "thead",
          { role: "rowgroup" },
          element("tr", { role: "row" }, HEADS.map((head) => element("th", { role: "columnheader", scope: "col" }, head))),
        ),
        this.rows,
      ),
      this.more,
    );
  }

  show() {
    this.load(LINES);
    this.verify();
    return this.view;
  }

  lines(lines) {
    if (!this.view.isConnected) return;
    this.rows.prepend(...lines.map(row).reverse());
    while (this.rows.childElementCount > MOST_LINES) this.rows.lastElementChild.remove();
    this.sift();
  }

  async load(asked) {
    const isLast = this.turn();
    const told = await get("/api/journal", { lines: asked });
    if (!isLast()) return;
    this.rows.replaceChildren(...told.lines.map(row).reverse());
    this.more.hidden = !told.more || asked === MOST_LINES;
    this.sift();
  }

  sift() {
    const words = this.filter.value.toLowerCase().split(/\s+/);
    let shown = 0;
    for (const each of this.rows.children) {
      const text = each.textContent.toLowerCase();
      each.hidden = !words.every((word) => text.includes(word));
      shown += each.hidden ? 0 : 1;
    }
    const nothing = this.rows.childElementCount
      ? empty("No line has this.", "")
      : empty("The journal is empty.", "Each call and each decision comes up here.");
    this.none.replaceChildren(...(shown ? [] : [nothing]));
    this.view.querySelector("table").hidden = !shown;
  }

  async verify() {
    this.verdict.replaceChildren("Looking at the chain…");
    try {
      this.verdict.replaceChildren(...said(await get("/api/journal/verdict"), () => this.verify()));
    } catch (error) {
      this.verdict.replaceChildren(element("p", { class: "trouble" }, error.message));
    }
  }
}

function said(verdict, again) {
  const check = element("button", { class: "quiet", onclick: again }, "Check again");
  if (!verdict.begins && verdict.whole) return [element("p", {}, "There is no chain yet.")];
  const lines = `${count(verdict.lines, "sealed line")}, ${verdict.first} to ${verdict.last}`;
  const notes = [
    verdict.before ? `Nothing vouches for ${count(verdict.before, "line")} before it.` : null,
    verdict.purged ? `${count(verdict.purged, "line")} purged, as a later line tells of each.` : null,
    verdict.torn ? `${count(verdict.torn, "line")} torn by a crash, with nothing missing.` : null,
    verdict.end_is_known ? null : "How far it went is not known here: a cut of its end cannot be seen.",
  ].filter(Boolean);
  const problems = verdict.findings.map((each) =>
    element("li", {}, element("span", { class: "target" }, `${each.file}:${each.line}`), ` ${each.what}`),
  );
  if (verdict.problems > problems.length) {
    problems.push(element("li", {}, `and ${verdict.problems - problems.length} more`));
  }
  return [
    element(
      "p",
      { class: verdict.whole ? "whole" : "broken" },
      element("b", {}, verdict.whole ? "The chain is whole." : "The chain is not whole."),
      ` ${lines}. ${notes.join(" ")} `,
      check,
    ),
    ...(problems.length ? [element("ul", { class: "broken" }, problems)] : []),
  ];
}

function row(line) {
  const cells = [
    [line.sealed ? null : element("span", { class: "unsealed", title: "Nothing vouches for this line" }, "? "), time(line.at, { timeStyle: "medium" }, "")],
    line.agent,
    line.tool,
    element("span", { class: "target" }, line.deeds),
    element("span", { class: `outcome-${line.kind}` }, line.outcome),
    took(line.ms),
  ];
  return element(
    "tr",
    { role: "row" },
    cells.map((cell) => element("td", { role: "cell" }, cell)),
  );
}

function took(ms) {
  if (ms === null) return "";
  if (ms >= 1000) return `${(ms / 1000).toFixed(1)} s`;
  return `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`;
}
