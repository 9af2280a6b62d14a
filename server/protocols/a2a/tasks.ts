import type { RequiredActionObject, RequiredCallObject } from "../../domain/required-action.ts";
import type { RunStatus } from "../../domain/run-state.ts";
import { isObject } from "../../lib/json.ts";
import { A2aError } from "./errors.ts";

interface Part {
  text?: string;
  data?: unknown;
}

export type Task = ReturnType<typeof taskOf>;

export const stateOf: Record<RunStatus, string> = {
  queued: "TASK_STATE_SUBMITTED",
  in_progress: "TASK_STATE_WORKING",
  requires_action: "TASK_STATE_INPUT_REQUIRED",
  paused: "TASK_STATE_WORKING",
  completed: "TASK_STATE_COMPLETED",
  failed: "TASK_STATE_FAILED",
  cancelled: "TASK_STATE_CANCELED",
};

const authRequired = "TASK_STATE_AUTH_REQUIRED";

/** Returns the state of a waiting task: only a user's consent is missing, or the client is to answer. */
export const waitingState = (action: RequiredActionObject): string =>
  action.type === "authorization" ? authRequired : stateOf.requires_action;

/** Returns the run status of a task state, or null if no run has it. */
export const statusOf = (state: string): RunStatus | null =>
  (state === authRequired ? "requires_action" : null) ??
  (Object.keys(stateOf) as RunStatus[]).find((status) => stateOf[status] === state) ??
  null;

/** A run as the API returns it; lists omit some fields. */
export interface TaskRun {
  id: string;
  agent_id: string;
  status: RunStatus;
  thread_id: string | null;
  output?: string | null;
  output_json?: unknown;
  error?: { code: string; message: string } | null;
  required_action?: RequiredActionObject | null;
  messages?: { id: string; role: string; content: unknown }[];
  created_at: string;
  started_at?: string | null;
  completed_at?: string | null;
}

const contextOf = ({ id, thread_id }: Pick<TaskRun, "id" | "thread_id">): string => thread_id ?? id;

/** Ids of a task in updates. */
export const placeOf = (run: Pick<TaskRun, "id" | "thread_id">) => ({ taskId: run.id, contextId: contextOf(run) });

interface Shown {
  /** Number of last messages to include; undefined: all. */
  history?: number;
  artifacts?: boolean;
}

/** Converts a run to a task. */
export function taskOf(run: TaskRun, { history, artifacts = true }: Shown = {}) {
  const shownMessages = history === 0 ? [] : historyOf(run);
  const taskArtifacts = artifacts ? artifactsOf(run) : [];
  return {
    id: run.id,
    contextId: contextOf(run),
    status: taskStatus(run),
    ...(taskArtifacts.length > 0 && { artifacts: taskArtifacts }),
    ...(shownMessages.length > 0 && { history: history === undefined ? shownMessages : shownMessages.slice(-history) }),
  };
}

/** Returns the body of a task's push notification. */
export const pushBody = (run: TaskRun): string => JSON.stringify({ task: taskOf(run, { history: 0 }) });

function taskStatus(run: TaskRun) {
  const parts = explanationOf(run);
  const message = parts && { messageId: `${run.id}-status`, ...placeOf(run), role: "ROLE_AGENT", parts };
  const timestamp = run.completed_at ?? run.started_at ?? run.created_at;
  const state = run.required_action ? waitingState(run.required_action) : stateOf[run.status];
  return { state, ...(message && { message }), timestamp };
}

/** Returns the status message of a task that waits or failed, else null. */
function explanationOf({ required_action, error }: TaskRun): Part[] | null {
  if (required_action) return questionParts(required_action);
  return error ? [{ text: `${error.code}: ${error.message}` }] : null;
}

const asks = {
  approval: "an approval of",
  output: "the output of",
  reconcile: "word of what became of",
  authorization: "a consent for",
  elicitation: "an answer to the question of",
};

