/** What stands around raised letters until their text is whole: control characters, which no text of a document has. */
export const [raisedStart, raisedEnd] = ["\u0001", "\u0002"];

const mark = new RegExp(`${raisedStart}([^${raisedStart}${raisedEnd}]*)${raisedEnd}`, "g");

/**
 * Text whose raised letters are told apart: `x^2`, `10^-3`, `e^(2 pi)`. `x2` would be another word, and with the power
 * sign the word before it is still found by itself. Endings of words (`1st`) and marks (`[3]`, `*`) stay as they are.
 */
export const withRaised = (text: string): string =>
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
