// The yeses that last, with what each covers now, and the way to take one back.

import { count, element, empty, latest, time } from "./elements.js";
import { get, send } from "./server.js";

const SHOWN_NOTES = 6;

export class Grants {
  constructor(announce) {
    this.announce = announce;
    this.turn = latest();
    this.list = element("ul", { class: "rows" });
    this.note = element("div", {});
    this.view = element(
      "section",
      { class: "narrow" },
      element("h1", {}, "Grants"),
      element("p", { class: "lead" }, "What agents may do without asking again."),
      this.note,
      this.list,
    );
  }

  show() {
    this.load();
    return this.view;
  }

  lines() {
    if (this.view.isConnected) this.load();
  }

  async load() {
    const isLast = this.turn();
    const given = await get("/api/grants");
    // Not while somebody is about to take one back: its button would go from under the pointer.
    if (isLast() && !this.list.querySelector(".sure")) this.fill(given);
  }

  fill(given) {
    const now = JSON.stringify(given);
    if (now === this.filled) return; // what has the focus keeps it
    this.filled = now;
    this.list.replaceChildren(...given.grants.map((grant) => this.row(grant)));
    this.note.replaceChildren(
      ...(given.trouble
        ? [element("p", { class: "trouble" }, given.trouble)]
        : given.grants.length
          ? []
          : [empty("There are no grants.", "A yes that you have remembered comes up here.")]),
    );
  }

  row(grant) {
    const actions = element("div", { class: "actions" });
    const take = element("button", { class: "deny" }, "Revoke");
    take.setAttribute("aria-label", `Revoke: ${grant.agent}, ${grant.verb} ${grant.pattern}`);
    take.addEventListener("click", () => {
      const sure = element("button", { class: "deny sure", onclick: () => this.revoke(grant, row) }, "Really revoke");
      const not = element("button", { class: "quiet" }, "Keep");
      not.addEventListener("click", () => {
        actions.replaceChildren(take);
        take.focus();
      });
      actions.replaceChildren(not, sure);
      not.focus();
    });
    actions.append(take);
    const row = element(
      "li",
      { class: "grant", "data-id": grant.id },
      element(
        "div",
        {},
        element("p", {}, element("b", {}, grant.agent), ` may ${grant.verb} `, element("span", { class: "target" }, grant.pattern)),
        element("p", { class: "facts" }, covered(grant.notes)),
        element("p", { class: "facts" }, ...until(grant)),
      ),
      actions,
    );
    return row;
  }

  async revoke(grant, row) {
    try {
      this.fill(await send(`/api/grants/${grant.id}/revoke`));
      this.announce(`Revoked: ${grant.agent} may ${grant.verb} ${grant.pattern} no more`);
      document.querySelector("#main").focus();
    } catch (error) {
      row.append(element("p", { class: "trouble" }, error.message));
    }
  }
}

function covered(notes) {
  if (notes === null) return "Not for notes.";
  if (!notes.length) return "Covers no note that is there now.";
  const shown = notes.slice(0, SHOWN_NOTES).join(", ");
  const more = notes.length - SHOWN_NOTES;
  return `Covers ${count(notes.length, "note")} now: ${shown}${more > 0 ? `, and ${more} more` : ""}`;
}

function until(grant) {
  const since = grant.made_at ? ["Given ", time(grant.made_at), " · "] : [];
  if (grant.expired) return [...since, "expired"];
  return grant.expires_at ? [...since, "until ", time(grant.expires_at)] : [...since, "until you revoke it"];
}
