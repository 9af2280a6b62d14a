import type { HttpTool } from "../../../domain/agent-snapshot.ts";
import type { ToolCallDelivery } from "../../../domain/api-types/webhook.ts";
import { inTurn, recordLength, withMemoryBudget } from "../response-memory-budget.ts";
import type { ToolRunner } from "./context.ts";
import { keepPicture, keepPictures, readResult } from "./http.ts";
import { sendCall } from "./send-call.ts";

/**
 * Sends a call to the client's own endpoint. 202: the result comes later, by `callback_url` or `submit_tool_outputs`;
 * any other 2xx response is the result.
 */
export const run: ToolRunner<HttpTool> = async (call, tool, context, signal) => {
  const { url: callback_url, expires_at } = await context.ask("callback", { tool_call_id: call.id });
  const body = JSON.stringify({
    id: call.id,
    object: "tool_call",
    name: call.tool,
    arguments: call.arguments,
    run_id: context.run_id,
    callback_url,
    expires_at,
  } satisfies ToolCallDelivery);
  const { url } = tool.http;
  return withMemoryBudget({ ...context, tool_id: tool.id }, signal, async (beforeLong) => {
    const outgoing = { url, method: "POST", body, accept: "application/json", maxRedirects: 0, beforeLong };
    const sent = await sendCall(call, tool, outgoing, context, signal);
    if (!("response" in sent)) return sent;
    const { response, attempts } = sent;
    recordLength(tool.id, response.body.length);
    if (response.status === 202) return { later: true, attempts };
    const picture = await keepPicture(response, context, attempts);
    if (picture) return picture;
    const read = () => readResult(response, tool.http.response, context.hidden(), attempts);
    return keepPictures(await inTurn(context.owner, response.body.length, signal, read), context);
  });
};
