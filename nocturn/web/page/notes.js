// The notes, each with its catalog line, and one of them whole.

import { count, element, empty, latest, time } from "./elements.js";
import { get } from "./server.js";

const TYPING_MS = 200;

export class Notes {
  constructor() {
    this.turn = latest();
    this.list = element("ul", { class: "rows" });
    this.more = element("button", { class: "quiet wide", hidden: true, onclick: () => this.load(this.cursor) }, "Show more");
    this.search = element("input", { type: "search", id: "search", autocomplete: "off", spellcheck: "false" });
    this.none = element("div", { hidden: true });
    let typing = 0;
    this.search.addEventListener("input", () => {
      clearTimeout(typing);
      typing = setTimeout(() => this.load(null), TYPING_MS);
    });
    this.view = element(
      "section",
      { class: "narrow" },
      element("h1", {}, "Notes"),
      element("div", { class: "field" }, element("label", { for: "search" }, "Search the paths"), this.search),
      this.none,
      this.list,
      this.more,
    );
  }

  show() {
    this.load(null);
    return this.view;
  }

  lines() {
    if (this.view.isConnected) this.load(null);
  }

  async load(cursor) {
    const isLast = this.turn();
    const search = this.search.value;
    const page = await get("/api/notes", cursor ? { cursor, search } : { search });
    const now = JSON.stringify([cursor, page]);
    if (!isLast() || now === this.filled) return; // what has the focus keeps it
    this.filled = now;
    const rows = page.notes.map(row);
    if (cursor) this.list.append(...rows);
    else this.list.replaceChildren(...rows);
    this.cursor = page.cursor;
    this.more.hidden = page.cursor === null;
    this.none.hidden = this.list.childElementCount > 0;
    this.none.replaceChildren(
      search ? empty("No note has such a path.", "") : empty("There are no notes yet.", "What a script remembers comes up here."),
    );
  }
}

export class Note {
  constructor() {
    this.view = element("section", { class: "narrow" });
  }

  show(path) {
    this.load(path);
    return this.view;
  }

  async load(path) {
    const back = element("p", {}, element("a", { href: "#/notes" }, "← Notes"));
    this.view.replaceChildren(back);
    try {
      const note = await get("/api/note", { path });
      this.view.replaceChildren(
        back,
        element("h1", { class: "target" }, note.name),
        element("p", { class: "lead" }, note.summary || "(no summary)"),
        element("p", { class: "facts" }, `${count(note.bytes, "byte")} · changed `, time(note.modified)),
        element("pre", { class: "text", tabindex: "0", "aria-label": "The note's text" }, note.text),
      );
    } catch (error) {
      this.view.append(empty("This note cannot be shown.", error.message));
    }
  }
}

function row(note) {
  return element(
    "li",
    {},
    element(
      "a",
      { href: `#/note/${encodeURIComponent(note.path)}` },
      element("span", { class: "target" }, note.name),
      element("span", { class: "summary" }, note.summary || "(no summary)"),
      element("span", { class: "facts" }, `${count(note.bytes, "byte")} · `, time(note.modified)),
    ),
  );
}
