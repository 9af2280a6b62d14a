import type { Database } from "bun:sqlite";
import type { RunEvent } from "../core/run-event.ts";
import type { Scope } from "../core/scope.ts";
import { sha256 } from "../lib/hash.ts";

// Below this, a payload is cheaper in its row than behind a hash.
const blobMin = 4096;

/** Moves large fields of events into content-addressed blobs and back. What stands twice is stored once. */
export function createPack(sqlite: Database) {
  const insertBlob = sqlite.query(
    "INSERT OR IGNORE INTO blobs (project_id, environment, hash, content) VALUES (?, ?, ?, ?)",
  );
  const insertUse = sqlite.query("INSERT OR IGNORE INTO run_blobs (run_id, hash) VALUES (?, ?)");
  const selectBlob = sqlite.query<{ content: string }, [string, string, string]>(
    "SELECT content FROM blobs WHERE project_id = ? AND environment = ? AND hash = ?",
  );
  const selectRunBlob = sqlite.query<{ content: string }, [string, string]>(
    `SELECT content FROM blobs JOIN runs ON runs.id = ? AND blobs.project_id = runs.project_id
     AND blobs.environment = runs.environment WHERE blobs.hash = ?`,
  );

  function put({ project_id, environment }: Scope, runId: string, content: string): string {
    const hash = sha256(content);
    insertBlob.run(project_id, environment, hash, content);
    insertUse.run(runId, hash);
    return hash;
  }

  function pack(scope: Scope, runId: string, event: RunEvent): { data: string; blobs: string | null } {
    const data = JSON.stringify(event);
    if (data.length < blobMin) return { data, blobs: null };
    const kept: Record<string, unknown> = {};
    const moved: Record<string, string> = {};
    for (const [field, value] of Object.entries(event)) {
      const json = JSON.stringify(value) ?? "null";
      if (json.length < blobMin) kept[field] = value;
      else moved[field] = put(scope, runId, json);
    }
    return { data: JSON.stringify(kept), blobs: Object.keys(moved).length > 0 ? JSON.stringify(moved) : null };
  }

  function unpack(runId: string, data: string, blobs: string | null): RunEvent {
    const event = JSON.parse(data);
    if (!blobs) return event;
    for (const [field, hash] of Object.entries(JSON.parse(blobs) as Record<string, string>))
      event[field] = JSON.parse(found(selectRunBlob.get(runId, hash), hash));
    return event;
  }

  const get = ({ project_id, environment }: Scope, hash: string): string =>
    found(selectBlob.get(project_id, environment, hash), hash);

  return { pack, unpack, put, get, hashOf: sha256 };
}

function found(row: { content: string } | null, hash: string): string {
  if (!row) throw new Error(`Blob ${hash} is missing.`);
  return row.content;
}
