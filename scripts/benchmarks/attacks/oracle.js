// The guest's half of the oracle attack. It knows a value's public prefix, its alphabet and length,
// asks by every call there is, and takes any difference between two answers for a clue.
"use strict";

const { strategy, prefix, suffix, letters, length, notes, rounds, seed, size, ranges, texts } = JSON.parse(nocturn.args[0]);
const NOTE_BYTES = 65536;
const MARK = "[REDACTED]";

const legend = new Map(); // each kind of answer, and the letter that stands for it
const claims = []; // what the guest now believes to be in the value
let transcript = "";
let calls = 0;
let state = seed;

// ---- asking -------------------------------------------------------------------------------------

function record(answer) {
  if (!legend.has(answer)) legend.set(answer, String.fromCharCode(256 + legend.size));
  transcript += legend.get(answer);
  return answer;
}

function ask(guess, call) {
  calls += 1;
  try {
    call(guess);
    return record("ok");
  } catch (error) {
    // What is echoed differs from guess to guess, and call ids at random: only marks are of interest.
    const told = error.message.replace(/“[^”]*”|\S+\.md/g, (echo) => (echo.includes(MARK) ? MARK : "…"))
      .replace(/[0-9a-f]{16,}|\d+/g, "#");
    return record([error.code, told, JSON.stringify(error.detail).includes(MARK)].join(" "));
  }
}

function readBack(guess) {
  if (ask(guess, ways.content) !== "ok") return "refused";
  calls += 1;
  const text = nocturn.memory.read("guess.md");
  return record(text.endsWith(guess) ? "whole" : "struck " + (text.split(MARK).length - 1));
}

const ways = {
  content: (text) => nocturn.memory.write("guess.md", "a guess", text),
  summary: (text) => nocturn.memory.write("guess.md", text, "a guess"),
  path: (text) => nocturn.memory.read(text + ".md"),
  "a path that is refused": (text) => nocturn.memory.read(text + ":.md"),
  "a tool's name": (text) => nocturn.call(text, {}),
  "a key": (text) => nocturn.call("time_now", { [text]: 1 }),
  cursor: (text) => nocturn.call("memory_list", { limit: 1, cursor: text }),
  version: (text) => nocturn.memory.write("guess.md", "a guess", "x", { ifVersion: text }),
  "two fields": (text) => nocturn.memory.write("guess.md", text.slice(0, -1), text.slice(-1)),
  "two fields exchanged": (text) => nocturn.memory.write("guess.md", text.slice(-1), text.slice(0, -1)),
  "an argument": (text) => nocturn.call("keep", { texts: [text] }),
  "a list": (text) => nocturn.call("keep", { texts: [...text] }),
};

// ---- letters and pieces -------------------------------------------------------------------------

function random() {
  state = (state + 0x6d2b79f5) | 0;
  let t = Math.imul(state ^ (state >>> 15), 1 | state);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
}

function randomPiece(count) {
  let piece = "";
  while (piece.length < count) piece += letters[Math.floor(random() * letters.length)];
  return piece;
}

// The piece of `count` letters at a place in their order.
function pieceAt(place, count) {
  let piece = "";
  for (let i = 0; i < count; i += 1) {
    piece = letters[place % letters.length] + piece;
    place = Math.floor(place / letters.length);
  }
  return piece;
}

// The place of the one answer that no other guess got; -1 where there is no such answer.
function oddOneOut(answers) {
  const odd = answers.filter((each) => answers.indexOf(each) === answers.lastIndexOf(each));
  return odd.length === 1 && answers.length > 2 ? answers.indexOf(odd[0]) : -1;
}

const flipped = (text) => [...text].reverse().join("");

// Letter by letter, for as long as one of them stands out.
function climb(question, known = "", spelled = (text) => text) {
  while (known.length < length) {
    const odd = oddOneOut([...letters].map((letter) => question(known + letter)));
    if (odd < 0) break;
    known += letters[odd];
  }
  if (known !== "") claims.push(spelled(known));
}

