import type { HttpCall, HttpTool } from "../../../domain/agent-snapshot.ts";
import { imageTypeOf } from "../../../domain/image-types.ts";
import { limits } from "../../../domain/limits.ts";
import type { EgressResponse } from "../../../lib/egress.ts";
import { parsedJson } from "../../../lib/json.ts";
import { jsonFault, textFault } from "../../../lib/json-limits.ts";
import { contentTypeOf } from "../../../lib/mime-type.ts";
import { hideInAnyCase, hideInBytes, hideInJson, maskSecretsAsync } from "../../../lib/redact.ts";
import { fillTemplate } from "../../../lib/url-template.ts";
import { inTurn, recordLength, withMemoryBudget } from "../response-memory-budget.ts";
import type { ToolContext, ToolRunner } from "./context.ts";
import { type Outgoing, sendCall } from "./send-call.ts";
import { type ToolResult, toolError } from "./tool-result.ts";

const redirectsMax = 3;

/**
 * Sends a call to the tool's URL: POST with the arguments as the body, GET and HEAD with them as query parameters.
 * Arguments in the URL's placeholders are not sent again.
 */
export const run: ToolRunner<HttpTool> = async (call, tool, context, signal) => {
  const { http } = tool;
  const filled = fillTemplate(http.url, call.arguments);
  if ("fault" in filled) return toolError("url_argument_invalid", filled.fault, 0);
  return withMemoryBudget({ ...context, tool_id: tool.id }, signal, async (beforeLong) => {
    const request = { ...outgoing(http, filled.url, filled.rest), beforeLong };
    const sent = await sendCall(call, tool, request, context, signal);
    if (!("response" in sent)) return sent;
    const { response, attempts } = sent;
    recordLength(tool.id, response.body.length);
    const picture = await keepPicture(response, context, attempts);
    if (picture) return picture;
    const read = () => readResult(response, http.response, context.hidden(), attempts);
    return inTurn(context.owner, response.body.length, signal, read);
  });
};

function outgoing(
  { method, response }: HttpCall,
  url: string,
  args: Record<string, unknown>,
): Omit<Outgoing, "beforeLong"> {
  const bodyless = method === "GET" || method === "HEAD";
  return {
    url: bodyless ? withQuery(url, args) : url,
    method,
    body: bodyless ? null : JSON.stringify(args),
    accept: response === "json" ? "application/json" : "*/*",
    // A redirected POST would become a GET without arguments, and its response would pass for the call's result.
    maxRedirects: bodyless ? redirectsMax : 0,
  };
}

function withQuery(url: string, args: Record<string, unknown>): string {
  const target = new URL(url);
  // An array repeats the parameter for each item, as HTML forms do.
  for (const [name, value] of Object.entries(args))
    for (const item of Array.isArray(value) ? value : [value])
      target.searchParams.append(name, typeof item === "string" ? item : JSON.stringify(item));
  return target.href;
}

/** Keeps a response that is a picture as a file, which the model is shown. Returns null for any other response. */
export async function keepPicture(
  { body, truncated, headers }: EgressResponse,
  { keepFile, hidden }: Pick<ToolContext, "keepFile" | "hidden">,
  attempts: number,
): Promise<ToolResult | null> {
  const type = contentTypeOf(headers).startsWith("image/") && !truncated ? imageTypeOf(body) : null;
  if (type === null) return null;
  const name = `image.${type === "image/jpeg" ? "jpg" : type.slice("image/".length)}`;
  const size = body.length;
  const file = await keepFile({ name, bytes: await hideInBytes(new Uint8Array(body), hidden()) });
  const output = `[image ${type}, ${size} bytes, kept as ${file.id}]`;
  return { output, error: null, attempts, files: [file] };
}

/** Returns the result in a response: its JSON or its text. */
export async function readResult(
  { body, truncated }: EgressResponse,
  response: HttpCall["response"],
  hidden: readonly string[],
  attempts: number,
): Promise<ToolResult> {
  const fault = (code: string, message: string) => toolError(code, hideInAnyCase(message, hidden), attempts);
  const text = new TextDecoder().decode(body);
  if (truncated && response === "json")
    return fault("output_too_large", `The tool's response is larger than ${limits.tool_answer_bytes} bytes.`);
  const done = (output: unknown): ToolResult => ({ output, error: null, attempts });
  if (truncated)
    return done(`${await maskSecretsAsync(text, hidden, true)}\n[cut after ${limits.tool_answer_bytes} bytes]`);
  if (response === "text") return done(await maskSecretsAsync(text, hidden));
  if (text === "") return done(null);
  const heavy = textFault(body);
  if (heavy) return fault("invalid_response", heavy);
  const value = parsedJson(text);
  if (value === undefined) {
    const excerpt = (await maskSecretsAsync(text, hidden)).slice(0, 200).toWellFormed();
    return fault("invalid_response", `The tool's response is not JSON: ${excerpt}`);
  }
  const wrong = jsonFault(value);
  return wrong ? fault("invalid_response", wrong) : done(await hideInJson(value, hidden));
}
