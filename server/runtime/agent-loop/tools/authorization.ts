import type { AccessToken } from "../../../domain/access-token.ts";
import type { HttpTool, McpTool } from "../../../domain/agent-snapshot.ts";
import { readChallenge } from "../../../lib/auth-challenge.ts";
import type { ToolContext } from "./context.ts";
import { type MissingConsent, type ToolResult, toolError } from "./tool-result.ts";

/** The token of a call, or the outcome of a call that has none. */
type Authorized = { token: string | null } | { result: ToolResult } | MissingConsent;

/** Returns the token for the calls of a tool; null if it needs none. */
export const authorize = async (
  context: ToolContext,
  tool: HttpTool | McpTool,
  ...refused: [rejected?: string, missing?: readonly string[]]
): Promise<Authorized> => authorizedBy(await context.accessToken(tool, ...refused));

function authorizedBy(found: AccessToken | null): Authorized {
  if (found === null) return { token: null };
  if (found.status === "ready") return { token: found.token };
  if (found.status === "failed") return { result: toolError(found.code, found.message, 0) };
  const { oauthClientId: oauth_client_id, oauthClientName: name, userId: user_id } = found;
  return { authorization: { oauth_client_id, name, user_id } };
}

/** Returns what repeats a refused request: another token, or one with more scopes. Null: a token would not help. */
export function refusalOf(status: number, header: string | null): { missing: readonly string[] | undefined } | null {
  if (status === 401) return { missing: undefined };
  const { error, scopes } = readChallenge(header);
  return status === 403 && error === "insufficient_scope" && scopes ? { missing: scopes } : null;
}
