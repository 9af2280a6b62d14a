import type { HttpCall, HttpTool } from "../../../domain/agent-snapshot.ts";
import { imageTypeOf } from "../../../domain/image-types.ts";
import { limits } from "../../../domain/limits.ts";
import type { FileFacts } from "../../../domain/run-event.ts";
import type { EgressResponse } from "../../../lib/egress.ts";
import { hasParts, parsedJson } from "../../../lib/json.ts";
import { jsonFault, textFault } from "../../../lib/json-limits.ts";
import { contentTypeOf } from "../../../lib/mime-type.ts";
import { hideInAnyCase, hideInBytes, hideInJson, maskSecretsAsync } from "../../../lib/redact.ts";
import { fillTemplate } from "../../../lib/url-template.ts";
import { inTurn, recordLength, withMemoryBudget } from "../response-memory-budget.ts";
import type { ToolContext, ToolRunner } from "./context.ts";
import { mapRequest } from "./map-request.ts";
import { pickFields } from "./pick-fields.ts";
import { type Outgoing, sendCall } from "./send-call.ts";
import { type ToolResult, toolError } from "./tool-result.ts";

const redirectsMax = 3;

/**
 * Sends a call to the tool's URL, as its `request` says. Without one: POST with the arguments as the body, GET and HEAD
 * with them as query parameters. Arguments in the URL's placeholders are not sent again.
 */
export const run: ToolRunner<HttpTool> = async (call, tool, context, signal) => {
  const { http } = tool;
  const made = await requestOf(http, call.arguments, context);
  if ("fault" in made) return toolError(made.code ?? "url_argument_invalid", made.fault, 0);
  return withMemoryBudget({ ...context, tool_id: tool.id }, signal, async (beforeLong) => {
    const request = { ...made, beforeLong };
    const sent = await sendCall(call, tool, request, context, signal);
    if (!("response" in sent)) return sent;
    const { response, attempts } = sent;
    recordLength(tool.id, response.body.length);
    const picture = await keepPicture(response, context, attempts);
    if (picture) return picture;
    const read = async () => {
      const done = await readResult(response, http.response, context.hidden(), attempts);
      return done.error ? done : { ...done, output: pickFields(done.output, http.output_fields) };
    };
    return keepPictures(await inTurn(context.owner, response.body.length, signal, read), context);
  });
};

type Made = Omit<Outgoing, "beforeLong"> | { fault: string; code?: string };

async function requestOf(http: HttpCall, args: Record<string, unknown>, context: ToolContext): Promise<Made> {
  const { method, request } = http;
  const bodyless = method === "GET" || method === "HEAD";
  const common = {
    method,
    accept: http.response === "json" ? "application/json" : "*/*",
    // A redirected POST would become a GET without arguments, and its response would pass for the call's result.
    maxRedirects: bodyless ? redirectsMax : 0,
  };
  if (request) {
    const mapped = await mapRequest({ url: http.url, request }, args, context);
    return "fault" in mapped ? mapped : { ...common, ...mapped };
  }
  const filled = fillTemplate(http.url, args);
  if ("fault" in filled) return filled;
  const { url, rest } = filled;
  return { ...common, url: bodyless ? withQuery(url, rest) : url, body: bodyless ? null : JSON.stringify(rest) };
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
  const bytes = await hideInBytes(new Uint8Array(body), hidden());
  const file = await keepFile({ name: `image.${endingOf(type)}`, bytes });
  return { output: noteOn(type, file), error: null, attempts, files: [file] };
}

/**
 * Keeps pictures in a JSON result as files: texts that are nothing but a `data:` URL of an image. As text, one would cost
 * the model more than the rest of its conversation.
 */
export async function keepPictures(
  done: ToolResult,
  { keepFile, hidden }: Pick<ToolContext, "keepFile" | "hidden">,
): Promise<ToolResult> {
  const found = new Map<string, string>();
  const files: FileFacts[] = [];
  const urls = done.error ? [] : picturesIn(done.output).slice(0, picturesMost);
  for (const url of urls) {
    const bytes = pictureOf(url);
    const type = bytes && imageTypeOf(bytes);
    if (!bytes || !type || found.has(url)) continue;
    const name = `image-${files.length + 1}.${endingOf(type)}`;
    const file = await keepFile({ name, bytes: await hideInBytes(bytes, hidden()) });
    files.push(file);
    found.set(url, noteOn(type, file));
  }
  if (done.error || files.length === 0) return done;
  const output = replaceTexts(done.output, (text) => found.get(text) ?? text, 0);
  return { ...done, output, files: [...(done.files ?? []), ...files] };
}

const picturesMost = 8;
const depthMost = 64;
const pictureUrl = /^data:image\/(?:png|jpe?g|webp|gif);base64,/i;

const endingOf = (type: string): string => (type === "image/jpeg" ? "jpg" : type.slice("image/".length));
const noteOn = (type: string, { id, bytes }: FileFacts): string => `[image ${type}, ${bytes} bytes, kept as ${id}]`;

/** Returns the texts in a value that are `data:` URLs of images. */
function picturesIn(value: unknown): string[] {
  const urls: string[] = [];
  replaceTexts(
    value,
    (text) => {
      if (pictureUrl.test(text)) urls.push(text);
      return text;
    },
    0,
  );
  return urls;
}

function pictureOf(url: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.fromBase64(url.slice(url.indexOf(",") + 1));
  } catch {
    return null;
  }
}

/** Returns the value with each text replaced. */
function replaceTexts(value: unknown, by: (text: string) => string, depth: number): unknown {
  if (typeof value === "string") return by(value);
  if (!hasParts(value) || depth > depthMost) return value;
  if (Array.isArray(value)) return value.map((item) => replaceTexts(item, by, depth + 1));
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, replaceTexts(item, by, depth + 1)]));
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
    const what = /^\s*<(?:!doctype html|html)\b/i.test(text) ? "a web page, not JSON" : "not JSON";
    const excerpt = (await maskSecretsAsync(text, hidden)).slice(0, 200).toWellFormed();
    return fault("invalid_response", `The tool's response is ${what}: ${excerpt}`);
  }
  const wrong = jsonFault(value);
  return wrong ? fault("invalid_response", wrong) : done(await hideInJson(value, hidden));
}
