import { expect, test } from "bun:test";
import type { ConnectionProvider } from "../../domain/providers.ts";
import type { PromptMessage } from "./model.ts";
import { openModel } from "./registry.ts";

/** Returns the messages of the request, byte by byte. */
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
  return JSON.stringify(JSON.parse(body).messages);
}

const said = (...texts: string[]): PromptMessage => ({
  role: "assistant",
  parts: texts.map((text) => ({ type: "text", text })),
});
const image = { file_id: "file_i", mime_type: "image/png", sha256: "0", data: "iVBORw0KGgo=" };

// An answer that ends after its first line break, because the user interrupts it, has nothing else.
test("Anthropic, which refuses texts of white space alone, gets none of them", async () => {
  const messages: PromptMessage[] = [
    { role: "user", content: "Hello" },
    said("\n\n"),
    { role: "user", content: "Stop." },
  ];
  expect(await sent("anthropic", "claude-sonnet-4-5", messages)).toBe(
    '[{"role":"user","content":[{"type":"text","text":"Hello"},{"type":"text","text":"Stop."}]}]',
  );
  expect(
    await sent("anthropic", "claude-sonnet-4-5", [
      ...messages.slice(0, 1),
      said(" ", "Yes.\n", "\n"),
      ...messages.slice(2),
    ]),
  ).toBe(
    '[{"role":"user","content":[{"type":"text","text":"Hello"}]},{"role":"assistant","content":[{"type":"text","text":"Yes.\\n"}]},{"role":"user","content":[{"type":"text","text":"Stop."}]}]',
  );
  expect(await sent("anthropic", "claude-sonnet-4-5", [{ role: "user", content: " ", images: [image] }])).toBe(
    '[{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}}]}]',
  );
  expect(await sent("anthropic", "claude-sonnet-4-5", [{ role: "user", content: " " }])).toBe(
    '[{"role":"user","content":[{"type":"text","text":"(empty)"}]}]',
  );
});
