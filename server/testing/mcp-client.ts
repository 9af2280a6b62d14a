import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ElicitRequestSchema, type Progress, SUPPORTED_PROTOCOL_VERSIONS } from "@modelcontextprotocol/sdk/types.js";

export type McpTestClient = Client;
export type McpProgress = Progress;

/** Protocol versions that the official SDK supports. */
export const kitVersions: readonly string[] = SUPPORTED_PROTOCOL_VERSIONS;

interface Options {
  url: string;
  fetch: (url: string | URL, init?: RequestInit) => Promise<Response>;
  /** Answers elicitations; without it, the client does not offer elicitation. */
  elicit?: (params: Record<string, unknown>) => object;
}

/** Connects the official client over HTTP through this `fetch`. */
export async function connectMcp({ url, fetch, elicit }: Options) {
  const client = new Client({ name: "test", version: "1" }, { capabilities: elicit ? { elicitation: {} } : {} });
  if (elicit)
    client.setRequestHandler(
      ElicitRequestSchema,
      async ({ params }) => elicit(params as Record<string, unknown>) as { action: "accept" },
    );
  const reconnectionOptions = {
    initialReconnectionDelay: 100,
    maxReconnectionDelay: 1000,
    reconnectionDelayGrowFactor: 1.5,
    maxRetries: 50,
  };
  const transport = new StreamableHTTPClientTransport(new URL(url), { fetch, reconnectionOptions });
  await client.connect(transport as never);
  return { client, transport, [Symbol.asyncDispose]: () => client.close() };
}
