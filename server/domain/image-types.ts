/** Formats of images that models take. */
export const imageTypes: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/webp", "image/gif"]);

const beginnings: readonly [bytes: string, type: string][] = [
  ["\x89PNG\r\n\x1a\n", "image/png"],
  ["\xff\xd8\xff", "image/jpeg"],
  ["GIF87a", "image/gif"],
  ["GIF89a", "image/gif"],
];

/** Returns the type of an image by its first bytes, or null if it is none that models take. */
export function imageTypeOf(content: Uint8Array): string | null {
  const head = String.fromCharCode(...content.subarray(0, 16));
  if (/^RIFF[\s\S]{4}WEBP/.test(head)) return "image/webp";
  return beginnings.find(([bytes]) => head.startsWith(bytes))?.[1] ?? null;
}
