/** Characters read of a text, after its white space is collapsed. */
export const readMax_chars = 8192;

// Maximum distance from the intended cut to a space.
const reach_chars = 40;

/**
 * Cuts the beginning of a text into pieces of similar size (about `piece_chars`), at spaces if possible. Returns at
 * least one.
 */
export function piecesOf(text: string, piece_chars: number): string[] {
  // Bound the work first, so that a megabyte of spaces is cheap.
  const plain = text
    .slice(0, 4 * readMax_chars)
    .replace(/\s+/g, " ")
    .trim()
    .slice(0, readMax_chars);
  const count = Math.ceil(plain.length / piece_chars) || 1;
  const targetLength = Math.ceil(plain.length / count);
  const pieces: string[] = [];
  let from = 0;
  while (plain.length - from > targetLength + reach_chars) {
    const space = plain.indexOf(" ", from + targetLength);
    const to = space === -1 || space > from + targetLength + reach_chars ? from + targetLength : space;
    pieces.push(plain.slice(from, to));
    from = plain[to] === " " ? to + 1 : to;
  }
  return [...pieces, plain.slice(from)];
}
