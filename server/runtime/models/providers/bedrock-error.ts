import { fieldsOf, parsedJson } from "../../../lib/json.ts";
import { textOf } from "../body-text.ts";
import { JudgedFailure, unavailableError } from "../model-error.ts";

const refusalMax_bytes = 64 * 1024;

/** A failure that AWS reports, as a response or within a stream. */
export interface AwsFault {
  /** Name of the exception, such as `ThrottlingException`; empty if there is none. */
  type: string;
  message: string;
  status: number;
  headers: Record<string, string>;
}

/** HTTP status of each exception, which streams do not have. */
const statuses: Record<string, number> = {
  internalserverexception: 500,
  modelstreamerrorexception: 424,
  modelerrorexception: 424,
  // The model is being loaded: it is awaited like a server that is not ready.
  modelnotreadyexception: 503,
  serviceunavailableexception: 503,
  throttlingexception: 429,
  modeltimeoutexception: 408,
  validationexception: 400,
};

/** Reads a refused response: services of AWS name the exception in a header or in the body. */
export async function faultOf(response: Response): Promise<AwsFault> {
  const text = await textOf(response, refusalMax_bytes);
  const body = fieldsOf(parsedJson(text));
  const headers = Object.fromEntries(response.headers);
  const type = typeOf(headers["x-amzn-errortype"] ?? body.__type ?? fieldsOf(body.Output).__type ?? body.code);
  return { type, message: messageOf(body) || plainText(text), status: response.status, headers };
}

/** Reads an exception within a stream. */
export function faultIn(type: string, payload: string): AwsFault {
  const body = fieldsOf(parsedJson(payload));
  const name = typeOf(type);
  const message = messageOf(body) || plainText(payload);
  return { type: name, message, status: statuses[name.toLowerCase()] ?? 500, headers: {} };
}

/** `com.amazon.coral.service#ThrottlingException:http://…` is a ThrottlingException. */
function typeOf(value: unknown): string {
  const [name = ""] = typeof value === "string" ? value.split(":") : [];
  return name.slice(name.indexOf("#") + 1).trim();
}

function messageOf({ message, Message, originalMessage }: Record<string, unknown>): string {
  const texts = [message, Message, originalMessage].filter((text): text is string => typeof text === "string");
  return [...new Set(texts)].join(" ");
}

const plainText = (text: string): string => (/^\s*[<{[]/.test(text) ? "" : text.trim());

const overflow =
  /input is too long|too many input tokens|input tokens? exceed|exceeds? (the )?max(imum)? (input )?(length|tokens)|expected maxlength|too many total text bytes|context (length|window|limit)/i;
const unknownModel =
  /model identifier is invalid|could not resolve the foundation model|on-demand throughput isn.t supported|reached the end of its life|marked by provider as legacy/i;

/** Returns the failure in the form that `toModelError` reads. */
export function failureOf({ type, message, status, headers }: AwsFault): Error {
  const name = type.toLowerCase();
  if (/^expiredtoken/.test(name)) return unavailable("The session token of this connection has expired.");
  if (name === "accessdeniedexception") return unavailable(`AWS does not allow this call: ${message}`);
  if (status === 400 && unknownModel.test(message)) return unavailable(`Amazon Bedrock refuses this model: ${message}`);
  if (name === "unknownoperationexception") return unavailable("The server at this address is no Amazon Bedrock.");
  const error = { message, type, code: codeOf(status, message) };
  return Object.assign(new Error(message), {
    statusCode: statuses[name] ?? status,
    responseHeaders: headers,
    responseBody: JSON.stringify({ error }),
  });
}

const unavailable = (message: string) => new JudgedFailure(unavailableError(message));

/** Returns a code that all providers' errors share; undefined for other errors. */
function codeOf(status: number, message: string): string | undefined {
  if (status === 400 && overflow.test(message)) return "context_length_exceeded";
  // A day's quota is not refilled within the time of a run.
  if (status === 429 && /tokens per day/i.test(message)) return "insufficient_quota";
  return status === 400 && /outputConfig|textFormat/i.test(message) ? "response_format" : undefined;
}

/** True if the model, or the account, does not take cache points. */
export const refusesCache = ({ status, message }: AwsFault): boolean =>
  (status === 400 || status === 403) && /prompt caching|cache ?point/i.test(message);
