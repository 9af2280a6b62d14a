import type { HttpCall } from "../../../domain/agent-snapshot.ts";
import {
  isExploded,
  type RequestField,
  type RequestMapping,
  type RequestParameter,
  stylesOf,
  uploadMost_bytes,
} from "../../../domain/http-request.ts";
import { ownValue } from "../../../lib/collections.ts";
import { hasParts } from "../../../lib/json.ts";
import { mimeTypeOf } from "../../../lib/mime-type.ts";
import { queryPairs, simpleText, textOf } from "../../../lib/parameter-styles.ts";
import { randomToken } from "../../../lib/random-token.ts";
import { fillTemplate } from "../../../lib/url-template.ts";
import type { ProgramFile } from "../../sandbox/program.ts";
import type { ToolContext } from "./context.ts";
import type { Outgoing } from "./send-call.ts";

type Args = Readonly<Record<string, unknown>>;
type Mapped = Pick<Outgoing, "url" | "headers" | "body" | "contentType">;
type Files = Pick<ToolContext, "readFile" | "fileIds" | "ask">;
type Fault = { fault: string; code?: string };

/** Returns the request that the tool's mapping makes of the arguments, or why there is none. */
export async function mapRequest(
  { url: template, request }: { url: HttpCall["url"]; request: RequestMapping },
  args: Args,
  files: Files,
): Promise<Mapped | Fault> {
  const { parameters } = request;
  const ofPath = new Map(parameters.filter((each) => each.in === "path").map((each) => [each.argument, each]));
  const filled = fillTemplate(template, args, (name, value) => {
    const parameter = ofPath.get(name);
    if (!parameter || (!parameter.style && !hasParts(value))) return undefined;
    return simpleText(value, writtenAs(parameter), (text) => encodeURIComponent(text.toWellFormed()));
  });
  if ("fault" in filled) return filled;
  const headers = headersOf(parameters, args);
  if ("fault" in headers) return headers as Fault;
  const body = await bodyOf(request, args, files);
  if ("fault" in body) return body;
  return { url: withPairs(filled.url, pairsOf(parameters, "query", args)), headers, ...body };
}

const writtenAs = ({
  argument,
  name = argument,
  in: place,
  style = stylesOf[place][0]!,
  ...rest
}: RequestParameter) => ({
  ...rest,
  name,
  style,
  explode: rest.explode ?? isExploded(style),
});

const pairsOf = (parameters: readonly RequestParameter[], place: RequestParameter["in"], args: Args): string[] =>
  parameters
    .filter((each) => each.in === place)
    .flatMap((each) => queryPairs(ownValue(args, each.argument), writtenAs(each)));

function withPairs(url: string, pairs: readonly string[]): string {
  if (pairs.length === 0) return url;
  const target = new URL(url);
  target.search = [...(target.search === "" ? [] : [target.search.slice(1)]), ...pairs].join("&");
  return target.href;
}

/** Headers in lower case. A value with a line break would begin another header. */
function headersOf(parameters: readonly RequestParameter[], args: Args): Record<string, string> | Fault {
  const headers: Record<string, string> = {};
  for (const each of parameters.filter(({ in: place }) => place === "header")) {
    const value = ownValue(args, each.argument);
    const text = value === undefined ? null : simpleText(value, writtenAs(each), (item) => item);
    if (text === null) continue;
    if (!/^[\t\x20-\x7e]{0,8192}$/.test(text))
      return { fault: `The argument ${each.argument} is a header: at most 8192 printable ASCII characters.` };
    headers[(each.name ?? each.argument).toLowerCase()] = text;
  }
  const cookies = pairsOf(parameters, "cookie", args);
  return cookies.length === 0 ? headers : { ...headers, cookie: cookies.join("; ") };
}

const contentTypes = {
  json: "application/json",
  form: "application/x-www-form-urlencoded",
  text: "text/plain; charset=utf-8",
  file: "application/octet-stream",
};

