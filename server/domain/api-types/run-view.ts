import type { Elicitation, RunError, RunUsage } from "../run-event.ts";
import type { RunStatus } from "../run-state.ts";
import type { FrameData, RunFrame } from "./events.ts";

/** Text of a model call. `void`: the process died meanwhile, and the call was made again. */
export interface TextPart {
  kind: "text";
  key: string;
  /** Number of its start event. */
  seq: number;
  stepIndex: number;
  output: string;
  reasoning: string;
  state: "writing" | "done" | "void";
  /** True if a message of the user ended it. */
  isInterrupted?: true;
}

export interface ToolPart {
  kind: "tool";
  key: string;
  id: string;
  tool: string;
  type: string;
  args: unknown;
  needs: string | null;
  /** The question that it asks the user. */
  elicitation?: Elicitation;
  state: "running" | "waiting" | "completed" | "failed" | "ended";
  status: string | null;
  result: unknown;
  error: unknown;
  latencyMs: number | null;
  /** How far its MCP server says that it is; absent if it says nothing. Log messages change only the message. */
  progress?: CallProgress;
  /** The run that an agent tool started. */
  subagentRunId: string | null;
}

export type CallProgress = Pick<DataOf<"tool.progress">, "progress" | "total" | "message">;

/** A message of the user that came while the run was under way. */
interface MessagePart {
  kind: "message";
  key: string;
  content: string;
}

/** Another agent goes on with the conversation. */
export interface HandoffPart {
  kind: "handoff";
  key: string;
  /** The call that handed over. */
  callId: string;
  agentName: string;
  reason: string | null;
}

export type Part = TextPart | ToolPart | MessagePart | HandoffPart;

/** A run, built from its events. */
export interface RunView {
  /** Without text deltas. */
  entries: Exclude<RunFrame, { event: "token" }>[];
  parts: Part[];
  status: RunStatus | null;
  output: string | null;
  error: RunError | null;
  usage: RunUsage | null;
}

export const emptyRunView: RunView = { entries: [], parts: [], status: null, output: null, error: null, usage: null };

/** Returns the view after a batch of frames. Known frames are ignored. */
export function foldFrames(view: RunView, frames: readonly RunFrame[]): RunView {
  const next: RunView = { ...view, entries: [...view.entries], parts: [...view.parts] };
  for (const frame of frames) {
    if (frame.event === "token") addText(next, frame.data);
    else if (frame.data.seq > seqOf(next)) {
      next.entries.push(frame);
      change(next, frame);
    }
  }
  return next;
}

/** Returns the number of the newest event. */
export const seqOf = ({ entries }: RunView): number => entries.at(-1)?.data.seq ?? 0;

/** Returns the text of the valid attempt of a step. */
export const textOfStep = ({ parts }: RunView, stepIndex: number): TextPart | undefined =>
  parts.findLast(
    (part): part is TextPart =>
      part.kind === "text" && part.stepIndex === stepIndex && part.state !== "void" && !isUnwritten(part),
  );

/** Returns the parts without the calls that handed over: the handoff itself says more. */
export function withoutHandoffCalls(parts: readonly Part[]): Part[] {
  const handoffCalls = new Set(parts.map((part) => (part.kind === "handoff" ? part.callId : "")));
  return parts.filter((part) => part.kind !== "tool" || !handoffCalls.has(part.id));
}

type DataOf<Name extends RunFrame["event"]> = Extract<RunFrame, { event: Name }>["data"];

function change(view: RunView, frame: Exclude<RunFrame, { event: "token" }>): void {
  const { event, data } = frame;
  switch (event) {
    case "run.created":
    case "run.queued":
    case "run.started":
      view.status = data.status;
      break;
    case "run.requires_action":
      view.status = "requires_action";
      break;
    case "run.paused":
      view.status = "paused";
      break;
    case "run.resumed":
    case "run.recovered":
      view.status = "in_progress";
      break;
    case "run.completed":
    case "run.failed":
      end(view, data);
      break;
    case "step.started":
      if (data.type === "model_call") startText(view, data);
      break;
    case "step.restarted":
      discard(view, data);
      break;
    case "step.completed":
      changeText(view, (part) => part.stepIndex === data.step_index && part.state === "writing", { state: "done" });
      break;
    case "tool.requested":
      requestTool(view, data);
      break;
    case "tool.decided":
      changeTool(view, data, { needs: data.needs, state: data.needs ? "waiting" : "running" });
      break;
    case "tool.progress":
      tellProgress(view, data);
      break;
    case "tool.completed":
      changeTool(view, data, {
        state: data.status === "completed" && !data.error ? "completed" : "failed",
        needs: null,
        status: data.status,
        result: data.result,
        error: data.error,
        latencyMs: data.latency_ms,
      });
      break;
    case "tool.authorized":
      changeTool(view, data, { needs: null, state: "running" });
      break;
    case "subagent.started":
      changeTool(view, data, { subagentRunId: data.subagent_run_id });
      break;
    case "subagent.waiting":
      changeTool(view, data, { state: "waiting" });
      break;
    case "subagent.resumed":
      changeTool(view, data, { state: "running" });
      break;
    case "run.steered":
      if (data.interrupt) changeText(view, ({ state }) => state === "writing", { isInterrupted: true });
      view.parts.push({ kind: "message", key: data.message_id, content: data.content });
      break;
    case "handoff.completed":
      view.parts.push({
        kind: "handoff",
        key: `handoff ${data.tool_call_id}`,
        callId: data.tool_call_id,
        agentName: data.agent_name,
        reason: data.reason,
      });
      break;
    case "guardrail.passed":
    case "guardrail.triggered":
    case "output.rejected":
    case "history.loaded":
    case "documents.attached":
    case "memory.retrieved":
    case "context.compacted":
    case "run.pause_requested":
    case "run.pause_cancelled":
      break;
    default:
      event satisfies never; // An event of a newer server.
  }
}

