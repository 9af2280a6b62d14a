import { missingParameter, noSuch } from "../../domain/error-messages.ts";
import { AppError } from "../../domain/errors.ts";
import { limits } from "../../domain/limits.ts";
import { invalid } from "../../http/errors.ts";
import { chunksOf, parseJsonBody, readBody, refuseCompressed, throwBodyError } from "../../http/json-body.ts";
import { readBoundary, readMultipart } from "../../http/multipart.ts";
import type { BodyReader, ReadBody } from "../../http/operation.ts";
import { sha256 } from "../../lib/hash.ts";
import { contentTypeOf } from "../../lib/mime-type.ts";

export type ArchiveReceiver = ReturnType<typeof createArchiveReceiver>;

/** Media types of a body that is the archive itself. */
const archiveTypes = new Set([
  "application/zip",
  "application/x-zip-compressed",
  "application/x-tar",
  "application/gzip",
  "application/x-gzip",
  "application/octet-stream",
]);

/** Receives archives: as the body, as a part of a form, or in JSON. */
export function createArchiveReceiver() {
  const pending = new WeakMap<Request, Uint8Array>();

  const read: BodyReader = async (request) => {
    const type = contentTypeOf(request.headers);
    const isForm = type === "multipart/form-data";
    if (!isForm && !archiveTypes.has(type)) {
      const bytes = await readBody(request);
      return { bytes, parse: () => parseJsonBody(bytes, request.headers) };
    }
    refuseCompressed(request.headers);
    return hold(request, isForm ? await readForm(request) : await readAll(chunksOf(request)));
  };

  /** Keeps the archive until the route takes it. A repeated request is recognized by its hash. */
  function hold(request: Request, archive: Uint8Array): ReadBody {
    pending.set(request, archive);
    return { bytes: Buffer.from(sha256(archive)), parse: () => ({}) };
  }

  return {
    read,
    /** Takes the archive of an admitted request. `body` is the JSON, or empty if the body was the archive. */
    take(request: Request, body: Record<string, unknown>): Uint8Array {
      const archive = pending.get(request);
      pending.delete(request);
      return archive ?? archiveOf(body);
    },
    discard: (request: Request): void => void pending.delete(request),
  };
}

async function readForm(request: Request): Promise<Uint8Array> {
  const boundary = readBoundary(request.headers.get("content-type") ?? "");
  return readAll(contentOfForm(request, boundary));
}

async function* contentOfForm(request: Request, boundary: string): AsyncGenerator<Uint8Array, void> {
  let isFound = false;
  for await (const item of readMultipart(chunksOf(request), boundary)) {
    if ("data" in item) yield item.data;
    else if (item.head.name !== "file")
      throw invalid(item.head.name.slice(0, 64), noSuch("parameter"), "unknown_parameter");
    else if (isFound) throw invalid("file", "A form has one archive.");
    else isFound = true;
  }
  if (!isFound) throw invalid("file", missingParameter, "required");
}

async function readAll(pieces: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const piece of pieces) {
      size += piece.length;
      if (size > limits.skill_archive_bytes) throw tooLarge();
      chunks.push(piece.slice());
    }
  } catch (error) {
    throwBodyError(error, "validation_failed");
  }
  return Buffer.concat(chunks);
}

/** Reads `{ content_base64 }`, which is no schema of the route: it takes bytes too. */
function archiveOf({ content_base64, ...others }: Record<string, unknown>): Uint8Array {
  const [other] = Object.keys(others);
  if (other !== undefined) throw invalid(other.slice(0, 64), noSuch("parameter"), "unknown_parameter");
  if (typeof content_base64 !== "string")
    throw invalid("content_base64", "Send the archive as the body, as the part file of a form, or in here, as base64.");
  try {
    return Uint8Array.fromBase64(content_base64);
  } catch {
    throw invalid("content_base64", "This is not base64.");
  }
}

const tooLarge = () => new AppError("payload_too_large", `An archive has at most ${limits.skill_archive_bytes} bytes.`);
