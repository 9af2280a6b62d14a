import { parseExact } from "../../../../server/lib/exact-numbers.ts";
import type { Agent as FullAgent } from "../../../../server/resources/agents/schema.ts";
import { type Draft, draftOf } from "./draft.ts";

/** Restores a stored draft and its base version; null if it is invalid or of another agent. */
export function parseStoredDraft(kept: string | null, agent: FullAgent): { base: FullAgent; draft: Draft } | null {
  try {
    const { base, draft } = parseExact<{ base: FullAgent; draft: Draft }>(kept ?? "{}");
    // A higher version than the agent's means that the server was restored from a backup.
    if (base.id !== agent.id || base.version > agent.version) return null;
    return { base, draft: { ...draftOf(base), ...draft } };
  } catch {
    return null;
  }
}
