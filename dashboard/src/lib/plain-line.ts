/** The head of a text that may be Markdown, in one line and without its marks: for a row that has no room for more. */
export function plainLine(text: string, longest = 200): string {
  const head = text.slice(0, 4 * longest).toWellFormed();
  // Of marks alone nothing would be left.
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

/** The line below the head of a table, which alone tells that there is one. */
const ruler = /^ {0,3}\|?(?: *:?-+:? *\|)+(?: *:?-+:?)? *$/;

/** The cells of tables set apart by dots. Signs that look like a table's stay where there is none. */
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
