import type { AgentSnapshot } from "../../domain/agent-snapshot.ts";
import type { ModelRequest } from "../../domain/model-call.ts";
import { modelRequest } from "../../domain/prompt.ts";
import { apply, type InitialState, initialState, type RunState } from "../../domain/run-state.ts";
import { createYielder } from "../../lib/cooperative-yield.ts";
import { sha256 } from "../../lib/hash.ts";
import type { Journal } from "../../storage/journal/journal.ts";

const piece = 100;

interface Prompts {
  /** By step id; null if the model read another prompt, as in steps that a fork with edits copied. */
  found: Map<string, ModelRequest | null>;
  /** Total number of characters. */
  length: number;
}

/**
 * Rebuilds the exact prompts of model calls. They are not stored: a prompt is a function of the journal and the pinned
 * agent, and is verified by the hash taken when it was sent. Stops when the prompts exceed `most` characters, but
 * returns at least one.
 */
export async function promptsOf(
  journal: Pick<Journal, "read">,
  runId: string,
  agent: AgentSnapshot,
  steps: ReadonlySet<string>,
  maxChars: number,
  maybeYield = createYielder(),
): Promise<Prompts> {
  const prompts: Prompts = { found: new Map(), length: 0 };
  let state: RunState | InitialState = initialState;
  for (let entries = journal.read(runId, 0, piece); entries.length > 0; entries = journal.read(runId, state.seq, piece))
    for (const entry of entries) {
      const { event } = entry;
      if (event.type === "step.started" && steps.has(event.step_id) && state.run) {
        const prompt = modelRequest(state, agent);
        const json = JSON.stringify(prompt);
        prompts.found.set(event.step_id, sha256(json) === event.input_hash ? prompt : null);
        prompts.length += json.length;
        if (prompts.found.size === steps.size || prompts.length >= maxChars) return prompts;
      }
      state = apply(state, entry);
      await maybeYield();
    }
  return prompts;
}
