import { noSuch } from "../../domain/error-messages.ts";
import type { CodedError } from "../../domain/errors.ts";
import type { Scope } from "../../domain/scope.ts";
import type { Viewer } from "../../http/auth.ts";
import { fault, throwIfInvalid } from "../../http/errors.ts";
import { headBytes, isSearchable, typeOfFile } from "../../runtime/documents/file-type.ts";
import type { FileBlobs } from "../../storage/db/file-blobs.ts";
import { fitFileName } from "./file-name.ts";
import type { FileRows } from "./file-rows.ts";
import type { FileRow as Row } from "./row.ts";

/** Public facts of a file. */
export type FileFacts = Pick<Row, "id" | "filename" | "mime_type" | "bytes" | "sha256">;

/** Part of a file's content; `bytes` is the total size. */
interface FilePart {
  filename: string;
  bytes: number;
  part: Uint8Array;
}

/** A file made by a tool call. */
interface OutputFile {
  id: string;
  filename: string;
  /** Detected from the name and the content if absent. */
  mime_type?: string;
  content: Uint8Array;
  /** Null outside of a run. */
  run_id: string | null;
  tool_call_id: string | null;
}

/** File access by id for runs, tools and memory stores. */
export function createNamedFiles({ rows, blobs }: { rows: FileRows; blobs: FileBlobs }) {
  return {
    /** Facts about a document for a memory store; null if the viewer sees no such file. */
    document(viewer: Viewer, id: string) {
      const row = rows.seen(viewer, id);
      if (!row) return null;
      const { mime_type, expires_at_ms } = row;
      return { id, mime_type, searchable: isSearchable(mime_type), expires_at_ms };
    },

    /** Processing state of a document; null if the file is gone. */
    reading(scope: Scope, id: string): { chunks: number; failed: CodedError | null; isWanted: boolean } | null {
      const row = rows.known(scope, id);
      if (!row) return null;
      const failed = row.status === "failed" && row.chunks === 0 ? row.error : null;
      return { chunks: row.chunks, failed, isWanted: row.status === "uploaded" || row.status === "processing" };
    },

    /**
     * Inserts an output file inside the write that records the tool's result. It stays when its run is deleted, until a
     * client deletes it.
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

    /** Reads part of a file for a run of its project and environment; null if there is no such file. */
    part(scope: Scope, id: string, start: number, length: number): FilePart | null {
      const row = rows.known(scope, id);
      const content = row && blobs.open(scope, row.sha256);
      if (!content) return null;
      const end = Math.min(row.bytes, start + length);
      return { filename: row.filename, bytes: row.bytes, part: Buffer.concat([...content.read({ start, end })]) };
    },

    /** A file that this run made, by its id; null if it made none of this id. */
    madeBy(scope: Scope, runId: string, id: string): { file_id: string } | null {
      return rows.known(scope, id)?.run_id === runId ? { file_id: id } : null;
    },

    /** Any file of the project and environment, by its id; null if there is none. */
    anyFile: (scope: Scope, id: string): { file_id: string } | null => (rows.known(scope, id) ? { file_id: id } : null),

    /** Facts about the named files. Throws for unknown ones, naming the parameter of each. */
    facts(viewer: Viewer, ids: readonly string[], param = "file_ids"): FileFacts[] {
      const found = ids.map((id) => rows.seen(viewer, id));
      throwIfInvalid(found.flatMap((row, index) => (row ? [] : [fault(`${param}[${index}]`, noSuch("file"))])));
      return found.flatMap((row) => (row ? [factsOf(row)] : []));
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
