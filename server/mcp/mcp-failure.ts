import type { EgressErrorCode } from "../lib/egress.ts";
import type { RequestState } from "../lib/request-state.ts";

type McpFailureCode =
  /** The server refused, is not there, or its process does not run. */
  | "mcp_unreachable"
  /** What it sent is not what the protocol allows. */
  | "mcp_protocol_error"
  /** It answered with an error of its own. */
  | "mcp_error"
  | EgressErrorCode;

/** Why an operation with an MCP server came to nothing. The message may repeat what the server said, shortened. */
export class McpFailure extends Error {
  override readonly name = "McpFailure";

  constructor(
    readonly code: McpFailureCode,
    message: string,
    /** What is known of what was asked for. */
    readonly request: RequestState = "answered",
  ) {
    super(message);
  }
}

/** The beginning of what a server said. */
export const beginning = (text: string, length: number): string => text.slice(0, length).toWellFormed();
