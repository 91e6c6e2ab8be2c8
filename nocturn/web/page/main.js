// Puts the views together, and keeps them up to date with what the server tells.

import { element, empty } from "./elements.js";
import { Grants } from "./grants.js";
import { Journal } from "./journal.js";
import { Note, Notes } from "./notes.js";
import { Questions } from "./questions.js";
import { enter, follow, get, send, session } from "./server.js";

const part = (id) => document.getElementById(id);

function announce(text) {
  part("news").textContent = text;
}

function counted(number) {
  part("count").textContent = number;
  part("count").hidden = number === 0;
  part("count").setAttribute("aria-label", `${number} waiting`);
  document.title = number ? `(${number}) nocturn` : "nocturn";
}

const views = {
  questions: new Questions(announce, counted),
  notes: new Notes(),
  note: new Note(),
  grants: new Grants(announce),
  journal: new Journal(),
};

function trouble(text) {
  part("trouble").textContent = text;
  part("trouble").hidden = !text;
}

function route(moved) {
  const [, name, rest] = /^#\/(\w+)(?:\/(.*))?$/.exec(location.hash) ?? [];
  if (location.hash && !name) return; // the way to the content, which the browser goes itself
  const at = Object.hasOwn(views, name ?? "") ? name : "questions";
  part("main").replaceChildren(views[at].show(rest ? decoded(rest) : ""));
  for (const link of part("views").querySelectorAll("a")) {
    const here = link.hash === `#/${at === "note" ? "notes" : at}`;
    if (here) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  if (moved) {
    scrollTo(0, 0);
    part("main").focus({ preventScroll: true });
  }
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function outside(why) {
  session.end();
  counted(0);
  trouble("");
  part("views").hidden = true;
  part("leave").hidden = true;
  part("main").replaceChildren(
    element(
      "section",
      { class: "narrow outside" },
      element("h1", {}, "Sign in"),
      element("p", { class: "lead" }, why),
      element("p", {}, "Open the link that ", element("code", {}, "nocturn serve"), " shows in its terminal. Each link works once."),
    ),
  );
}

async function inside() {
  const about = await get("/api/about");
  part("workspace").textContent = about.workspace;
  part("views").hidden = false;
  part("leave").hidden = false;
  addEventListener("hashchange", () => session.there && route(true));
  route(false);
  let waiting = Promise.resolve();
  await follow(
    {
      waiting: (ids) => {
        trouble("");
        // One after the other: two at once would both add what is new.
        waiting = waiting.then(() => views.questions.waiting(ids)).catch(() => {});
      },
      lines: (lines) => {
        for (const view of Object.values(views)) view.lines?.(lines);
      },
      trouble: (error) => trouble(error.message),
    },
    () => trouble("The connection is lost; trying again…"),
  );
}

// What a view could not load: the session may have ended meanwhile.
addEventListener("unhandledrejection", (event) => {
  const error = event.reason;
  event.preventDefault();
  if (error?.status === 401) outside("The session has ended.");
  else trouble(`That did not work: ${error?.message ?? error}`);
});

part("leave").addEventListener("click", async () => {
  await send("/api/logout").catch(() => {});
  outside("You have signed out.");
});

try {
  await enter();
  if (session.there) await inside();
  else outside("This page shows a workspace to the person it belongs to.");
} catch (error) {
  if (error.status === 401) outside(`${error.message.charAt(0).toUpperCase()}${error.message.slice(1)}.`);
  else part("main").replaceChildren(empty("The page cannot be shown.", error.message));
}
