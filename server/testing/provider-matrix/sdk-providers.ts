import type { Answer, MatrixEntry } from "./entry.ts";

const all = { input_tokens: 36, output_tokens: 12, cached_input_tokens: 8, reasoning_tokens: 5 };

const event = (value: { type: string } & Record<string, unknown>): string =>
  `event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`;

/** An answer as events of OpenAI's Responses API. Its reasoning is encrypted. */
function responses({ reasoning, text, calls = [], finish }: Answer): string {
  const items = [
    ...(reasoning === undefined ? [] : [{ id: "rs_0", type: "reasoning", summary: [], encrypted_content: reasoning }]),
    ...(text === undefined
      ? []
      : [
          {
            id: "msg_0",
            type: "message",
            role: "assistant",
            status: "completed",
            content: [{ type: "output_text", annotations: [], text }],
          },
        ]),
    ...calls.map(({ name, args }, index) => ({
      id: `fc_${index}`,
      type: "function_call",
      call_id: `call_${index}`,
      name,
      status: "completed",
      arguments: JSON.stringify(args),
    })),
  ];
  const response = { id: "resp_1", object: "response", created_at: 1_790_000_000, model: "gpt-5.1", output: [] };
  const reasons = { length: "max_output_tokens", content_filter: "content_filter", stop: null, tool_calls: null };
  const reason = reasons[finish];
  const status = reason === null ? "completed" : "incomplete";
  const usage = {
    input_tokens: 36,
    input_tokens_details: { cached_tokens: 8 },
    output_tokens: 12,
    output_tokens_details: { reasoning_tokens: 5 },
    total_tokens: 48,
  };
  return [
    event({ type: "response.created", response: { ...response, status: "in_progress" } }),
    ...items.flatMap((item, output_index) => itemEvents(item, output_index)),
    event({
      type: `response.${status}`,
      response: { ...response, status, incomplete_details: reason === null ? null : { reason }, usage },
    }),
  ].join("");
}

type Item = { id: string; type: string } & Record<string, unknown>;

function itemEvents(item: Item, output_index: number): string[] {
  const begun = { ...item, status: "in_progress", content: [], arguments: "", encrypted_content: undefined };
  const place = { item_id: item.id, output_index };
  const { content } = item as { content?: { text: string }[] };
  const text = content?.[0]?.text;
  const delta =
    item.type === "function_call"
      ? [event({ type: "response.function_call_arguments.delta", ...place, delta: item.arguments })]
      : halves(text).map((half) =>
          event({ type: "response.output_text.delta", ...place, content_index: 0, delta: half }),
        );
  return [
    event({ type: "response.output_item.added", output_index, item: begun }),
    ...delta,
    event({ type: "response.output_item.done", output_index, item }),
  ];
}

const halves = (text: string | undefined): string[] =>
  text === undefined ? [] : [text.slice(0, text.length / 2), text.slice(text.length / 2)];

const openai: MatrixEntry = {
  name: "OpenAI",
  provider: "openai",
  model: "gpt-5.1",
  source: "platform.openai.com/docs/api-reference/responses-streaming",
  stream: responses,
  usage: all,
  overflow: {
    status: 400,
    body: {
      error: {
        message: "Your input exceeds the context window of this model.",
        type: "invalid_request_error",
        param: "input",
        code: "context_length_exceeded",
      },
    },
  },
  rate_limit: {
    status: 429,
    headers: { "retry-after": "4" },
    body: { error: { message: "Rate limit reached.", type: "requests", param: null, code: "rate_limit_exceeded" } },
  },
  retry_after_ms: 4000,
  outage: { status: 503, body: { error: { message: "The engine is overloaded.", type: "server_error" } } },
  stop_field: null,
  has_reasoning: true,
};

