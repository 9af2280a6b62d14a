/** The head of a text that may be Markdown, in one line and without its marks: for a row that has no room for more. */
export function plainLine(text: string, longest = 200): string {
  const head = text.slice(0, 4 * longest).toWellFormed();
  return head
    .replace(/^ {0,3}(?:#{1,6}|>+|[-*+]|\d{1,9}[.)]) +/gm, "")
    .replace(/^ {0,3}(?:```|~~~).*$/gm, "")
    .replace(/!?\[([^\][]*)\]\([^()\s]*\)/g, "$1")
    .replace(/(\*\*|__|~~|`)(?=\S)([^\n]*?\S)\1/g, "$2")
    .replace(/(?<![\w*])\*(?=\S)([^\n*]*[^\s*])\*(?![\w*])/g, "$1")
    .replace(/\s+/g, " ")
    .trim()
    .slice(0, longest)
    .toWellFormed();
}
