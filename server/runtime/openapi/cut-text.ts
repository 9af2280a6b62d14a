/** Cuts a text at the end of a sentence or a word, if there is one in its last third. */
export function cutText(text: string, most: number): string {
  const whole = text.trim();
  if (whole.length <= most) return whole;
  const start = whole.slice(0, most - 1).toWellFormed();
  const end = Math.max(start.lastIndexOf(". ") + 1, start.lastIndexOf("\n"));
  if (end > most * 0.66) return start.slice(0, end).trim();
  const blank = start.lastIndexOf(" ");
  return `${(blank > most * 0.66 ? start.slice(0, blank) : start).trim()}…`;
}
