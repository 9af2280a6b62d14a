import type { Viewer } from "../../http/auth.ts";
import { redact } from "../../lib/redact.ts";
import type { BlobReader } from "../../storage/db/file-blobs.ts";
import type { Db } from "../../storage/db/open.ts";
import type { CapsuleFile, CapsuleWriter } from "./capsule-writer.ts";

/** Most bytes of one file, and of all files of a capsule. */
const capsuleFiles = { each: 10 * 1024 * 1024, all: 64 * 1024 * 1024 } as const;

/** Most files of a capsule. */
const filesMax = 1000;

interface Row extends CapsuleFile {
  agent_id: string | null;
}

export interface CapsuleFilesOptions {
  db: Db;
  blobs: BlobReader;
  /** Throws `storage_full` if the disk has no room. */
  requireRoom: () => void;
  now: () => number;
}

/** Writes files into one capsule. */
export type FilesWriter = ReturnType<ReturnType<typeof createCapsuleFiles>>;

/** Writes the runs' input and output files into capsules. */
export function createCapsuleFiles({ db, blobs, requireRoom, now }: CapsuleFilesOptions) {
  const select = db.sqlite.query<Row, [string, string, string, string, number]>(
    `SELECT id, filename, mime_type, bytes, sha256, purpose, agent_id FROM files
     WHERE project_id = ? AND environment = ? AND (run_id = ? OR id IN (SELECT value FROM json_each(?)))
       AND coalesce(expires_at_ms > ?, true) ORDER BY id LIMIT ${filesMax}`,
  );

  return (capsule: CapsuleWriter, viewer: Viewer, withContents: boolean, pause: () => Promise<void>) => {
    const seenIds = new Set<string>();
    let room: number = capsuleFiles.all;

    /** Files that the viewer may also read directly. */
    function* filesOf(runId: string, inputs: readonly string[]): Generator<Row> {
      const { project_id, environment, agent_ids } = viewer;
      for (const file of select.all(project_id, environment, runId, JSON.stringify(inputs), now())) {
        if (agent_ids && file.agent_id !== null && !agent_ids.includes(file.agent_id)) continue;
        if (seenIds.size === filesMax) return;
        if (seenIds.size < seenIds.add(file.id).size) yield file;
      }
    }

    /**
     * Returns the reason why the content was omitted, or null. A file with a secret is omitted, because files are not
     * redacted.
     */
    async function writeContent({ id, sha256, bytes }: Row): Promise<string | null> {
      if (!withContents) return "not asked for";
      if (bytes > Math.min(capsuleFiles.each, room)) return "too large";
      const content = blobs.open(viewer, sha256);
      if (!content) return "deleted";
      const pieces = content.read();
      let tail = "";
      for (let position = 0; ; position++) {
        requireRoom();
        const piece = nextOf(pieces);
        if (piece === null) break;
        const text = piece === "deleted" ? "" : tail + Buffer.from(piece).toString("latin1");
        if (piece === "deleted" || redact(text) !== text) {
          capsule.dropChunks(id);
          return piece === "deleted" ? piece : "holds what looks like a secret";
        }
        tail = text.slice(-overlap);
        capsule.chunk(id, position, piece);
        await pause();
      }
      room -= bytes;
      return null;
    }

    return async (runId: string, inputs: readonly string[]): Promise<void> => {
      for (const file of filesOf(runId, inputs)) capsule.file(runId, file, await writeContent(file));
    };
  };
}

/** A secret may be split at the end of a chunk. */
const overlap = 512;

function nextOf(pieces: Generator<Uint8Array, void>): Uint8Array | "deleted" | null {
  try {
    const { value, done } = pieces.next();
    return done ? null : (value as Uint8Array);
  } catch {
    return "deleted";
  }
}
