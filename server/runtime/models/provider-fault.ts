import { fieldsOf, parsedJson } from "../../lib/json.ts";

type Fields = Record<string, unknown>;

/** A provider's description of an error. */
interface ProviderFault {
  message: string;
  /** The provider's own codes, types and statuses. */
  kinds: unknown[];
  /** Answer of the model that the server could not read. */
  failed_generation: string;
}

/**
 * Reads an error in the format of any provider: `{error: {…}}`, `{error: "…"}`, `{errors: […]}`, `{response: {error}}`,
 * `{detail}`, `{message}`, `{msg}`, `{base_resp}`.
 */
export function providerFault(value: unknown): ProviderFault {
  const outer = fieldsOf(Array.isArray(value) ? value[0] : value);
  const { base_resp, errors } = outer;
  const [first] = Array.isArray(errors) ? errors : [];
  const given = outer.error ?? fieldsOf(outer.response).error ?? first ?? (base_resp ? baseFault(base_resp) : outer);
  const inner = typeof given === "string" ? { message: given } : fieldsOf(given);
  return {
    message: firstText(
      upstreamText(inner),
      sentence(inner.message),
      sentence(inner.detail),
      sentence(outer.detail),
      sentence(inner.msg),
      sentence(fieldsOf(inner.innererror).message),
      sentence(outer.message),
    ),
    kinds: [inner, outer].flatMap((from) => kindFields.map((name) => from[name])),
    failed_generation: firstText(inner.failed_generation),
  };
}

const kindFields = ["status_code", "statusCode", "http_code", "code", "type", "status"];

/** MiniMax's codes as the statuses that other providers send. */
const baseStatuses: Record<string, string | number> = {
  1000: 500,
  1001: 504,
  1002: 429,
  1004: 401,
  1008: 402,
  1013: 500,
  1024: 500,
  1026: "content_filter",
  1027: "content_filter",
  1033: 500,
  1039: 429,
  2013: 400,
  2049: 401,
};

function baseFault(value: unknown): Fields {
  const { status_code, status_msg } = fieldsOf(value);
  return { code: baseStatuses[String(status_code)], message: status_msg };
}

/** Returns the message of the provider behind a router, which names only itself. */
function upstreamText({ message, metadata }: Fields): string {
  const { raw } = fieldsOf(metadata);
  if (typeof raw !== "string" || raw === "") return "";
  const said = providerFault(parsedJson(raw)).message;
  return firstText(said, /^\s*[<{[]/.test(raw) ? "" : raw, sentence(message));
}

/** Returns a message as words: some servers send a list of faults, each with the place of its field. */
function sentence(value: unknown): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return value.map(listedFault).filter(Boolean).join("; ");
  const { message, msg } = fieldsOf(value);
  return firstText(message, msg);
}

function listedFault(value: unknown): string {
  if (typeof value === "string") return value;
  const { loc, msg, message } = fieldsOf(value);
  const place = (Array.isArray(loc) ? loc : []).filter((part) => part !== "body").join(".");
  const said = firstText(msg, message);
  return place === "" ? said : `${place}: ${said}`;
}

/** Returns the first text that is not empty. */
export function firstText(...candidates: unknown[]): string {
  const text = candidates.find((candidate) => typeof candidate === "string" && candidate.trim() !== "");
  return typeof text === "string" ? text.trim() : "";
}
