import { AppError, type ErrorCode } from "../core/errors.ts";
import { limits } from "../core/limits.ts";
import { arriving, BodyStopped } from "../lib/arriving.ts";
import { isObject } from "../lib/json.ts";
import { markReceived } from "../lib/received.ts";
import { inSlices } from "../lib/slices.ts";
import { parseJsonInSlices, piece } from "./parse-in-slices.ts";
import { parseJson } from "./parse-json.ts";

/** Reads a JSON body within the limits; no body at all is `{}`, and the route's schema says whether that will do. */
export const readJsonBody = async (request: Request): Promise<unknown> =>
  parseJsonBody(await readBody(request), request.headers);

/** The bytes of a body within the limits; none where there is no body. */
export async function readBody(request: Request, most: number = limits.body_bytes): Promise<Uint8Array> {
  if (request.body === null) return noBytes;
  const bytes = await readCapped(request, most).catch((error) => cutOff(error, "invalid_json"));
  markReceived(request);
  return bytes;
}

const noBytes = new Uint8Array();

/** What the bytes of a body say, within the limits; of a long one it is read in slices. */
export function parseJsonBody(
  bytes: Uint8Array,
  headers: Headers,
  depth: number = limits.json_depth,
): unknown | Promise<unknown> {
  if (bytes.length === 0) return {};
  checkMediaType(headers);
  // Whoever need not wait shares the tick with others.
  return bytes.length <= piece ? parseJson(bytes, depth) : parseJsonInSlices(bytes, depth);
}

/** For methods that take no body: whoever sends one means something that would not happen. */
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
  // Another charset would be read as something else than what was meant.
  const plain = parameters.every((parameter) => parameter === "" || /^charset="?utf-?8"?$/.test(parameter));
  if (type !== "application/json" || !plain)
    throw new AppError("unsupported_media_type", "The body must be application/json in UTF-8.");
  refuseCompressed(headers);
}

/** A body of a megabyte could become one of a gigabyte. */
export function refuseCompressed(headers: Headers): void {
  const encoding = headers.get("content-encoding");
  if (encoding !== null && encoding !== "identity")
    throw new AppError("unsupported_media_type", "The body must not be compressed.");
}

async function readCapped(request: Request, most: number): Promise<Uint8Array> {
  if (Number(request.headers.get("content-length") ?? 0) > most) throw tooLarge(most);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of arriving(request.body!)) {
    size += chunk.length;
    if (size > most) throw tooLarge(most);
    chunks.push(chunk);
  }
  return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
}

// What is handed over at once: a sender may be faster than whoever hashes and writes what it sends.
const most_taken = 256 * 1024;

/** A body as it arrives, in slices. Whoever leaves off early leaves the rest to whoever reads it out. */
export async function* chunksOf({ body }: Request): AsyncGenerator<Uint8Array, void> {
  if (!body) return;
  const rest = inSlices();
  for await (const chunk of arriving(body))
    for (let at = 0; at < chunk.length; at += most_taken) {
      yield chunk.subarray(at, at + most_taken);
      await rest();
    }
}

/** Who hangs up in the middle of a body, breaks its chunks or falls silent is no bug of ours. */
export function cutOff(error: unknown, code: ErrorCode): never {
  if (error instanceof BodyStopped) throw bodyStopped();
  if (error instanceof Error && error.name === "AbortError")
    throw new AppError(code, "The body ended before it was complete.", { cause: error });
  throw error;
}

export const bodyStopped = (): AppError =>
  new AppError("body_timeout", "The body stopped before it was complete: nothing came for ten seconds.");

const tooLarge = (most: number) => new AppError("payload_too_large", `A JSON body has at most ${most} bytes.`);
