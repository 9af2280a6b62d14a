import { type Frame, type FrameData, type RunError, type RunStatus, terminalEvents, type Usage } from "./types.ts";

/** A journaled event as the page lists it. */
export interface Entry {
  seq: number;
  event: string;
  at: string;
  data: FrameData;
}

/** What a model call wrote. `void`: the process died meanwhile, and the call was made again. */
export interface TextPart {
  kind: "text";
  key: string;
  seq: number;
  stepIndex: number;
  output: string;
  reasoning: string;
  state: "writing" | "done" | "void";
}

export interface ToolPart {
  kind: "tool";
  key: string;
  id: string;
  tool: string;
  type: string | null;
  args: unknown;
  needs: string | null;
  state: "running" | "waiting" | "completed" | "failed" | "ended";
  status: string | null;
  result: unknown;
  error: unknown;
  latencyMs: number | null;
  /** The run that an agent's call started. */
  subagentRunId: string | null;
}

export type Part = TextPart | ToolPart;

/** A run as its events tell it. */
export interface RunView {
  entries: Entry[];
  parts: Part[];
  status: RunStatus | null;
  output: string | null;
  error: RunError | null;
  usage: Usage | null;
}

export const emptyRunView: RunView = { entries: [], parts: [], status: null, output: null, error: null, usage: null };

/** The view after a batch of frames. Frames that it has already seen change nothing. */
export function foldRunEvents(view: RunView, frames: readonly Frame[]): RunView {
  const next: RunView = { ...view, entries: [...view.entries], parts: [...view.parts] };
  for (const frame of frames) {
    if (frame.event === "token") addText(next, frame.data);
    else if (frame.data.seq > (next.entries.at(-1)?.seq ?? 0)) addEntry(next, frame);
  }
  return next;
}

function addText(view: RunView, data: FrameData): void {
  const delta = typeof data.delta === "string" ? data.delta : "";
  const index = view.parts.findLastIndex((part) => part.kind === "text" && part.seq === data.seq);
  const part = (view.parts[index] as TextPart | undefined) ?? newText(data);
  // `offset` counts all characters of the step up to this delta, so what is already here is known and cut off.
  const held = part.output.length + part.reasoning.length;
  const offset = typeof data.offset === "number" ? data.offset : held + delta.length;
  const fresh = delta.slice(Math.max(0, delta.length - (offset - held)));
  if (offset <= held || part.state === "void") return;
  const kind = data.kind === "reasoning" ? "reasoning" : "output";
  const grown: TextPart = { ...part, [kind]: part[kind] + fresh };
  if (index < 0) view.parts.push(grown);
  else view.parts[index] = grown;
}

function addEntry(view: RunView, { event, data }: Frame): void {
  view.entries.push({ seq: data.seq, event, at: data.at, data });
  switch (event) {
    case "run.created":
    case "run.queued":
      view.status = (data.status as RunStatus | undefined) ?? "in_progress";
      break;
    case "run.requires_action":
      view.status = "requires_action";
      break;
    case "run.started":
    case "run.resumed":
    case "run.recovered":
      view.status = "in_progress";
      break;
    case "step.started":
      if (data.type === "model_call") startText(view, data);
      break;
    case "step.restarted":
      discard(view, data);
      break;
    case "step.completed":
      changeText(view, (part) => part.stepIndex === data.step_index && part.state === "writing", "done");
      break;
    case "tool.requested":
      requestTool(view, data);
      break;
    case "subagent.started":
      startSubagent(view, data);
      break;
    case "tool.completed":
      completeTool(view, data);
      break;
  }
  if (terminalEvents.includes(event)) end(view, data);
}

function startText(view: RunView, data: FrameData): void {
  // A restart has already opened an empty text for this step; the start that follows takes its place.
  view.parts = view.parts.filter((part) => part.kind !== "text" || !isEmptyStart(part, data.step_index));
  view.parts.push(newText(data));
}

function isEmptyStart(part: TextPart, stepIndex: unknown): boolean {
  return part.state === "writing" && part.stepIndex === stepIndex && !part.output && !part.reasoning;
}

function discard(view: RunView, data: FrameData): void {
  changeText(view, (part) => part.seq === data.discards, "void");
  const discarded = view.parts.find((part) => part.kind === "text" && part.seq === data.discards);
  if (discarded) view.parts.push(newText(data));
}

function requestTool(view: RunView, data: FrameData): void {
  const id = String(data.tool_call_id);
  const needs = typeof data.needs === "string" ? data.needs : null;
  const part: ToolPart = {
    kind: "tool",
    key: id,
    id,
    tool: String(data.tool),
    type: typeof data.type === "string" ? data.type : null,
    args: data.args,
    needs,
    state: needs ? "waiting" : "running",
    status: null,
    result: undefined,
    error: null,
    latencyMs: null,
    subagentRunId: null,
  };
  // The same call is announced again when it comes to need something, such as an answer to an unknown outcome.
  const index = view.parts.findIndex((known) => known.kind === "tool" && known.id === id);
  if (index < 0) view.parts.push(part);
  else view.parts[index] = part;
}

function startSubagent(view: RunView, { tool_call_id, subagent_run_id }: FrameData): void {
  view.parts = view.parts.map((part) =>
    part.kind === "tool" && part.id === tool_call_id ? { ...part, subagentRunId: String(subagent_run_id) } : part,
  );
}

function completeTool(view: RunView, data: FrameData): void {
  view.parts = view.parts.map((part) =>
    part.kind === "tool" && part.id === data.tool_call_id
      ? {
          ...part,
          state: data.error || (data.status && data.status !== "completed") ? "failed" : "completed",
          status: typeof data.status === "string" ? data.status : null,
          result: data.result,
          error: data.error ?? null,
          latencyMs: typeof data.latency_ms === "number" ? data.latency_ms : null,
        }
      : part,
  );
}

function end(view: RunView, data: FrameData): void {
  view.status = data.status as RunStatus;
  view.output = typeof data.output === "string" ? data.output : null;
  view.error = (data.error as RunError | undefined) ?? null;
  view.usage = (data.usage as Usage | undefined) ?? null;
  view.parts = view.parts.map((part) => {
    if (part.kind === "text") return part.state === "writing" ? { ...part, state: "done" } : part;
    return part.state === "running" || part.state === "waiting" ? { ...part, state: "ended" } : part;
  });
}

function changeText(view: RunView, match: (part: TextPart) => boolean, state: TextPart["state"]): void {
  view.parts = view.parts.map((part) => (part.kind === "text" && match(part) ? { ...part, state } : part));
}

function newText(data: FrameData): TextPart {
  const stepIndex = typeof data.step_index === "number" ? data.step_index : 0;
  return {
    kind: "text",
    key: `text-${data.seq}`,
    seq: data.seq,
    stepIndex,
    output: "",
    reasoning: "",
    state: "writing",
  };
}
