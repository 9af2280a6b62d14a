import type { MemoryOperation, MemoryTool, ToolStore } from "../../../domain/agent-snapshot.ts";
import type { RetrievedPassage } from "../../../domain/run-event.ts";
import type { ToolCall } from "../../../domain/run-state.ts";
import { addChildRun } from "../../../domain/usage.ts";
import type { ToolContext, ToolRunner } from "./context.ts";
import { type ToolResult, toolError } from "./tool-result.ts";

/** Uses the agent's memory stores. The arguments already fit the schema of the agent's policy. */
export const run: ToolRunner<MemoryTool> = async (call, tool, context) => {
  const { operation, stores } = tool.memory;
  const { store: name } = call.arguments as { store?: string };
  const chosen = name === undefined ? stores : stores.filter((store) => store.name === name);
  return operations[operation](call, chosen, context);
};

type Operation = (call: ToolCall, stores: readonly ToolStore[], context: ToolContext) => Promise<ToolResult>;

const done = (output: unknown): ToolResult => ({ output, error: null, attempts: 1 });

const searchMemory: Operation = async ({ arguments: args }, stores, { ask, standing }) => {
  const { query, top_k, filter } = args as { query: string; top_k?: number; filter?: Record<string, unknown> };
  const answers = await Promise.all(
    stores.map(async (store) => {
      const { memory_id, score_threshold, rerank, diversity, neighbors } = store;
      const most = top_k ?? store.top_k;
      const order = { memory_id, query, top_k: most, score_threshold, filter, rerank, diversity, neighbors };
      return { store, answer: await ask("search_memory", { ...order, standing: standing() }) };
    }),
  );
  const matches = answers.flatMap(({ store, answer }) =>
    "refused" in answer ? [] : answer.matches.map((match) => shownMatch(match, store.name)),
  );
  const failures = answers.flatMap(({ store, answer }) =>
    "refused" in answer ? [{ store: store.name, ...answer.refused }] : [],
  );
  if (failures.length === stores.length) return toolError(failures[0]!.code, failures[0]!.message);
  const not_reranked = answers.flatMap(({ store, answer }) =>
    "reranked" in answer && answer.reranked?.error ? [{ store: store.name, ...answer.reranked.error }] : [],
  );
  const by_words_alone = answers.flatMap(({ store, answer }) =>
    "degraded" in answer && answer.degraded ? [{ store: store.name, ...answer.degraded }] : [],
  );
  const most = top_k ?? Math.max(...stores.map((store) => store.top_k));
  const best = matches.sort((a, b) => b.score - a.score).slice(0, most);
  const found = {
    matches: best,
    ...(failures.length > 0 && { failures }),
    ...(not_reranked.length > 0 && { not_reranked }),
    ...(by_words_alone.length > 0 && { by_words_alone }),
  };
  const usages = answers.flatMap(({ answer }) => ("usage" in answer && answer.usage) || []);
  return { ...done(found), ...(usages.length > 0 && { usage: usages.reduce(addChildRun) }) };
};

const shownMatch = ({ text, score, entry_id, file_id, filename, page, heading }: RetrievedPassage, store: string) => ({
  text,
  score,
  source: { store, entry_id, file_id, filename, page, heading },
});

const writeMemory: Operation = async ({ id, arguments: args }, [store], { ask }) => {
  const { text, metadata = {} } = args as { text: string; metadata?: Record<string, string | number | boolean> };
  const order = { memory_id: store!.memory_id, text, metadata, tool_call_id: id };
  const answer = await ask("write_memory", order);
  return "refused" in answer ? toolError(answer.refused.code, answer.refused.message) : done(answer);
};

const getKey: Operation = async ({ arguments: args }, [store], { ask }) => {
  const { key } = args as { key: string };
  const answer = await ask("get_key", { memory_id: store!.memory_id, key });
  if ("refused" in answer) return toolError(answer.refused.code, answer.refused.message);
  return done(answer.found ? { key, ...answer.found } : { key, value: null, version: 0 });
};

const setKey: Operation = async ({ id, arguments: args }, [store], { ask }) => {
  const { key, value } = args as { key: string; value: unknown };
  const answer = await ask("set_key", { memory_id: store!.memory_id, key, value, tool_call_id: id });
  return "refused" in answer ? toolError(answer.refused.code, answer.refused.message) : done({ key, ...answer });
};

const operations: Record<MemoryOperation, Operation> = {
  memory_search: searchMemory,
  memory_write: writeMemory,
  kv_get: getKey,
  kv_set: setKey,
};
