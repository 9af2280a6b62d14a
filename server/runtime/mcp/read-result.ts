import { unmaskedValue } from "../../lib/exact-masks.ts";
import { hasParts, isObject } from "../../lib/json.ts";
import { type Binary, binaryIn, fileOf, type McpFile } from "./binary-content.ts";

/** Result of a tool call. */
export interface McpResult {
  /** Structured data, if the server sent any. */
  structured?: unknown;
  /** The readable content, with notes in place of the rest. */
  text: string;
  isError: boolean;
  /** Images and other files, by the names in the notes; absent if there are none. */
  files?: McpFile[];
}

type Raw = Record<string, unknown>;

const filesMax = 16;
const depthMax = 64;

/**
 * Reads the result of `tools/call`: unknown kinds of content become a note, not an error. Binary content (images,
 * audio, other bytes) becomes a file, wherever it is in the result.
 */
export function readResult({ content, structuredContent, isError }: Raw): McpResult {
  const files: McpFile[] = [];
  const note = ({ kind, mime_type, base64 }: Binary): string => {
    const file = files.length < filesMax ? fileOf({ kind, mime_type, base64 }, files.length + 1) : null;
    if (file) files.push(file);
    const bytes = file?.bytes.length ?? Math.floor((base64.length * 3) / 4);
    const size = bytes < 1024 ? `${bytes} bytes` : `${Math.round(bytes / 1024)} KB`;
    return `[${kind}${mime_type && ` ${mime_type}`}, ${size}${file ? `, kept as ${file.name}` : " left out"}]`;
  };
  // If there is data, only it is passed on, because the content repeats the same images.
  const structured =
    isObject(structuredContent) && !saysNothing(structuredContent, content)
      ? readable(unmaskedValue(structuredContent), note, 0)
      : undefined;
  const parts = structured === undefined || isError === true ? shownParts(content, note) : shownParts(content, mention);
  return {
    ...(structured !== undefined && { structured }),
    text: parts.join("\n").toWellFormed(),
    isError: isError === true,
    ...(files.length > 0 && { files }),
  };
}

/** True for an empty object beside content: some servers fill the field in every result. */
const saysNothing = (structured: Raw, content: unknown): boolean =>
  Object.values(structured).every((value) => value === null) && Array.isArray(content) && content.length > 0;

const mention = ({ kind }: Binary): string => `[${kind}]`;

type Note = (binary: Binary) => string;

const shownParts = (content: unknown, note: Note): string[] =>
  Array.isArray(content) ? content.map((part) => shownPart(isObject(part) ? part : {}, note)) : [];

function shownPart({ type, text, data, mimeType, resource, uri, name }: Raw, note: Note): string {
  if (type === "text" && typeof text === "string") return text;
  if (type === "image" || type === "audio") return noteOf(type, mimeType, data, note);
  if (type === "resource_link") return `[link ${word(name)} ${word(uri)}]`;
  if (type !== "resource" || !isObject(resource)) return "[content of an unknown kind left out]";
  return typeof resource.text === "string" ? resource.text : noteOf("file", resource.mimeType, resource.blob, note);
}

const noteOf = (kind: Binary["kind"], mimeType: unknown, base64: unknown, note: Note): string =>
  note({ kind, mime_type: mediaType(mimeType), base64: typeof base64 === "string" ? base64 : "" });

/** Replaces binary content in data by notes. */
function readable(value: unknown, note: Note, depth: number): unknown {
  if (!hasParts(value) || depth > depthMax) return value;
  if (Array.isArray(value)) return value.map((item) => shown(item, {}, note, depth));
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, shown(item, value as Raw, note, depth)]));
}

function shown(item: unknown, among: Raw, note: Note, depth: number): unknown {
  if (typeof item !== "string") return readable(item, note, depth + 1);
  const said = [among.mimeType, among.mime_type, among.media_type, among.content_type].find((type) => mediaType(type));
  const binary = binaryIn(item, mediaType(said), among.type);
  return binary ? note(binary) : item;
}

const mediaType = (text: unknown): string =>
  typeof text === "string" && /^[\w.+-]{1,64}\/[\w.+-]{1,64}$/.test(text) ? text : "";

const word = (value: unknown): string => (typeof value === "string" ? value.slice(0, 2048) : "");
