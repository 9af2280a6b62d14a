/** Binary content encoded as text in a response. */
export interface Binary {
  kind: "image" | "audio" | "file";
  /** Empty if unknown. */
  mime_type: string;
  base64: string;
}

/** Decoded content of a response, under the name used in its note. */
export interface McpFile {
  name: string;
  bytes: Uint8Array<ArrayBuffer>;
}

// Shorter texts may be names or ids, which the model has to repeat.
const shortest = 1024;
// Without a known type, base64 has to be longer than any word.
const surelyNoWord = 4096;
const isBase64 = /^[\w+/-]+={0,2}$/;

/**
 * Returns the binary content that a text encodes; null if it is plain text. `mime_type` and `type` are from the fields
 * beside it.
 */
export function binaryIn(text: string, mime_type: string, type: unknown): Binary | null {
  if (text.length < shortest) return null;
  const [url, said] = /^data:([\w.+-]{1,64}\/[\w.+-]{1,64})(?:;[\w=.+-]{1,64})*;base64,/.exec(text) ?? [];
  const base64 = url === undefined ? text : text.slice(url.length);
  if (!isBase64.test(base64)) return null;
  const known = said ?? (mime_type || begins(base64));
  const isSaid = known !== "" || type === "image" || type === "audio";
  if (!isSaid && (base64.length < surelyNoWord || !isMixed(base64))) return null;
  const kind = type === "image" || type === "audio" ? type : kindOf(known);
  return { kind, mime_type: known, base64 };
}

/** Returns null if it is not base64 or empty. */
export function fileOf({ kind, mime_type, base64 }: Binary, number: number): McpFile | null {
  if (!isBase64.test(base64)) return null;
  return {
    name: `${kind}-${number}.${endings[mime_type] ?? "bin"}`,
    bytes: new Uint8Array(Buffer.from(base64, "base64")),
  };
}

const kindOf = (mime_type: string): Binary["kind"] =>
  mime_type.startsWith("image/") ? "image" : mime_type.startsWith("audio/") ? "audio" : "file";

/** Long runs of hexadecimal digits or gene letters are text, not base64. */
const isMixed = (text: string): boolean => /[a-z]/.test(text) && /[A-Z]/.test(text) && /\d/.test(text);

/** Returns the type by the first bytes, or an empty string. */
const begins = (base64: string): string => beginnings.find(([start]) => base64.startsWith(start))?.[1] ?? "";

const beginnings = [
  ["iVBORw0KGgo", "image/png"],
  ["/9j/", "image/jpeg"],
  ["R0lGOD", "image/gif"],
  ["UklGR", "image/webp"],
  ["JVBERi0", "application/pdf"],
  ["UEsDB", "application/zip"],
  ["T2dnUw", "audio/ogg"],
  ["SUQz", "audio/mpeg"],
] as const;

const endings: Record<string, string> = {
  "image/png": "png",
  "image/jpeg": "jpg",
  "image/gif": "gif",
  "image/webp": "webp",
  "image/svg+xml": "svg",
  "audio/mpeg": "mp3",
  "audio/wav": "wav",
  "audio/ogg": "ogg",
  "application/pdf": "pdf",
  "application/zip": "zip",
  "application/json": "json",
  "text/plain": "txt",
  "text/csv": "csv",
  "text/html": "html",
};