/** An answer as events of Anthropic's Messages API. Its reasoning is signed. */
function messages({ reasoning, text, calls = [], finish }: Answer): string {
  const message = { id: "msg_1", type: "message", role: "assistant", model: "claude-sonnet-4-5", content: [] };
  const usage = { input_tokens: 28, cache_creation_input_tokens: 0, cache_read_input_tokens: 8, output_tokens: 1 };
  const blocks: [content_block: object, deltas: object[]][] = [
    ...halvesOf(reasoning).map((thought): [object, object[]] => [
      { type: "thinking", thinking: "", signature: "" },
      [
        ...thought.map((thinking) => ({ type: "thinking_delta", thinking })),
        { type: "signature_delta", signature: "EqQBsigned" },
      ],
    ]),
    ...halvesOf(text).map((said): [object, object[]] => [
      { type: "text", text: "" },
      said.map((each) => ({ type: "text_delta", text: each })),
    ]),
    ...calls.map(({ name, args }, index): [object, object[]] => [
      { type: "tool_use", id: `toolu_${index}`, name, input: {} },
      halves(JSON.stringify(args)).map((partial_json) => ({ type: "input_json_delta", partial_json })),
    ]),
  ];
  const reasons = { stop: "end_turn", tool_calls: "tool_use", length: "max_tokens", content_filter: "refusal" };
  return [
    event({ type: "message_start", message: { ...message, usage } }),
    ...blocks.flatMap(([content_block, deltas], index) => [
      event({ type: "content_block_start", index, content_block }),
      ...deltas.map((delta) => event({ type: "content_block_delta", index, delta })),
      event({ type: "content_block_stop", index }),
    ]),
    event({
      type: "message_delta",
      delta: { stop_reason: reasons[finish], stop_sequence: null },
      usage: { output_tokens: 12 },
    }),
    event({ type: "message_stop" }),
  ].join("");
}

/** One list of two halves; none without a text. */
const halvesOf = (text: string | undefined): string[][] => (text === undefined ? [] : [halves(text)]);

export const anthropic: MatrixEntry = {
  name: "Anthropic",
  provider: "anthropic",
  model: "claude-sonnet-4-5",
  source: "docs.anthropic.com/en/api/messages-streaming",
  stream: messages,
  usage: { ...all, reasoning_tokens: null, cache_write_5m_tokens: 0 },
  overflow: {
    status: 400,
    body: {
      type: "error",
      error: { type: "invalid_request_error", message: "prompt is too long: 208310 tokens > 200000 maximum" },
    },
  },
  rate_limit: {
    status: 429,
    headers: { "retry-after": "9" },
    body: { type: "error", error: { type: "rate_limit_error", message: "This request would exceed your rate limit." } },
  },
  retry_after_ms: 9000,
  outage: { status: 529, body: { type: "error", error: { type: "overloaded_error", message: "Overloaded" } } },
  stop_field: "stop_sequences",
  has_reasoning: true,
};

/** An answer as chunks of Gemini's `streamGenerateContent`. */
function generateContent({ reasoning, text, calls = [], finish }: Answer): string {
  const parts = [
    ...halves(reasoning).map((thought) => ({ text: thought, thought: true })),
    ...halves(text).map((said) => ({ text: said })),
    ...calls.map(({ name, args }) => ({ functionCall: { name, args }, thoughtSignature: "CsIBsigned" })),
  ];
  const reasons = { stop: "STOP", tool_calls: "STOP", length: "MAX_TOKENS", content_filter: "SAFETY" };
  const usageMetadata = {
    promptTokenCount: 36,
    candidatesTokenCount: 7,
    cachedContentTokenCount: 8,
    thoughtsTokenCount: 5,
    totalTokenCount: 48,
  };
  return parts
    .map((part, index) => {
      const end = index === parts.length - 1 ? { finishReason: reasons[finish] } : {};
      const candidates = [{ content: { role: "model", parts: [part] }, index: 0, ...end }];
      return `data: ${JSON.stringify({ candidates, usageMetadata, modelVersion: "gemini-2.5-flash" })}\n\n`;
    })
    .join("");
}

export const google: MatrixEntry = {
  name: "Google",
  provider: "google",
  model: "gemini-2.5-flash",
  source: "ai.google.dev/api/generate-content",
  stream: generateContent,
  usage: all,
  overflow: {
    status: 400,
    body: {
      error: {
        code: 400,
        message: "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
        status: "INVALID_ARGUMENT",
      },
    },
  },
  rate_limit: {
    status: 429,
    body: {
      error: {
        code: 429,
        message: "You exceeded your current quota.",
        status: "RESOURCE_EXHAUSTED",
        details: [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "11s" }],
      },
    },
  },
  retry_after_ms: 11_000,
  outage: {
    status: 503,
    body: { error: { code: 503, message: "The model is overloaded.", status: "UNAVAILABLE" } },
  },
  stop_field: "stopSequences",
  has_reasoning: true,
};

/** Providers with an API of their own. */
export const sdkProviders: MatrixEntry[] = [openai, anthropic, google];
