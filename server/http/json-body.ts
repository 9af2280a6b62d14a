import { AppError, type ErrorCode } from "../domain/errors.ts";
import { limits } from "../domain/limits.ts";
import { BodyTimeout, bodyChunks } from "../lib/body-chunks.ts";
import { firstItem } from "../lib/collections.ts";
import { createYielder } from "../lib/cooperative-yield.ts";
import { isObject } from "../lib/json.ts";
import { markBodyReceived } from "../lib/request-body-state.ts";
import { parseJson } from "./parse-json.ts";
import { parseJsonAsync, piece } from "./parse-json-async.ts";

/** Reads a JSON body within the limits. An absent body is `{}`; the route's schema decides whether that is valid. */
export const readJsonBody = async (request: Request): Promise<unknown> =>
  parseJsonBody(await readBody(request), request.headers);

/** Reads the bytes of a body within the limits; an absent body is empty. */
export async function readBody(request: Request, most: number = limits.body_bytes): Promise<Uint8Array> {
  const bytes = await readCapped(request, most).catch((error) => throwBodyError(error, "invalid_json"));
  markBodyReceived(request);
  return bytes;
}

/** Parses a JSON body within the limits; a long one asynchronously. */
export function parseJsonBody(
  bytes: Uint8Array,
  headers: Headers,
  depth: number = limits.json_depth,
): unknown | Promise<unknown> {
  if (bytes.length === 0) return {};
  checkMediaType(headers);
  // A short body is parsed in this tick.
  return bytes.length <= piece ? parseJson(bytes, depth) : parseJsonAsync(bytes, depth);
}

/** For routes that take no body: throws if one was sent, because its sender expects an effect that never comes. */
export async function refuseBody(request: Request): Promise<null> {
  const body = await readJsonBody(request);
  if (!isObject(body) || Object.keys(body).length > 0)
    throw new AppError("validation_failed", "This request takes no body.");
  return null;
}

function checkMediaType(headers: Headers): void {
  const [type = "", ...parameters] = (headers.get("content-type") ?? "")
    .toLowerCase()
    .split(";")
    .map((part) => part.trim());
  // Another charset would be misread.
  const plain = parameters.every((parameter) => parameter === "" || /^charset="?utf-?8"?$/.test(parameter));
  if (type !== "application/json" || !plain)
    throw new AppError("unsupported_media_type", "The body must be application/json in UTF-8.");
  refuseCompressed(headers);
}

/** Refuses compressed bodies: a megabyte could unpack to a gigabyte. */
export function refuseCompressed(headers: Headers): void {
  const encoding = headers.get("content-encoding");
  if (encoding !== null && encoding !== "identity")
    throw new AppError("unsupported_media_type", "The body must not be compressed.");
}

async function readCapped(request: Request, most: number): Promise<Uint8Array> {
  if (Number(request.headers.get("content-length") ?? 0) > most) throw tooLarge(most);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of bodyChunks(request)) {
    size += chunk.length;
    if (size > most) throw tooLarge(most);
    chunks.push(chunk);
  }
  return chunks.length === 1 ? firstItem(chunks) : Buffer.concat(chunks);
}

// Maximum size of a slice, so that slow consumers (hashing, writing) yield in between.
const maxSlice_bytes = 256 * 1024;

/** Yields a body in slices. A consumer that stops early leaves the rest to the drain. */
export async function* chunksOf(request: Request): AsyncGenerator<Uint8Array, void> {
  const rest = createYielder();
  for await (const chunk of bodyChunks(request))
    for (let at = 0; at < chunk.length; at += maxSlice_bytes) {
      yield chunk.subarray(at, at + maxSlice_bytes);
      await rest();
    }
}

/** Converts a broken connection, broken chunks or silence within a body into a client error. */
export function throwBodyError(error: unknown, code: ErrorCode): never {
  if (error instanceof BodyTimeout) throw bodyStopped();
  if (error instanceof Error && error.name === "AbortError")
    throw new AppError(code, "The body ended before it was complete.", { cause: error });
  throw error;
}

export const bodyStopped = (): AppError =>
  new AppError("body_timeout", "The body stopped before it was complete: nothing came for ten seconds.");

const tooLarge = (most: number) => new AppError("payload_too_large", `A JSON body has at most ${most} bytes.`);
