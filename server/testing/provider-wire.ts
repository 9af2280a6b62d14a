import type { ConnectionProvider } from "../domain/providers.ts";
import { eventFrame } from "./event-stream-frame.ts";

/** Pieces of a provider's streamed answer, in its own server-sent events. */
export interface Wire {
  /** Events before any content. */
  begin(): string;
  text(text: string): string;
  /** Start of a tool call, pieces of its arguments, and its end. */
  call(name: string): string;
  args(piece: string): string;
  endCall(name: string, args: string): string;
  /** End of the answer, with the provider's finish reason (by default the usual one) and the token count. */
  end(reason?: string, tokens?: number): string;
  /** Finish reason of an answer with tool calls; absent: the usual one. */
  calls?: string;
  /** Finish reason of an answer that reached its maximum length. */
  cut: string;
  /** Finish reasons of failed answers, and unknown ones. */
  failing: string[];
}

const sse = (data: unknown, event?: string): string =>
  `${event ? `event: ${event}\n` : ""}data: ${JSON.stringify(data)}\n\n`;
const typed = (data: Record<string, unknown> & { type: string }): string => sse(data, data.type);

const chunk = (delta: object, finish_reason: string | null = null, more: object = {}): string =>
  sse({ id: "c1", object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason, ...more }] });
const piece = (part: object): string => chunk({ tool_calls: [{ index: 0, ...part }] });

const chat: Wire = {
  begin: () => chunk({ role: "assistant", content: "" }),
  text: (content) => chunk({ content }),
  call: (name) => piece({ id: "call_1", type: "function", function: { name, arguments: "" } }),
  args: (args) => piece({ function: { arguments: args } }),
  endCall: () => "",
  end(reason = "stop", tokens = 5) {
    const usage = { prompt_tokens: 20, completion_tokens: tokens, total_tokens: 20 + tokens };
    return `${chunk({}, reason)}${sse({ choices: [], usage })}data: [DONE]\n\n`;
  },
  calls: "tool_calls",
  cut: "length",
  failing: ["error", "network_error", "malformed_function_call", "insufficient_system_resource", "abort", "weird"],
};

const message = { id: "msg_1", type: "message", role: "assistant", model: "m", content: [], stop_reason: null };
const block = (index: number, content_block: object) => typed({ type: "content_block_start", index, content_block });
const delta = (index: number, delta: object) => typed({ type: "content_block_delta", index, delta });
const stop = (index: number) => typed({ type: "content_block_stop", index });

const anthropic: Wire = {
  begin: () => typed({ type: "message_start", message: { ...message, usage: { input_tokens: 20, output_tokens: 1 } } }),
  text: (text) => `${block(0, { type: "text", text: "" })}${delta(0, { type: "text_delta", text })}${stop(0)}`,
  call: (name) => block(1, { type: "tool_use", id: "toolu_1", name, input: {} }),
  args: (partial_json) => delta(1, { type: "input_json_delta", partial_json }),
  endCall: () => stop(1),
  end(stop_reason = "end_turn", output_tokens = 5) {
    const delta = { stop_reason, stop_sequence: null };
    return typed({ type: "message_delta", delta, usage: { output_tokens } }) + typed({ type: "message_stop" });
  },
  calls: "tool_use",
  cut: "max_tokens",
  failing: ["weird"],
};

const response = { id: "resp_1", object: "response", created_at: 1_764_000_000, model: "gpt-5-mini", output: [] };
const used = (output_tokens: number) => ({
  input_tokens: 20,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 20 + output_tokens,
});
const said = { id: "msg_0", type: "message", role: "assistant" };
const call = { id: "fc_1", type: "function_call", call_id: "call_1" };
const item = (of: "added" | "done", output_index: number, item: object) =>
  typed({ type: `response.output_item.${of}`, output_index, item });

const openai: Wire = {
  begin: () => typed({ type: "response.created", response: { ...response, status: "in_progress" } }),
  text: (text) =>
    [
      item("added", 0, { ...said, status: "in_progress", content: [] }),
      typed({ type: "response.output_text.delta", item_id: "msg_0", output_index: 0, content_index: 0, delta: text }),
      item("done", 0, { ...said, status: "completed", content: [{ type: "output_text", annotations: [], text }] }),
    ].join(""),
  call: (name) => item("added", 1, { ...call, name, status: "in_progress", arguments: "" }),
  args: (delta) => typed({ type: "response.function_call_arguments.delta", item_id: "fc_1", output_index: 1, delta }),
  endCall: (name, args) => item("done", 1, { ...call, name, status: "completed", arguments: args }),
  end(reason, tokens = 5) {
    const status = reason === undefined ? "completed" : "incomplete";
    const incomplete_details = reason === undefined || reason === "incomplete" ? null : { reason };
    return typed({
      type: `response.${status}`,
      response: { ...response, status, incomplete_details, usage: used(tokens) },
    });
  },
  cut: "max_output_tokens",
  // A response that is incomplete without a reason is a failure too.
  failing: ["incomplete", "weird"],
};

const candidate = (parts: object[], more: object = {}, tokens = 5) =>
  sse({
    candidates: [{ content: { role: "model", parts }, index: 0, ...more }],
    usageMetadata: { promptTokenCount: 20, candidatesTokenCount: tokens, totalTokenCount: 20 + tokens },
  });

/** Google sends a call as a whole, at its end. */
const google: Wire = {
  begin: () => "",
  text: (text) => candidate([{ text }]),
  call: () => "",
  args: () => "",
  endCall: (name, args) => candidate([{ functionCall: { name, args: JSON.parse(args) } }]),
  end: (finishReason = "STOP", tokens = 5) => candidate([], { finishReason }, tokens),
  cut: "MAX_TOKENS",
  failing: ["MALFORMED_FUNCTION_CALL", "OTHER", "LANGUAGE", "WEIRD"],
};

/** Frames of bytes, as one character per byte. */
const frame = (type: string, payload: object): string => Buffer.from(eventFrame(type, payload)).toString("latin1");
const converseDelta = (contentBlockIndex: number, delta: object) =>
  frame("contentBlockDelta", { contentBlockIndex, delta });

const bedrock: Wire = {
  begin: () => frame("messageStart", { role: "assistant" }),
  text: (text) => `${converseDelta(0, { text })}${frame("contentBlockStop", { contentBlockIndex: 0 })}`,
  call: (name) =>
    frame("contentBlockStart", { contentBlockIndex: 1, start: { toolUse: { toolUseId: "tooluse_1", name } } }),
  args: (input) => converseDelta(1, { toolUse: { input } }),
  endCall: () => frame("contentBlockStop", { contentBlockIndex: 1 }),
  end(stopReason = "end_turn", outputTokens = 5) {
    const usage = { inputTokens: 20, outputTokens, totalTokens: 20 + outputTokens };
    return `${frame("messageStop", { stopReason })}${frame("metadata", { usage, metrics: { latencyMs: 9 } })}`;
  },
  calls: "tool_use",
  cut: "max_tokens",
  failing: ["malformed_model_output", "malformed_tool_use", "weird"],
};

/** Wire format of each provider. */
export const wires: Record<ConnectionProvider, Wire> = {
  openai,
  anthropic,
  google,
  mistral: chat,
  groq: chat,
  deepseek: chat,
  xai: chat,
  openrouter: chat,
  together: chat,
  fireworks: chat,
  azure: chat,
  bedrock,
  vertex: google,
  ollama: chat,
  openai_compatible: chat,
};
