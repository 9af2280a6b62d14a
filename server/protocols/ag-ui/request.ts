import { type Static, Type } from "@sinclair/typebox";
import { callExpected } from "../../domain/error-messages.ts";
import type { Fault } from "../../domain/errors.ts";
import { limits } from "../../domain/limits.ts";
import type { ToolAnswer } from "../../domain/submit.ts";
import { fault, invalid, throwIfInvalid } from "../../http/errors.ts";
import { JsonObject, Subject } from "../../http/schemas.ts";
import { isObject, parsedJson } from "../../lib/json.ts";
import { open } from "../../lib/schema.ts";
import type { CreateRun } from "../../runs/schema.ts";

// Request body of AG-UI 1.0. Other fields are ignored.

const optional = Type.Optional;
const Text = Type.String();

const Source = open({ type: Text, value: Text, mimeType: optional(Text) });
const Part = open({ type: Text, text: optional(Text), source: optional(Source) });
const Message = open({
  id: Text,
  role: Text,
  content: optional(Type.Union([Text, Type.Array(Part), JsonObject, Type.Null()])),
  toolCallId: optional(Text),
  error: optional(Text),
  toolCalls: optional(Type.Array(open({ id: Text }))),
});
type Message = Static<typeof Message>;

const Name = Type.String({ minLength: 1, maxLength: limits.subject_length });

/** Body of `POST /ag-ui/v1/agents/:id`. */
export const RunAgentInput = open({
  threadId: Subject,
  runId: Name,
  protocolVersion: optional(Text),
  messages: Type.Array(Message),
  tools: optional(Type.Array(open({ name: Text, description: optional(Text), parameters: optional(JsonObject) }))),
  context: optional(Type.Array(open({ description: Text, value: Text }))),
  state: optional(Type.Unknown()),
  resume: optional(Type.Array(open({ interruptId: Text, status: Text, payload: optional(Type.Unknown()) }))),
  forwardedProps: optional(Type.Union([open({ run: optional(JsonObject), user_id: optional(Subject) }), Type.Null()])),
});
export type RunAgentInput = Static<typeof RunAgentInput>;

/** A message of the user. */
export interface UserMessage {
  do: "say";
  run: Pick<CreateRun, "input" | "tools">;
  /** Context of the application. It goes to the model with the agent's instructions, or before the user's message. */
  context: string;
  /** Index of the message in the request. */
  place: number;
  /** The run with the last answer that the client saw, if one user message follows it. */
  keep?: string;
}

/** Answers to calls, each with the run that it names, if any. */
export interface CallAnswers {
  do: "answer";
  answers: (ToolAnswer & { run_id: string | null; place: string })[];
}

/** No message: the client reads the conversation. */
interface Told {
  do: "tell";
}

/** Reads a request. Only its last message is new; the earlier ones are stored already. */
export function readInput(body: RunAgentInput): UserMessage | CallAnswers | Told {
  const { messages, resume = [] } = body;
  if (resume.length > 0 || messages.at(-1)?.role === "tool") return { do: "answer", answers: answersOf(body) };
  const place = messages.length - 1;
  const last = messages[place];
  if (last?.role !== "user") return { do: "tell" };
  const lastKnownIndex = messages.findLastIndex(({ id }) => runIn(id) !== null);
  const lastKnown = messages[lastKnownIndex];
  const keep = lastKnown && runIn(lastKnown.id);
  const isOne = messages.slice(lastKnownIndex + 1).filter(({ role }) => role === "user").length === 1;
  return {
    do: "say",
    place,
    context: contextOf(body),
    run: { input: inputOf(last, `messages[${place}]`), ...toolsOf(body) },
    ...(keep && isOne && { keep }),
  };
}

/** Returns the run of an assistant message's id. */
const runIn = (id: string): string | null => /^(run_[0-9a-z]{26})-/.exec(id)?.[1] ?? null;

const toolsOf = ({ tools = [] }: RunAgentInput): Pick<CreateRun, "tools"> =>
  tools.length === 0
    ? {}
    : {
        tools: tools.map(({ name, description, parameters }) => ({
          type: "client" as const,
          name,
          ...(description && { description }),
          ...(parameters && { parameters }),
        })),
      };

