import type { AgentSnapshot } from "./agent-snapshot.ts";
import type { ModelRequest, PromptMessage } from "./model-call.ts";
import type { RunState, ToolCall } from "./run-state.ts";

/**
 * What the model is asked next: a function of the journal and the pinned agent alone, so that the same journal gives
 * the same prompt for ever.
 */
export function modelRequest(state: RunState, agent: AgentSnapshot): ModelRequest {
  const request: ModelRequest = {
    messages: [{ role: "system", content: agent.instructions }, ...conversation(state)],
    tools: agent.tools.map(({ name, description, parameters }) => ({ name, description, parameters })),
    settings: agent.settings,
  };
  if (agent.output_schema) request.output_schema = agent.output_schema;
  return request;
}

/** The thread in the providers' order: each answer is followed by the results of its calls, in the order of the calls. */
export function conversation({ messages, calls }: RunState): PromptMessage[] {
  const results = new Map(calls.map((call) => [call.id, call]));
  return messages.flatMap((message): PromptMessage[] => {
    if (message.role === "user") return [{ role: "user", content: message.content }];
    if (message.role === "tool" || message.parts.length === 0) return [];
    const asked = message.parts.flatMap((part) => (part.type === "tool_call" ? (results.get(part.id) ?? []) : []));
    return [{ role: "assistant", parts: message.parts }, ...asked.map(toolMessage)];
  });
}

function toolMessage(call: ToolCall): PromptMessage {
  const { output, is_error } = toolText(call);
  return { role: "tool", call_id: call.id, tool: call.tool, output, is_error };
}

/** What the model reads of a finished call. */
export function toolText({ output, error }: Pick<ToolCall, "output" | "error">): { output: string; is_error: boolean } {
  if (error) return { output: `Error (${error.code}): ${error.message}`, is_error: true };
  return { output: typeof output === "string" ? output : JSON.stringify(output ?? null), is_error: false };
}
