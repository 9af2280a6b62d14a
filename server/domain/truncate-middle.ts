/** Shortens a text to `maxBytes`: its head and tail, with a note about the omitted part. */
export function truncateMiddle(text: string, maxBytes: number): string {
  // UTF-8 has at most three bytes per UTF-16 code unit.
  if (text.length * 3 <= maxBytes) return text;
  const bytes = new TextEncoder().encode(text);
  if (bytes.length <= maxBytes) return text;
  const tail = Math.floor(maxBytes / 4);
  const head = maxBytes - tail;
  const left = bytes.length - head - tail;
  const note = `[${left} of ${bytes.length} bytes are left out here]`;
  return `${truncationNotice(bytes.subarray(0, head))}\n${note}\n${truncationNotice(bytes.subarray(bytes.length - tail))}`;
}

/** Decodes cut bytes without the partial characters at their ends. */
export const truncationNotice = (bytes: Uint8Array): string =>
  new TextDecoder().decode(bytes).replace(/^\ufffd+|\ufffd+$/g, "");
