import type { AgentSnapshot } from "../../../domain/agent-snapshot.ts";
import type { RunCreated } from "../../../domain/run-event.ts";
import { conversationId, type ResponsePosition, responseId } from "../item-ids.ts";
import { previousKey } from "./request.ts";

interface About {
  stretch: ResponsePosition;
  created: RunCreated;
  agent: AgentSnapshot;
  /** Start of the part, in milliseconds. */
  at: number;
  /** The part before this one, if there is one. */
  before: ResponsePosition | null;
}

/** Returns the fields of a response that are known at its start, from the run's journal. */
export function aboutResponse({ stretch, created, agent, at, before }: About): object {
  const { settings, output_schema: schema } = agent;
  const { [previousKey]: previous = null, ...metadata } = created.metadata;
  return {
    id: responseId(stretch),
    object: "response",
    created_at: Math.floor(at / 1000),
    background: created.on_disconnect === "continue",
    // Only the agent's owner sees its instructions.
    instructions: null,
    max_output_tokens: settings.max_output_tokens ?? null,
    model: created.agent_id,
    parallel_tool_calls: settings.parallel_tool_calls ?? true,
    previous_response_id: before ? responseId(before) : previous,
    conversation: created.thread_id ? { id: conversationId(created.thread_id) } : null,
    reasoning: { effort: settings.reasoning_effort ?? null, summary: null },
    store: true,
    temperature: settings.temperature ?? null,
    text: { format: schema ? { type: "json_schema", name: "output", schema, strict: true } : { type: "text" } },
    tool_choice: choiceOf(settings.tool_choice),
    tools: agent.tools.filter(({ of_request }) => of_request).map(toolOf),
    top_p: settings.top_p ?? null,
    truncation: "disabled",
    user: created.user_id,
    metadata,
  };
}

const choiceOf = (choice: AgentSnapshot["settings"]["tool_choice"]) =>
  typeof choice === "object" ? { type: "function", name: choice.name } : (choice ?? "auto");

const toolOf = ({ name, description, parameters }: AgentSnapshot["tools"][number]) => ({
  type: "function",
  name,
  description,
  parameters,
  strict: false,
});
