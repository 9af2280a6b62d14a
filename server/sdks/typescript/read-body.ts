import { UnexpectedResponseError } from "./errors.ts";
import { parseJson } from "./json.ts";

/**
 * Reads the body of a response as text. Throws an `UnexpectedResponseError` if it is longer than `limit` bytes (before
 * reading the rest) or not UTF-8.
 */
export async function readText(response: Response, limit: number): Promise<string> {
  const tooLong = () => new UnexpectedResponseError(`The response is longer than ${limit} bytes.`);
  if (Number(response.headers.get("content-length")) > limit) {
    response.body?.cancel().catch(() => {});
    throw tooLong();
  }
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const reader = response.body?.getReader();
  let text = "";
  let length = 0;
  try {
    for (;;) {
      const { done, value } = (await reader?.read()) ?? { done: true };
      if (done) return text + decodedBy(decoder);
      length += value!.length;
      if (length > limit) throw tooLong();
      text += decodedBy(decoder, value);
    }
  } finally {
    reader?.cancel().catch(() => {}); // No effect if the body was read to its end.
  }
}

/** Decodes a chunk; without bytes, the end of the text. */
export function decodedBy(decoder: TextDecoder, bytes?: Uint8Array): string {
  try {
    return bytes ? decoder.decode(bytes, { stream: true }) : decoder.decode();
  } catch (cause) {
    throw new UnexpectedResponseError("What the server sent is not UTF-8.", { cause });
  }
}

/** Parses a JSON object. Throws an `UnexpectedResponseError` for anything else. */
export function parsedObject(text: string, from: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = parseJson(text);
  } catch (cause) {
    throw unlike(from, cause);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw unlike(from);
  return value as Record<string, unknown>;
}

const unlike = (from: string, cause?: unknown): UnexpectedResponseError =>
  new UnexpectedResponseError(`${from} did not return what a runnel server returns. Is that its address?`, { cause });
