import { afterFailure } from "../../../domain/after-failure.ts";
import type { McpTool } from "../../../domain/agent-snapshot.ts";
import { newId } from "../../../domain/ids.ts";
import type { Elicitation, FileFacts } from "../../../domain/run-event.ts";
import { jsonFault } from "../../../lib/json-limits.ts";
import { onAbort } from "../../../lib/on-abort.ts";
import { hideInAnyCase, hideInBytes, hideInJson, maskSecretsAsync } from "../../../lib/redact.ts";
import type { Elicit } from "../../mcp/elicitation.ts";
import { McpFailure } from "../../mcp/mcp-failure.ts";
import type { McpLog, McpProgress } from "../../mcp/progress.ts";
import type { McpResult } from "../../mcp/read-result.ts";
import { inTurn } from "../response-memory-budget.ts";
import { authorize, refusalOf } from "./authorization.ts";
import type { ToolContext, ToolRunner } from "./context.ts";
import { createOpenCall } from "./open-calls.ts";
import { secretsError } from "./send-call.ts";
import { type MissingConsent, type ToolResult, toolError } from "./tool-result.ts";

/** Ends a call whose token the server refused, and for which the user has to consent anew. */
class ConsentMissing extends Error {
  constructor(readonly consent: MissingConsent) {
    super("A user's consent is missing.");
  }
}

/** Calls one tool of an MCP server, or goes on with a call that has asked the user. */
export const run: ToolRunner<McpTool> = async (call, tool, context, signal) => {
  const secrets = await context.secrets(tool);
  const unusable = secretsError(secrets);
  if (unusable) return unusable;
  const authorized = await authorize(context, tool);
  if ("authorization" in authorized) return authorized;
  if ("result" in authorized) return authorized.result;
  const { token } = authorized;
  const earlier = context.openCalls?.get(call.id);
  const last = call.answered?.at(-1);
  context.openCalls?.delete(call.id);
  if (last?.before_call && last.answer.action !== "accept") return toolError("elicitation_declined", declined, 1);
  if (last && !last.before_call && !earlier && afterFailure("sent", tool) !== "repeat")
    return toolError("elicitation_lost", lost, 1);
  const open =
    (last?.before_call ? null : earlier) ?? createOpenCall((elicit, until) => begin(elicit, until), call.answered);
  const wasOver = open.isOver();
  if (last) open.answer(last);
  const release = onAbort([signal], open.abort);
  try {
    const next = await open.next();
    if ("result" in next) return await outcomeOf(next.result, context, signal);
    context.openCalls?.set(call.id, open);
    return { elicitation: (await hideInJson(next.question, context.hidden())) as Elicitation };
  } catch (error) {
    if (error instanceof ConsentMissing) return error.consent;
    if (!(error instanceof McpFailure)) throw error;
    const { question, code, request } = error;
    const message = hideInAnyCase(error.message, context.hidden());
    if (question && context.openCalls && (call.answered?.length ?? 0) < mostQuestions) {
      // The session stays open, because the server may remember in it what the user has done.
      context.openCalls.set(call.id, { ...open, over: never });
      return { elicitation: { id: newId("elicitation"), ...question, before_call: true } };
    }
    return wasOver ? toolError("elicitation_lost", `${lost} ${message}`, 1) : toolError(code, message, 1, request);
  } finally {
    release();
  }

  /** Calls once more with another token if the server refused the first, because it did not perform the call then. */
  function begin(elicit: Elicit, until: AbortSignal): Promise<McpResult> {
    return send(token, elicit, until).catch(async (error) => {
      const refusal = error instanceof McpFailure && error.refusal;
      if (!refusal || token === null) throw error;
      const next = await authorize(context, tool, token, refusalOf(refusal.status, refusal.challenge)?.missing);
      if ("token" in next) return send(next.token, elicit, until);
      throw "authorization" in next ? new ConsentMissing(next) : error;
    });
  }

  function send(token: string | null, elicit: Elicit, until: AbortSignal): Promise<McpResult> {
    const { server_url, tool: name, as_task, operation, timeout_ms } = tool.mcp;
    const target = operation ? { operation } : as_task ? { tool: name, as_task } : name;
    const headers = token === null ? secrets.headers : { ...secrets.headers, authorization: `Bearer ${token}` };
    const server = { url: server_url, headers };
    const onListChanged = () => void context.ask("tools_changed", { tool_id: tool.id }).catch(() => {});
    const onProgress = ({ progress, total, message = "" }: McpProgress) =>
      context.tellProgress?.(call.id, "progress", () => ({
        progress,
        total: total ?? null,
        message: shown(message),
        level: null,
      }));
    const onLog = ({ level, message }: McpLog) =>
      context.tellProgress?.(call.id, "log", () => ({ progress: null, total: null, message: shown(message), level }));
    const hooks = context.openCalls ? { elicit, onListChanged, onProgress, onLog } : {};
    return context.mcp.callTool(server, target, call.arguments, { timeout_ms, signal: until }, hooks);
  }

  /** Returns a server's words about its call, cut after secrets are hidden. */
  function shown(message: string): string | null {
    return hideInAnyCase(message, context.hidden()).slice(0, mostWords).toWellFormed() || null;
  }
};

const never = new Promise<void>(() => {});

const mostWords = 1000;

// A server that asks for ever must end too.
const mostQuestions = 20;

const declined = "The user did not accept what the MCP server asked for before the call.";
const lost =
  "The MCP server asked the user, and the connection to it ended before it had the answer. What the call did until then is not known.";

async function outcomeOf(result: McpResult, context: ToolContext, signal: AbortSignal): Promise<ToolResult> {
  const hidden = context.hidden();
  const files: FileFacts[] = [];
  for (const { name, bytes } of result.files ?? [])
    files.push(await context.keepFile({ name, bytes: await hideInBytes(bytes, hidden) }));
  const length = result.structured === undefined ? result.text.length : Number.POSITIVE_INFINITY; // Data has no length.
  const done = await inTurn(context.owner, length, signal, () => resultOf(result, hidden));
  return { ...done, ...(files.length > 0 && { files }) };
}

/** Returns the structured data if the server sent any, or the text. */
async function resultOf({ structured, text, isError }: McpResult, hidden: readonly string[]): Promise<ToolResult> {
  // Secrets are hidden before truncation, because a truncated secret would not be found.
  const shown = await maskSecretsAsync(text, hidden);
  if (isError) {
    // Some servers describe the error only as data.
    const said = shown || (structured === undefined ? "" : JSON.stringify(await hideInJson(structured, hidden)));
    return toolError("mcp_error", said.slice(0, 4000).toWellFormed() || "The tool failed without a message.");
  }
  if (structured === undefined) return { output: shown, error: null, attempts: 1 };
  const fault = jsonFault(structured);
  if (fault) return toolError("invalid_response", hideInAnyCase(fault, hidden));
  return { output: await hideInJson(structured, hidden), error: null, attempts: 1 };
}
