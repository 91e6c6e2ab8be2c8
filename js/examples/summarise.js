// Builds one note out of many: an overview of each folder, with a line for each note in it.
const folders = new Map();
let cursor = null;
do {
  const page = nocturn.memory.list({ cursor });
  for (const { path, summary } of page.notes) {
    const cut = path.lastIndexOf("/");
    const folder = cut < 0 ? "(top)" : path.slice(0, cut);
    if (path === "overview.md") continue;
    if (!folders.has(folder)) folders.set(folder, []);
    folders.get(folder).push(`- ${path.slice(cut + 1)}: ${summary}`);
  }
  cursor = page.cursor;
} while (cursor !== null);

let body = "# What is in memory\n";
let count = 0;
for (const [folder, lines] of folders) {
  body += `\n## ${folder}\n\n${lines.join("\n")}\n`;
  count += lines.length;
}
const today = nocturn.now().iso.slice(0, 10);
const written = nocturn.memory.write("overview.md", `${count} notes in ${folders.size} folders, as of ${today}`, body);
console.log(`${written.path}: ${written.summary}`);
