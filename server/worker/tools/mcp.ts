import { jsonFault } from "../../lib/json-limits.ts";
import { hide, hideInAnyCase, hideInJson, shortest } from "../../lib/redact.ts";
import type { McpFile } from "../../mcp/binary-content.ts";
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
    const hidden = context.hidden();
    const files = await Promise.all((result.files ?? []).map((file) => context.keepFile(without(file, hidden))));
    return { ...resultOf(result, hidden), ...(files.length > 0 && { files }) };
  } catch (error) {
    if (!(error instanceof McpFailure)) throw error;
    return failed(error.code, hideInAnyCase(error.message, context.hidden()));
  }
};

/** A server may put what it was sent into a file too. */
function without({ name, bytes }: McpFile, hidden: readonly string[]): McpFile {
  const clean = Buffer.from(bytes);
  for (const secret of hidden) {
    const length = Buffer.byteLength(secret);
    if (length < shortest) continue;
    for (let at = clean.indexOf(secret); at !== -1; at = clean.indexOf(secret, at + length))
      clean.fill("*", at, at + length);
  }
  return { name, bytes: new Uint8Array(clean) };
}

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
