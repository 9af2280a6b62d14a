import type { MemoryScope } from "../core/agent-snapshot.ts";
import { AppError } from "../core/errors.ts";
import type { ModelSpend, RunCreated, ToolError } from "../core/run-event.ts";
import type { Scope } from "../core/scope.ts";
import { addModelCall, noUsage } from "../core/usage.ts";
import type { EntryStore } from "../memory/entries.ts";
import type { KeyStore } from "../memory/keys.ts";
import type { MemorySearch } from "../memory/search.ts";
import type { Payer } from "../models/payer.ts";
import type { Answerers } from "./answers.ts";
import { scopeIdFor } from "./scope-ids.ts";

/** Answers what runs ask of their memory stores: each sees the part of its own user or session, and no other. */
export function createMemoryAnswers({
  stores,
  search,
  entries,
  keys,
  indexed,
  ownerOf,
}: {
  stores: { find(scope: Scope, id: string): { scope: MemoryScope } };
  search: MemorySearch;
  entries: Pick<EntryStore, "addText" | "get">;
  keys: Pick<KeyStore, "find" | "put">;
  /** Settles when an entry can be found, or does not get there soon. */
  indexed(entryId: string): Promise<void>;
  /** For whom a run is. */
  ownerOf(runId: string): Pick<RunCreated, "user_id" | "session_id">;
}): Pick<Answerers, "search_memory" | "write_memory" | "get_key" | "set_key"> {
  const scopeIdOf = (scope: Scope, runId: string, memoryId: string): string | null =>
    scopeIdFor(stores.find(scope, memoryId), ownerOf(runId));

  return {
    search_memory: ({ run_id, project_id, environment }, { memory_id, standing, ...asked }) =>
      orRefused(async () => {
        const scope = { project_id, environment };
        const scope_id = scopeIdOf(scope, run_id, memory_id) ?? undefined;
        const spends: ModelSpend[] = [];
        const payer: Payer = {
          ...scope,
          run: { ...standing, run_id },
          told: (spent) => void spends.push(spent),
        };
        const found = await search(payer, memory_id, { ...asked, scope_id });
        const { data, reranked, rerank_error = null, degraded_error } = found;
        return {
          ...(reranked !== undefined && { reranked: { error: rerank_error } }),
          ...(degraded_error && { degraded: degraded_error }),
          ...(spends.length > 0 && { usage: spends.reduce(addModelCall, noUsage) }),
          matches: data.map(
            ({ id: entry_id, text, context, score, file_id, filename, chunk_index, page, heading }) => ({
              memory_id,
              entry_id,
              text: context ?? text,
              score,
              file_id,
              filename,
              chunk_index,
              page,
              heading,
            }),
          ),
        };
      }),
    write_memory: ({ run_id, ...scope }, { memory_id, text, metadata, tool_call_id }) =>
      orRefused(async () => {
        const scope_id = scopeIdOf(scope, run_id, memory_id);
        const { id } = await entries.addText(scope, { memory_id, scope_id, text, metadata, tool_call_id });
        await indexed(id);
        const { status, error } = entries.get(scope, memory_id, id);
        // What cannot be found is not remembered, and its model should know. What is only late would be written twice.
        return status === "failed" && error
          ? { refused: { code: error.code, message: error.message } }
          : { entry_id: id };
      }),
    get_key: ({ run_id, ...scope }, { memory_id, key }) =>
      orRefused(async () => {
        const found = keys.find(scope, { memory_id, scope_id: scopeIdOf(scope, run_id, memory_id), key });
        return { found: found && { value: found.value, version: found.version } };
      }),
    set_key: ({ run_id, ...scope }, { memory_id, key, value, tool_call_id }) =>
      orRefused(async () => {
        const place = { memory_id, scope_id: scopeIdOf(scope, run_id, memory_id), key };
        const { version } = await keys.put(scope, place, { value }, null, tool_call_id);
        return { version };
      }),
  };
}

/** What a client would be told is told to the run: it goes on without, or its model tries something else. */
async function orRefused<Answer>(work: () => Promise<Answer>): Promise<Answer | { refused: ToolError }> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    if (error.code === "resource_not_found")
      return { refused: { code: "memory_not_found", message: "There is no such memory store any more." } };
    return { refused: { code: error.code, message: error.message } };
  }
}
