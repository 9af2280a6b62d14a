import { AppError, isRefusal } from "../../domain/errors.ts";
import type { Scope } from "../../domain/scope.ts";
import type { Viewer } from "../../http/auth.ts";
import { jsonParts } from "../../http/json-stream.ts";
import { pageAfter } from "../../http/page.ts";
import { lastItem } from "../../lib/collections.ts";
import { createYielder } from "../../lib/cooperative-yield.ts";
import type { FilesModule } from "../../resources/files/module.ts";
import type { MemoryModule } from "../../resources/memory/module.ts";
import type { OAuthModule } from "../../resources/oauth/module.ts";
import type { SchedulesModule } from "../../resources/schedules/module.ts";
import type { ThreadsModule } from "../../resources/threads/module.ts";
import type { RunsModule } from "../../runs/module.ts";
import type { Db } from "../../storage/db/open.ts";

// Characters encoded per chunk.
const chunkLength = 64 * 1024;
/** Ids read per query. */
const idsPerQuery = 50;

/** Excludes client tokens, which may not export. */
type Asker = Scope & Omit<Viewer, "token">;

type Of = [projectId: string, environment: string, userId: string];

const inScope = "project_id = ?1 AND environment = ?2";
const theirRuns = `SELECT id FROM runs WHERE ${inScope} AND user_id = ?3`;
const theirThreads = `SELECT id FROM threads WHERE ${inScope} AND user_id = ?3`;
/** Memory of the user, and of the sessions of their runs. */
const theirMemory = `${inScope} AND (
  scope_id = ?3 AND memory_id IN (SELECT id FROM memory_stores WHERE ${inScope} AND scope = 'user' AND deleted_at_ms IS NULL)
  OR scope_id IN (SELECT session_id FROM runs WHERE ${inScope} AND user_id = ?3)
    AND memory_id IN (SELECT id FROM memory_stores WHERE ${inScope} AND scope = 'session' AND deleted_at_ms IS NULL))`;
/** Files created by the user's runs, attachments used only by them, sources of their memory, and their uploads. */
const theirFiles = `
  SELECT id FROM files WHERE ${inScope} AND purpose = 'output' AND run_id IN (${theirRuns})
  UNION SELECT g.file_id FROM run_files g JOIN files f ON f.project_id = g.project_id AND f.environment = g.environment
    AND f.id = g.file_id AND f.purpose = 'attachment'
    WHERE g.project_id = ?1 AND g.environment = ?2 AND g.run_id IN (${theirRuns}) AND NOT EXISTS (
      SELECT 1 FROM run_files o JOIN runs r ON r.id = o.run_id WHERE o.project_id = g.project_id
        AND o.environment = g.environment AND o.file_id = g.file_id AND r.user_id IS NOT ?3)
  UNION SELECT file_id FROM memory_entries WHERE ${theirMemory} AND file_id IS NOT NULL AND deleted_at_ms IS NULL
  UNION SELECT id FROM files WHERE ${inScope} AND owner IN (SELECT 'user:' || ?3 UNION SELECT 'thread:' || id FROM (${theirThreads}))`;

interface Needs {
  db: Db;
  runs: RunsModule;
  oauth: OAuthModule;
  threads: ThreadsModule;
  schedules: SchedulesModule;
  memory: MemoryModule;
  files: FilesModule;
}

export type UserExport = ReturnType<typeof createUserExport>;

