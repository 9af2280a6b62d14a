import { describe, expect, test } from "bun:test";
import type { ConnectionProvider } from "../../domain/providers.ts";
import { takenBy } from "./input-kinds.ts";
import type { PromptMessage } from "./model.ts";
import { openModel } from "./registry.ts";

const image = { file_id: "file_i", mime_type: "image/png", sha256: "0", data: "iVBORw0KGgo=" };
const pdf = { file_id: "file_p", mime_type: "application/pdf", sha256: "1", data: "JVBERi0=" };
const document = { ...pdf, filename: "a.pdf", pages: 1, text: "Never sent." };
const wav = { file_id: "file_w", mime_type: "audio/wav", sha256: "2", data: "UklGRg==" };
const mp3 = { file_id: "file_m", mime_type: "audio/mpeg", sha256: "3", data: "SUQz" };

/** Returns the body of the request, byte by byte. */
async function sent(provider: ConnectionProvider, model: string, messages: PromptMessage[]): Promise<string> {
  let body = "";
  const fetch = async (request: string | URL | Request, init?: RequestInit) => {
    body = request instanceof Request ? await request.text() : String(init?.body);
    return new Response("{}", { status: 400 });
  };
  const connection = { name: "stub", provider, api_key: "key", base_url: "https://model.example/v1" };
  const opened = await openModel(connection, model, fetch as typeof globalThis.fetch);
  const { signal } = new AbortController();
  for await (const event of opened.stream({ messages, tools: [], settings: {} }, signal)) void event;
  return body;
}

const shown = (more: object): PromptMessage[] => [{ role: "user", content: "See.", ...more }];
const drawn = (more: object): PromptMessage[] => [
  { role: "user", content: "Draw." },
  { role: "assistant", parts: [{ type: "tool_call", id: "call_1", name: "draw", arguments: "{}" }] },
  { role: "tool", call_id: "call_1", tool: "draw", output: "Drawn.", is_error: false, images: [image], ...more },
];

describe("an image and a PDF go to each provider in its form:", () => {
  test.each<[ConnectionProvider, string, string]>([
    [
      "anthropic",
      "claude-sonnet-4-5",
      '{"model":"claude-sonnet-4-5","max_tokens":64000,"messages":[{"role":"user","content":[{"type":"text","text":"See."},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}},{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"JVBERi0="},"title":"a.pdf"}]}],"stream":true}',
    ],
    [
      "openai",
      "gpt-5",
      '{"model":"gpt-5","input":[{"role":"user","content":[{"type":"input_text","text":"See."},{"type":"input_image","image_url":"data:image/png;base64,iVBORw0KGgo="},{"type":"input_file","filename":"a.pdf","file_data":"data:application/pdf;base64,JVBERi0="}]}],"store":false,"include":["reasoning.encrypted_content"],"stream":true}',
    ],
    [
      "google",
      "gemini-2.5-pro",
      '{"generationConfig":{},"contents":[{"role":"user","parts":[{"text":"See."},{"inlineData":{"mimeType":"image/png","data":"iVBORw0KGgo="}},{"inlineData":{"mimeType":"application/pdf","data":"JVBERi0="}}]}]}',
    ],
    [
      "openai_compatible",
      "any",
      '{"model":"any","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":[{"type":"text","text":"See."},{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgo="}},{"type":"file","file":{"filename":"a.pdf","file_data":"data:application/pdf;base64,JVBERi0="}}]}]}',
    ],
  ])("%s", async (provider, model, body) => {
    expect(await sent(provider, model, shown({ images: [image], documents: [document] }))).toBe(body);
  });
});

describe("a recording goes to a provider with audio in its form:", () => {
  test.each<[ConnectionProvider, string, string]>([
    [
      "google",
      "gemini-2.5-pro",
      '{"generationConfig":{},"contents":[{"role":"user","parts":[{"text":"See."},{"inlineData":{"mimeType":"audio/wav","data":"UklGRg=="}},{"inlineData":{"mimeType":"audio/mp3","data":"SUQz"}}]}]}',
    ],
    [
      "openai_compatible",
      "any",
      '{"model":"any","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":[{"type":"text","text":"See."},{"type":"input_audio","input_audio":{"data":"UklGRg==","format":"wav"}},{"type":"input_audio","input_audio":{"data":"SUQz","format":"mp3"}}]}]}',
    ],
  ])("%s", async (provider, model, body) => {
    expect(await sent(provider, model, shown({ audio: [wav, mp3] }))).toBe(body);
  });
});

