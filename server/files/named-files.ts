import type { CodedError } from "../core/errors.ts";
import type { Scope } from "../core/scope.ts";
import type { FileBlobs } from "../db/file-blobs.ts";
import type { Viewer } from "../http/auth.ts";
import { fault, refuse } from "../http/errors.ts";
import { fitFileName } from "./file-name.ts";
import type { FileRows } from "./file-rows.ts";
import { headBytes, isSearchable, typeOfFile } from "./file-type.ts";
import type { FileRow as Row } from "./row.ts";

/** What others must know of a file. */
export type FileFacts = Pick<Row, "id" | "filename" | "mime_type" | "bytes" | "sha256">;

/** Some of a file's content; `bytes` is how much there is of it in all. */
interface FilePart {
  filename: string;
  bytes: number;
  part: Uint8Array;
}

/** A file that a tool call has made. */
interface OutputFile {
  id: string;
  filename: string;
  /** Found out by the content where nobody says. */
  mime_type?: string;
  content: Uint8Array;
  /** Null outside of any run. */
  run_id: string | null;
  tool_call_id: string | null;
}

/** Files for what names them by their ids: runs, tools and memory stores. */
export function createNamedFiles({ rows, blobs }: { rows: FileRows; blobs: Pick<FileBlobs, "open" | "put"> }) {
  return {
    /** What a store that is to have a file must know of it; null for one that is not there for whoever asks. */
    document(viewer: Viewer, id: string) {
      const row = rows.seen(viewer, id);
      if (!row) return null;
      const { mime_type, expires_at_ms } = row;
      return { id, mime_type, searchable: isSearchable(mime_type), expires_at_ms };
    },

    /** How far a document is read; null for a file that is gone. */
    reading(scope: Scope, id: string): { chunks: number; failed: CodedError | null; isWanted: boolean } | null {
      const row = rows.known(scope, id);
      if (!row) return null;
      const failed = row.status === "failed" && row.chunks === 0 ? row.error : null;
      return { chunks: row.chunks, failed, isWanted: row.status === "uploaded" || row.status === "processing" };
    },

    /**
     * Within the write that records a tool's result: one of the files that it made. It stays when its run is deleted,
     * until somebody deletes it too.
     */
    insertOutput(scope: Scope, { id, filename, mime_type, content, run_id, tool_call_id }: OutputFile): FileFacts {
      const name = fitFileName(filename);
      return factsOf(
        rows.insert(scope, {
          id,
          ...blobs.put(scope, content),
          filename: name,
          run_id,
          tool_call_id,
          mime_type: mime_type ?? typeOfFile(name, content.subarray(0, headBytes)),
          purpose: "output",
          status: "ready",
          metadata: {},
          expires_at_ms: null,
          chunking: null,
        }),
      );
    },

    /** A part of a file for a run of its project and environment; null: there is no such file (any more). */
    part(scope: Scope, id: string, start: number, length: number): FilePart | null {
      const row = rows.known(scope, id);
      const content = row && blobs.open(scope, row.sha256);
      if (!content) return null;
      const end = Math.min(row.bytes, start + length);
      return { filename: row.filename, bytes: row.bytes, part: Buffer.concat([...content.read({ start, end })]) };
    },

    /** What a run or a tool must know of the files that it names; throws for those that are not there, by parameter. */
    facts(viewer: Viewer, ids: readonly string[], param = "file_ids"): FileFacts[] {
      const found = ids.map((id) => rows.seen(viewer, id));
      const faults = found.flatMap((row, index) =>
        row ? [] : [fault(`${param}[${index}]`, "There is no such file.")],
      );
      refuse(faults);
      return found.map((row) => factsOf(row!));
    },
  };
}

const factsOf = ({ id, filename, mime_type, bytes, sha256 }: Row): FileFacts => ({
  id,
  filename,
  mime_type,
  bytes,
  sha256,
});
