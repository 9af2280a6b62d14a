import { type Static, Type } from "@sinclair/typebox";
import { contextStrategies, type MemoryPolicy, memoryAccesses, type PinnedStore } from "../../domain/agent-snapshot.ts";
import { noSuch } from "../../domain/error-messages.ts";
import type { Fault } from "../../domain/errors.ts";
import { limits } from "../../domain/limits.ts";
import { memoryKinds } from "../../domain/memory-kinds/memory-kinds.ts";
import { completeRerank } from "../../domain/retrieval.ts";
import { fault, throwIfInvalid } from "../../http/errors.ts";
import { HistoryInput, idOf, passageChoices, RerankInput } from "../../http/schemas.ts";
import { requireValue } from "../../lib/require-value.ts";
import { about, named, oneOf, orNull, partial, partly } from "../../lib/schema.ts";

const MemoryStore = named(
  "MemoryPolicyStoreInput",
  partly(
    { memory_id: about("Id of the memory store that its runs use: `mem_…`.", idOf("memory")) },
    {
      access: about("Whether runs may only read the store, or write to it too.", oneOf(memoryAccesses)),
      auto_retrieve: about(
        "Whether the store is searched with the input before the first model call. Default: true, for keys false.",
        Type.Boolean(),
      ),
      top_k: about("How many passages are found at most.", Type.Integer({ minimum: 1, maximum: limits.search_top_k })),
      score_threshold: about("Results with a lower score are left out.", Type.Number({ minimum: 0, maximum: 1 })),
      rerank: about("A model that reranks the results; absent or null: none.", orNull(RerankInput)),
      ...passageChoices,
      learn: about(
        "Whether facts of the user are learned from each run and kept in this store; absent: they are not.",
        Type.Boolean(),
      ),
    },
  ),
);

export const MemoryInput = named(
  "MemoryPolicyInput",
  partial({
    stores: about("The memory stores that its runs use.", Type.Array(MemoryStore, { maxItems: 20 })),
    history: about("How much of a thread its runs read.", HistoryInput),
    context: about(
      "What happens when a conversation becomes too long.",
      named(
        "ContextPolicyInput",
        partial({
          strategy: about("What happens when the next prompt is too long.", oneOf(contextStrategies)),
          reserve_output_tokens: about(
            "How many tokens are kept free for the answer.",
            Type.Integer({ minimum: 0, maximum: 1_000_000 }),
          ),
          tool_output_max_bytes: about(
            "How many bytes of each tool output the model reads; the run keeps all of it.",
            Type.Integer({ minimum: 1000, maximum: limits.tool_output_bytes }),
          ),
        }),
      ),
    ),
  }),
);
type MemoryInput = Static<typeof MemoryInput>;

/** Facts about a memory store that an agent needs; null if there is no such store. */
export type StoreFacts = Pick<PinnedStore, "name" | "kind" | "scope">;
export type FactsOf = (memoryId: string) => StoreFacts | null;

/** Fills in a policy's defaults. Throws for unknown stores, or for features that a store does not support. */
export function completePolicy(input: MemoryInput, factsOf: FactsOf): MemoryPolicy;
export function completePolicy(input: MemoryInput | null, factsOf: FactsOf): MemoryPolicy | null;
export function completePolicy(input: MemoryInput | null, factsOf: FactsOf): MemoryPolicy | null {
  if (!input) return null;
  const { stores = [], history, context } = input;
  const known = stores.map(({ memory_id }) => factsOf(memory_id));
  const faults = stores.flatMap((store, i): Fault[] => {
    const at = `memory.stores[${i}]`;
    if (!known[i]) return [fault(`${at}.memory_id`, noSuch("memory store"))];
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
  throwIfInvalid(faults);
  return {
    stores: stores.map(
      ({ memory_id, access, auto_retrieve, top_k, score_threshold, rerank, learn, ...choices }, i) => ({
        memory_id,
        access: access ?? "read",
        auto_retrieve: auto_retrieve ?? memoryKinds[requireValue(known[i], memory_id).kind].isSearched,
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

/** Default policy of a new agent: no stores; history is read if the run has a thread. */
export const defaultPolicy = completePolicy({}, () => null);

/** Overrides a policy's history settings for a run. An agent without a policy reads none by default. */
export const withHistory = (policy: MemoryPolicy | null, history: Partial<MemoryPolicy["history"]>): MemoryPolicy => {
  const known = policy ?? { ...defaultPolicy, history: { ...defaultPolicy.history, mode: "none" } };
  return { ...known, history: { ...known.history, ...history } };
};

/** Returns the policy as a run pins it. A deleted store stays listed, so that the run records that it is gone. */
export const pinnedPolicy = (policy: MemoryPolicy, factsOf: FactsOf): MemoryPolicy<PinnedStore> => ({
  ...policy,
  stores: policy.stores.map((store) => ({ ...store, ...(factsOf(store.memory_id) ?? missingStore(store.memory_id)) })),
});

const missingStore = (memory_id: string) => ({ ...missingStoreFacts, name: memory_id });
const missingStoreFacts = { kind: "vector", scope: "project", auto_retrieve: true } as const;

/** Returns the policy's stores that still exist. */
export const presentStores = (policy: MemoryPolicy, factsOf: FactsOf): PinnedStore[] =>
  policy.stores.flatMap((store) => {
    const facts = factsOf(store.memory_id);
    return facts ? [{ ...store, ...facts }] : [];
  });
