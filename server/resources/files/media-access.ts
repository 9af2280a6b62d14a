import { defaultChunking } from "../../domain/chunking.ts";
import { noSuch } from "../../domain/error-messages.ts";
import { AppError } from "../../domain/errors.ts";
import { newId } from "../../domain/ids.ts";
import { limits } from "../../domain/limits.ts";
import type { MessageFile } from "../../domain/model-call.ts";
import type { MediaPart, PlacedPart, ShownMedia } from "../../domain/run-input.ts";
import type { Scope } from "../../domain/scope.ts";
import type { Viewer } from "../../http/auth.ts";
import { invalid } from "../../http/errors.ts";
import type { Egress } from "../../lib/egress.ts";
import { sha256 } from "../../lib/hash.ts";
import { headBytes, isDocument, typeOfFile } from "../../runtime/documents/file-type.ts";
import type { FileBlobs } from "../../storage/db/file-blobs.ts";
import { fetchMedia, tooMuch } from "./fetch-media.ts";
import { fitFileName } from "./file-name.ts";
import type { FileRows } from "./file-rows.ts";
import type { ImageRefcounts } from "./image-refcounts.ts";
import { mediaFault } from "./media-types.ts";

interface MediaAccess {
  rows: FileRows;
  blobs: FileBlobs;
  uses: ImageRefcounts;
  /** Egress limited to public addresses. */
  egress: Egress;
  /** Called after a write that created a document, whose text is to be read. */
  process(): void;
  now: () => number;
}

/** Content of a part that is no stored file yet. */
interface Sent {
  content: Uint8Array;
  filename: string | null;
}

/**
 * Resolves images, recordings and documents in a viewer's messages. Data and addresses become files, so that neither
 * bytes nor foreign addresses reach the journal. `param` is the messages' parameter name, for errors.
 */
export const createMediaAccess =
  ({ rows, blobs, uses, egress, process, now }: MediaAccess) =>
  (viewer: Viewer, param: string, agentId: string | null, signal?: AbortSignal): ShownMedia => {
    const newFiles = new Map<string, { file: MessageFile; content: Uint8Array }>();
    const usedIds = new Set<string>();
    const fetched = new Map<string, Sent>();
    let room: number = limits.input_media_bytes;

    const placeOf = ({ field, file_id, data }: MediaPart, path: string): string => {
      const own = file_id !== undefined ? "file_id" : (field ?? (data !== undefined ? "data" : "url"));
      return `${param}${path}.${own}`.replace(/^\./, "");
    };

    function known({ type, file_id: id = "" }: MediaPart, place: string): MessageFile {
      // A browser could otherwise show another user's file.
      if (viewer.token) throw new AppError("insufficient_scope", onlyData, { param: place });
      const row = rows.seen(viewer, id);
      if (!row) throw invalid(place, noSuch("file"));
      const { mime_type, sha256, filename, bytes } = row;
      refuse(mediaFault(type, mime_type, bytes, "stored"), place);
      usedIds.add(id);
      return { file_id: id, mime_type, sha256, filename };
    }

    function sent({ type }: MediaPart, { content, filename }: Sent, place: string): MessageFile {
      const mime_type = typeOfFile(filename ?? "", content.subarray(0, headBytes));
      const hash = sha256(content);
      const before = newFiles.get(hash)?.file;
      if (before) return before;
      refuse(mediaFault(type, mime_type, content.length, "sent"), place);
      room -= content.length;
      if (room < 0) throw tooMuch(place);
      const file_id = uses.known(viewer, hash, agentId) ?? newId("file", now());
      const file = { file_id, mime_type, sha256: hash, filename: nameOf(type, filename, mime_type) };
      newFiles.set(hash, { file, content });
      return file;
    }

    return {
      fetch(parts) {
        const addressed = parts.flatMap(({ part, path }: PlacedPart) =>
          part.url === undefined ? [] : [{ url: part.url, type: part.type, place: placeOf(part, path) }],
        );
        const [first] = addressed;
        if (!first) return;
        if (viewer.token) throw invalid(first.place, `${onlyData} Expected data:<type>;base64,<content>.`);
        return fetchMedia(addressed, { egress, signal, most: room }).then((contents) => {
          for (const [url, content] of contents) fetched.set(url, content);
        });
      },
      of(part, path) {
        const place = placeOf(part, path);
        if (part.file_id !== undefined) return known(part, place);
        if (part.data !== undefined)
          return sent(part, { content: bytesOf(part.data, place), filename: part.filename ?? null }, place);
        const found = fetched.get(part.url ?? "");
        if (!found) throw invalid(place, "Must be a stored file, or data:<type>;base64,<content>.");
        return sent(part, { ...found, filename: part.filename ?? found.filename }, place);
      },
      keep(of) {
        const [run_id, owner] = "run_id" in of ? [of.run_id, of.run_id] : [null, of.thread_id];
        for (const { file, content } of newFiles.values()) {
          // It may have been deleted since it was found.
          if (!uses.isThere(viewer, file.file_id)) insert(viewer, file, content, run_id);
          uses.begin(viewer, file.file_id, owner);
        }
        for (const id of usedIds) uses.shows(viewer, id, owner);
      },
      kept() {
        if ([...newFiles.values()].some(({ file }) => isDocument(file.mime_type))) process();
      },
    };

    function insert(scope: Scope, file: MessageFile, content: Uint8Array, run_id: string | null) {
      const { file_id: id, mime_type, filename } = file;
      const isRead = isDocument(mime_type);
      rows.insert(scope, {
        id,
        ...blobs.put(scope, content),
        filename,
        mime_type,
        run_id,
        tool_call_id: null,
        purpose: "attachment",
        status: isRead ? "uploaded" : "ready",
        metadata: {},
        expires_at_ms: null,
        chunking: isRead ? defaultChunking : null,
      });
    }
  };

const onlyData = "A client token can only send images and files as data.";

function refuse(fault: ReturnType<typeof mediaFault>, param: string): void {
  if (!fault) return;
  const message = `${param}: ${fault.message}`;
  throw new AppError(fault.code, message, {
    param,
    errors: [{ param, code: fault.code === "validation_failed" ? "invalid_value" : fault.code, message }],
  });
}

function nameOf(type: MediaPart["type"], filename: string | null, mime_type: string): string {
  if (type === "file" && filename) return fitFileName(filename);
  const ending = mime_type.split("/")[1] ?? "bin";
  const kind = type === "file" ? "document" : type;
  return `${kind}.${endings[ending] ?? ending}`;
}

const endings: Record<string, string> = { mpeg: "mp3", plain: "txt", "svg+xml": "svg", "octet-stream": "bin" };

function bytesOf(data: string, param: string): Uint8Array {
  const [, base64] = /^data:[^,]*;base64,([\s\S]*)$/i.exec(data) ?? [];
  try {
    if (base64 !== undefined || !/^data:/i.test(data)) return Uint8Array.fromBase64(base64 ?? data);
  } catch {
    // Throws below, as for any other invalid URL.
  }
  throw invalid(param, "Must be data:<type>;base64,<content>.");
}
