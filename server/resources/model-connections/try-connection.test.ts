import { expect, test } from "bun:test";
import { tryConnection } from "./try-connection.ts";

test("a provider's own list is asked for a model, with the key in the provider's header", async () => {
  const asked: string[] = [];
  const chunk = { choices: [{ index: 0, delta: { content: "ready" }, finish_reason: "stop" }] };
  await using server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request) {
      const { pathname, search } = new URL(request.url);
      asked.push(`${request.method} ${pathname}${search} ${request.headers.get("api-key")}`);
      if (pathname.endsWith("/models")) return Response.json({ data: [{ id: "gpt-5" }] });
      return new Response(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`, {
        headers: { "content-type": "text/event-stream" },
      });
    },
  });
  const base_url = `http://127.0.0.1:${server.port}/openai/v1?api-version=preview`;
  const tried = await tryConnection({ name: "azure", provider: "azure", base_url, api_key: "k-1" }, null);
  expect(tried).toMatchObject({ ok: true, model: "gpt-5", output: "ready" });
  expect(asked).toEqual([
    "GET /openai/v1/models?api-version=preview k-1",
    "POST /openai/v1/chat/completions?api-version=preview k-1",
  ]);
});
