import { closeSync, openSync, writeSync } from "node:fs";
import { capsuleLimits, capsuleType } from "../../domain/capsule-format.ts";
import { AppError } from "../../domain/errors.ts";
import { nameOf } from "../../domain/scope.ts";
import { chunksOf, parseJsonBody, readBody, refuseCompressed, throwBodyError } from "../../http/json-body.ts";
import type { BodyReader, ReadBody } from "../../http/operation.ts";
import { createFairQueue } from "../../lib/fair-queue/queue.ts";
import { contentTypeOf } from "../../lib/mime-type.ts";
import type { CapsuleOrder } from "../../runtime/sandbox/capsule-reader.ts";
import { ignoreClientAbort } from "./ignore-client-abort.ts";
import { piecesOf, type Workspace } from "./workspace.ts";

export type ImportBody = ReturnType<typeof createImportBody>;

/** Receives imports: JSON into memory, a capsule into a file. */
export function createImportBody({ workspace, requireRoom }: { workspace: Workspace; requireRoom: () => void }) {
  const pathByRequest = new WeakMap<Request, string>();
  // Parsing of all bodies shares this queue; one per owner is parsed at a time.
  const queue = createFairQueue({ count: 2, reserve: 1 });

  const read: BodyReader = async (request, principal) => {
    if (typeOf(request) === capsuleType) return await readCapsule(request);
    const bytes = await readBody(request, capsuleLimits.json_bytes);
    const parse = async () => parseJsonBody(bytes, request.headers, capsuleLimits.json_depth);
    return {
      bytes,
      parse: () => ignoreClientAbort(request.signal, () => queue.run(nameOf(principal), request.signal, parse)),
    };
  };

  async function readCapsule(request: Request): Promise<ReadBody> {
    refuseCompressed(request.headers);
    if (Number(request.headers.get("content-length") ?? 0) > capsuleLimits.bytes) throw tooLarge();
    const path = workspace.name("upload");
    pathByRequest.set(request, path);
    const hash = new Bun.CryptoHasher("sha256");
    let size = 0;
    const handle = openSync(path, "wx", 0o600);
    try {
      for await (const piece of chunksOf(request)) {
        size += piece.length;
        if (size > capsuleLimits.bytes) throw tooLarge();
        requireRoom(); // Checked per piece, because a large capsule may fill the disk.
        hash.update(piece);
        for (let at = 0; at < piece.length; ) at += writeSync(handle, piece, at);
      }
    } catch (error) {
      discard(request);
      return throwBodyError(error, "validation_failed");
    } finally {
      closeSync(handle);
    }
    return { bytes: Buffer.from(hash.digest("hex")), parse: () => ({}) };
  }

  /** Deletes what was received of any request, however it ended. */
  function discard(request: Request): void {
    const path = pathByRequest.get(request);
    pathByRequest.delete(request);
    if (path !== undefined) workspace.remove(path);
  }

  return {
    read,
    discard,
    /** Calls `use` with the request's capsule, which is open until it resolves; null for JSON. */
    async withCapsule<T>(request: Request, use: (order: CapsuleOrder | null) => Promise<T>): Promise<T> {
      const path = pathByRequest.get(request);
      if (path === undefined) return await use(null);
      const handle = openSync(path, "r");
      try {
        return await use({ bytes: Bun.file(path).size, content: piecesOf(handle) });
      } finally {
        closeSync(handle);
        discard(request);
      }
    },
  };
}

const typeOf = (request: Request): string => contentTypeOf(request.headers);

const tooLarge = () => new AppError("payload_too_large", `A capsule has at most ${capsuleLimits.bytes} bytes.`);
