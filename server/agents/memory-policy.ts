import { type Static, Type } from "@sinclair/typebox";
import { contextStrategies, type MemoryPolicy, type PinnedStore } from "../core/agent-snapshot.ts";
import type { Fault } from "../core/errors.ts";
import { limits } from "../core/limits.ts";
import { memoryKinds } from "../core/memory-kinds/memory-kinds.ts";
import { completeRerank } from "../core/retrieval.ts";
import { fault, refuse } from "../http/errors.ts";
import { HistoryInput, idOf, passageChoices, RerankInput } from "../http/schemas.ts";
import { named, oneOf, orNull, partial, partly } from "../lib/schema.ts";

const MemoryStore = named(
  "MemoryPolicyStoreInput",
  partly(
    { memory_id: idOf("memory") },
    {
      access: oneOf(["read", "read_write"] as const),
      auto_retrieve: Type.Boolean(),
      top_k: Type.Integer({ minimum: 1, maximum: limits.search_top_k }),
      score_threshold: Type.Number({ minimum: 0, maximum: 1 }),
      rerank: orNull(RerankInput),
      ...passageChoices,
      learn: Type.Boolean(),
    },
  ),
);

export const MemoryInput = named(
  "MemoryPolicyInput",
  partial({
    stores: Type.Array(MemoryStore, { maxItems: 20 }),
    history: HistoryInput,
    context: named(
      "ContextPolicyInput",
      partial({
        strategy: oneOf(contextStrategies),
        reserve_output_tokens: Type.Integer({ minimum: 0, maximum: 1_000_000 }),
        tool_output_max_bytes: Type.Integer({ minimum: 1000, maximum: limits.tool_output_bytes }),
      }),
    ),
  }),
);
type MemoryInput = Static<typeof MemoryInput>;

/** What an agent has to know of a store; null for one that is not there. */
export type StoreFacts = Pick<PinnedStore, "name" | "kind" | "scope">;
export type FactsOf = (memoryId: string) => StoreFacts | null;

/** A policy with all that was left out. Throws for stores that are not there, or cannot do what is asked of them. */
export function completePolicy(input: MemoryInput | null, factsOf: FactsOf): MemoryPolicy | null {
  if (!input) return null;
  const { stores = [], history, context } = input;
  const known = stores.map(({ memory_id }) => factsOf(memory_id));
  const faults = stores.flatMap((store, i): Fault[] => {
    const at = `memory.stores[${i}]`;
    if (!known[i]) return [fault(`${at}.memory_id`, "There is no such memory store.")];
    if (stores.findIndex(({ memory_id }) => memory_id === store.memory_id) < i)
      return [fault(`${at}.memory_id`, "This store is in the list already.")];
    if (store.auto_retrieve && !memoryKinds[known[i].kind].isSearched)
      return [fault(`${at}.auto_retrieve`, "A store of keys cannot be searched.")];
    if (store.learn && (!memoryKinds[known[i].kind].isSearched || known[i].scope !== "user"))
      return [fault(`${at}.learn`, 'Facts are kept in a store of kind "vector" and scope "user".')];
    if (store.learn && stores.findIndex(({ learn }) => learn) < i)
      return [fault(`${at}.learn`, "One store of an agent learns already.")];
    return [];
  });
  refuse(faults);
  return {
    stores: stores.map(
      ({ memory_id, access, auto_retrieve, top_k, score_threshold, rerank, learn, ...choices }, i) => ({
        memory_id,
        access: access ?? "read",
        auto_retrieve: auto_retrieve ?? memoryKinds[known[i]!.kind].isSearched,
        top_k: top_k ?? 6,
        score_threshold: score_threshold ?? 0,
        ...(rerank && { rerank: completeRerank(rerank) }),
        ...(choices.diversity && { diversity: choices.diversity }),
        ...(choices.neighbors && { neighbors: choices.neighbors }),
        ...(learn && { learn }),
      }),
    ),
    history: { mode: history?.mode ?? "thread", max_messages: history?.max_messages ?? 50 },
    context: {
      strategy: context?.strategy ?? "compact",
      reserve_output_tokens: context?.reserve_output_tokens ?? 4096,
      tool_output_max_bytes: context?.tool_output_max_bytes ?? 40_000,
    },
  };
}

/** The policy of an agent that is created without one: it has no store, and reads the thread of a run that has one. */
export const defaultPolicy: MemoryPolicy = completePolicy({}, () => null)!;

/** The policy of a run that is told more of its thread, or less. An agent without a policy reads none unless told so. */
export const withHistory = (policy: MemoryPolicy | null, history: Partial<MemoryPolicy["history"]>): MemoryPolicy => {
  const known = policy ?? { ...defaultPolicy, history: { ...defaultPolicy.history, mode: "none" } };
  return { ...known, history: { ...known.history, ...history } };
};

/** The policy as a run pins it. A store that is gone is searched all the same, so that the run notes that it is gone. */
export const pinnedPolicy = (policy: MemoryPolicy, factsOf: FactsOf): MemoryPolicy<PinnedStore> => ({
  ...policy,
  stores: policy.stores.map((store) => ({ ...store, ...(factsOf(store.memory_id) ?? gone(store.memory_id)) })),
});

const gone = (memory_id: string) => ({ ...goneFacts, name: memory_id });
const goneFacts = { kind: "vector", scope: "project", auto_retrieve: true } as const;

/** The stores of a policy that are there. */
export const presentStores = (policy: MemoryPolicy, factsOf: FactsOf): PinnedStore[] =>
  policy.stores.flatMap((store) => {
    const facts = factsOf(store.memory_id);
    return facts ? [{ ...store, ...facts }] : [];
  });
