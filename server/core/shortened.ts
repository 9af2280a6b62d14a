/** A text of at most so many bytes: its head and its tail, with a note of what is left out between them. */
export function shortened(text: string, maxBytes: number): string {
  // UTF-8 has at most three bytes for each UTF-16 code unit.
  if (text.length * 3 <= maxBytes) return text;
  const bytes = new TextEncoder().encode(text);
  if (bytes.length <= maxBytes) return text;
  const tail = Math.floor(maxBytes / 4);
  const head = maxBytes - tail;
  const left = bytes.length - head - tail;
  const note = `[${left} of ${bytes.length} bytes are left out here]`;
  return `${textOfCut(bytes.subarray(0, head))}\n${note}\n${textOfCut(bytes.subarray(bytes.length - tail))}`;
}

/** The text of bytes that were cut somewhere. A character that the cut went through is no character any more. */
export const textOfCut = (bytes: Uint8Array): string =>
  new TextDecoder().decode(bytes).replace(/^\ufffd+|\ufffd+$/g, "");