describe("an image of a tool's result stays with the result where the provider takes it there:", () => {
  test.each<[ConnectionProvider, string, string]>([
    [
      "anthropic",
      "claude-sonnet-4-5",
      '{"model":"claude-sonnet-4-5","max_tokens":64000,"messages":[{"role":"user","content":[{"type":"text","text":"Draw."}]},{"role":"assistant","content":[{"type":"tool_use","id":"call_1","name":"draw","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_1","content":[{"type":"text","text":"Drawn."},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}}]}]}],"stream":true}',
    ],
    [
      "openai",
      "gpt-5",
      '{"model":"gpt-5","input":[{"role":"user","content":[{"type":"input_text","text":"Draw."}]},{"type":"function_call","call_id":"call_1","name":"draw","arguments":"{}"},{"type":"function_call_output","call_id":"call_1","output":[{"type":"input_text","text":"Drawn."},{"type":"input_image","image_url":"data:image/png;base64,iVBORw0KGgo="}]}],"store":false,"include":["reasoning.encrypted_content"],"stream":true}',
    ],
    [
      "google",
      "gemini-3-pro-preview",
      '{"generationConfig":{},"contents":[{"role":"user","parts":[{"text":"Draw."}]},{"role":"model","parts":[{"functionCall":{"id":"call_1","name":"draw","args":{}},"thoughtSignature":"skip_thought_signature_validator"}]},{"role":"user","parts":[{"functionResponse":{"id":"call_1","name":"draw","response":{"name":"draw","content":"Drawn."},"parts":[{"inlineData":{"mimeType":"image/png","data":"iVBORw0KGgo="}}]}}]}]}',
    ],
  ])("%s", async (provider, model, body) => {
    expect(takenBy(provider, model).tool_images).toBe(true);
    expect(await sent(provider, model, drawn({}))).toBe(body);
  });

  test("one of a failed call is sent too, and the text says that it failed", async () => {
    expect(await sent("anthropic", "claude-sonnet-4-5", drawn({ is_error: true }))).toContain(
      '"content":[{"type":"text","text":"[The tool failed]\\nDrawn."},{"type":"image"',
    );
  });

  test.each<[ConnectionProvider, string]>([
    ["google", "gemini-2.5-pro"],
    ["openai_compatible", "any"],
    ["ollama", "llava"],
  ])("not for %s %s", (provider, model) => {
    expect(takenBy(provider, model).tool_images).toBe(false);
  });
});

describe("a model's kinds of input:", () => {
  test.each<[string, string, { images?: boolean; pdf?: boolean; audio?: boolean }]>([
    ["openai", "gpt-5", { images: true, pdf: true, audio: false }],
    ["openai", "gpt-3.5-turbo", { images: false, pdf: false, audio: false }],
    ["openai", "gpt-4", { images: false, pdf: false }],
    ["openai", "gpt-4o-audio-preview", { images: false, pdf: false, audio: true }],
    ["anthropic", "claude-opus-4-1", { images: true, pdf: true, audio: false }],
    ["anthropic", "claude-3-haiku-20240307", { images: true, pdf: false }],
    ["google", "gemini-2.5-flash", { images: true, pdf: true, audio: true }],
    ["google", "gemma-3-27b-it", { images: true, pdf: false, audio: false }],
    ["bedrock", "anthropic.claude-sonnet-4-5-20250929-v1:0", { images: true, pdf: true, audio: false }],
    ["bedrock", "amazon.nova-micro-v1:0", { images: false, pdf: false }],
    ["bedrock", "amazon.nova-pro-v1:0", { images: true, pdf: true }],
    ["vertex", "gemini-2.5-pro", { images: true, pdf: true, audio: true }],
    ["vertex", "claude-sonnet-4-5@20250929", { images: true, pdf: true, audio: false }],
    ["deepseek", "deepseek-chat", { images: false, pdf: false, audio: false }],
    ["xai", "grok-3", { images: false }],
    ["xai", "grok-2-vision", { images: true }],
    ["mistral", "voxtral-small", { audio: true }],
    ["openrouter", "any/model", { images: true, pdf: true }],
    ["ollama", "llama3", { images: true, pdf: false, audio: false }],
    ["a provider of later", "any", { images: true, pdf: false, audio: true }],
  ])("%s %s", (provider, model, kinds) => {
    expect(takenBy(provider, model)).toMatchObject(kinds);
  });
});
