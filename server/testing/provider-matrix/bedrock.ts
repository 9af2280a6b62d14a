import { eventFrame } from "../event-stream-frame.ts";
import type { Answer, MatrixEntry } from "./entry.ts";

const fault = (type: string, message: string) => ({
  headers: { "x-amzn-errortype": `${type}:http://internal.amazon.com/coral/com.amazon.bedrock/` },
  body: { message },
});

const halves = (text: string): string[] => [text.slice(0, text.length / 2), text.slice(text.length / 2)];

type Block = { start?: object; deltas: object[] };

/** An answer as frames of Bedrock's ConverseStream. Each event is padded, and the reasoning is signed. */
function converseStream({ reasoning, text, calls = [], finish }: Answer): Uint8Array[] {
  const thought = (reasoningContent: object) => ({ reasoningContent });
  const blocks: Block[] = [];
  if (reasoning !== undefined) {
    const signature = thought({ signature: "EqQBsigned" });
    blocks.push({ deltas: [...halves(reasoning).map((half) => thought({ text: half })), signature] });
  }
  if (text !== undefined) blocks.push({ deltas: halves(text).map((half) => ({ text: half })) });
  for (const [index, { name, args }] of calls.entries())
    blocks.push({
      start: { toolUse: { toolUseId: `tooluse_${index}`, name } },
      deltas: halves(JSON.stringify(args)).map((input) => ({ toolUse: { input } })),
    });
  const reasons = {
    stop: "end_turn",
    tool_calls: "tool_use",
    length: "max_tokens",
    content_filter: "guardrail_intervened",
  };
  const usage = {
    inputTokens: 28,
    outputTokens: 12,
    totalTokens: 48,
    cacheReadInputTokens: 8,
    cacheWriteInputTokens: 0,
  };
  return [
    eventFrame("messageStart", { role: "assistant", p: "abcdef" }),
    ...blocks.flatMap(framesOf),
    eventFrame("messageStop", { stopReason: reasons[finish], p: "abcd" }),
    eventFrame("metadata", { usage, metrics: { latencyMs: 642 }, p: "ab" }),
  ];
}

function framesOf({ start, deltas }: Block, contentBlockIndex: number): Uint8Array[] {
  return [
    ...(start ? [eventFrame("contentBlockStart", { contentBlockIndex, start, p: "abc" })] : []),
    ...deltas.map((delta) => eventFrame("contentBlockDelta", { contentBlockIndex, delta, p: "abcdefghij" })),
    eventFrame("contentBlockStop", { contentBlockIndex, p: "abc" }),
  ];
}

/** Amazon Bedrock, whose streams are binary. */
export const bedrock: MatrixEntry = {
  name: "Amazon Bedrock",
  provider: "bedrock",
  model: "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
  source: "docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html",
  connection: { region: "eu-west-1" },
  stream: converseStream,
  usage: {
    input_tokens: 36,
    output_tokens: 12,
    cached_input_tokens: 8,
    reasoning_tokens: null,
    cache_write_5m_tokens: 0,
  },
  overflow: { status: 400, ...fault("ValidationException", "Input is too long for requested model.") },
  rate_limit: {
    status: 429,
    ...fault("ThrottlingException", "Too many requests, please wait before trying again."),
  },
  retry_after_ms: null,
  outage: { status: 503, ...fault("ServiceUnavailableException", "Bedrock is unable to process your request.") },
  stop_field: "stopSequences",
  has_reasoning: true,
};
