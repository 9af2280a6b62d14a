import type { SQLQueryBindings } from "bun:sqlite";
import { AppError } from "../core/errors.ts";
import { newId } from "../core/ids.ts";
import type { Environment, Scope } from "../core/scope.ts";
import { timestamp } from "../core/time.ts";
import type { Audit, Author } from "../db/audit.ts";
import type { Content, FileBlobs, StoredContent } from "../db/file-blobs.ts";
import type { Db } from "../db/open.ts";
import type { Viewer } from "../http/auth.ts";
import { fault, validationError } from "../http/errors.ts";
import { notFound } from "../http/not-found.ts";
import { type Condition, listRows, type Page, toList } from "../http/page.ts";
import { fitFileName } from "./file-name.ts";
import { headBytes, isDocument, typeOfFile } from "./file-type.ts";
import type { Received } from "./receive.ts";
import type { CreateFile, Purpose, Status } from "./schema.ts";

interface Row extends Scope, Content {
  id: string;
  filename: string;
  mime_type: string;
  purpose: Purpose;
  status: Status;
  run_id: string | null;
  tool_call_id: string | null;
  agent_id: string | null;
  metadata: string;
  created_at_ms: number;
  expires_at_ms: number | null;
}

/** What others must know of a file. */
export type FileFacts = Pick<Row, "id" | "filename" | "mime_type" | "bytes" | "sha256">;

/** Some of a file's content; `bytes` is how much there is of it in all. */
export interface FilePart {
  filename: string;
  bytes: number;
  part: Uint8Array;
}

/** A file that a tool call has made. */
export interface OutputFile {
  id: string;
  filename: string;
  /** Found out by the content where nobody says. */
  mime_type?: string;
  content: Uint8Array;
  /** Null outside of any run. */
  run_id: string | null;
  tool_call_id: string | null;
}

// Each takes a chunk along: 4 MB in 2 ms, so that those who wait for the next write wait for milliseconds.
const filesPerWrite = 16;

export type FileStore = ReturnType<typeof createFileStore>;

