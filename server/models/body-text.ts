/** A body up to so many bytes; the rest is left. `onByte` is called as they come. */
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
