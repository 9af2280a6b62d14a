/** Bytes that stand in an answer as text. */
export interface Binary {
  kind: "image" | "audio" | "file";
  /** Empty: nobody says. */
  mime_type: string;
  base64: string;
}

/** Bytes of an answer, under the name that its note gives them. */
export interface McpFile {
  name: string;
  bytes: Uint8Array<ArrayBuffer>;
}

// A shorter one may be a name or a number of something, which a model is to repeat.
const shortest = 1024;
// What nothing says to be bytes has to be longer than any word.
const surelyNoWord = 4096;
const isBase64 = /^[\w+/-]+={0,2}$/;

/** The bytes that a text of an answer's data stands for; null where it is text. `mime_type` and `type` stand beside it. */
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

/** Null for what is no base64, or nothing. */
export function fileOf({ kind, mime_type, base64 }: Binary, number: number): McpFile | null {
  if (!isBase64.test(base64)) return null;
  return {
    name: `${kind}-${number}.${endings[mime_type] ?? "bin"}`,
    bytes: new Uint8Array(Buffer.from(base64, "base64")),
  };
}

const kindOf = (mime_type: string): Binary["kind"] =>
  mime_type.startsWith("image/") ? "image" : mime_type.startsWith("audio/") ? "audio" : "file";

/** Long lines of hexadecimal digits, or of the letters of a gene, are words of their own kind. */
const isMixed = (text: string): boolean => /[a-z]/.test(text) && /[A-Z]/.test(text) && /\d/.test(text);

/** What the first bytes say. */
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
