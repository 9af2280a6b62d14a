import type { OAuthServer } from "./oauth-server.ts";

/** Answer with which a gateway refuses a token. */
export interface TokenRefusal {
  status: number;
  body: object;
}

/** Starts a gateway with OpenAI's API that takes the tokens of an issuer, with other answers on demand. */
export function startTokenGateway(issuer: OAuthServer) {
  const state = {
    /** Authorization headers of the calls. */
    headers: [] as Record<string, string>[],
    refusal: { status: 401, body: { error: { message: "Unauthorized" } } } as TokenRefusal,
    /** True: every token is refused. */
    refusesAll: false,
    text: (_token: string) => "hello",
    /** Awaited before each answer of a model. */
    before: async () => {},
  };
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      state.headers.push(Object.fromEntries(request.headers));
      const token = (request.headers.get("authorization") ?? "").replace("Bearer ", "");
      if (state.refusesAll || issuer.subjectOf(request) === null)
        return Response.json(state.refusal.body, { status: state.refusal.status });
      const { pathname } = new URL(request.url);
      if (pathname.endsWith("/models")) return Response.json({ object: "list", data: [{ id: "m" }] });
      if (pathname.endsWith("/embeddings"))
        return Response.json({ data: [{ embedding: [1, 0], index: 0 }], usage: {} });
      if (pathname.endsWith("/rerank")) return Response.json({ results: [{ index: 0, relevance_score: 0.5 }] });
      await state.before();
      const chunk = { choices: [{ index: 0, delta: { content: state.text(token) }, finish_reason: "stop" }] };
      return new Response(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`, {
        headers: { "content-type": "text/event-stream" },
      });
    },
  });
  return Object.assign(state, {
    url: `http://127.0.0.1:${server.port}/v1`,
    [Symbol.asyncDispose]: () => server.stop(true),
  });
}
