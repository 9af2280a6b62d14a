import { type Frame, type FrameData, type RunStatus, terminalEvents } from "../../lib/types.ts";

/** What a model call has written so far. `seq` is the start that it belongs to: a later one begins anew. */
export interface LiveText {
  seq: number;
  output: string;
  reasoning: string;
}

/** A run that goes on, ahead of what was read of it. */
export interface LiveView {
  /** By the index of their steps. */
  texts: ReadonlyMap<number, LiveText>;
  status: RunStatus | null;
  /** The newest journaled event. */
  seq: number;
}

export const emptyLive: LiveView = { texts: new Map(), status: null, seq: 0 };

const statuses: Record<string, RunStatus> = {
  "run.queued": "queued",
  "run.requires_action": "requires_action",
  "run.started": "in_progress",
  "run.resumed": "in_progress",
  "run.recovered": "in_progress",
};

/** The view after a batch of frames. Frames that it has already seen change nothing. */
export function foldLive(view: LiveView, frames: readonly Frame[]): LiveView {
  const texts = new Map(view.texts);
  let { status, seq } = view;
  for (const { event, data } of frames) {
    if (event === "token") addText(texts, data);
    else if (data.seq > seq) {
      seq = data.seq;
      status = terminalEvents.includes(event) ? (data.status as RunStatus) : (statuses[event] ?? status);
      if (event === "step.restarted") texts.delete(Number(data.step_index));
    }
  }
  return { texts, status, seq };
}

function addText(texts: Map<number, LiveText>, data: FrameData): void {
  const index = Number(data.step_index);
  const known = texts.get(index);
  if (known && known.seq > data.seq) return; // Of an attempt that was given up.
  const text = known?.seq === data.seq ? known : { seq: data.seq, output: "", reasoning: "" };
  const delta = typeof data.delta === "string" ? data.delta : "";
  // `offset` counts all characters of the step up to this delta, so what is already here is known and cut off.
  const held = text.output.length + text.reasoning.length;
  const offset = typeof data.offset === "number" ? data.offset : held + delta.length;
  if (offset <= held) return;
  const fresh = delta.slice(Math.max(0, delta.length - (offset - held)));
  const kind = data.kind === "reasoning" ? "reasoning" : "output";
  texts.set(index, { ...text, [kind]: text[kind] + fresh });
}
