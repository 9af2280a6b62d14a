import type {
  CallAuthorization,
  Elicitation,
  FileFacts,
  RequiredCall,
  RunUsage,
  ToolError,
} from "../../../domain/run-event.ts";
import type { WorkspaceChange } from "../../../domain/workspace-schema.ts";
import type { RequestOutcome } from "../../../lib/request-outcome.ts";

/** The call was not made, or refused by its server: a user's consent is missing. */
export type MissingConsent = { authorization: CallAuthorization };

/** Outcome of running a tool; `attempts` counts the requests made. */
export type ToolOutcome =
  | ToolResult
  | { later: true; attempts: number }
  | { child: "waiting"; calls: RequiredCall[] }
  | MissingConsent
  /** The call asks the user, and goes on with the answer. */
  | { elicitation: Elicitation };

/** A result, or an error for the model. */
export type ToolResult = (
  | { output: unknown; error: null }
  | { output: null; error: ToolError; request: RequestOutcome }
) & {
  attempts: number;
  files?: FileFacts[];
  /** Cost of a child run, or of the models that a search used. */
  usage?: RunUsage;
  /** Changes of a program in the folder that it shares. */
  workspace?: WorkspaceChange;
};

export const toolError = (
  code: string,
  message: string,
  attempts = 1,
  request: RequestOutcome = attempts === 0 ? "not_sent" : "answered",
): ToolResult => ({ output: null, error: { code, message }, request, attempts });
