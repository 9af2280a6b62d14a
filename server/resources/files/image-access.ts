import { noSuch } from "../../domain/error-messages.ts";
import { newId } from "../../domain/ids.ts";
import type { ImageFacts } from "../../domain/model-call.ts";
import type { ShownImages } from "../../domain/run-input.ts";
import type { Scope } from "../../domain/scope.ts";
import type { Viewer } from "../../http/auth.ts";
import { invalid } from "../../http/errors.ts";
import { sha256 } from "../../lib/hash.ts";
import type { FileBlobs } from "../../storage/db/file-blobs.ts";
import { imageBytesMax, imageTypes } from "./attachments.ts";
import type { FileRows } from "./file-rows.ts";
import { headBytes, typeOfFile } from "./file-type.ts";
import type { ImageRefcounts } from "./image-refcounts.ts";

/** Resolves the images in a viewer's messages; `param` is the messages' parameter name, for errors. */
export const createImageAccess =
  ({ rows, blobs, uses, now }: { rows: FileRows; blobs: FileBlobs; uses: ImageRefcounts; now: () => number }) =>
  (viewer: Viewer, param: string, agentId: string | null): ShownImages => {
    const newImages = new Map<string, { facts: ImageFacts; content: Uint8Array }>();
    const usedIds = new Set<string>();

    function known(id: string, path: string): ImageFacts {
      const row = rows.seen(viewer, id);
      if (!row) throw invalid(`${path}.file_id`, noSuch("file"));
      usedIds.add(id);
      return requireImage(row.mime_type, row.bytes, `${path}.file_id`, {
        file_id: id,
        mime_type: row.mime_type,
        sha256: row.sha256,
      });
    }

    function read(data: string, path: string): ImageFacts {
      const content = bytesOf(data, `${path}.data`);
      const mime_type = typeOfFile("", content.subarray(0, headBytes));
      const hash = sha256(content);
      const before = newImages.get(hash);
      if (before) return before.facts;
      const file_id = uses.known(viewer, hash, agentId) ?? newId("file", now());
      const facts = requireImage(mime_type, content.length, `${path}.data`, { file_id, mime_type, sha256: hash });
      newImages.set(hash, { facts, content });
      return facts;
    }

    return {
      of: ({ file_id, data = "" }, path) =>
        file_id === undefined ? read(data, `${param}${path}`) : known(file_id, `${param}${path}`),
      keep(of) {
        const [run_id, owner] = "run_id" in of ? [of.run_id, of.run_id] : [null, of.thread_id];
        for (const { facts, content } of newImages.values()) {
          // It may have been deleted since it was found.
          if (!uses.isThere(viewer, facts.file_id)) insert(viewer, facts, content, run_id);
          uses.begin(viewer, facts.file_id, owner);
        }
        for (const id of usedIds) uses.shows(viewer, id, owner);
      },
    };

    function insert(scope: Scope, { file_id: id, mime_type }: ImageFacts, content: Uint8Array, run_id: string | null) {
      rows.insert(scope, {
        id,
        ...blobs.put(scope, content),
        filename: `image.${mime_type.split("/")[1]}`,
        mime_type,
        run_id,
        tool_call_id: null,
        purpose: "attachment",
        status: "ready",
        metadata: {},
        expires_at_ms: null,
        chunking: null,
      });
    }
  };

function requireImage(type: string, bytes: number, param: string, facts: ImageFacts): ImageFacts {
  if (!imageTypes.has(type)) throw invalid(param, "This is not a PNG, JPEG, WebP or GIF image.");
  if (bytes > imageBytesMax) throw invalid(param, `The image is larger than ${imageBytesMax} bytes.`);
  return facts;
}

function bytesOf(data: string, param: string): Uint8Array {
  const [, base64] = /^data:[^,]*;base64,([\s\S]*)$/.exec(data) ?? [];
  try {
    if (base64 !== undefined) return Uint8Array.fromBase64(base64);
  } catch {
    // Throws below, as for any other invalid URL.
  }
  throw invalid(param, "Expected data:<type>;base64,<content>.");
}
