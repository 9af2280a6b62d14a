import { longestText } from "../core/abridged.ts";
import type { RunEvent } from "../core/run-event.ts";
import type { Scope } from "../core/scope.ts";
import type { Db } from "../db/open.ts";
import { parseExact } from "../lib/exact-numbers.ts";
import { sha256 } from "../lib/hash.ts";

// Below this, a payload is cheaper in its row than behind a hash.
const blobMin = 4096;

// Of the fields below; longer ones are read in part.
const wholeBytes = 64 * 1024;
const ofRuns = new Set([
  "input",
  "earlier",
  "output",
  "output_json",
  "error",
  "reason",
  "required_action",
  "metadata",
  "file_ids",
  "budget",
  "replay",
]);
const ofSteps = new Set(["answer", "call"]);

// How many blobs are known to be stored.
const knownMost = 1000;

/** What a blob holds, and its name. */
export interface Content {
  content: string;
  hash: string;
}

/** An event as its row has it, and how long the whole of it is as JSON. */
export interface Packed {
  data: string;
  blobs: string | null;
  length: number;
}

export const contentOf = (content: string): Content => ({ content, hash: sha256(content) });

/** Moves large fields of events into content-addressed blobs and back. What stands twice is stored once. */
export function createPack({ sqlite, kept }: Pick<Db, "sqlite" | "kept">) {
  const insertBlob = sqlite.query(
    "INSERT OR IGNORE INTO blobs (project_id, environment, hash, content) VALUES (?, ?, ?, ?)",
  );
  // Agents are the same for many runs: what is there need not be put there.
  const stored = kept.rows((..._key: [project_id: string, environment: string, hash: string]): boolean => false, {
    most: knownMost,
  });
  const insertUse = sqlite.query("INSERT OR IGNORE INTO run_blobs (run_id, hash) VALUES (?, ?)");
  const selectBlob = sqlite.query<{ content: string }, [string, string, string]>(
    "SELECT content FROM blobs WHERE project_id = ? AND environment = ? AND hash = ?",
  );
  // Decided by SQLite: what is left out is not read.
  const selectBrief = sqlite.query<{ content: string | null; shortened: number }, [string, string, string]>(
    `SELECT octet_length(content) > ${wholeBytes} AS shortened, CASE
       WHEN octet_length(content) <= ${wholeBytes} OR ?3 IN ('error', 'required_action', 'metadata', 'earlier') THEN content
       WHEN ?3 = 'call' THEN json_set(content, '$.arguments', json('{}'))
       WHEN ?3 = 'answer' THEN json_patch(content, '{"parts":[],"deltas":[]}')
       WHEN ?3 = 'replay' THEN json_patch(content, '{"divergences":[]}')
       WHEN substr(content, 1, 1) = '"' THEN json_quote(substr(content ->> '$', 1, ${longestText + 1})) END AS content
     FROM blobs JOIN runs ON runs.id = ?1 AND blobs.project_id = runs.project_id
     AND blobs.environment = runs.environment WHERE blobs.hash = ?2`,
  );
  const selectRunBlob = sqlite.query<{ content: string }, [string, string]>(
    `SELECT content FROM blobs JOIN runs ON runs.id = ? AND blobs.project_id = runs.project_id
     AND blobs.environment = runs.environment WHERE blobs.hash = ?`,
  );

  function put({ project_id, environment }: Scope, runId: string, { content, hash }: Content): string {
    if (!stored.known(project_id, environment, hash)) insertBlob.run(project_id, environment, hash, content);
    stored.note(true, project_id, environment, hash);
    insertUse.run(runId, hash);
    return hash;
  }

  function pack(scope: Scope, runId: string, event: RunEvent): Packed {
    const data = JSON.stringify(event);
    const { length } = data;
    if (length < blobMin) return { data, blobs: null, length };
    const small: Record<string, unknown> = {};
    const moved: Record<string, string> = {};
    for (const [field, value] of Object.entries(event)) {
      const json = JSON.stringify(value) ?? "null";
      if (json.length < blobMin) small[field] = value;
      else moved[field] = put(scope, runId, contentOf(json));
    }
    return { data: JSON.stringify(small), blobs: Object.keys(moved).length > 0 ? JSON.stringify(moved) : null, length };
  }

  /** With the length of what was unpacked. */
  function unpack(runId: string, data: string, blobs: string | null): { event: RunEvent; length: number } {
    const event = parseExact<RunEvent & Record<string, unknown>>(data);
    let { length } = data;
    for (const [field, hash] of Object.entries(blobs ? (JSON.parse(blobs) as Record<string, string>) : {})) {
      const { content } = found(selectRunBlob.get(runId, hash), hash);
      event[field] = parseExact(content);
      length += content.length;
    }
    return { event, length };
  }

  /** The same with only those large fields that say how the run stands, and of long ones as much as a list shows. */
  function unpackBrief(runId: string, data: string, blobs: string | null): { event: RunEvent; shortened: string[] } {
    const event = parseExact<RunEvent & Record<string, unknown>>(data);
    const shortened: string[] = [];
    const wanted = event.type.startsWith("run.") ? ofRuns : ofSteps;
    for (const [field, hash] of Object.entries(blobs ? (JSON.parse(blobs) as Record<string, string>) : {})) {
      if (!wanted.has(field)) continue;
      const row = found(selectBrief.get(runId, hash, field), hash);
      if (row.content !== null) event[field] = parseExact(row.content);
      if (row.shortened) shortened.push(field);
    }
    return { event, shortened };
  }

  const get = ({ project_id, environment }: Scope, hash: string): string =>
    found(selectBlob.get(project_id, environment, hash), hash).content;

  return { pack, unpack, unpackBrief, put, get };
}

function found<Row>(row: Row | null, hash: string): Row {
  if (!row) throw new Error(`Blob ${hash} is missing.`);
  return row;
}