function addText(view: RunView, data: DataOf<"token">): void {
  const { delta, kind, offset } = data;
  const index = view.parts.findLastIndex((part) => part.kind === "text" && part.seq === data.seq);
  const part = (view.parts[index] as TextPart | undefined) ?? newText(data);
  // `offset` counts all characters of the step up to this delta, so cut off the part that is already here.
  const currentLength = part.output.length + part.reasoning.length;
  if (offset <= currentLength || part.state === "void") return;
  const addedText = delta.slice(Math.max(0, delta.length - (offset - currentLength)));
  const updatedPart: TextPart = { ...part, [kind]: part[kind] + addedText };
  if (index < 0) view.parts.push(updatedPart);
  else view.parts[index] = updatedPart;
}

function startText(view: RunView, data: DataOf<"step.started">): void {
  // The restart has opened an empty text for this step: replace it.
  const isReplaced = (part: Part) =>
    part.kind === "text" && part.state === "writing" && part.stepIndex === data.step_index && isUnwritten(part);
  view.parts = view.parts.filter((part) => !isReplaced(part));
  view.parts.push(newText(data));
}

const isUnwritten = ({ output, reasoning }: TextPart): boolean => !output && !reasoning;

function discard(view: RunView, data: DataOf<"step.restarted">): void {
  const isDiscarded = (part: Part): part is TextPart => part.kind === "text" && part.seq === data.discards;
  const isKnown = view.parts.some(isDiscarded);
  changeText(view, isDiscarded, { state: "void" });
  if (isKnown) view.parts.push(newText(data));
}

function requestTool(
  view: RunView,
  { tool_call_id: id, tool, type, args, needs, elicitation }: DataOf<"tool.requested">,
): void {
  const state = needs ? "waiting" : "running";
  const part: ToolPart = {
    kind: "tool",
    key: id,
    id,
    tool,
    type,
    args,
    needs,
    ...(elicitation && { elicitation }),
    state,
    status: null,
    result: undefined,
    error: null,
    latencyMs: null,
    subagentRunId: null,
  };
  // A call is requested again when its needs change, for example after an unknown outcome.
  const index = view.parts.findIndex((known) => known.kind === "tool" && known.id === id);
  if (index < 0) view.parts.push(part);
  else view.parts[index] = part;
}

function changeTool(view: RunView, { tool_call_id }: { tool_call_id: string }, changed: Partial<ToolPart>): void {
  view.parts = view.parts.map((part) =>
    part.kind === "tool" && part.id === tool_call_id ? { ...part, ...changed } : part,
  );
}

function tellProgress(view: RunView, { tool_call_id, progress, total, message, level }: DataOf<"tool.progress">): void {
  view.parts = view.parts.map((part) => {
    if (part.kind !== "tool" || part.id !== tool_call_id) return part;
    const before = part.progress ?? { progress: null, total: null };
    return { ...part, progress: level === null ? { progress, total, message } : { ...before, message } };
  });
}

function end(view: RunView, { status, output, usage, ...rest }: DataOf<"run.completed" | "run.failed">): void {
  view.status = status;
  view.output = output;
  view.error = "error" in rest ? rest.error : null;
  view.usage = usage;
  view.parts = view.parts.map((part) => {
    if (part.kind === "message" || part.kind === "handoff") return part;
    if (part.kind === "text") return part.state === "writing" ? { ...part, state: "done" } : part;
    return part.state === "running" || part.state === "waiting" ? { ...part, state: "ended" } : part;
  });
}

function changeText(view: RunView, match: (part: TextPart) => boolean, changed: Partial<TextPart>): void {
  view.parts = view.parts.map((part) => (part.kind === "text" && match(part) ? { ...part, ...changed } : part));
}

const newText = ({ seq, step_index }: Pick<FrameData, "seq"> & { step_index: number }): TextPart => ({
  kind: "text",
  key: `text-${seq}`,
  seq,
  stepIndex: step_index,
  output: "",
  reasoning: "",
  state: "writing",
});