// What of many pieces is answered otherwise than the rest, found by halving, until it is enough.
function bisect(pieces, question) {
  if (claims.length >= length) return;
  const blocked = question(pieces.join("\n"));
  if (blocked === "ok" || blocked === "whole") return;
  if (pieces.length === 1) claims.push(pieces[0].replace(prefix, ""));
  else {
    bisect(pieces.slice(0, pieces.length / 2), question);
    bisect(pieces.slice(pieces.length / 2), question);
  }
}

// As many pieces as fit in a note.
function noteful(make) {
  const pieces = [];
  for (let left = NOTE_BYTES; ; ) {
    const piece = make(pieces.length);
    left -= piece.length + 1;
    if (left < 0 || pieces.length > 0 && piece === "") return pieces;
    pieces.push(piece);
  }
}

// ---- other forms of a guess ---------------------------------------------------------------------

const BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const codes = (text) => [...text].map((each) => each.charCodeAt(0));
const bits = (text, width, alphabet) =>
  codes(text).map((code) => code.toString(2).padStart(8, "0")).join("")
    .match(new RegExp(`.{1,${width}}`, "g"))
    .map((each) => alphabet[parseInt(each.padEnd(width, "0"), 2)]).join("");
const rotate = (text) => text.replace(/[a-z]/gi, (each) =>
  String.fromCharCode(each.charCodeAt(0) + (each.toLowerCase() < "n" ? 13 : -13)));

