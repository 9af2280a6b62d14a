import type { EgressErrorCode } from "../../lib/egress.ts";
import type { RequestOutcome } from "../../lib/request-outcome.ts";
import type { McpQuestion } from "./elicitation.ts";

type McpFailureCode =
  /** The server refused, is unreachable, or its process does not run. */
  | "mcp_unreachable"
  /** The server violated the protocol. */
  | "mcp_protocol_error"
  /** The server returned an error. */
  | "mcp_error"
  | EgressErrorCode;

/** The status and `WWW-Authenticate` of an answer that refused the authorization. */
export interface AuthorizationRefusal {
  status: number;
  challenge: string | null;
}

/** Reason why an operation with an MCP server failed. The message may quote the server, shortened. */
export class McpFailure extends Error {
  override readonly name = "McpFailure";
  /** Set if the server refused the authorization. */
  readonly refusal: AuthorizationRefusal | null;
  /** Set if the server refused the call until the user has answered this. */
  readonly question: McpQuestion | null;

  constructor(
    readonly code: McpFailureCode,
    message: string,
    /** State of the request. */
    readonly request: RequestOutcome = "answered",
    { refusal = null, question = null }: { refusal?: AuthorizationRefusal | null; question?: McpQuestion | null } = {},
  ) {
    super(message);
    this.refusal = refusal;
    this.question = question;
  }
}

/** Returns the beginning of a server's message. */
export const beginning = (text: string, length: number): string => text.slice(0, length).toWellFormed();
