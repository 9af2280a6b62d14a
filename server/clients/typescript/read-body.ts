import { UnexpectedResponseError } from "./errors.ts";
import { parseJson } from "./json.ts";

/**
 * The body of a response as text. Throws an `UnexpectedResponseError` when it is longer than `limit` bytes, before it is
 * read to its end, and when it is not UTF-8.
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
    reader?.cancel().catch(() => {}); // Read to its end there is nothing to cancel.
  }
}

/** The next piece of a text; without bytes its end. */
export function decodedBy(decoder: TextDecoder, bytes?: Uint8Array): string {
  try {
    return bytes ? decoder.decode(bytes, { stream: true }) : decoder.decode();
  } catch (cause) {
    throw new UnexpectedResponseError("What the server sent is not UTF-8.", { cause });
  }
}

/** A JSON object. Throws an `UnexpectedResponseError` for what is none. */
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