/** Returns the pending calls and consents as text for people and as data for programs. */
export function questionParts({
  submit_tool_outputs: { tool_calls },
  authorizations = [],
}: RequiredActionObject): Part[] {
  const texts = tool_calls.map(textOfCall);
  const consents = authorizations.map(consentText);
  const waitingCalls = tool_calls.map(({ tool_call_id, name, arguments: args, needs, elicitation }) => ({
    tool_call_id,
    name,
    arguments: args,
    needs,
    ...(elicitation && { elicitation }),
  }));
  const asked = authorizations.map(({ name, url, expires_at }) => ({ name, url, expires_at }));
  return [
    { text: [...texts, ...consents].join(" ") },
    { data: { tool_calls: waitingCalls, ...(asked.length > 0 && { authorizations: asked }) } },
  ];
}

const consentText = ({ name, url }: { name: string; url: string | null }): string =>
  `This task waits for the user's consent to use "${name}"${url === null ? "." : `: ${url}`}`;

const textOfCall = ({ name, needs, elicitation }: RequiredCallObject): string =>
  `This task waits for ${asks[needs]} "${name}"${elicitation ? `: ${elicitation.message}` : "."}`;

const artifactId = "output";

/** Artifact with the output, whole or in part. */
export const artifactOf = (parts: Part[]) => ({ artifactId, name: artifactId, parts });

export const outputParts = ({ output, output_json }: Pick<TaskRun, "output" | "output_json">): Part[] =>
  output_json === null || output_json === undefined ? (output ? [{ text: output }] : []) : [{ data: output_json }];

function artifactsOf(run: TaskRun) {
  const parts = outputParts(run);
  return parts.length > 0 ? [artifactOf(parts)] : [];
}

const roles: Record<string, string> = { user: "ROLE_USER", assistant: "ROLE_AGENT" };

const historyOf = (run: TaskRun) =>
  (run.messages ?? []).flatMap(({ id, role, content }) =>
    roles[role] && typeof content === "string" && content !== ""
      ? [{ messageId: id, ...placeOf(run), role: roles[role], parts: [{ text: content }] }]
      : [],
  );

/** A client's message after parsing. */
export interface ParsedMessage {
  messageId: string;
  text: string;
  data: unknown[];
  taskId: string | null;
  contextId: string | null;
}

const invalid = (message: string) => new A2aError("INVALID_PARAMS", message);
const idOrNull = (value: unknown): string | null => (typeof value === "string" && value !== "" ? value : null);

/** Parses a message. Throws if it is invalid or has unsupported parts. */
export function readMessage(message: unknown): ParsedMessage {
  if (!isObject(message)) throw invalid("message: expected an object.");
  const { parts, role, messageId, taskId, contextId } = message;
  if (typeof messageId !== "string") throw invalid("message.messageId: expected a text.");
  if (role !== "ROLE_USER") throw invalid("message.role: expected ROLE_USER.");
  if (!Array.isArray(parts) || parts.length === 0) throw invalid("message.parts: expected one part at least.");
  const data: unknown[] = [];
  const texts = parts.map((part) => {
    if (isObject(part) && typeof part.text === "string") return part.text;
    if (!isObject(part) || !("data" in part))
      throw new A2aError("CONTENT_TYPE_NOT_SUPPORTED", "message.parts: text and data are taken, files are not.");
    data.push(part.data);
    return JSON.stringify(part.data);
  });
  return { messageId, text: texts.join("\n"), data, taskId: idOrNull(taskId), contextId: idOrNull(contextId) };
}

/**
 * Returns the tool outputs of a message: its data `{tool_outputs: […]}`, or its text if exactly one call waits. Throws
 * if a text is ambiguous.
 */
export function outputsOf(
  { text, data }: ParsedMessage,
  { submit_tool_outputs: { tool_calls } }: RequiredActionObject,
): unknown[] {
  const [toolOutputs] = data.flatMap((one) =>
    isObject(one) && Array.isArray(one.tool_outputs) ? [one.tool_outputs] : [],
  );
  if (toolOutputs) return toolOutputs;
  const [call, ...others] = tool_calls;
  if (!call || others.length > 0) throw invalid("Several calls wait: send data with tool_outputs.");
  if (call.needs === "output") return [{ tool_call_id: call.tool_call_id, output: text }];
  if (call.needs === "elicitation") throw invalid("A question waits: send data with tool_outputs and its elicitation.");
  const decision = text.trim().toLowerCase();
  if (decision !== "approve" && decision !== "reject")
    throw invalid("Say approve or reject, or send data with tool_outputs.");
  return [{ tool_call_id: call.tool_call_id, decision }];
}