/** Exports the same data that an erasure would delete. */
export function createUserExport({ db: { sqlite }, oauth, runs, threads, schedules, memory, files }: Needs) {
  const idsOf = (table: string, mine: string) =>
    sqlite.query<{ id: string }, [...Of, string]>(
      `SELECT id FROM ${table} WHERE ${inScope} AND ${mine} AND id > ?4 ORDER BY id LIMIT ${idsPerQuery}`,
    );
  const runIds = idsOf("runs", "user_id = ?3");
  const threadIds = idsOf("threads", "user_id = ?3");
  const scheduleIds = idsOf("schedules", "definition ->> '$.user_id' = ?3");
  const grantIds = idsOf("oauth_grants", "user_id = ?3");
  const fileIds = idsOf("files", `id IN (${theirFiles})`);
  const entryIds = sqlite.query<{ id: string; memory_id: string }, [...Of, string]>(
    `SELECT id, memory_id FROM memory_entries WHERE ${theirMemory} AND deleted_at_ms IS NULL AND id > ?4
     ORDER BY id LIMIT ${idsPerQuery}`,
  );
  const keyPlaces = sqlite.query<KeyRow, [...Of, string, string, string]>(
    `SELECT memory_id, scope_id, key FROM memory_keys WHERE ${theirMemory} AND (memory_id, scope_id, key) > (?4, ?5, ?6)
     ORDER BY memory_id, scope_id, key LIMIT ${idsPerQuery}`,
  );

  /** Iterates over the rows of a query, a few at a time. */
  function* each<Row extends { id: string }>(read: (...of: [...Of, string]) => Row[], of: Of): Generator<Row> {
    for (let rows = read(...of, ""); rows.length > 0; rows = read(...of, lastItem(rows).id)) yield* rows;
  }
  function* eachKey(of: Of): Generator<KeyRow> {
    const after = (row?: KeyRow) => keyPlaces.all(...of, row?.memory_id ?? "", row?.scope_id ?? "", row?.key ?? "");
    for (let rows = after(); rows.length > 0; rows = after(rows.at(-1))) yield* rows;
  }

  async function* objects(viewer: Asker, userId: string): AsyncGenerator<object | null> {
    const of: Of = [viewer.project_id, viewer.environment, userId];
    for (const { id } of each((...at) => runIds.all(...at), of)) yield await orNull(() => runs.store.show(viewer, id));
    for (const { id } of each((...at) => threadIds.all(...at), of)) {
      const thread = await orNull(() => threads.store.get(viewer, id));
      if (!thread) continue;
      yield thread;
      for (let [after, more] = [null as string | null, true]; more; ) {
        const { data, has_more, last_id } = await threads.store.messages(viewer, id, pageAfter(after));
        for (const message of data) yield { object: "message", thread_id: id, ...message };
        [after, more] = [last_id, has_more];
      }
    }
    for (const { id } of each((...at) => scheduleIds.all(...at), of))
      yield await orNull(() => schedules.store.get(viewer, id));
    for (const { id } of each((...at) => grantIds.all(...at), of))
      yield await orNull(() => oauth.grants.get(viewer, id));
    for (const { id, memory_id } of each((...at) => entryIds.all(...at), of))
      yield await orNull(() => memory.entries.get(viewer, memory_id, id));
    for (const place of eachKey(of)) yield await orNull(() => memory.keys.find(viewer, place));
    for (const { id } of each((...at) => fileIds.all(...at), of)) yield await orNull(() => files.store.get(viewer, id));
  }

  async function* pieces(viewer: Asker, userId: string): AsyncGenerator<Uint8Array<ArrayBuffer>> {
    const encoder = new TextEncoder();
    const yieldTurn = createYielder();
    let text = "";
    for await (const object of objects(viewer, userId)) {
      if (object === null) continue;
      for (const part of jsonParts(object)) {
        text += part;
        if (text.length >= chunkLength) {
          yield encoder.encode(text);
          text = "";
        }
        await yieldTurn();
      }
      text += "\n";
    }
    if (text !== "") yield encoder.encode(text);
  }

  /** Returns a stream of JSON lines, one API object each, as fast as the client reads. */
  return function open(viewer: Asker, userId: string): ReadableStream<Uint8Array> {
    if (viewer.agent_ids)
      throw new AppError("insufficient_scope", "A key that is bound to agents may not read what others' runs have.", {
        details: { bound_by: "agent_ids" },
      });
    const all = pieces(viewer, userId);
    return new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          const { value, done } = await all.next();
          if (done) controller.close();
          else controller.enqueue(value);
        },
        cancel: () => void all.return(undefined),
      },
      { highWaterMark: 0 },
    );
  };
}

interface KeyRow {
  memory_id: string;
  scope_id: string;
  key: string;
}

/** Returns null for an object deleted since its id was read. */
async function orNull<Shown extends object | null>(read: () => Shown | Promise<Shown>): Promise<Shown | null> {
  try {
    return await read();
  } catch (error) {
    if (isRefusal(error, "resource_not_found")) return null;
    throw error;
  }
}
