import { AppError } from "../../domain/errors.ts";
import { limits } from "../../domain/limits.ts";
import { refuseCompressed } from "../../http/json-body.ts";
import { parseJson } from "../../http/parse-json.ts";
import { parseJsonAsync, piece } from "../../http/parse-json-async.ts";
import { parseExact } from "../../lib/exact-numbers.ts";
import { isObject } from "../../lib/json.ts";
import { contentTypeOf } from "../../lib/mime-type.ts";
import type { TriggerEvent } from "./event-path.ts";

/** Headers with secrets and signatures, which neither templates nor runs see. */
const hiddenHeaders =
  /^(authorization|proxy-authorization|cookie|x-hub-signature.*|stripe-signature|x-slack-signature|(webhook|svix)-signature)$/;

/** Parses the body of a verified request by its type. Throws if it is malformed, compressed or of another type. */
export async function readEvent(
  headers: Headers,
  bytes: Uint8Array,
  secretHeader: string | null,
): Promise<TriggerEvent> {
  refuseCompressed(headers);
  const body = await parseBody(headers, bytes);
  return { body, headers: shownHeaders(headers, secretHeader) };
}

function shownHeaders(headers: Headers, secretHeader: string | null): Record<string, string> {
  const hidden = secretHeader?.toLowerCase();
  return Object.fromEntries([...headers].filter(([name]) => name !== hidden && !hiddenHeaders.test(name)));
}

async function parseBody(headers: Headers, bytes: Uint8Array): Promise<unknown> {
  if (bytes.length === 0) return null;
  const type = contentTypeOf(headers);
  if (type === "multipart/form-data") return await readMultipart(headers.get("content-type") ?? "", bytes);
  const content = toUtf8(bytes, /;\s*charset="?([\w-]+)"?/i.exec(headers.get("content-type") ?? "")?.[1]);
  if (type === "application/x-www-form-urlencoded") return readForm(decode(content));
  if (type === "application/json" || type.endsWith("+json")) return await parseJsonBytes(content);
  if (type === "text/plain") return await readPlain(content);
  if (type.startsWith("text/")) return decode(content);
  if (type !== "") throw new AppError("unsupported_media_type", "The body of an event is JSON, a form, or a text.");
  return /^\s*[[{]/.test(decode(content.subarray(0, 100))) ? await parseJsonBytes(content) : decode(content);
}

const parseJsonBytes = async (bytes: Uint8Array): Promise<unknown> =>
  bytes.length <= piece ? parseJson(bytes) : parseJsonAsync(bytes, limits.json_depth);

/** Some senders call their JSON a plain text. A text that only looks like JSON stays a text. */
async function readPlain(bytes: Uint8Array): Promise<unknown> {
  if (!/^\s*[[{]/.test(decode(bytes.subarray(0, 100)))) return decode(bytes);
  return await parseJsonBytes(bytes).catch((error) => {
    if (error instanceof AppError) return decode(bytes);
    throw error;
  });
}

const decode = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

/** Converts a text of another charset; most senders use UTF-8 and do not say so. */
function toUtf8(bytes: Uint8Array, charset = "utf-8"): Uint8Array {
  if (/^utf-?8$/i.test(charset)) return bytes;
  return Buffer.from(decodeAs(bytes, charset));
}

function decodeAs(bytes: Uint8Array, charset: string): string {
  try {
    return new TextDecoder(charset as "utf-8").decode(bytes);
  } catch {
    throw new AppError("unsupported_media_type", "The charset of the body is unknown.");
  }
}

const readForm = (text: string): unknown => withPayload(fieldsOf([...new URLSearchParams(text)]));

/** Returns the fields of a form by name. A name that is there several times has a list. */
function fieldsOf(entries: readonly (readonly [string, unknown])[]): Record<string, unknown> {
  const fields = new Map<string, unknown[]>();
  for (const [name, value] of entries) fields.set(name, [...(fields.get(name) ?? []), value]);
  return Object.fromEntries(
    [...fields].map(([name, [first, ...others]]) => [name, others.length > 0 ? [first, ...others] : first]),
  );
}

/** GitHub and Slack send JSON in the field `payload` of a form. */
function withPayload(fields: Record<string, unknown>): Record<string, unknown> {
  const { payload } = fields;
  if (typeof payload !== "string" || !payload.trimStart().startsWith("{")) return fields;
  return { ...fields, payload: parseJson(Buffer.from(payload)) };
}

/**
 * Returns the fields of a multipart form. Files are shown by name, type and size. Each byte is parsed as one character
 * at first, because some senders of e-mail use a charset for each field, which their field `charsets` names.
 */
async function readMultipart(contentType: string, bytes: Uint8Array): Promise<unknown> {
  const doubled = Buffer.from(Buffer.from(bytes).toString("latin1"));
  const form = await new Response(doubled, { headers: { "content-type": contentType } }).formData().catch((cause) => {
    throw new AppError("validation_failed", "The body is not multipart/form-data.", { cause });
  });
  const charsets = charsetsIn(form.get("charsets"));
  const entries = await Promise.all(
    [...form].map(async ([name, value]) => {
      if (typeof value === "string") return [name, fieldText(value, charsets.get(name))] as const;
      const { length } = Buffer.from(await value.arrayBuffer()).toString();
      return [name, { filename: fieldText(value.name), content_type: value.type, size_bytes: length }] as const;
    }),
  );
  return withPayload(fieldsOf(entries));
}

/** Decodes a field. One of an unknown charset is read as UTF-8: some of its characters are lost, but no e-mail. */
function fieldText(value: string, charset = "utf-8"): string {
  const bytes = Buffer.from(value, "latin1");
  try {
    return decodeAs(bytes, charset);
  } catch {
    return decode(bytes);
  }
}

function charsetsIn(text: unknown): Map<string, string> {
  try {
    const named = typeof text === "string" ? parseExact(text) : null;
    const pairs = isObject(named) ? Object.entries(named) : [];
    return new Map(pairs.filter((pair): pair is [string, string] => typeof pair[1] === "string"));
  } catch {
    return new Map();
  }
}
