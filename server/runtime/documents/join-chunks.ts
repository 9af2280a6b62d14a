const overlapMin = 16;

/**
 * Appends a chunk to the text before it, without the overlap of up to `overlapMax` characters that the chunk repeats.
 */
export function joinChunk(text: string, piece: string, overlapMax: number): string {
  if (text === "") return piece;
  const shared = overlap(text.slice(-overlapMax), piece);
  return shared >= overlapMin ? text + piece.slice(shared) : `${text}\n\n${piece}`;
}

/** Returns the length of the longest end of `before` that `after` begins with: by a prefix function, in linear time. */
function overlap(before: string, after: string): number {
  const head = after.slice(0, before.length);
  const longest = new Int32Array(head.length);
  const step = (known: number, next: string): number => {
    let length = known;
    while (length > 0 && (length === head.length || head[length] !== next)) length = longest[length - 1]!;
    return head[length] === next ? length + 1 : length;
  };
  for (let at = 1; at < head.length; at++) longest[at] = step(longest[at - 1]!, head[at]!);
  let length = 0;
  for (let at = 0; at < before.length; at++) length = step(length, before[at]!);
  return length;
}
