import { afterAll, expect, test } from "bun:test";
import { wellFormedJson } from "../../lib/well-formed-json.ts";
import type { ModelRequest } from "./model.ts";
import { openModel } from "./registry.ts";

let sent = "";
const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  async fetch(request) {
    sent = await request.text();
    return Response.json({ error: { message: "Enough was heard.", type: "invalid_request_error" } }, { status: 400 });
  },
});
afterAll(() => server.stop(true));

const half = "Hi \ud83d";
const request = (text: string): ModelRequest => ({
  messages: [
    { role: "system", content: text },
    { role: "user", content: text },
    {
      role: "assistant",
      parts: [{ type: "tool_call", id: "call_1", name: "look", arguments: JSON.stringify({ text }) }],
    },
    { role: "tool", call_id: "call_1", tool: "look", output: text, is_error: false },
  ],
  tools: [{ name: "look", description: text, parameters: { type: "object", properties: {} } }],
  settings: {},
});

async function bodyTo(provider: "openai" | "anthropic" | "google" | "mistral" | "ollama", text: string) {
  const base_url = `${server.url}v1`;
  const model = await openModel({ name: "x", provider, base_url, api_key: "k" }, "some-model");
  await Array.fromAsync(model.stream(request(text), new AbortController().signal));
  return sent;
}

function stringsIn(json: string): string[] {
  const texts: string[] = [];
  JSON.parse(json, (_, value) => {
    if (typeof value === "string") texts.push(value);
    return value;
  });
  return texts;
}

test.each(["openai", "anthropic", "google", "mistral", "ollama"] as const)(
  "half of an emoji does not make a whole request to %s invalid, and every other text is sent unchanged",
  async (provider) => {
    const texts = stringsIn(await bodyTo(provider, half));
    expect(texts.filter((text) => !text.isWellFormed())).toEqual([]);
    expect(texts.filter((text) => text === "Hi \ufffd").length).toBeGreaterThanOrEqual(3);
    for (const text of ["Hi 👋 \\ud83d \\\\ud83d", "e\u0301 \u0000 \u2028 \ufffd"])
      expect(stringsIn(await bodyTo(provider, text)).filter((each) => each === text).length).toBeGreaterThanOrEqual(3);
  },
);

test("JSON with escaped halves, pairs and backslashes becomes well-formed, and nothing else in it changes", () => {
  const texts = [
    "\ud83d",
    "\ude00",
    "\ude00\ud83d",
    "\\ud83d",
    "\\\ud83d",
    "\\\\ud83d",
    "a\ud83d\ud83d\ude00b",
    "😀",
    "\\",
  ];
  for (const text of texts)
    expect(JSON.parse(wellFormedJson(JSON.stringify({ [text]: text })))).toEqual({
      [text.toWellFormed()]: text.toWellFormed(),
    });
  expect(wellFormedJson('"\\ud83d\\ude00 \\uD83D\\uDE00 \\uD83D"')).toBe('"\\ud83d\\ude00 \\uD83D\\uDE00 \ufffd"');
});
