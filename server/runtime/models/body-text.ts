/** Reads a body up to `max_bytes`. Calls `onByte` for each chunk. */
export async function textOf({ body }: Response, max_bytes: number, onByte = () => {}): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let left = max_bytes;
  for await (const bytes of body ?? []) {
    onByte();
    text += decoder.decode(bytes.subarray(0, left), { stream: true });
    left -= bytes.length;
    if (left <= 0) break;
  }
  return text + decoder.decode();
}
