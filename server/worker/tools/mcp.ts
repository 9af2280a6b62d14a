import { jsonFault } from "../../lib/json-limits.ts";
import { hide, hideInAnyCase, hideInJson } from "../../lib/redact.ts";
import { McpFailure } from "../../mcp/mcp-failure.ts";
import type { McpResult } from "../../mcp/read-result.ts";
import { type Done, failed, type ToolRunner } from "./context.ts";
import { noSecret } from "./send-call.ts";

/** Calls one tool of an MCP server. */
export const runMcpTool: ToolRunner = async (call, tool, context, signal) => {
  const { server_url, tool: name, timeout_ms } = tool.mcp!;
  const { headers, named } = await context.secrets(tool);
  if (named && named.missing.length > 0) return noSecret(named.missing);
  try {
    const server = { url: server_url, headers };
    const result = await context.mcp.callTool(server, name, call.arguments, { timeout_ms, signal });
    return resultOf(result, context.hidden());
  } catch (error) {
    if (!(error instanceof McpFailure)) throw error;
    return failed(error.code, hideInAnyCase(error.message, context.hidden()));
  }
};

/** Data where the server gave any, else its text. */
function resultOf({ structured, text, isError }: McpResult, hidden: readonly string[]): Done {
  // Before it is shortened: a secret that is cut in two is not found any more.
  const shown = hide(text, hidden);
  if (isError)
    return failed("mcp_error", shown.slice(0, 4000).toWellFormed() || "The tool failed and does not say why.");
  if (structured === undefined) return { output: shown, error: null, attempts: 1 };
  const fault = jsonFault(structured);
  if (fault) return failed("invalid_response", hideInAnyCase(fault, hidden));
  return { output: hideInJson(structured, hidden), error: null, attempts: 1 };
}
