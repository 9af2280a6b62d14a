import { fieldsOf, isObject, parsedJson } from "../../lib/json.ts";
import { type Adaptation, type OptionalField, optionalFields } from "./chat-dialect.ts";

/** One complaint of a server about a request: the path of the field, if it names one, and its words. */
interface Complaint {
  path: string;
  text: string;
}

type Body = Record<string, unknown> & { messages: Record<string, unknown>[] };

/**
 * Returns the changes that a refused request needs, from the server's words in a 400 or 422. Only of parts that were
 * sent, and never the limit of an answer: that is only renamed.
 */
export function adaptationsFor(status: number, refusal: string, sent: Body): Adaptation[] {
  if (status !== 400 && status !== 422) return [];
  const found = complaintsIn(parsedJson(refusal) ?? refusal).flatMap((complaint) => [
    ...refusedFields(complaint, sent),
    ...wantedForms(complaint, sent),
  ]);
  return [...new Set(found)];
}

/** Reads the errors of any server. Pydantic's have the request in `input`, which is no complaint. */
function complaintsIn(value: unknown): Complaint[] {
  if (typeof value === "string") return [{ path: "", text: value }];
  if (Array.isArray(value)) return value.flatMap(complaintsIn);
  if (!isObject(value)) return [];
  const { error, detail, message, msg, type, loc, param } = fieldsOf(value);
  if (isObject(error) || typeof error === "string") return complaintsIn(error);
  if (isObject(message) || Array.isArray(message)) return complaintsIn(message);
  if (isObject(detail) || Array.isArray(detail)) return complaintsIn(detail);
  const path = Array.isArray(loc) ? loc.join(".") : param;
  const text = [type, msg, message, detail].filter((word) => typeof word === "string").join(" ");
  return [{ path: typeof path === "string" ? path : "", text }];
}

const unsupported =
  /unsupported|n[o']t (yet |currently )?(supported|permitted|allowed|implemented|available|accepted|recognized)|does(n't| not) (support|accept)|un(recognized|known|expected)|extra[_ ](forbidden|inputs|fields)|not a valid (parameter|argument|field)|invalid (parameter|argument|field)|only the default|cannot be (used|set|specified)|should not be|must not be (set|present|specified)|no such (parameter|field)/i;

/** A value that is out of its range is an error of the agent, which must be told. */
const outOfRange =
  /(less|greater|smaller|larger|more|fewer) than|too (large|big|high|low|small|long)|at (most|least)|exceed|between|maximum (context|prompt)|[<>]=?/i;

const lastOf = (path: string): string =>
  path
    .split(/[.[\]]+/)
    .filter(Boolean)
    .at(-1) ?? "";

/** True if a text has a name, also as `camelCase`. */
const mentions = (text: string, name: string): boolean =>
  new RegExp(`\\b${name}\\b`, "i").test(text.replace(/([a-z])([A-Z])/g, "$1_$2"));

/** True if a complaint says that the server does not take the field at all. */
const refuses = ({ path, text }: Complaint, name: string): boolean =>
  !outOfRange.test(text) && ((mentions(text, name) && unsupported.test(text)) || lastOf(path) === name);

function refusedFields(complaint: Complaint, sent: Body): Adaptation[] {
  const isOfMessages = /message|assistant/i.test(`${complaint.path} ${complaint.text}`);
  const fields: Adaptation[] = optionalFields.filter(
    (field) =>
      isSent(field, sent) &&
      names[field].some((name) => {
        if (ambiguous.has(name) && isOfMessages !== (field === "reasoning")) return false;
        return refuses(complaint, name);
      }),
  );
  if ("max_tokens" in sent && refuses(complaint, "max_tokens")) fields.push("max_completion_tokens");
  else if ("max_completion_tokens" in sent && refuses(complaint, "max_completion_tokens")) fields.push("max_tokens");
  return fields;
}

/** Names that are fields of requests and of messages. */
const ambiguous: ReadonlySet<string> = new Set(["reasoning", "thinking"]);

/** Names of each part in requests. */
const names: Record<OptionalField, readonly string[]> = {
  ...(Object.fromEntries(optionalFields.map((field) => [field, [field]])) as Record<OptionalField, string[]>),
  seed: ["seed", "random_seed"],
  reasoning_effort: ["reasoning_effort", "thinking", "reasoning"],
  reasoning: ["reasoning_content", "reasoning_details", "reasoning", "thinking"],
};

function isSent(field: OptionalField, sent: Body): boolean {
  if (field === "reasoning") return sent.messages.some(hasReasoning);
  if (field === "extra_content") return sent.messages.some((message) => JSON.stringify(message).includes(field));
  if (field === "strict") return fieldsOf(fieldsOf(sent.response_format).json_schema).strict !== undefined;
  return names[field].some((name) => sent[name] !== undefined);
}

const hasReasoning = (message: Record<string, unknown>): boolean =>
  names.reasoning.some((name) => name in message) || Array.isArray(message.content);

/** Returns the changes of parts that the server takes only in another form. */
function wantedForms({ path, text }: Complaint, sent: Body): Adaptation[] {
  const words = `${path} ${text}`;
  const wanted: Adaptation[] = [];
  if (
    /reasoning_content/i.test(words) &&
    /missing|required|must be (passed|provided|included|sent|present)/i.test(text)
  )
    wanted.push("required_reasoning");
  if (callId.test(words) && /length|pattern|too long|a-z|characters|format/i.test(text)) wanted.push("short_call_ids");
  if (!/content/i.test(words.replaceAll("reasoning_content", ""))) return wanted;
  if (sent.messages.some(({ content }) => content === null) && noText.test(words)) wanted.push("text_content");
  if (sent.messages.some(({ role, content }) => role === "tool" && content === "") && empty.test(words))
    wanted.push("tool_output");
  return wanted;
}

const callId = /tool[_ ]?calls?[_ ]?id|tool_calls[.[]\d+\]?\.(function\.)?id/i;
const noText = /<nil>|null|none|(must|should) be a (valid )?string|string_type|expected (a )?string|missing|required/i;
const empty = /empty|blank|at least (1|one)|too[_ ]short|required|missing/i;
