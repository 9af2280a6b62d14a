import type { Database } from "bun:sqlite";
import { activeAgentId } from "../../domain/handoff.ts";
import { endsRun } from "../../domain/run-event.ts";
import { fold, initialState, type RunState } from "../../domain/run-state.ts";
import { threadMessages } from "../../domain/thread-messages.ts";
import type { Base, Module } from "../../http/module.ts";
import { lastItem } from "../../lib/collections.ts";
import { nullIfUnreadable } from "../../storage/db/null-if-unreadable.ts";
import { type Projector, startsRun } from "../../storage/journal/journal.ts";
import type { Journals } from "../../storage/journal/module.ts";
import type { FilesModule } from "../files/module.ts";
import { createAppend } from "./messages.ts";
import { threadRoutes } from "./routes.ts";
import { createThreadStore } from "./store.ts";

export type ThreadsModule = ReturnType<typeof createThreadsModule>;

interface Needs {
  base: Base;
  journals: Journals;
  files: FilesModule;
}

/** Conversations over several runs. */
export function createThreadsModule({ base, journals, files }: Needs) {
  const { journal, project } = journals;
  const threads = createThreadStore({ ...base, mediaOf: files.store.mediaOf });
  project(createThreadProjection(base.db.sqlite, (runId) => nullIfUnreadable(() => journal.state(runId))));
  return { routes: (auth) => [threadRoutes({ auth, threads })], store: threads } satisfies Module;
}

/**
 * Adds a run's messages to its thread, in the transaction of the run's end, so that the next run sees them. `stateOf`
 * returns null if the run's record is damaged; then nothing is added.
 */
function createThreadProjection(sqlite: Database, stateOf: (runId: string) => RunState | null): Projector {
  const touch = sqlite.query(
    `UPDATE threads SET last_run_id = max(coalesce(last_run_id, ''), ?), last_agent_id = coalesce(?, last_agent_id), updated_at_ms = max(updated_at_ms, ?), message_count = message_count + ?
     WHERE project_id = ? AND environment = ? AND id = ?`,
  );
  const append = createAppend(sqlite);

  return ({ run_id, project_id, environment, thread_id }, entries) => {
    const isNew = startsRun(entries);
    const isEnd = entries.some(({ event }) => endsRun(event));
    if (!thread_id || (!isEnd && !isNew)) return;
    const known = isEnd ? (isNew ? initialState : stateOf(run_id)) : null;
    const state = known && fold(entries, known);
    const messages = state ? threadMessages(state) : [];
    const agentId = state && activeAgentId(state);
    const { at } = lastItem(entries);
    // The thread was deleted meanwhile.
    if (touch.run(run_id, agentId, at, messages.length, project_id, environment, thread_id).changes === 0) return;
    append({ project_id, environment, id: thread_id }, run_id, messages);
  };
}
