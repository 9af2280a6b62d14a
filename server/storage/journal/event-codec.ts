import type { RunEvent } from "../../domain/run-event.ts";
import type { Scope, ScopeColumns } from "../../domain/scope.ts";
import { longestText } from "../../domain/truncate-resource.ts";
import { parseExact } from "../../lib/exact-numbers.ts";
import { sha256 } from "../../lib/hash.ts";
import type { Db } from "../db/open.ts";

// A shorter payload is cheaper in its row than behind a hash.
const blobMin = 4096;

// Longer values of the fields below are read in part.
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
const ofHandoffs = new Set(["input", "messages", "budget"]);
const wantedOf = (type: RunEvent["type"]): ReadonlySet<string> => {
  if (type === "handoff.completed") return ofHandoffs;
  return type.startsWith("run.") ? ofRuns : ofSteps;
};

// Maximum number of blobs that are remembered as stored.
const knownMost = 1000;

/** Content of a blob and its hash, which is its id. */
export interface Content {
  content: string;
  hash: string;
}

/** An event as its row stores it, and the length of the whole as JSON. */
export interface EncodedEvent {
  data: string;
  blobs: string | null;
  length: number;
}

export const contentOf = (content: string): Content => ({ content, hash: sha256(content) });

/** Moves large fields of events into content-addressed blobs and back. Equal contents are stored once. */
export function createEventCodec({ sqlite, kept }: Db) {
  const insertBlob = sqlite.query(
    `INSERT OR IGNORE INTO blobs (project_id, environment, hash, content)
     VALUES ($project_id, $environment, $hash, $content)`,
  );
  // Many runs have the same agent: a blob known to be stored is not inserted again.
  const knownBlobs = kept.rows((..._key: [project_id: string, environment: string, hash: string]): boolean => false, {
    most: knownMost,
  });
  const insertUse = sqlite.query("INSERT OR IGNORE INTO run_blobs (run_id, hash) VALUES ($runId, $hash)");
  const selectBlob = sqlite.query<{ content: string }, ScopeColumns & { hash: string }>(
    "SELECT content FROM blobs WHERE project_id = $project_id AND environment = $environment AND hash = $hash",
  );
  // SQLite shortens the content, so that the rest of it is never read.
  const selectBrief = sqlite.query<
    { content: string | null; shortened: number },
    { runId: string; hash: string; field: string }
  >(
    `SELECT octet_length(content) > ${wholeBytes} AS shortened, CASE
       WHEN octet_length(content) <= ${wholeBytes} OR $field IN ('error', 'required_action', 'metadata', 'earlier', 'messages') THEN content
       WHEN $field = 'call' THEN json_set(content, '$.arguments', json('{}'))
       WHEN $field = 'answer' THEN json_patch(content, '{"parts":[],"deltas":[]}')
       WHEN $field = 'replay' THEN json_patch(content, '{"divergences":[]}')
       WHEN substr(content, 1, 1) = '"' THEN json_quote(substr(content ->> '$', 1, ${longestText + 1})) END AS content
     FROM blobs JOIN runs ON runs.id = $runId AND blobs.project_id = runs.project_id
     AND blobs.environment = runs.environment WHERE blobs.hash = $hash`,
  );
  const selectRunBlob = sqlite.query<{ content: string }, { runId: string; hash: string }>(
    `SELECT content FROM blobs JOIN runs ON runs.id = $runId AND blobs.project_id = runs.project_id
     AND blobs.environment = runs.environment WHERE blobs.hash = $hash`,
  );

  function put({ project_id, environment }: Scope, runId: string, { content, hash }: Content): string {
    if (!knownBlobs.known(project_id, environment, hash)) insertBlob.run({ project_id, environment, hash, content });
    knownBlobs.note(true, project_id, environment, hash);
    insertUse.run({ runId, hash });
    return hash;
  }

  function pack(scope: Scope, runId: string, event: RunEvent): EncodedEvent {
    const data = JSON.stringify(event);
    const { length } = data;
    if (length < blobMin) return { data, blobs: null, length };
    const inlineFields: Record<string, unknown> = {};
    const blobHashes: Record<string, string> = {};
    for (const [field, value] of Object.entries(event)) {
      const json = JSON.stringify(value) ?? "null";
      if (json.length < blobMin) inlineFields[field] = value;
      else blobHashes[field] = put(scope, runId, contentOf(json));
    }
    return {
      data: JSON.stringify(inlineFields),
      blobs: Object.keys(blobHashes).length > 0 ? JSON.stringify(blobHashes) : null,
      length,
    };
  }

  /** Returns the event, and its length as JSON. */
  function unpack(runId: string, data: string, blobs: string | null): { event: RunEvent; length: number } {
    const event = parseExact<RunEvent & Record<string, unknown>>(data);
    let { length } = data;
    for (const [field, hash] of Object.entries(blobs ? (JSON.parse(blobs) as Record<string, string>) : {})) {
      const { content } = requireBlob(selectRunBlob.get({ runId, hash }), hash);
      event[field] = parseExact(content);
      length += content.length;
    }
    return { event, length };
  }

  /** Returns the event with only those large fields that show the run's state, and shortens long ones for lists. */
  function unpackBrief(runId: string, data: string, blobs: string | null): { event: RunEvent; shortened: string[] } {
    const event = parseExact<RunEvent & Record<string, unknown>>(data);
    const shortened: string[] = [];
    const wantedFields = wantedOf(event.type);
    for (const [field, hash] of Object.entries(blobs ? (JSON.parse(blobs) as Record<string, string>) : {})) {
      if (!wantedFields.has(field)) continue;
      const row = requireBlob(selectBrief.get({ runId, hash, field }), hash);
      if (row.content !== null) event[field] = parseExact(row.content);
      if (row.shortened) shortened.push(field);
    }
    return { event, shortened };
  }

  const get = ({ project_id, environment }: Scope, hash: string): string =>
    requireBlob(selectBlob.get({ project_id, environment, hash }), hash).content;

  return { pack, unpack, unpackBrief, put, get };
}

function requireBlob<Row>(row: Row | null, hash: string): Row {
  if (!row) throw new Error(`Blob ${hash} is missing.`);
  return row;
}
