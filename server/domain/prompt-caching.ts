import { sha256 } from "../lib/hash.ts";
import { memoize } from "../lib/memoize.ts";
import type { AgentSnapshot } from "./agent-snapshot.ts";
import type { ModelRequest, ModelSettings } from "./model-call.ts";
import type { RunCreated } from "./run-event.ts";
import { stablePrefix } from "./variables.ts";

/**
 * Returns the request with what its provider needs to cache the prompt. The recorded hash of a prompt does not cover
 * this, so that runs recorded without it can be replayed.
 */
export function withPromptCaching(
  request: ModelRequest,
  agent: Pick<AgentSnapshot, "id" | "prompt_caching" | "variables" | "snippets"> & { instructions?: string },
  { thread_id }: Pick<RunCreated, "thread_id">,
): ModelRequest {
  const { id, prompt_caching = "auto" } = agent;
  const settings: ModelSettings = { ...request.settings, prompt_caching };
  if (prompt_caching === "off") return { ...request, settings };
  settings.prompt_cache_key = cacheKey(id, thread_id);
  if (agent.variables) settings.stable_length = stablePrefix({ instructions: "", ...agent }).length;
  if (isLast(request, thread_id)) settings.is_last_prompt = true;
  return { ...request, settings };
}

/** The same for all runs of a thread. Runs without one share their beginning, the agent's instructions and tools. */
const cacheKey = (agentId: string, threadId: string | null): string => keyOf(`${agentId} ${threadId ?? ""}`);

const keyOf = memoize((text) => sha256(text).slice(0, 32));

/** Without tools and thread, a run asks once: to write its input to a cache would cost more and help no other call. */
const isLast = ({ messages, tools }: ModelRequest, threadId: string | null): boolean =>
  threadId === null && tools.length === 0 && !messages.some(({ role }) => role === "assistant");
