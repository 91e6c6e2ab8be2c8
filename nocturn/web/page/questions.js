// The questions that wait, each a card with what would change and the answers on offer.
//
// A card never moves while it can be answered: new ones come below, and one that is settled stays
// where it is until it is put away, so that no click lands on another answer than was meant.

import { count, element, empty, time } from "./elements.js";
import { get, send } from "./server.js";

const SHOWN_ROWS = 24;
const NAMED = 5; // effects in a title; an import may have thousands, and all are in its text
const VERBS = { write: "write", remove: "remove", move: "move" };
const REMARKS = {
  shape: "May hold a secret",
  opaque: "Cannot be read",
  instructions: "Reads like instructions to a model",
  outside: "Text from outside",
  edit: "Edited",
};
const KINDS = { " ": "same", "+": "added", "-": "removed", "@": "place", "\\": "place" };
const SAID = { added: "added: ", removed: "removed: " };

export class Questions {
  constructor(announce, counted) {
    this.announce = announce;
    this.counted = counted;
    this.cards = new Map();
    this.list = element("div", { class: "cards" });
    this.none = empty(
      "Nothing waits for you.",
      "When a run in mode guarded asks for a yes, its question comes up here.",
    );
    this.view = element("section", { class: "narrow" }, element("h1", {}, "Questions"), this.none, this.list);
    setInterval(() => this.cards.forEach((card) => card.tick()), 500);
  }

  show() {
    return this.view;
  }

  async waiting(ids) {
    for (const id of ids) {
      if (!this.cards.has(id)) await this.add(id);
    }
    for (const [id, card] of this.cards) {
      if (!ids.includes(id) && card.isOpen) card.settle(await get(`/api/questions/${id}`));
    }
    this.changed();
  }

  async add(id) {
    const question = await get(`/api/questions/${id}`);
    if (this.cards.has(id) || question.state !== "waiting") return;
    const card = new Card(question, {
      changed: () => this.changed(),
      putAway: () => {
        this.cards.delete(id);
        this.changed();
      },
    });
    this.cards.set(id, card);
    this.list.append(card.view);
    this.announce(`New question: ${card.view.querySelector("h2").textContent}`);
  }

  changed() {
    this.none.hidden = this.cards.size > 0;
    this.counted([...this.cards.values()].filter((card) => card.waits).length);
  }
}

class Card {
  constructor(question, tell) {
    this.question = question;
    this.tell = tell;
    this.waits = true;
    this.answering = false;
    this.end = performance.now() + question.seconds_left * 1000;
    const patience = (Date.parse(question.expires_at) - Date.parse(question.asked_at)) / 1000;
    this.bar = element("progress", { max: Math.max(1, patience), "aria-hidden": "true" });
    this.left = element("span", {});
    this.answers = answersTo(question, (option) => this.answer(option));
    this.outcome = element("div", { class: "outcome", tabindex: "-1", hidden: true });
    this.view = element(
      "article",
      { class: "question", "aria-labelledby": `title-${question.id}`, "data-id": question.id },
      element("div", { class: "clock" }, this.left, this.bar),
      title(question),
      remarks(question),
      change(question),
      this.answers,
      this.outcome,
      facts(question),
    );
    this.tick();
  }

  // An answer from here that is on its way tells what has become of it itself.
  get isOpen() {
    return this.waits && !this.answering;
  }

  tick() {
    if (!this.waits) return;
    const seconds = Math.max(0, (this.end - performance.now()) / 1000);
    const shown = Math.ceil(seconds);
    this.bar.value = seconds;
    this.left.textContent = `${Math.floor(shown / 60)}:${String(shown % 60).padStart(2, "0")} left`;
    this.view.classList.toggle("late", seconds < 20);
  }

  async answer(option) {
    this.lock(true);
    const { id, digest } = this.question;
    try {
      this.settle(await send(`/api/questions/${id}/answer`, { option, digest }), true);
    } catch (error) {
      if (error.code === "CONFLICT") {
        this.settle(await get(`/api/questions/${id}`), true, "Too late: ");
      } else {
        this.lock(false);
        this.outcome.hidden = false;
        this.outcome.className = "outcome failed";
        this.outcome.replaceChildren(`That did not work: ${error.message}`);
      }
    }
  }

  lock(locked) {
    this.answering = locked;
    for (const button of this.answers.querySelectorAll("button")) button.disabled = locked;
  }

  settle(asked, mine = false, before = "") {
    if (!this.waits) return;
    this.waits = false;
    const [kind, said] = becameOf(asked, mine && !before);
    const away = () => {
      this.view.remove();
      this.tell.putAway();
      document.querySelector("#main").focus();
    };
    // As high as it was: what is below must not come up under a pointer.
    this.view.style.minHeight = `${this.view.offsetHeight}px`;
    this.view.classList.add("settled");
    this.answers.remove();
    this.left.textContent = { answered: "Answered", expired: "Expired" }[asked.state] ?? "Withdrawn";
    this.outcome.className = `outcome ${kind}`;
    this.outcome.hidden = false;
    this.outcome.replaceChildren(
      element("p", {}, before + said),
      element("button", { class: "quiet", onclick: away }, "Put away"),
    );
    if (mine) this.outcome.focus();
    this.tell.changed();
  }
}

