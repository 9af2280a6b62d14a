import type { AgentSnapshot } from "../core/agent-snapshot.ts";
import type { ModelRequest } from "../core/model-call.ts";
import { modelRequest } from "../core/prompt.ts";
import { apply, initialState } from "../core/run-state.ts";
import type { Journal } from "../journal/journal.ts";
import { sha256 } from "../lib/hash.ts";
import { inSlices } from "../lib/slices.ts";

const piece = 100;

interface Prompts {
  /** By the id of the step; null where this is not what the model read, as in what a fork with edits took over. */
  found: Map<string, ModelRequest | null>;
  /** Characters of all of them. */
  length: number;
}

/**
 * What the models of these steps read, word for word. Nothing is stored for it: a prompt is a function of the journal
 * and the pinned agent, and its hash is compared with the one that was taken when it was sent. Ends early when the
 * prompts get longer than `most` together; there is at least one.
 */
export async function promptsOf(
  journal: Pick<Journal, "read">,
  runId: string,
  agent: AgentSnapshot,
  steps: ReadonlySet<string>,
  most: number,
  rest = inSlices(),
): Promise<Prompts> {
  const prompts: Prompts = { found: new Map(), length: 0 };
  let state = initialState;
  for (let entries = journal.read(runId, 0, piece); entries.length > 0; entries = journal.read(runId, state.seq, piece))
    for (const entry of entries) {
      const { event } = entry;
      if (event.type === "step.started" && steps.has(event.step_id)) {
        const prompt = modelRequest(state, agent);
        const json = JSON.stringify(prompt);
        prompts.found.set(event.step_id, sha256(json) === event.input_hash ? prompt : null);
        prompts.length += json.length;
        if (prompts.found.size === steps.size || prompts.length >= most) return prompts;
      }
      state = apply(state, entry);
      await rest();
    }
  return prompts;
}
