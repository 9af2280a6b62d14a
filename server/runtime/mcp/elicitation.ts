import type { Elicitation, ElicitationAnswer } from "../../domain/run-event.ts";
import { isObject } from "../../lib/json.ts";
import { jsonFault } from "../../lib/json-limits.ts";
import { checkSchema } from "../../lib/json-schema.ts";
import { plainText } from "./plain-text.ts";

/** Question of a server to the user, during a call. */
export type McpQuestion = Omit<Elicitation, "id" | "before_call">;

/** The user's answer. */
export type McpAnswer = Omit<ElicitationAnswer, "id">;

/** Asks the user; `signal` is aborted when the server withdraws the question. */
export type Elicit = (question: McpQuestion, signal?: AbortSignal) => Promise<McpAnswer>;

const limits = { message: 4096, schemaBytes: 16_384, url: 2048 };

/** Reads the parameters of `elicitation/create`. Returns a sentence if people cannot be asked this. */
export function readQuestion(params: unknown): McpQuestion | string {
  if (!isObject(params)) return "The question has no parameters.";
  const { mode = "form", message, requestedSchema, url } = params;
  if (typeof message !== "string" || message.trim() === "") return "The question has no message.";
  const text = plainText(message).slice(0, limits.message).toWellFormed();
  if (mode === "url") return isShownAddress(url) ? { mode, message: text, url } : "The address cannot be opened.";
  if (mode !== "form") return "There is no such mode.";
  const fault = schemaFault(requestedSchema);
  return fault ?? { mode, message: text, requested_schema: requestedSchema as Record<string, unknown> };
}

function schemaFault(schema: unknown): string | null {
  if (!isObject(schema) || schema.type !== "object" || !isObject(schema.properties))
    return "The requested schema must be that of an object.";
  if (Buffer.byteLength(JSON.stringify(schema)) > limits.schemaBytes)
    return `The requested schema has more than ${limits.schemaBytes} bytes.`;
  const [fault] = checkSchema(schema, { patterns: "unchecked" });
  return fault === undefined ? jsonFault(schema) : `The requested schema's ${fault}.`;
}

/** True for an address of the web without credentials. People are shown it before they open it. */
function isShownAddress(url: unknown): url is string {
  if (typeof url !== "string" || url.length > limits.url || url !== plainText(url)) return false;
  const read = URL.parse(url);
  return read !== null && /^https?:$/.test(read.protocol) && read.username === "" && read.password === "";
}

/** Code of the error by which a server refuses a call until the user has opened an address. */
export const urlRequiredCode = -32_042;

/** Reads the first question of such an error's data; null if there is none that people can be asked. */
export function readRequiredQuestion(data: unknown): McpQuestion | null {
  const [first] = isObject(data) && Array.isArray(data.elicitations) ? data.elicitations : [];
  const question = readQuestion(first);
  return typeof question === "string" || question.mode !== "url" ? null : question;
}
