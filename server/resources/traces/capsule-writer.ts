import { Database } from "bun:sqlite";
import type { AgentSnapshot } from "../../domain/agent-snapshot.ts";
import { capsuleId, capsuleTables, capsuleVersion } from "../../domain/capsule-format.ts";
import type { JournalEntry, RunEvent } from "../../domain/run-event.ts";
import { timestamp } from "../../domain/time.ts";
import { build } from "../../lib/build-info.ts";
import { redact } from "../../lib/redact.ts";
import { exportedAgent } from "./exported-agent.ts";
import { redactedJson } from "./redacted-json.ts";

export type CapsuleWriter = ReturnType<typeof createCapsuleWriter>;

interface CapsuleRun {
  id: string;
  parent_run_id: string | null;
  agent_hash: string;
  status: string;
}

/** Facts of a file; `omitted`: reason why the content is missing. */
export interface CapsuleFile {
  id: string;
  filename: string;
  mime_type: string;
  bytes: number;
  sha256: string;
  purpose: string;
}

/** Writes a new capsule of a run. Secrets are redacted here, so that none is missed. */
export function createCapsuleWriter(path: string, runId: string, now: number) {
  const sqlite = create(path);
  const insertRun = sqlite.query(
    "INSERT INTO runs (position, run_id, parent_run_id, agent_hash, status) VALUES (?, ?, ?, ?, ?)",
  );
  const insertAgent = sqlite.query("INSERT INTO agents (hash, snapshot) VALUES (?, ?)");
  const insertEntry = sqlite.query("INSERT INTO entries (run_id, seq, at_ms, event) VALUES (?, ?, ?, ?)");
  const insertFile = sqlite.query(
    `INSERT OR IGNORE INTO files (file_id, run_id, filename, mime_type, bytes, sha256, purpose, omitted)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const insertChunk = sqlite.query("INSERT INTO file_chunks (file_id, position, content) VALUES (?, ?, ?)");
  const dropChunks = sqlite.query("DELETE FROM file_chunks WHERE file_id = ?");
  const agents = new Set<string>();
  let runs = 0;
  sqlite.run("BEGIN"); // One transaction, so that pages are written once instead of once per row.
  sqlite
    .query("INSERT INTO capsule (format_version, made_by, created_at, run_id) VALUES (?, ?, ?, ?)")
    .run(capsuleVersion, `runnel ${build.version}`, timestamp(now), runId);

  return {
    run: ({ id, parent_run_id, agent_hash, status }: CapsuleRun): void =>
      void insertRun.run(runs++, id, parent_run_id, agent_hash, status),
    /** Writes each agent once per hash. */
    agent(hash: string, read: () => AgentSnapshot): void {
      if (agents.has(hash)) return;
      agents.add(hash);
      insertAgent.run(hash, JSON.stringify(exportedAgent(read())));
    },
    entry: (id: string, { seq, at, event }: JournalEntry): void =>
      void insertEntry.run(id, seq, at, JSON.stringify(exportedEvent(event))),
    file: (
      run: string,
      { id, filename, mime_type, bytes, sha256, purpose }: CapsuleFile,
      omitted: string | null,
    ): void => void insertFile.run(id, run, redact(filename), mime_type, bytes, sha256, purpose, omitted),
    chunk: (id: string, position: number, content: Uint8Array): void => void insertChunk.run(id, position, content),
    dropChunks: (id: string): void => void dropChunks.run(id),
    finish: (): void => void sqlite.run("COMMIT"),
    close: (): void => sqlite.close(true),
  };
}

function create(path: string): Database {
  const sqlite = new Database(path, { create: true, strict: true });
  // No durability needed: an unfinished capsule is made again.
  for (const pragma of [
    "journal_mode = OFF",
    "synchronous = OFF",
    `application_id = ${capsuleId}`,
    `user_version = ${capsuleVersion}`,
  ])
    sqlite.run(`PRAGMA ${pragma}`);
  for (const table of capsuleTables) sqlite.run(table);
  return sqlite;
}

/** Exports an event with secrets redacted; the journal's event is not changed. */
export function exportedEvent(event: RunEvent): RunEvent {
  const redactedEvent = redactedJson(event);
  if (redactedEvent.type !== "step.completed" || !redactedEvent.answer || event.type !== "step.completed")
    return redactedEvent;
  const same = JSON.stringify(redactedEvent.answer.parts) === JSON.stringify(event.answer?.parts);
  // Deltas are stored as lengths, which no longer fit once the text is redacted.
  return same ? redactedEvent : { ...redactedEvent, answer: { ...redactedEvent.answer, deltas: [] } };
}
