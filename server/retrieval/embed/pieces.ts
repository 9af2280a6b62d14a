/** How much of a text is read, in characters after its white space is brought to single spaces. */
export const readMax_chars = 8192;

// Behind the aim of a cut a space is looked for this far.
const reach_chars = 40;

/** Cuts what is read of a text into pieces of like size, of about so many characters, between words where it can. There is always one. */
export function piecesOf(text: string, piece_chars: number): string[] {
  // A bound before the work: a megabyte of spaces costs no more than this.
  const plain = text
    .slice(0, 4 * readMax_chars)
    .replace(/\s+/g, " ")
    .trim()
    .slice(0, readMax_chars);
  const count = Math.ceil(plain.length / piece_chars) || 1;
  const aim = Math.ceil(plain.length / count);
  const pieces: string[] = [];
  let from = 0;
  while (plain.length - from > aim + reach_chars) {
    const space = plain.indexOf(" ", from + aim);
    const to = space === -1 || space > from + aim + reach_chars ? from + aim : space;
    pieces.push(plain.slice(from, to));
    from = plain[to] === " " ? to + 1 : to;
  }
  return [...pieces, plain.slice(from)];
}
