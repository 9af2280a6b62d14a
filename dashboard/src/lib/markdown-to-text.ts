/** Start of a Markdown text in one line without marks, for a list row. */
export function markdownToText(text: string, longest = 200): string {
  const head = text.slice(0, 4 * longest).toWellFormed();
  // A text of only marks would become empty.
  return inLine(withoutMarks(head), longest) || inLine(head, longest);
}

const inLine = (text: string, longest: number): string =>
  text.replace(/\s+/g, " ").trim().slice(0, longest).toWellFormed();

const withoutMarks = (text: string): string =>
  withoutTables(text)
    .replace(/^ {0,3}(?:#{1,6}|>+|[-*+](?: \[[ xX]\])?|\d{1,9}[.)]) +/gm, "")
    .replace(/^ {0,3}(?:```|~~~).*$/gm, "")
    .replace(/^ {0,3}(?:(?:- ?){3,}|(?:\* ?){3,}|(?:_ ?){3,})$/gm, "")
    .replace(/!?\[([^\][]*)\]\([^()\s]*(?: "[^"\n]*")?\)/g, "$1")
    .replace(/(\*\*|__|~~|`)(?=\S)([^\n]*?\S)\1/g, "$2")
    .replace(/(?<![\w*])\*(?=\S)([^\n*]*[^\s*])\*(?![\w*])/g, "$1")
    .replace(/(?<![\w_])_(?=\S)([^\n_]*[^\s_])_(?![\w_])/g, "$1");

/** Delimiter row below a table's head, the only proof of a table. */
const ruler = /^ {0,3}\|?(?: *:?-+:? *\|)+(?: *:?-+:?)? *$/;

/** Joins table cells with dots. Pipes outside of tables stay. */
function withoutTables(text: string): string {
  const lines = text.split("\n");
  if (!lines.some((line) => ruler.test(line))) return text;
  const cells = (line: string) =>
    line
      .replace(/^ *\||\| *$/g, "")
      .split("|")
      .map((cell) => cell.trim())
      .filter(Boolean)
      .join(" · ");
  return lines
    .filter((line) => !ruler.test(line))
    .map((line) => (line.trimStart().startsWith("|") ? `${cells(line)},` : line))
    .join("\n")
    .replace(/,(?=\s*$|\n\s*\n)/g, "");
}
