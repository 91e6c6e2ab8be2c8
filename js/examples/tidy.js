// Tidies the notes: moves what lies at the top level into a folder, "inbox" where none is named
// (`nocturn run tidy.js later`). A note that had no summary gets one: its first line, or its name.
const folder = nocturn.args[0] ?? "inbox";

function* notes() {
  let cursor = null;
  do {
    const page = nocturn.memory.list({ cursor });
    yield* page.notes;
    cursor = page.cursor;
  } while (cursor !== null);
}

let moved = 0;
for (const note of [...notes()]) {
  if (note.path.includes("/")) continue;
  const target = `${folder}/${note.path}`;
  const text = nocturn.memory.read(note.path);
  const summary = note.summary === "(no summary)" ? note.path.slice(0, -3) : note.summary;
  try {
    // ifVersion: null — never over a note that is there already.
    nocturn.memory.write(target, summary, text, { ifVersion: null });
    nocturn.memory.remove(note.path, { ifVersion: note.version });
    moved += 1;
  } catch (error) {
    if (!(error instanceof NocturnError)) throw error;
    console.warn(`${note.path} stays: ${error.code} ${error.message}`);
  }
}
console.log(`moved ${moved} notes to ${folder}/`);
