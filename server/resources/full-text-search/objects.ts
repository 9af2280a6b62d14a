import type { SearchType } from "../../domain/api-types/enums.ts";
import type { Scope } from "../../domain/scope.ts";
import type { Log } from "../../lib/log.ts";
import type { Db } from "../../storage/db/open.ts";
import { createPostCommitJobs } from "../../storage/db/post-commit-jobs.ts";
import type { searchChanges } from "../../storage/db/schema.ts";
import type { Documents } from "./documents.ts";
import { placeOf } from "./facets.ts";
import { objectTexts, type Row } from "./index-text.ts";

type Change = typeof searchChanges.$inferSelect;

interface Kind {
  from: string;
  name: string;
  text: string;
  /** Agent that an agent-bound key needs to see it; "none": no agent-bound key sees it. */
  agent?: string;
}

const joined = (...parts: string[]): string => `concat_ws(char(10), ${parts.join(", ")})`;
const fieldOf = (name: string): string => `definition ->> '$.${name}'`;

/** Searchable text of each kind, as SQL over its table. None of it is secret: every key can read it. */
const kinds: Record<Exclude<SearchType, "run">, Kind> = {
  agent: {
    from: "agents",
    name: "name",
    text: joined("model", fieldOf("description"), fieldOf("instructions")),
    agent: "id",
  },
  tool: { from: "tools", name: "name", text: joined("type", fieldOf("description"), fieldOf("url")) },
  thread: { from: "threads", name: "title", text: joined("user_id", "session_id"), agent: "none" },
  memory: { from: "memory_stores WHERE deleted_at_ms IS NULL", name: "name", text: joined("kind", "scope") },
  file: { from: "files", name: "filename", text: joined("mime_type", "purpose"), agent: "agent_id" },
  webhook: {
    from: "webhooks WHERE deleted_at_ms IS NULL AND run_id IS NULL",
    name: "coalesce(name, url)",
    text: joined("url", "description", "events"),
  },
};

const perWrite = 50;

interface ObjectsOptions {
  db: Db;
  documents: Documents;
  log: Log;
  /** Throws if the disk is nearly full. */
  requireRoom(): void;
}

/** Reindexes changed objects other than runs. Triggers record the changes in their transaction, from every writer. */
export function createObjects({ db, documents, log, requireRoom }: ObjectsOptions) {
  const { sqlite } = db;
  const selectDue = sqlite.query<Change, [number]>(
    "SELECT project_id, environment, type, id FROM search_changes LIMIT ?",
  );
  const deleteChange = sqlite.query("DELETE FROM search_changes WHERE project_id = ? AND environment = ? AND id = ?");

  function read({ project_id, environment, type, id }: Change) {
    const { from, name, text, agent } = kinds[type as keyof typeof kinds];
    const agentColumn = agent === undefined || agent === "none" ? "NULL" : agent;
    return sqlite
      .query<Row & Scope & { id: string; created_at_ms: number; agent: string | null }, [string, string, string]>(
        `SELECT project_id, environment, id, created_at_ms, metadata, ${name} AS name, ${text} AS text, ${agentColumn} AS agent
         FROM ${from} ${from.includes("WHERE") ? "AND" : "WHERE"} project_id = ? AND environment = ? AND id = ?`,
      )
      .get(project_id, environment, id);
  }

  /** Call inside a write. */
  function indexChange(change: Change): void {
    const { project_id, environment, type, id } = change;
    deleteChange.run(project_id, environment, id);
    const row = read(change);
    const agentId = kinds[type as keyof typeof kinds].agent === "none" ? undefined : row?.agent;
    if (row) documents.put(row, type, placeOf(row, type, agentId), objectTexts(row));
    else documents.remove(change, id);
  }

  async function indexAll(shouldContinue: () => boolean): Promise<void> {
    while (shouldContinue() && selectDue.get(1))
      await db.write(
        () => {
          for (const change of selectDue.all(perWrite)) indexChange(change);
        },
        "",
        "runs",
      );
  }

  const { start, stop } = createPostCommitJobs({
    db,
    work: indexAll,
    requireRoom,
    log,
    failed: "what has changed is not searchable yet",
  });

  return {
    start,
    stop,
    catchUp: () => indexAll(() => true),
  };
}
