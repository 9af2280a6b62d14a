import { AppError } from "../core/errors.ts";
import { limits } from "../core/limits.ts";
import type { Scope } from "../core/scope.ts";
import type { Db } from "../db/open.ts";
import type { Viewer } from "../http/auth.ts";
import type { Bounds } from "../http/principal.ts";
import { isDocument } from "./file-type.ts";
import type { CreateFile } from "./schema.ts";

/** How long a file from a browser waits for a run that takes it. */
const waiting_ms = 3_600_000;

/** What a browser may say of a file. Whatever else a file has is for those who have a key. */
const fields: ReadonlySet<string> = new Set<keyof CreateFile>(["filename", "purpose", "content_base64", "text"]);

/** Whose a file is that comes with a token: what is bound to a run starts none, and has no files. */
const ownerOf = ({ thread_id, user_id }: Bounds): string =>
  thread_id === null ? `user:${user_id}` : `thread:${thread_id}`;

/** How long one file may be, for whoever sends it. */
export const mostBytes = ({ token }: Viewer): number => (token ? limits.client_file_bytes : limits.file_bytes);

/** What files from browsers have that others lack. */
interface Sent {
  owner: string;
  agent_id: string;
  expires_at_ms: number;
}

/** Files that browsers send and look at. */
export function createTokenFiles({ db, now }: { db: Pick<Db, "sqlite">; now: () => number }) {
  const standing = db.sqlite.query<
    { own: number; waiting: number; own_bytes: number; bytes: number },
    [string, string, string, string]
  >(
    `SELECT count(*) FILTER (WHERE owner = ?1) AS own,
       count(*) FILTER (WHERE owner = ?1 AND expires_at_ms IS NOT NULL) AS waiting, coalesce(sum(bytes) FILTER (WHERE owner = ?1), 0) AS own_bytes,
       coalesce(sum(bytes), 0) AS bytes
     FROM files WHERE project_id = ?2 AND environment = ?3 AND agent_id = ?4 AND owner IS NOT NULL`,
  );
  // Of what came along with a message: whose runs show it, may see it.
  const ofRuns = (bound: string) =>
    db.sqlite.query<unknown, [string, string, string, string, string]>(
      `SELECT 1 FROM image_uses JOIN runs ON runs.id = image_uses.owner_id
       WHERE image_uses.project_id = ? AND image_uses.environment = ? AND image_uses.file_id = ?
         AND runs.agent_id IN (SELECT value FROM json_each(?)) AND runs.${bound} = ? LIMIT 1`,
    );
  const byRun = ofRuns("id");
  const byThread = ofRuns("thread_id");
  const byUser = ofRuns("user_id");

  const waitingOf = db.sqlite.query<{ id: string }, [string, string, string, number]>(
    `SELECT id FROM files WHERE project_id = ?1 AND environment = ?2 AND expires_at_ms > 0 AND owner IN (
       SELECT 'user:' || ?3 UNION ALL SELECT 'thread:' || id FROM threads
       WHERE project_id = ?1 AND environment = ?2 AND user_id = ?3) LIMIT ?4`,
  );

  return {
    /** Files that somebody has sent, and no run has taken. */
    waiting: ({ project_id, environment }: Scope, userId: string, most: number): string[] =>
      waitingOf.all(project_id, environment, userId, most).map(({ id }) => id),

    /** Throws for what a browser may not say of a file, and for a file that is no document. Null for whoever has a key. */
    sent({ token, agent_ids }: Viewer, body: CreateFile, mime_type: string): Sent | null {
      if (!token) return null;
      if (token.run_id !== null)
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
      return { owner: ownerOf(token), agent_id: agent_ids![0]!, expires_at_ms: now() + waiting_ms };
    },

    /** Within the write of such a file: throws where there are too many of them. */
    requireRoom({ project_id, environment }: Scope, { owner, agent_id }: Sent, bytes: number): void {
      const all = standing.get(owner, project_id, environment, agent_id)!;
      const isFull = all.own >= limits.client_files || all.waiting >= limits.client_files_waiting;
      if (isFull || all.own_bytes + bytes > limits.client_files_bytes)
        throw new AppError("file_too_large", "You have sent as many files as you may.", { param: "file" });
      if (all.bytes + bytes > limits.client_files_bytes_of_agent)
        throw new AppError("file_too_large", "This agent takes no more files.", { param: "file" });
    },

    /** Whether somebody with a token may see a file: they have sent it, or a run that they see has it. */
    maySee({ project_id, environment, agent_ids, token }: Viewer, { id, owner }: { id: string; owner: string | null }) {
      if (!token) return true;
      const { run_id, thread_id, user_id } = token;
      if (run_id === null && owner === ownerOf(token)) return true;
      const of = [project_id, environment, id, JSON.stringify(agent_ids ?? [])] as const;
      if (run_id !== null) return byRun.get(...of, run_id) !== null;
      return thread_id === null ? byUser.get(...of, user_id ?? "") !== null : byThread.get(...of, thread_id) !== null;
    },
  };
}

export type TokenFiles = ReturnType<typeof createTokenFiles>;
