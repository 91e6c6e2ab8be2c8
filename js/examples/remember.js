// Remembers a fact, reads it back, and amends it.
const note = nocturn.memory.write(
  "people/lina.md",
  "daughter, 7 years old",
  "Likes dinosaurs. Starts school in August.",
);
console.log(`wrote ${note.path}, ${note.bytesWritten} bytes`);

// A write replaces the whole note, so an amendment begins with reading it. What was read can be
// written back: the preamble with the summary is known as such, and kept.
const text = nocturn.memory.read(note.path);
const amended = nocturn.memory.write(note.path, "daughter, 7 years old, in school", text + "\nHas a turtle.");
console.log(`now ${amended.bytesWritten} bytes: ${amended.summary}`);