const dresses = {
  base64: (text) => bits(text, 6, BASE64),
  "base64, one byte in": (text) => bits("k" + text, 6, BASE64),
  "base64, two bytes in": (text) => bits("kk" + text, 6, BASE64),
  base32: (text) => bits(text, 5, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"),
  hex: (text) => codes(text).map((code) => code.toString(16)).join(""),
  percent: (text) => codes(text).map((code) => "%" + code.toString(16)).join(""),
  "upper case": (text) => text.toUpperCase(),
  backwards: flipped,
  spaces: (text) => [...text].join(" "),
  "zero-width spaces": (text) => [...text].join("\u200b"),
  rot13: rotate,
  "xor, base64": (text) => bits(codes(text).map((code) => String.fromCharCode(code ^ 90)).join(""), 6, BASE64),
  differences: (text) => codes(text).map((code, at, all) => code - (all[at - 1] ?? 0)).join(", "),
  "decimal codes": (text) => codes(text).join(", "),
};

// ---- strategies ---------------------------------------------------------------------------------

const strategies = {
  "one letter more, by every call"() {
    for (const way of Object.values(ways)) {
      climb((known) => ask(prefix + known, way));
      climb((known) => ask(prefix + known + "A".repeat(200), way));
      climb((known) => ask(known, way));
      climb((known) => ask(flipped(known) + suffix, way), "", flipped);
    }
  },

  "one letter more, beside ever less that is known"() {
    for (let left = 24; left > 0; left -= 1) {
      climb((known) => ask((prefix + known).slice(-left - 1), ways["an argument"]));
      climb((known) => ask((flipped(known) + suffix).slice(0, left + 1), ways["an argument"]), "", flipped);
    }
  },

  "two letters more"() {
    const pairs = [...letters].flatMap((a) => [...letters].map((b) => a + b));
    const odd = oddOneOut(pairs.map((pair) => ask(prefix + pair, ways.path)));
    if (odd >= 0) climb((known) => ask(prefix + known, ways.path), pairs[odd]);
  },

  "one letter more, in other forms"() {
    for (const dress of Object.values(dresses)) {
      climb((known) => ask(dress(prefix + known), ways["an argument"]));
      climb((known) => ask(dress(prefix + known), ways.summary));
    }
  },

  "every letter but one, over and over"() {
    const answers = [...letters].map((letter) =>
      ask(letters.replace(letter, "").repeat(NOTE_BYTES / letters.length), ways.content));
    const usual = [...answers].sort()[answers.length >> 1];
    answers.forEach((answer, at) => answer === usual || claims.push(letters[at]));
  },

  "thousands of guesses in a note"() {
    while (calls < notes) {
      const long = 4 + Math.floor(random() * 7);
      bisect(noteful(() => prefix + randomPiece(long)), (text) => ask(text, ways.content));
      bisect(noteful(() => randomPiece(long)), (text) => ask(text, ways.content));
    }
  },

  "thousands of guesses, compressed"() {
    for (const text of texts) if (ask(text, ways.content) !== "ok") claims.push("?");
  },

  "what reading back strikes out"() {
    bisect(noteful((at) => at < letters.length ? prefix + letters[at] : ""), readBack);
    for (let count = 1; calls < notes; count = (count % 12) + 1) {
      bisect(noteful(() => randomPiece(count)), readBack);
      bisect(noteful(() => prefix + randomPiece(count)), readBack);
    }
  },

  "the mark, written back over a guess"() {
    climb((known) => {
      ask(prefix + known, ways.content);
      return ask(MARK, ways.content);
    });
    for (let count = 3; calls < notes; count = (count % 12) + 1) {
      bisect(noteful(() => randomPiece(count)), (text) => {
        ask(text, ways.content);
        return ask(MARK, ways.content);
      });
    }
  },

  "summaries and paths in a list"() {
    for (let at = 0; at < letters.length * 2; at += 1) {
      const guess = at < letters.length ? prefix + letters[at] : randomPiece(8);
      ask(guess, (text) => nocturn.memory.write(`l/${at}-${text}.md`, text, "x"));
    }
    calls += 1;
    const listed = nocturn.memory.list().notes.filter((each) => each.path.startsWith("l/"));
    record(String(listed.length));
    for (const each of listed) if (record(JSON.stringify(each).includes(MARK) ? "struck" : "whole") === "struck") claims.push("?");
  },

  "pairs of many strings in a call"() {
    while (calls < notes) {
      const list = Array.from({ length: 120 }, (_, at) => (at < 8 ? prefix : "") + randomPiece(2 + (at % 5)));
      bisect(list, (text) => ask(text, (all) => nocturn.call("keep", { texts: all.split("\n") })));
    }
  },

  "how long it takes"() {
    const clock = globalThis.performance?.now ? () => performance.now() : () => Date.now();
    const took = [...letters].map(() => []);
    for (let round = 0; round < rounds; round += 1) {
      [...letters].forEach((letter, at) => {
        const guess = (prefix + letter + " ").repeat(round % 2 ? 1 : 200);
        const start = clock();
        ask(guess, round % 2 ? ways.path : ways.content);
        took[at].push(clock() - start);
      });
    }
    const half = (parity) => {
      const middles = took.map((all) => all.filter((_, at) => at % 2 === parity).sort((a, b) => a - b))
        .map((all) => all[all.length >> 1]);
      const sorted = [...middles].sort((a, b) => a - b);
      const middle = sorted[sorted.length >> 1];
      const spread = sorted[Math.floor(sorted.length * 0.9)] - sorted[Math.floor(sorted.length * 0.1)];
      const far = middles.map((each) => Math.abs(each - middle));
      const most = far.indexOf(Math.max(...far));
      return far[most] > 6 * spread ? most : -1;
    };
    // A letter that stands out in both halves of the measurements is believed.
    if (half(0) >= 0 && half(0) === half(1)) claims.push(letters[half(0)]);
  },

  // All pieces of a size in some ranges of their order, a line each; ends with the first note that
  // is blocked.
  sweep() {
    let note = "";
    const flush = () => note === "" || ask(note, ways.content) === "ok";
    for (const [from, to] of ranges) {
      for (let place = from; place < to; place += 1) {
        if (note.length + size + 1 > NOTE_BYTES) {
          if (!flush()) return place;
          note = "";
        }
        note += pieceAt(place, size) + "\n";
      }
    }
    return flush() ? null : ranges[ranges.length - 1][1];
  },
};

const ended = strategies[strategy]() ?? null;
({ calls, claims, transcript, ended, answers: [...legend] });
