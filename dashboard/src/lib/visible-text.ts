/** What shows nothing by itself: controls, marks that turn the direction of writing, blanks without width, tags. A soft hyphen is none: where it counts, it shows. */
const never =
  "\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u200b\\u200e\\u200f" +
  "\\u2028-\\u202e\\u2060-\\u206f\\u3164\\ufeff\\uffa0\\ufff9-\\ufffb\\u{1bca0}-\\u{1bca3}\\u{1d173}-\\u{1d17a}\\u{e0000}-\\u{e0fff}";
/** What may belong to the character before it: joiners and variations. */
const hidden = `${never}\\u180b-\\u180f\\u200c\\u200d\\ufe00-\\ufe0f`;

/** One that shows nothing, whatever stands before it. */
export const hiddenCharacter = new RegExp(`[${never}]`, "gu");

const picture = "\\p{Extended_Pictographic}[\\u{1f3fb}-\\u{1f3ff}]?\\ufe0f?";
/** Where such a character has its place: it makes a picture, or the shape of a letter. */
const proper = [
  `${picture}(?:\\u200d(?:${picture}|$))+`,
  "\\u{1f3f4}[\\u{e0030}-\\u{e0039}\\u{e0061}-\\u{e007a}]{1,6}\\u{e007f}",
  "[\\p{So}\\p{Sm}\\p{Sk}\\p{Po}\\p{Nd}\\p{Extended_Pictographic}\\p{Script=Han}\\p{Script=Myanmar}][\\ufe00-\\ufe0f]",
  "\\p{Script=Han}[\\u{e0100}-\\u{e01ef}]",
  "\\p{Script=Mongolian}[\\u180b-\\u180f]",
  `[^\\P{L}\\p{Script=Latin}\\p{Script=Greek}\\p{Script=Cyrillic}\\p{Script=Han}](?:(?![${hidden}])\\p{M})*[\\u200c\\u200d]`,
];

const anyHidden = new RegExp(`[${hidden}]`, "u");
const pieces = new RegExp(`${proper.join("|")}|[${hidden}]+`, "gu");
const allHidden = new RegExp(`^[${hidden}]+$`, "u");

/**
 * A text of others as it may stand on a page: characters that show nothing are named, such as ‹U+202E›, so that none turns
 * round what stands beside it, hides a word or makes two names look alike.
 */
export function visibleText(text: string): string {
  return anyHidden.test(text) ? text.replace(pieces, (piece) => (isHidden(piece) ? named(piece) : piece)) : text;
}

/** Names the characters of a field's text that the field does not show; undefined if there are none. */
export function hiddenHint(text: unknown): string | undefined {
  if (typeof text !== "string" || !anyHidden.test(text)) return undefined;
  const found = new Set([...text.matchAll(pieces)].map(([piece]) => piece).filter(isHidden));
  const shown = [...found].slice(0, 3).map(named).join(" ");
  return shown && `Contains characters that are not visible: ${shown}`;
}

/** A joiner between letters, and a picture, have their place: they come out of the text as they are. */
function isHidden(piece: string): boolean {
  return allHidden.test(piece);
}

/** How characters that show nothing are named. */
export function named(run: string): string {
  const [first = "", ...others] = [...run].map(
    (char) => `U+${char.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}`,
  );
  return others.length < 3
    ? [first, ...others].map((name) => `‹${name}›`).join("")
    : `‹${first} and ${others.length} more›`;
}
