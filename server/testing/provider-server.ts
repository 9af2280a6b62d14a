import { type ConnectionProvider, connectionProviders } from "../domain/providers.ts";
import type { Connection } from "../runtime/models/model.ts";

/** Request that a provider received. */
export interface ProviderRequest {
  provider: ConnectionProvider;
  /** Number of earlier requests. */
  index: number;
  // biome-ignore lint/suspicious/noExplicitAny: each provider has a body of its own.
  body: any;
  request: Request;
}

/**
 * Starts servers of all providers on loopback, which answer with the test's function: pieces of a stream, or a
 * response.
 */
export function startProviders(
  answer: (asked: ProviderRequest) => Iterable<string> | AsyncIterable<string> | Response,
) {
  const counts = new Map<ConnectionProvider, number>();
  const bodies: string[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    async fetch(request) {
      if (request.method === "GET") return new Response(null, { status: 404 }); // They list no models.
      const provider = new URL(request.url).pathname.split("/")[1] as ConnectionProvider;
      const index = counts.get(provider) ?? 0;
      counts.set(provider, index + 1);
      const text = await request.text();
      bodies.push(text);
      const answered = answer({ provider, index, body: JSON.parse(text), request });
      return answered instanceof Response ? answered : streamOf(answered, provider);
    },
  });
  const connectionOf = (provider: ConnectionProvider): Connection => ({
    name: provider === "openai_compatible" ? "stub" : provider,
    provider,
    api_key: "sk-test-0123456789",
    base_url: `http://127.0.0.1:${server.port}/${provider}/v1`,
    ...(provider === "bedrock" && { region: "us-east-1" }),
  });
  return {
    /** Request bodies byte by byte, oldest first. */
    bodies,
    connectionOf,
    connections: connectionProviders.map(connectionOf),
    async [Symbol.asyncDispose]() {
      await server.stop(true);
    },
  };
}

/** Streams each text as a chunk of its own, as soon as it is available. */
function streamOf(texts: Iterable<string> | AsyncIterable<string>, provider: ConnectionProvider): Response {
  const isBinary = provider === "bedrock";
  async function* bytes() {
    for await (const text of texts) yield Buffer.from(text, isBinary ? "latin1" : "utf8");
  }
  const type = isBinary ? "application/vnd.amazon.eventstream" : "text/event-stream";
  return new Response(bytes(), { headers: { "content-type": type } });
}
