/** What a tool of a server answered. */
export interface McpResult {
  /** The answer as data, if the server gave it as such. */
  structured?: unknown;
  /** All that can be read, with a note in place of what cannot. */
  text: string;
  isError: boolean;
}

type Raw = Record<string, unknown>;

/** Reads the answer of `tools/call`: kinds of content that are not known yet become a note and no error. */
export function readResult({ content, structuredContent, isError }: Raw): McpResult {
  const parts = Array.isArray(content) ? content.map((part) => shownPart(isObject(part) ? part : {})) : [];
  return {
    ...(isObject(structuredContent) && { structured: structuredContent }),
    text: parts.join("\n").toWellFormed(),
    isError: isError === true,
  };
}

function shownPart({ type, text, data, mimeType, resource, uri, name }: Raw): string {
  if (type === "text" && typeof text === "string") return text;
  if (type === "image" || type === "audio") return leftOut(type, mimeType, data);
  if (type === "resource_link") return `[link ${word(name)} ${word(uri)}]`;
  if (type !== "resource" || !isObject(resource)) return "[content of an unknown kind left out]";
  return typeof resource.text === "string" ? resource.text : leftOut("file", resource.mimeType, resource.blob);
}

function leftOut(kind: string, mimeType: unknown, base64: unknown): string {
  const form = typeof mimeType === "string" && /^[\w.+-]{1,64}\/[\w.+-]{1,64}$/.test(mimeType) ? ` ${mimeType}` : "";
  const bytes = typeof base64 === "string" ? Math.floor((base64.length * 3) / 4) : 0;
  return `[${kind}${form}, ${bytes < 1024 ? `${bytes} bytes` : `${Math.round(bytes / 1024)} KB`} left out]`;
}

const word = (value: unknown): string => (typeof value === "string" ? value.slice(0, 2048) : "");

const isObject = (value: unknown): value is Raw => typeof value === "object" && value !== null && !Array.isArray(value);
