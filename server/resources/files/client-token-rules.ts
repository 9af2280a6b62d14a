import { AppError } from "../../domain/errors.ts";
import { limits } from "../../domain/limits.ts";
import type { Scope, ScopeColumns } from "../../domain/scope.ts";
import type { Viewer } from "../../http/auth.ts";
import type { Bounds } from "../../http/principal.ts";
import { isDocument } from "../../runtime/documents/file-type.ts";
import type { Db } from "../../storage/db/open.ts";
import type { CreateFile } from "./schema.ts";

/** Milliseconds that a file from a browser is kept until a run takes it. */
const waiting_ms = 3_600_000;

/** Fields that a browser may set. The others need an API key. */
const fields: ReadonlySet<string> = new Set<keyof CreateFile>(["filename", "purpose", "content_base64", "text"]);

/** Owner of a file that is sent with a client token. A token bound to a run cannot upload. */
const ownerOf = ({ thread_id, user_id }: Bounds): string =>
  thread_id === null ? `user:${user_id}` : `thread:${thread_id}`;

/** Most bytes of one file: fewer with a client token. */
export const mostBytes = ({ token }: Viewer): number => (token ? limits.client_file_bytes : limits.file_bytes);

/** Columns that only files from browsers have. */
interface Sent {
  owner: string;
  agent_id: string;
  expires_at_ms: number;
}

const noFiles = { own: 0, waiting: 0, own_bytes: 0, bytes: 0 };

/** Access rules for files that browsers upload and read. */
export function createTokenFiles({ db, now }: { db: Db; now: () => number }) {
  const standing = db.sqlite.query<
    { own: number; waiting: number; own_bytes: number; bytes: number },
    ScopeColumns & Pick<Sent, "owner" | "agent_id">
  >(
    `SELECT count(*) FILTER (WHERE owner = $owner) AS own,
       count(*) FILTER (WHERE owner = $owner AND expires_at_ms IS NOT NULL) AS waiting,
       coalesce(sum(bytes) FILTER (WHERE owner = $owner), 0) AS own_bytes, coalesce(sum(bytes), 0) AS bytes
     FROM files WHERE project_id = $project_id AND environment = $environment AND agent_id = $agent_id
       AND owner IS NOT NULL`,
  );
  // A file attached to a message is visible if the run that shows it is.
  const ofRuns = (bound: string) =>
    db.sqlite.query<unknown, ScopeColumns & { id: string; agents: string; bound: string }>(
      `SELECT 1 FROM image_uses JOIN runs ON runs.id = image_uses.owner_id
       WHERE image_uses.project_id = $project_id AND image_uses.environment = $environment AND image_uses.file_id = $id
         AND runs.agent_id IN (SELECT value FROM json_each($agents)) AND runs.${bound} = $bound LIMIT 1`,
    );
  const byRun = ofRuns("id");
  const byThread = ofRuns("thread_id");
  const byUser = ofRuns("user_id");

  const waitingOf = db.sqlite.query<{ id: string }, ScopeColumns & { userId: string; most: number }>(
    `SELECT id FROM files WHERE project_id = $project_id AND environment = $environment AND expires_at_ms > 0
       AND owner IN (SELECT 'user:' || $userId UNION ALL SELECT 'thread:' || id FROM threads
         WHERE project_id = $project_id AND environment = $environment AND user_id = $userId) LIMIT $most`,
  );

  return {
    /** Files of a user that no run has taken. */
    waiting: ({ project_id, environment }: Scope, userId: string, most: number): string[] =>
      waitingOf.all({ project_id, environment, userId, most }).map(({ id }) => id),

    /**
     * Returns the columns of an upload with a client token; null for a key. Throws for fields that a browser may not
     * set, and for a file that is no document.
     */
    sent({ token, agent_ids }: Viewer, body: CreateFile, mime_type: string): Sent | null {
      if (!token) return null;
      const [agent_id] = agent_ids ?? [];
      if (token.run_id !== null || agent_id === undefined)
        throw new AppError("insufficient_scope", "This client token is for one run, and has no files.", {
          param: "run_id",
        });
      const param = Object.keys(body).find((name) => !fields.has(name));
      if (param) throw new AppError("insufficient_scope", `A client token may not say ${param} of a file.`, { param });
      if (body.purpose !== "attachment")
        throw new AppError("insufficient_scope", "With a client token a file is an attachment.", { param: "purpose" });
      if (!isDocument(mime_type))
        throw new AppError(
          "unsupported_file_type",
          `With a client token documents are sent, and ${mime_type} is none.`,
          {
            param: "file",
          },
        );
      return { owner: ownerOf(token), agent_id, expires_at_ms: now() + waiting_ms };
    },

    /** Throws if the owner or the agent has too many such files. Call inside the write that inserts one. */
    requireRoom({ project_id, environment }: Scope, { owner, agent_id }: Sent, bytes: number): void {
      const all = standing.get({ owner, project_id, environment, agent_id }) ?? noFiles;
      const isFull = all.own >= limits.client_files || all.waiting >= limits.client_files_waiting;
      if (isFull || all.own_bytes + bytes > limits.client_files_bytes)
        throw new AppError("file_too_large", "You have sent as many files as you may.", { param: "file" });
      if (all.bytes + bytes > limits.client_files_bytes_of_agent)
        throw new AppError("file_too_large", "This agent takes no more files.", { param: "file" });
    },

    /** True if a token's holder may see the file: they uploaded it, or a run that they see has it. */
    maySee({ project_id, environment, agent_ids, token }: Viewer, { id, owner }: { id: string; owner: string | null }) {
      if (!token) return true;
      const { run_id, thread_id, user_id } = token;
      if (run_id === null && owner === ownerOf(token)) return true;
      const of = { project_id, environment, id, agents: JSON.stringify(agent_ids ?? []) };
      if (run_id !== null) return byRun.get({ ...of, bound: run_id }) !== null;
      if (thread_id !== null) return byThread.get({ ...of, bound: thread_id }) !== null;
      return byUser.get({ ...of, bound: user_id ?? "" }) !== null;
    },
  };
}

export type TokenFiles = ReturnType<typeof createTokenFiles>;