async function bodyOf(
  { body }: RequestMapping,
  args: Args,
  files: Files,
): Promise<Pick<Mapped, "body" | "contentType"> | Fault> {
  if (!body) return { body: null };
  const { type, argument, fields = [] } = body;
  if (type === "multipart") return multipart(fields, args, files);
  const contentType = body.content_type ?? contentTypes[type];
  if (type === "form") {
    const pairs = fields.flatMap((field) => queryPairs(ownValue(args, field.argument), fieldAs(field, args)));
    return { body: pairs.join("&"), contentType };
  }
  if (argument !== undefined) {
    const value = ownValue(args, argument);
    if (value === undefined) return { body: null };
    if (type === "json") return { body: JSON.stringify(value), contentType };
    if (type === "text") return { body: textOf(value), contentType };
    const file = await fileOf(value, argument, uploadMost_bytes, files);
    return "fault" in file ? file : { body: file.bytes, contentType };
  }
  const present = fields.filter(({ argument: name }) => Object.hasOwn(args, name));
  if (fields.length > 0 && present.length === 0) return { body: null };
  const entries = present.map(({ argument: name, name: sent = name }) => [sent, args[name]]);
  return { body: JSON.stringify(Object.fromEntries(entries)), contentType };
}

/** In a form, an object is JSON unless its style is given. */
function fieldAs({ argument, name = argument, style, explode }: RequestField, args: Args) {
  const value = ownValue(args, argument);
  const usual = hasParts(value) && !Array.isArray(value) ? "json" : "form";
  return { name, style: style ?? usual, explode: explode ?? isExploded(style ?? usual) };
}

async function multipart(
  fields: readonly RequestField[],
  args: Args,
  files: Files,
): Promise<Pick<Mapped, "body" | "contentType"> | Fault> {
  // Random, so that no value can contain it.
  const boundary = `runnel-${randomToken()}`;
  const parts: (string | Uint8Array)[] = [];
  let room: number = uploadMost_bytes;
  for (const { argument, name = argument, file: isFile = false } of fields) {
    const value = ownValue(args, argument);
    if (value === undefined || value === null) continue;
    for (const item of Array.isArray(value) ? value : [value]) {
      const head = `--${boundary}\r\ncontent-disposition: form-data; name="${quoted(name)}"`;
      if (isFile) {
        const file = await fileOf(item, argument, room, files);
        if ("fault" in file) return file;
        room -= file.bytes.length;
        parts.push(
          `${head}; filename="${quoted(file.name)}"\r\ncontent-type: ${mimeTypeOf(file.name)}\r\n\r\n`,
          file.bytes,
        );
      } else {
        const type = hasParts(item) ? "\r\ncontent-type: application/json" : "";
        parts.push(`${head}${type}\r\n\r\n${textOf(item)}`);
      }
      parts.push("\r\n");
    }
  }
  parts.push(`--${boundary}--\r\n`);
  const bytes = Buffer.concat(parts.map((part) => (typeof part === "string" ? Buffer.from(part) : part)));
  return { body: new Uint8Array(bytes), contentType: `multipart/form-data; boundary=${boundary}` };
}

/** Escapes a name in a part's head, as browsers do. */
const quoted = (name: string): string =>
  name.toWellFormed().replaceAll("\r", "%0D").replaceAll("\n", "%0A").replaceAll('"', "%22");

/** Reads a file that the run was given or made. The id of any other file could be one of another user. */
async function fileOf(value: unknown, argument: string, room: number, files: Files): Promise<ProgramFile | Fault> {
  const unknown = { fault: `The argument ${argument} names no file of the run: give the id of one, file_….` };
  if (typeof value !== "string") return unknown;
  const id = files.fileIds.includes(value) ? value : (await files.ask("made_file", { reference: value }))?.file_id;
  if (id === undefined) return { ...unknown, code: "file_not_found" };
  const file = await files.readFile(id, room);
  if (file === "missing") return { fault: `The file ${id} was deleted.`, code: "file_not_found" };
  if (file === "too_large")
    return { fault: `The files are larger than ${uploadMost_bytes} bytes in total.`, code: "files_too_large" };
  return file;
}
