import type { Agent as FullAgent } from "../../../../server/agents/schema.ts";
import { parseExact } from "../../../../server/lib/exact-numbers.ts";
import { type Draft, draftOf } from "./draft.ts";

/** Reads a draft that was kept, and the version it was made from; null for what is none of this agent. */
export function keptDraft(kept: string | null, agent: FullAgent): { base: FullAgent; draft: Draft } | null {
  try {
    const { base, draft } = parseExact<{ base: FullAgent; draft: Draft }>(kept ?? "{}");
    // A version that is still to come is one of a server that was put back to an earlier state.
    if (base.id !== agent.id || base.version > agent.version) return null;
    return { base, draft: { ...draftOf(base), ...draft } };
  } catch {
    return null;
  }
}
