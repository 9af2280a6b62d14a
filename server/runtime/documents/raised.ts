/** Delimiters of raised letters until their text is complete: control characters, which no document text contains. */
export const [raisedStart, raisedEnd] = ["\u0001", "\u0002"];

const mark = new RegExp(`${raisedStart}([^${raisedStart}${raisedEnd}]*)${raisedEnd}`, "g");

/**
 * Marks raised letters: `x^2`, `10^-3`, `e^(2 pi)`. Without the sign `x2` would be another word; with it, search still
 * finds `x`. Ordinal endings (`1st`) and marks (`[3]`, `*`) are left unchanged.
 */
export const markRaisedText = (text: string): string =>
  text
    .replaceAll(raisedEnd + raisedStart, "")
    .replace(mark, (_, letters: string) => power(letters))
    .replaceAll(raisedStart, "")
    .replaceAll(raisedEnd, "");

const ending = /^(?:st|nd|rd|th|er|re|ère|ème|tm|sm)$/i;

function power(letters: string): string {
  const text = letters.trim();
  if (ending.test(text) || !/^[\p{L}\p{N}+\-−]/u.test(text)) return letters;
  return /^[+\-−]?[\p{L}\p{N}]+$/u.test(text) ? letters.replace(text, `^${text}`) : letters.replace(text, `^(${text})`);
}
