import { afterAll, expect, test } from "bun:test";
import type { Provider } from "../../domain/providers.ts";
import { parseExact } from "../../lib/exact-numbers.ts";
import type { ModelRequest } from "./model.ts";
import { openModel } from "./registry.ts";

const args = '{"order_id":2512292042121000001,"of":[-9007199254740993,7,0.5]}';
const schema = '{"type":"object","properties":{"order_id":{"type":"integer","maximum":9223372036854775807}}}';
const event = (json: string) => `data: ${json}\n\n`;
const named = (json: string) => `event: ${/"type":"([^"]+)"/.exec(json)![1]}\ndata: ${json}\n\n`;

/** Responses with one call as bytes: streamed, and as a whole. */
const answers: Record<string, { streamed: string; whole: string }> = {
  google: {
    streamed: event(
      `{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"look","args":${args}}}]},"index":0,"finishReason":"STOP","avgLogprobs":-0.10000000000000001}],"usageMetadata":{"promptTokenCount":1,"candidatesTokenCount":1,"totalTokenCount":2}}`,
    ),
    whole: `{\n "candidates": [{"content": {"role": "model", "parts": [{"functionCall": {"name": "look",\n "args": ${args.replaceAll(",", ",\n  ")}}}]}, "index": 0, "finishReason": "STOP", "avgLogprobs": -0.10000000000000001}]}`,
  },
  openai: {
    streamed: [
      '{"type":"response.created","response":{"id":"r","created_at":1,"model":"m","service_tier":null}}',
      `{"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","id":"f","call_id":"c","name":"look","arguments":""}}`,
      `{"type":"response.function_call_arguments.delta","item_id":"f","output_index":0,"delta":${JSON.stringify(args)}}`,
      `{"type":"response.output_item.done","output_index":0,"item":{"type":"function_call","id":"f","call_id":"c","name":"look","arguments":${JSON.stringify(args)},"status":"completed"}}`,
      '{"type":"response.completed","response":{"id":"r","usage":{"input_tokens":1,"output_tokens":1}}}',
    ]
      .map(named)
      .join(""),
    whole: `{"id":"r","created_at":1,"model":"m","output":[{"type":"function_call","id":"f","call_id":"c","name":"look","arguments":${JSON.stringify(args)}}],"usage":{"input_tokens":1,"output_tokens":1}}`,
  },
  anthropic: {
    streamed: [
      '{"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"c","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}}',
      `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","name":"look","input":${args}}}`,
      '{"type":"content_block_stop","index":0}',
      '{"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":2}}',
      '{"type":"message_stop"}',
    ]
      .map(named)
      .join(""),
    whole: `{"id":"m","type":"message","role":"assistant","model":"c","content":[{"type":"tool_use","id":"t","name":"look","input":${args}}],"stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}`,
  },
  openai_compatible: {
    streamed: event(
      `{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"look","arguments":${args}}}]},"finish_reason":"tool_calls"}]}`,
    ),
    whole: `{"choices":[{"index":0,"message":{"tool_calls":[{"id":"c","function":{"name":"look","arguments":${args}}}]},"finish_reason":"tool_calls"}]}`,
  },
};

const sent: string[] = [];
let left: Response[] = [];
const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  async fetch(request) {
    sent.push(await request.text());
    return left.shift() ?? new Response("", { status: 500 });
  },
});
afterAll(() => server.stop(true));

const request: ModelRequest = {
  messages: [
    { role: "user", content: "Go." },
    { role: "assistant", parts: [{ type: "tool_call", id: "call_1", name: "look", arguments: args }] },
    { role: "tool", call_id: "call_1", tool: "look", output: args, is_error: false },
  ],
  tools: [{ name: "look", description: "Looks.", parameters: parseExact(schema) }],
  settings: {},
};

async function ask(provider: string, ...responses: Response[]): Promise<string[]> {
  left = responses;
  const connection = { name: provider, provider: provider as Provider, base_url: `${server.url}v1`, api_key: "k" };
  const model = await openModel(connection, "some-model");
  const events = await Array.fromAsync(model.stream(request, new AbortController().signal));
  expect(events.at(-1)).toMatchObject({ type: "done" });
  return events.flatMap((event) => (event.type === "tool_call" ? [event.arguments] : []));
}

test.each(Object.keys(answers))("arguments of a call by %s keep all digits, also when sent back", async (provider) => {
  const { streamed, whole } = answers[provider]!;
  expect(await ask(provider, new Response(streamed, { headers: { "content-type": "text/event-stream" } }))).toEqual([
    args,
  ]);
  const text = sent.at(-1)!;
  expect(JSON.parse(text)).toBeObject();
  // Some providers expect the arguments as JSON; the result is a text for all of them.
  expect(text.split(JSON.stringify(args))).toHaveLength(provider.startsWith("openai") ? 3 : 2);
  if (!provider.startsWith("openai")) expect(text).toContain(args);
  expect(text).toContain("9223372036854775807");
  expect(text).not.toContain("exact-number");
  // A stream without an end is requested again as a whole.
  const cut = new Response(": nothing\n\n", { headers: { "content-type": "text/event-stream" } });
  const inOne = new Response(whole, { headers: { "content-type": "application/json" } });
  expect(await ask(provider, cut, inOne)).toEqual([args]);
});
