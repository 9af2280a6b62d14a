import type { MemoryScope } from "../../domain/agent-snapshot.ts";
import { noSuch } from "../../domain/error-messages.ts";
import { AppError } from "../../domain/errors.ts";
import type { ModelSpend, RunCreated, ToolError } from "../../domain/run-event.ts";
import type { Scope } from "../../domain/scope.ts";
import { addModelCall, noUsage } from "../../domain/usage.ts";
import type { EntryStore } from "../../resources/memory/entries.ts";
import type { KeyStore } from "../../resources/memory/keys.ts";
import type { MemorySearch } from "../../resources/memory/search.ts";
import type { SpendGuard } from "../../runtime/models/spend-guard.ts";
import { scopeIdFor } from "../scope-ids.ts";
import type { RpcHandlers } from "./worker-rpc.ts";

/** Handlers for memory questions of runs: a run sees only the part of its own user or session. */
export function createMemoryRpc({
  stores,
  search,
  entries,
  keys,
  indexed: waitUntilIndexed,
  ownerOf,
}: {
  stores: { find(scope: Scope, id: string): { scope: MemoryScope } };
  search: MemorySearch;
  entries: EntryStore;
  keys: KeyStore;
  /** Resolves once an entry can be found, or after a bounded wait. */
  indexed(entryId: string): Promise<void>;
  /** Returns the user and session of a run. */
  ownerOf(runId: string): Pick<RunCreated, "user_id" | "session_id">;
}): Pick<RpcHandlers, "search_memory" | "write_memory" | "get_key" | "set_key"> {
  const scopeIdOf = (scope: Scope, runId: string, memoryId: string): string | null =>
    scopeIdFor(stores.find(scope, memoryId), ownerOf(runId));

  return {
    search_memory: ({ run_id, project_id, environment }, { memory_id, standing, ...query }) =>
      asToolError(async () => {
        const scope = { project_id, environment };
        const scope_id = scopeIdOf(scope, run_id, memory_id) ?? undefined;
        const spends: ModelSpend[] = [];
        const payer: SpendGuard = {
          ...scope,
          run: { ...standing, run_id },
          told: (spend) => void spends.push(spend),
        };
        const results = await search(payer, memory_id, { ...query, scope_id });
        const { data, reranked, rerank_error = null, degraded_error } = results;
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
      asToolError(async () => {
        const scope_id = scopeIdOf(scope, run_id, memory_id);
        const { id } = await entries.addText(scope, { memory_id, scope_id, text, metadata, tool_call_id });
        await waitUntilIndexed(id);
        const { status, error } = entries.get(scope, memory_id, id);
        // An entry that cannot be found is reported to the model. One that is only late is not: the model would write
        // it twice.
        return status === "failed" && error
          ? { refused: { code: error.code, message: error.message } }
          : { entry_id: id };
      }),
    get_key: ({ run_id, ...scope }, { memory_id, key }) =>
      asToolError(async () => {
        const entry = keys.find(scope, { memory_id, scope_id: scopeIdOf(scope, run_id, memory_id), key });
        return { found: entry && { value: entry.value, version: entry.version } };
      }),
    set_key: ({ run_id, ...scope }, { memory_id, key, value, tool_call_id }) =>
      asToolError(async () => {
        const place = { memory_id, scope_id: scopeIdOf(scope, run_id, memory_id), key };
        const { version } = await keys.put(scope, place, { value }, null, tool_call_id);
        return { version };
      }),
  };
}

/** Turns API errors into tool errors, so that the run continues and the model can react. */
async function asToolError<Answer>(work: () => Promise<Answer>): Promise<Answer | { refused: ToolError }> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    if (error.code === "resource_not_found")
      return { refused: { code: "memory_not_found", message: noSuch("memory store any more") } };
    return { refused: { code: error.code, message: error.message } };
  }
}