function contextOf({ context = [], state }: RunAgentInput): string {
  const isState = typeof state === "object" && state !== null && Object.keys(state).length > 0;
  const stateText = isState ? JSON.stringify(state) : "";
  // The API would refuse it too, but under a parameter that the client does not know.
  if (stateText.length > limits.instructions_bytes)
    throw invalid("state", `Must have at most ${limits.instructions_bytes} characters of JSON.`);
  return [
    ...context.map(({ description, value }) => `${description}: ${value}`),
    ...(isState ? [`The state of the application: ${stateText}`] : []),
  ].join("\n\n");
}

type Content = Exclude<Exclude<CreateRun["input"], string>[number]["content"], string>;

function inputOf({ content }: Message, at: string): CreateRun["input"] {
  if (!Array.isArray(content)) return typeof content === "string" ? content : "";
  const faults: Fault[] = [];
  const parts = content.map(({ type, text, source }, index): Content[number] => {
    const path = `${at}.content[${index}]`;
    if (type === "text") return { type, text: text ?? "" };
    if (type !== "image") faults.push(fault(`${path}.type`, "Must be text or image."));
    else if (source?.type !== "data")
      faults.push(fault(`${path}.source.type`, "Must be data: send the image itself, in base64."));
    return { type: "image", data: `data:${source?.mimeType ?? ""};base64,${source?.value ?? ""}` };
  });
  throwIfInvalid(faults);
  const texts = parts.flatMap((part) => (part.type === "text" ? [part.text] : []));
  return texts.length === parts.length ? texts.join("\n") : [{ role: "user", content: parts }];
}

function answersOf({ messages, resume = [] }: RunAgentInput): CallAnswers["answers"] {
  const first = messages.findLastIndex(({ role }) => role !== "tool") + 1;
  const outputs = messages.slice(first).map(({ toolCallId, content, error }, index) => {
    const place = `messages[${first + index}].toolCallId`;
    if (!toolCallId) throw invalid(place, callExpected, "required");
    const output = error ?? outputOf(content);
    return { tool_call_id: toolCallId, output, ...(error && { is_error: true }), run_id: null, place };
  });
  return [...outputs, ...resume.map(decisionOf)];
}

/** Parses an object or list in a tool result, unless parsing would change a number; other results stay text. */
function outputOf(content: Message["content"]): unknown {
  const text = Array.isArray(content) ? content.map((part) => part.text ?? "").join("") : (content ?? "");
  if (typeof text !== "string" || !/^[[{]/.test(text)) return text;
  const value = parsedJson(text);
  return value !== undefined && hasExactNumbers(text) ? value : text;
}

/** True if parsing and writing keeps every number of a valid JSON text. */
const hasExactNumbers = (json: string): boolean =>
  (json.replace(/"(?:[^"\\]|\\.)*"/g, "").match(/-?\d[\d.eE+-]*/g) ?? []).every((n) => String(Number(n)) === n);

function decisionOf(
  { interruptId, status, payload }: NonNullable<RunAgentInput["resume"]>[number],
  index: number,
): CallAnswers["answers"][number] {
  const place = `resume[${index}]`;
  const [run_id, tool_call_id, question] = interruptId.split("/");
  if (!run_id || !tool_call_id) throw invalid(`${place}.interruptId`, "Must be the id of an interrupt.");
  if (question) {
    const isClosed = status === "cancelled";
    if (!isClosed && payload !== undefined && !isObject(payload))
      throw invalid(`${place}.payload`, "Must be an object, as responseSchema asks.");
    const content = isObject(payload) && Object.keys(payload).length > 0 && { content: payload };
    const elicitation = isClosed ? { action: "cancel" as const } : { action: "accept" as const, ...content };
    return { tool_call_id, run_id, place: `${place}.interruptId`, elicitation: { id: question, ...elicitation } };
  }
  const decisionBody =
    typeof payload === "object" && payload !== null ? (payload as Record<string, unknown>) : { approved: payload };
  const { approved, reason } = status === "cancelled" ? { approved: false, reason: undefined } : decisionBody;
  if (typeof approved !== "boolean")
    throw invalid(`${place}.payload`, "Must be an object with approved, which is true or false.");
  return {
    tool_call_id,
    run_id,
    place: `${place}.interruptId`,
    decision: approved ? "approve" : "reject",
    ...(typeof reason === "string" && { reason }),
  };
}