export function createFileStore({
  db,
  blobs,
  audit,
  announce = () => {},
  announced = () => {},
  now = Date.now,
}: {
  db: Db;
  blobs: FileBlobs;
  audit: Audit;
  /** Within the write that makes an uploaded file ready. */
  announce?: (scope: Scope, file: Record<string, unknown>) => void;
  /** After that write. */
  announced?: () => void;
  now?: () => number;
}) {
  const { sqlite } = db;
  const one = sqlite.query<Row, [string, Environment, string, number]>(
    `SELECT * FROM files WHERE project_id = ? AND environment = ? AND id = ?
       AND (expires_at_ms IS NULL OR expires_at_ms > ?)`,
  );
  const insertion = sqlite.query(
    `INSERT INTO files (project_id, environment, id, sha256, bytes, filename, mime_type, purpose, status, run_id,
       tool_call_id, agent_id, metadata, created_at_ms, expires_at_ms)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, (SELECT agent_id FROM runs WHERE id = ?), ?, ?, ?)`,
  );
  const deletion = sqlite.query("DELETE FROM files WHERE project_id = ? AND environment = ? AND id = ?");
  const expired = sqlite.query<Row, [number, number]>(
    "SELECT * FROM files WHERE expires_at_ms <= ? ORDER BY expires_at_ms LIMIT ?",
  );

  const known = ({ project_id, environment }: Scope, id: string): Row | null =>
    one.get(project_id, environment, id, now());

  function find(viewer: Viewer, id: string): Row {
    const row = known(viewer, id);
    if (!row || !maySee(viewer, row)) throw notFound();
    return row;
  }

  function insert(scope: Scope, row: Omit<Row, "project_id" | "environment" | "agent_id" | "created_at_ms">): Row {
    insertion.run(
      ...[scope.project_id, scope.environment, row.id, row.sha256, row.bytes, row.filename, row.mime_type, row.purpose],
      ...[row.status, row.run_id, row.tool_call_id, row.run_id, row.metadata, now(), row.expires_at_ms],
    );
    return known(scope, row.id)!;
  }

  /** Within a write. */
  function remove({ project_id, environment, id, sha256 }: Row): void {
    deletion.run(project_id, environment, id);
    blobs.release({ project_id, environment }, sha256);
  }

  const note = (author: Author, action: string, { id, filename, purpose, bytes }: Row): void =>
    audit.note({
      ...{ scope: author, actor: author.actor, action },
      target: { type: "file", id },
      details: { filename, purpose, bytes },
    });

  const notExpired = (): Condition => ({ sql: "expires_at_ms IS NULL OR expires_at_ms > ?", values: [now()] });

  return {
    /** Makes a file of what was received, which is closed either way. */
    async create(author: Author, input: CreateFile, { upload, head }: Received) {
      try {
        const filename = fitFileName(input.filename);
        const mime_type = typeOfFile(filename, head);
        requireFit(input.purpose, mime_type);
        const id = newId("file", now());
        const file = await db.write(() => {
          upload.keep();
          const row = insert(author, {
            ...{
              id,
              ...upload.content(),
              filename,
              mime_type,
              purpose: input.purpose,
              run_id: null,
              tool_call_id: null,
            },
            status: input.purpose === "retrieval" ? "uploaded" : "ready",
            metadata: JSON.stringify(input.metadata ?? {}),
            expires_at_ms: input.expires_in_seconds === undefined ? null : now() + input.expires_in_seconds * 1000,
          });
          note(author, "file.created", row);
          if (row.status === "ready") announce(author, toFile(row));
          return toFile(row);
        });
        announced();
        return file;
      } finally {
        upload.close();
      }
    },

    get: (viewer: Viewer, id: string) => toFile(find(viewer, id)),

    list: (viewer: Viewer, page: Page) =>
      toList(
        listRows<Row>(db, { table: "files", scope: viewer, page, where: [notExpired(), ...madeByAgents(viewer)] }),
        toFile,
      ),

    /** What is known of a file, and its content. */
    content(viewer: Viewer, id: string): { file: FileFacts; content: StoredContent } {
      const file = find(viewer, id);
      return { file, content: blobs.open(viewer, file.sha256)! };
    },

    async remove(author: Author & Viewer, id: string) {
      const answer = await db.write(() => {
        const row = find(author, id);
        remove(row);
        note(author, "file.deleted", row);
        return { id, object: "file" as const, deleted: true };
      });
      blobs.collectSoon();
      return answer;
    },

    /**
     * Within the write that records a tool's result: one of the files that it made. It stays when its run is deleted,
     * until somebody deletes it too.
     */
    insertOutput(scope: Scope, { id, filename, mime_type, content, run_id, tool_call_id }: OutputFile): FileFacts {
      const name = fitFileName(filename);
      return factsOf(
        insert(scope, {
          ...{ id, ...blobs.put(scope, content), filename: name, run_id, tool_call_id },
          mime_type: mime_type ?? typeOfFile(name, content.subarray(0, headBytes)),
          ...{ purpose: "output", status: "ready", metadata: "{}", expires_at_ms: null },
        }),
      );
    },

    /** A part of a file for a run of its project and environment; null: there is no such file (any more). */
    part(scope: Scope, id: string, start: number, length: number): FilePart | null {
      const row = known(scope, id);
      const content = row && blobs.open(scope, row.sha256);
      if (!content) return null;
      const end = Math.min(row.bytes, start + length);
      return { filename: row.filename, bytes: row.bytes, part: Buffer.concat([...content.read({ start, end })]) };
    },

    /** What a run or a tool must know of the files that it names; throws for those that are not there, by parameter. */
    facts(viewer: Viewer, ids: readonly string[], param = "file_ids"): FileFacts[] {
      const rows = ids.map((id) => known(viewer, id));
      const faults = rows.flatMap((row, index) =>
        row && maySee(viewer, row) ? [] : [fault(`${param}[${index}]`, "There is no such file.")],
      );
      if (faults.length > 0) throw validationError(faults);
      return rows.map((row) => factsOf(row!));
    },

    /** Within a write: deletes up to so many files whose time is up. Answers how many those were. */
    forgetExpired(limit: number): number {
      const rows = expired.all(now(), Math.min(limit, filesPerWrite));
      rows.forEach(remove);
      return rows.length;
    },
  };
}

/** A key that is bound to some agents sees what was uploaded, but not what other agents' runs have made. */
const maySee = ({ agent_ids }: Viewer, { agent_id }: Row): boolean =>
  !agent_ids || agent_id === null || agent_ids.includes(agent_id);

const madeByAgents = ({ agent_ids }: Viewer): Condition[] => {
  const values: SQLQueryBindings[] = [JSON.stringify(agent_ids)];
  return agent_ids ? [{ sql: "agent_id IS NULL OR agent_id IN (SELECT value FROM json_each(?))", values }] : [];
};

function requireFit(purpose: Purpose, type: string): void {
  if (purpose === "retrieval" && !isDocument(type))
    throw new AppError(
      "unsupported_file_type",
      `Text of ${type} cannot be searched. For another purpose it is taken.`,
      {
        param: "file",
      },
    );
}

const factsOf = ({ id, filename, mime_type, bytes, sha256 }: Row): FileFacts => ({
  ...{ id, filename, mime_type, bytes, sha256 },
});

const toFile = (row: Row) => ({
  id: row.id,
  object: "file" as const,
  filename: row.filename,
  mime_type: row.mime_type,
  bytes: row.bytes,
  sha256: row.sha256,
  purpose: row.purpose,
  status: row.status,
  error: null,
  chunks: 0,
  memory_ids: [],
  run_id: row.run_id,
  tool_call_id: row.tool_call_id,
  expires_at: row.expires_at_ms === null ? null : timestamp(row.expires_at_ms),
  metadata: JSON.parse(row.metadata) as Record<string, string>,
  created_at: timestamp(row.created_at_ms),
  project_id: row.project_id,
  environment: row.environment,
});
