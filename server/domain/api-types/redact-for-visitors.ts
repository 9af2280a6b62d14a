import type { RequiredActionObject } from "../required-action.ts";
import type { RunError } from "../run-event.ts";
import type { RunObject } from "../run-object.ts";
import type { Frame } from "./frames.ts";

// Reduces runs for visitors of a chat page: they get texts and status, but no names, arguments, results, causes or
// costs. An allowlist: fields that are not named here are removed.

const noUsage = {
  input_tokens: null,
  output_tokens: null,
  cached_input_tokens: null,
  reasoning_tokens: null,
  total_tokens: null,
  model_calls: 0,
  tool_calls: 0,
  cost_usd: null,
  estimated: false,
};

/** Visitors see no calls; a consent that is missing is theirs to give. */
function actionFor(action: RequiredActionObject): RequiredActionObject {
  const nothing = { submit_tool_outputs: { tool_calls: [] } };
  const own = action.authorizations?.filter(({ url }) => url !== null).map((one) => ({ ...one, tool_calls: [] }));
  const [first] = own ?? [];
  if (!own || !first) return { type: "submit_tool_outputs", ...nothing };
  if (action.type === "authorization") return { ...nothing, ...first, type: "authorization", authorizations: own };
  return { type: "submit_tool_outputs", ...nothing, authorizations: own };
}

const failed = "The run could not be finished.";

const errorOf = ({ type, code, retryable }: RunError): RunError => ({
  type,
  code,
  message: failed,
  step_index: null,
  retryable,
});

/** Returns the frame for a visitor, or null for a frame with internals of the project. */
export function frameForVisitor(frame: Frame): Frame | null {
  switch (frame.event) {
    case "run.created":
    case "run.queued":
    case "run.started":
    case "run.resumed":
    case "run.paused":
    case "run.pause_cancelled":
    case "run.steered":
    case "run.recovered":
      return frame;
    case "run.pause_requested":
      return { ...frame, data: { ...frame.data, reason: null } };
    case "run.requires_action":
      return { ...frame, data: { ...frame.data, required_action: actionFor(frame.data.required_action) } };
    case "run.completed":
      return { ...frame, data: { ...frame.data, usage: noUsage } };
    case "run.failed":
      return { ...frame, data: { ...frame.data, usage: noUsage, error: errorOf(frame.data.error) } };
    case "step.started":
      return frame.data.type === "model_call" ? { ...frame, data: { ...frame.data, name: "" } } : null;
    case "step.restarted": {
      const { model: _, ...data } = frame.data;
      return { ...frame, data: { ...data, reason: null } };
    }
    case "step.completed":
      return frame.data.type === "model_call" ? { ...frame, data: { ...frame.data, usage: null, error: null } } : null;
    default:
      return null;
  }
}

/** Returns the run for a visitor. */
export function runForVisitor({ models: _, variables: __, ...run }: RunObject): RunObject {
  return {
    ...run,
    model: "",
    messages: [],
    tool_calls: [],
    usage: noUsage,
    budget: null,
    metadata: {},
    session_id: null,
    required_action: run.required_action && actionFor(run.required_action),
    error: run.error && errorOf(run.error),
    trace_id: null,
    parent_run_id: null,
    forked_from: null,
    replay_of: null,
    replay: null,
  };
}

interface Said {
  role: string;
  content: string;
  tool_calls?: unknown;
}

/** Returns a thread message for a visitor. Tool messages stay, without their content. */
export function messageForVisitor<M extends Said>({ tool_calls: _, ...message }: M): Omit<M, "tool_calls"> {
  return message.role === "user" || message.role === "assistant" ? message : { ...message, content: "" };
}