function title(question) {
  const more = question.effects.length - NAMED;
  const deeds = question.effects.slice(0, NAMED).map((effect, at) => [
    at ? ", and " : "",
    `${VERBS[effect.verb] ?? effect.verb} `,
    element("span", { class: "target" }, effect.target),
  ]);
  if (more > 0) deeds.push(` and ${more} more`);
  const who = question.named ? question.agent : `A script without a name`;
  const wants = question.dry ? " would (in a dry run) " : " wants to ";
  return element("h2", { id: `title-${question.id}` }, element("b", {}, who), wants, deeds);
}

function remarks(question) {
  const told = question.remarks.map((remark) =>
    element(
      "li",
      {},
      element("b", {}, REMARKS[remark.kind] ?? remark.kind),
      ` ${[remark.place, remark.text].filter(Boolean).join(": ")}`,
    ),
  );
  if (question.outside.length && !question.remarks.some((each) => each.kind === "outside")) {
    told.push(element("li", {}, element("b", {}, REMARKS.outside), ` read by ${question.outside.join(", ")}`));
  }
  return told.length ? element("ul", { class: "remarks", "aria-label": "Look out" }, told) : null;
}

function change(question) {
  const begins = /^@@ -[01](,\d+)? \+[01](,\d+)? @@$/.test(question.diff[0] ?? "");
  const rows = question.diff.slice(begins ? 1 : 0).map(row);
  const caption = question.removes
    ? question.effects.some((effect) => effect.verb === "remove")
      ? "Moves this note to the trash"
      : "Without a text"
    : `${question.replaces ? "Changes what is there, to" : "New,"} ${count(question.size_bytes, "byte")}`;
  if (!rows.length) {
    const nothing = question.replaces ? "The text that is there already." : "No text.";
    rows.push(element("div", { class: "row place" }, nothing));
  }
  const diff = element(
    "div",
    { class: question.replaces ? "diff" : "diff new", tabindex: "0", role: "region", "aria-label": caption },
    rows,
  );
  const more = element("button", { class: "unfold" }, `Show all ${count(rows.length, "line")}`);
  const hidden = rows.length > SHOWN_ROWS + 5 ? rows.slice(SHOWN_ROWS) : [];
  for (const each of hidden) each.hidden = true;
  more.addEventListener("click", () => {
    for (const each of hidden) each.hidden = false;
    diff.classList.add("whole");
    more.remove();
    diff.focus();
  });
  return element(
    "figure",
    { class: "change" },
    element("figcaption", {}, caption),
    diff,
    hidden.length ? more : null,
  );
}

function row(text) {
  const mark = text.slice(0, 1);
  const kind = KINDS[mark] ?? "same";
  if (kind === "place") return element("div", { class: "row place" }, placeOf(text));
  return element(
    "div",
    { class: `row ${kind}` },
    element("span", { class: "mark", "aria-hidden": "true" }, mark),
    SAID[kind] ? element("span", { class: "heard" }, SAID[kind]) : null,
    element("span", { class: "words" }, text.slice(1) || " "),
  );
}

function placeOf(text) {
  const line = /^@@ -\d+(?:,\d+)? \+(\d+)/.exec(text)?.[1];
  return line ? `from line ${line}` : "there is no line end";
}

function answersTo(question, answer) {
  const [once, ...lasting] = question.options;
  const button = (name, label, option) =>
    element("button", { class: name, "data-option": option ?? "no", onclick: () => answer(option) }, label);
  return element(
    "div",
    { class: "answers", role: "group", "aria-label": "Your answer" },
    button("deny", "Deny", null),
    once ? button("allow", "Allow once", once.value) : null,
    lasting.length
      ? element(
          "details",
          {},
          element("summary", {}, "Allow, and remember it"),
          lasting.map((option) => button("remember", sentence(option.label), option.value)),
        )
      : null,
  );
}

function sentence(label) {
  const words = label.replace(/^yes, /, "");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function facts(question) {
  return element(
    "p",
    { class: "facts" },
    `${question.script} · ${question.named ? "" : `${question.agent} · `}mode ${question.mode} · run ${question.run} · asked `,
    time(question.asked_at, { timeStyle: "medium" }, ""),
  );
}

function becameOf(asked, mine) {
  const yes = asked.answer !== null;
  if (asked.state === "answered") {
    const words = yes ? `allowed (${asked.answer})` : "denied";
    if (!mine) return [yes ? "yes" : "no", `${words} in the ${asked.answered_by} already.`];
    const said = words.charAt(0).toUpperCase() + words.slice(1);
    if (asked.taken) return [yes ? "yes" : "no", `${said}.`];
    return ["failed", `${said}, but the run that asked has not taken it: it has most likely ended.`];
  }
  if (asked.state === "expired") return ["failed", "Expired: nobody answered in time, so it was refused."];
  return ["failed", "Withdrawn: the run that asked has ended, and nothing was done."];
}
