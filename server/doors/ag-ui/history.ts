import type { Recorded } from "../conversations.ts";

/** What was said in a conversation as AG-UI has it. An id of the assistant's begins with the run that has said it. */
export const agUiMessages = (recorded: readonly Recorded[]): object[] =>
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
