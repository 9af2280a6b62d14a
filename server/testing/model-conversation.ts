import { Transcript } from "../runtime/agent-loop/transcript.ts";
import type { Model, ModelError, ModelRequest, ModelUsage, RequestAdjustment } from "../runtime/models/model.ts";

interface Conversation {
  /** The last answer. */
  text: string;
  error: ModelError | null;
  usage: ModelUsage | null;
  /** Adjustments of each model call. */
  adjustments: RequestAdjustment[][];
  messages: ModelRequest["messages"];
}

const turnsMax = 6;

/** Talks with a model as a run does: its calls get `output`, until it answers without calls. The ids never change. */
export async function converse(
  model: Model,
  request: ModelRequest,
  { output = "Sunny.", signal = new AbortController().signal }: { output?: string; signal?: AbortSignal } = {},
): Promise<Conversation> {
  const messages = [...request.messages];
  const adjustments: RequestAdjustment[][] = [];
  let calls = 0;
  for (let turn = 0; turn < turnsMax; turn++) {
    const transcript = new Transcript();
    let [error, usage]: [ModelError | null, ModelUsage | null] = [null, null];
    let adjusted: readonly RequestAdjustment[] = [];
    const observer = {
      onByte() {},
      onArguments() {},
      onAdjustments(given: readonly RequestAdjustment[]) {
        adjusted = given;
      },
    };
    for await (const event of model.stream({ ...request, messages: [...messages] }, signal, observer)) {
      if (event.type === "delta") transcript.delta({ ...event, ms: 0 });
      else if (event.type === "tool_call") transcript.toolCall(event);
      else if (event.type === "metadata") transcript.metadata(event.part, event.metadata);
      else if (event.type === "error") [error, usage] = [event.error, event.usage];
      else usage = event.usage;
    }
    const parts = transcript.parts.map((part) =>
      part.type === "tool_call" ? { ...part, id: `call_${String(++calls).padStart(26, "0")}` } : part,
    );
    adjustments.push([...adjusted]);
    messages.push({ role: "assistant", parts });
    for (const part of parts)
      if (part.type === "tool_call")
        messages.push({ role: "tool", call_id: part.id, tool: part.name, output, is_error: false });
    const text = parts.map((part) => (part.type === "text" ? part.text : "")).join("");
    if (error || transcript.calls() === 0) return { text, error, usage, adjustments, messages };
  }
  throw new Error(`The model called tools in each of ${turnsMax} turns.`);
}
