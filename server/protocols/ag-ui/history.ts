import type { ApiMessage } from "../conversations.ts";

/** Converts the messages of a conversation to AG-UI. The id of an assistant message begins with its run's id. */
export const agUiMessages = (recorded: readonly ApiMessage[]): object[] =>
  recorded.map(({ id, role, content, tool_calls, tool_call_id, run_id }) => {
    if (role === "tool") return { id, role, content, toolCallId: tool_call_id };
    if (role !== "assistant") return { id, role, content };
    const toolCalls = tool_calls?.map((call) => ({
      id: call.id,
      type: "function",
      function: { name: call.name, arguments: JSON.stringify(call.arguments) },
    }));
    return { id: run_id ? `${run_id}-${id}` : id, role, content, ...(toolCalls && { toolCalls }) };
  });
