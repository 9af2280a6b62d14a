import { closeSync, openSync, writeSync } from "node:fs";
import { capsuleLimits, capsuleType } from "../core/capsule-format.ts";
import { AppError } from "../core/errors.ts";
import { nameOf } from "../core/scope.ts";
import { chunksOf, cutOff, parseJsonBody, readBody, refuseCompressed } from "../http/json-body.ts";
import type { BodyReader, ReadBody } from "../http/operation.ts";
import { createFairQueue } from "../lib/fair/queue.ts";
import type { CapsuleOrder } from "../sandbox/capsule-reader.ts";
import { unlessGone } from "./unless-gone.ts";
import { piecesOf, type Workspace } from "./workspace.ts";

export type ImportBody = ReturnType<typeof createImportBody>;

/** Takes in what is to be imported: JSON into memory, a capsule into a file. */
export function createImportBody({ workspace, requireRoom }: { workspace: Workspace; requireRoom: () => void }) {
  const waiting = new WeakMap<Request, string>();
  // All bodies that are parsed share one line of slices: of each owner one is in it.
  const queue = createFairQueue({ count: 2, reserve: 1 });

  const read: BodyReader = async (request, principal) => {
    if (typeOf(request) === capsuleType) return await readCapsule(request);
    const bytes = await readBody(request, capsuleLimits.json_bytes);
    const parse = async () => parseJsonBody(bytes, request.headers, capsuleLimits.json_depth);
    return {
      bytes,
      parse: () => unlessGone(request.signal, () => queue.run(nameOf(principal), request.signal, parse)),
    };
  };

  async function readCapsule(request: Request): Promise<ReadBody> {
    refuseCompressed(request.headers);
    if (Number(request.headers.get("content-length") ?? 0) > capsuleLimits.bytes) throw tooLarge();
    const path = workspace.name("upload");
    waiting.set(request, path);
    const hash = new Bun.CryptoHasher("sha256");
    let size = 0;
    const handle = openSync(path, "wx", 0o600);
    try {
      for await (const piece of chunksOf(request)) {
        size += piece.length;
        if (size > capsuleLimits.bytes) throw tooLarge();
        requireRoom(); // A large one may be what fills the disk.
        hash.update(piece);
        for (let at = 0; at < piece.length; ) at += writeSync(handle, piece, at);
      }
    } catch (error) {
      discard(request);
      return cutOff(error, "validation_failed");
    } finally {
      closeSync(handle);
    }
    return { bytes: Buffer.from(hash.digest("hex")), parse: () => ({}) };
  }

  /** For any request, however it ended: what was taken in of it goes. */
  function discard(request: Request): void {
    const path = waiting.get(request);
    waiting.delete(request);
    if (path !== undefined) workspace.remove(path);
  }

  return {
    read,
    discard,
    /** The capsule that came with a request, as long as `use` lasts; null: it was JSON. */
    async withCapsule<T>(request: Request, use: (order: CapsuleOrder | null) => Promise<T>): Promise<T> {
      const path = waiting.get(request);
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

const typeOf = (request: Request): string =>
  (request.headers.get("content-type") ?? "").split(";")[0]!.trim().toLowerCase();

const tooLarge = () => new AppError("payload_too_large", `A capsule has at most ${capsuleLimits.bytes} bytes.`);
