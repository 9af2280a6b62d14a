import { build } from "../../lib/build-info.ts";
import { unansweredCode } from "./bounded-fetch.ts";
import { beginning, McpFailure } from "./mcp-failure.ts";
import type { Client, jsonSchemaValidator, RequestOptions } from "./sdk.ts";

/** Work with a server's client; the options apply to each of its requests. */
export type Work<T> = (client: Client, options: RequestOptions) => Promise<T>;

// The server's output schemas are not compiled, because that would run code built from untrusted input.
const unchecked: jsonSchemaValidator = {
  getValidator: () => (input) => ({ valid: true, data: input as never, errorMessage: undefined }),
};

/**
 * Opens a client without capabilities: the server's requests (sampling, elicitation, roots) are refused. Request ids
 * start at `firstId`.
 */
export async function openClient(firstId = 0): Promise<Client> {
  const sdk = await import("./sdk.ts");
  const client = new sdk.Client(
    { name: "runnel", version: build.version },
    { capabilities: {}, jsonSchemaValidator: unchecked },
  );
  // The SDK counts from 0 in each exchange: concurrent calls in one session would get each other's responses.
  return Object.assign(client, { _requestMessageId: firstId });
}

/** Describes a failure in our words, with at most a short quote of the server. */
export async function failureOf(error: unknown): Promise<McpFailure> {
  if (error instanceof McpFailure) return error;
  const { McpError, StreamableHTTPError } = await import("./sdk.ts");
  if (error instanceof McpError) {
    if (error.code === unansweredCode)
      return new McpFailure("mcp_protocol_error", "The server ended its answer without a result.", "sent");
    return new McpFailure("mcp_error", beginning(`The server answered: ${error.message}`, 1000));
  }
  if (error instanceof StreamableHTTPError && (error.code ?? 0) > 0) {
    const detail = error.message.replace(/^Streamable HTTP error: (Error POSTing to endpoint: )?/, "").trim();
    const shown = beginning(`The server returned status ${error.code}${detail && `: ${detail}`}`, 300);
    return new McpFailure("mcp_unreachable", shown);
  }
  if (error instanceof StreamableHTTPError || /protocol version/.test(String(error)))
    return new McpFailure("mcp_protocol_error", beginning((error as Error).message, 300));
  return new McpFailure("mcp_protocol_error", "What the server sent is no MCP message.");
}
