import type { McpTool } from "../../../domain/agent-snapshot.ts";
import type { FileFacts } from "../../../domain/run-event.ts";
import { jsonFault } from "../../../lib/json-limits.ts";
import { hideInAnyCase, hideInBytes, hideInJson, maskSecretsAsync } from "../../../lib/redact.ts";
import { McpFailure } from "../../mcp/mcp-failure.ts";
import type { McpResult } from "../../mcp/read-result.ts";
import { inTurn } from "../response-memory-budget.ts";
import { authorize, refusalOf } from "./authorization.ts";
import type { ToolRunner } from "./context.ts";
import { secretsError } from "./send-call.ts";
import { type ToolResult, toolError } from "./tool-result.ts";

/** Calls one tool of an MCP server. */
export const run: ToolRunner<McpTool> = async (call, tool, context, signal) => {
  const { server_url, tool: name, timeout_ms } = tool.mcp;
  const secrets = await context.secrets(tool);
  const unusable = secretsError(secrets);
  if (unusable) return unusable;
  const authorized = await authorize(context, tool);
  if ("authorization" in authorized) return authorized;
  if ("result" in authorized) return authorized.result;
  const perform = (token: string | null) => {
    const headers = token === null ? secrets.headers : { ...secrets.headers, authorization: `Bearer ${token}` };
    return context.mcp.callTool({ url: server_url, headers }, name, call.arguments, { timeout_ms, signal });
  };
  try {
    const result = await perform(authorized.token).catch(async (error) => {
      const refusal = error instanceof McpFailure && error.refusal;
      if (!refusal || authorized.token === null) throw error;
      // The server refused the token, so it did not perform the call: with another token it is sent once more.
      const next = await authorize(
        context,
        tool,
        authorized.token,
        refusalOf(refusal.status, refusal.challenge)?.missing,
      );
      if ("token" in next) return perform(next.token);
      if ("authorization" in next) return next;
      throw error;
    });
    if ("authorization" in result) return result;
    const hidden = context.hidden();
    const files: FileFacts[] = [];
    for (const { name, bytes } of result.files ?? [])
      files.push(await context.keepFile({ name, bytes: await hideInBytes(bytes, hidden) }));
    const length = result.structured === undefined ? result.text.length : Number.POSITIVE_INFINITY; // Data has no length.
    const done = await inTurn(context.owner, length, signal, () => resultOf(result, hidden));
    return { ...done, ...(files.length > 0 && { files }) };
  } catch (error) {
    if (!(error instanceof McpFailure)) throw error;
    return toolError(error.code, hideInAnyCase(error.message, context.hidden()), 1, error.request);
  }
};

/** Returns the structured data if the server sent any, or the text. */
async function resultOf({ structured, text, isError }: McpResult, hidden: readonly string[]): Promise<ToolResult> {
  // Secrets are hidden before truncation, because a truncated secret would not be found.
  const shown = await maskSecretsAsync(text, hidden);
  if (isError)
    return toolError("mcp_error", shown.slice(0, 4000).toWellFormed() || "The tool failed without a message.");
  if (structured === undefined) return { output: shown, error: null, attempts: 1 };
  const fault = jsonFault(structured);
  if (fault) return toolError("invalid_response", hideInAnyCase(fault, hidden));
  return { output: await hideInJson(structured, hidden), error: null, attempts: 1 };
}
