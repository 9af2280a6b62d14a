import { describe, expect, test } from "bun:test";
import { corpus } from "../__fixtures__/corpus.ts";
import { cancelError } from "../run-error.ts";
import { fold, isOver } from "../run-state.ts";
import type { RunFrame } from "./events.ts";
import { frameOf } from "./frames.ts";
import { emptyRunView, foldFrames, type TextPart, type ToolPart, textOfStep, withoutHandoffCalls } from "./run-view.ts";

const at = "2026-11-21T01:20:00.123Z";

const entry = <Name extends RunFrame["event"]>(
  seq: number,
  event: Name,
  data: Partial<Extract<RunFrame, { event: Name }>["data"]> = {},
) => ({ event, data: { seq, at, run_id: "run_1", ...data } }) as RunFrame;

const token = (seq: number, offset: number, delta: string, kind: "output" | "reasoning" = "output") =>
  entry(seq, "token", { step_index: 0, offset, delta, kind });

function textOf(frames: RunFrame[]): string {
  const parts = foldFrames(emptyRunView, frames).parts.filter((part): part is TextPart => part.kind === "text");
  return parts
    .filter((part) => part.state !== "void")
    .map((part) => part.output)
    .join("|");
}

const started = [
  entry(1, "run.created", { status: "in_progress" }),
  entry(2, "step.started", { step_index: 0, type: "model_call" }),
];

describe("text of a stream", () => {
  test("is the same however the stream is cut into batches", () => {
    const frames = [...started, token(2, 3, "One"), token(2, 7, " two"), token(2, 13, " three")];
    const whole = foldFrames(emptyRunView, frames);
    const single = frames.reduce((view, frame) => foldFrames(view, [frame]), emptyRunView);
    expect(single).toEqual(whole);
    expect(textOf(frames)).toBe("One two three");
  });

  test("holds nothing twice when frames come again", () => {
    const frames = [...started, token(2, 3, "One"), token(2, 7, " two")];
    expect(textOf([...frames, ...frames])).toBe("One two");
  });

  test("adds only the new end of a delta that overlaps", () => {
    expect(textOf([...started, token(2, 3, "One"), token(2, 7, "One two")])).toBe("One two");
  });

  test("keeps reasoning apart from output, both counting for the offset", () => {
    const view = foldFrames(emptyRunView, [...started, token(2, 4, "Hmm.", "reasoning"), token(2, 8, "Yes.")]);
    expect(view.parts[0]).toMatchObject({ reasoning: "Hmm.", output: "Yes." });
  });

  test("is void once its step was restarted, and starts again", () => {
    const restarted = entry(3, "step.restarted", { step_index: 0, attempt: 2, discards: 2 });
    const frames = [...started, token(2, 4, "Lost"), restarted, token(3, 4, "Kept")];
    expect(textOf(frames)).toBe("Kept");
    expect(foldFrames(emptyRunView, frames).parts[0]).toMatchObject({ output: "Lost", state: "void" });
  });

  test("of a restarted step may also follow a new start", () => {
    const again = [
      entry(3, "step.restarted", { step_index: 0, attempt: 2, discards: 2 }),
      entry(4, "step.started", { step_index: 0, type: "model_call", attempt: 2 }),
    ];
    expect(textOf([...started, token(2, 4, "Lost"), ...again, token(4, 4, "Kept")])).toBe("Kept");
  });
});

describe("tool calls", () => {
  const requested = entry(2, "tool.requested", {
    tool: "lookup",
    args: { id: 1 },
    tool_call_id: "call_1",
    needs: null,
  });

  test("run from their request to their result", () => {
    const completed = entry(3, "tool.completed", {
      tool_call_id: "call_1",
      status: "completed",
      result: { ok: 1 },
      error: null,
      latency_ms: 5,
    });
    expect(foldFrames(emptyRunView, [requested]).parts[0]).toMatchObject({ state: "running" });
    expect(foldFrames(emptyRunView, [requested, completed]).parts[0]).toMatchObject({
      state: "completed",
      result: { ok: 1 },
      latencyMs: 5,
    });
  });

  test("that fail say so", () => {
    const failed = entry(3, "tool.completed", {
      tool_call_id: "call_1",
      status: "failed",
      result: null,
      error: { code: "tool_error", message: "No." },
    });
    expect(foldFrames(emptyRunView, [requested, failed]).parts[0]).toMatchObject({
      state: "failed",
      error: { code: "tool_error" },
    });
  });

  test("that later need an answer stay one call", () => {
    const asked = entry(3, "tool.requested", { tool: "lookup", args: {}, tool_call_id: "call_1", needs: "reconcile" });
    const parts = foldFrames(emptyRunView, [requested, asked]).parts as ToolPart[];
    expect(parts.map((part) => part.state)).toEqual(["waiting"]);
  });

  test("that are open at the end of the run never look active", () => {
    const failed = entry(3, "run.failed", { status: "cancelled", error: cancelError(null) });
    const view = foldFrames(emptyRunView, [requested, failed]);
    expect(view.parts[0]).toMatchObject({ state: "ended" });
    expect(view.status).toBe("cancelled");
  });
});

describe("journaled events", () => {
  test("are listed once each, in order, and tokens never", () => {
    const frames = [
      ...started,
      token(2, 3, "One"),
      ...started,
      entry(3, "run.completed", { status: "completed", output: "One" }),
    ];
    const view = foldFrames(emptyRunView, frames);
    expect(view.entries.map((known) => known.data.seq)).toEqual([1, 2, 3]);
    expect(view).toMatchObject({ status: "completed", output: "One" });
  });

  test("do not change a view that was already handed out", () => {
    const before = foldFrames(emptyRunView, started);
    const copy = structuredClone(before);
    foldFrames(before, [token(2, 3, "One"), entry(3, "run.completed", { status: "completed" })]);
    expect(before).toEqual(copy);
  });
});

test("an answer is marked as interrupted if a message of the user ended it, and not if the message waits", () => {
  const steered = (interrupt: boolean) => entry(3, "run.steered", { message_id: "msg_1", content: "Stop", interrupt });
  const partsAfter = (interrupt: boolean) =>
    foldFrames(emptyRunView, [...started, token(2, 3, "One"), steered(interrupt)]).parts;
  expect(partsAfter(true)).toMatchObject([
    { output: "One", isInterrupted: true },
    { kind: "message", content: "Stop" },
  ]);
  expect(partsAfter(false)[0]).not.toHaveProperty("isInterrupted");
});

test("a handoff is a part that says who answers, and stands for its call", () => {
  const call = { tool_call_id: "call_1", tool: "transfer_to_refunds", type: "handoff", args: {}, needs: null };
  const { parts } = foldFrames(emptyRunView, [
    ...started,
    entry(3, "tool.requested", call),
    entry(4, "handoff.completed", { tool_call_id: "call_1", agent_name: "Refunds", reason: "Broken." }),
  ]);
  expect(withoutHandoffCalls(parts).slice(1)).toEqual([
    { kind: "handoff", key: "handoff call_1", callId: "call_1", agentName: "Refunds", reason: "Broken." },
  ]);
});

test("a queued run is queued until it starts", () => {
  const queued = [
    entry(1, "run.created", { status: "queued" }),
    entry(2, "run.queued", { status: "queued", queue_position: 2 }),
  ];
  const view = foldFrames(emptyRunView, queued);
  expect(view.status).toBe("queued");
  expect(foldFrames(view, [entry(3, "run.started", { status: "in_progress" })]).status).toBe("in_progress");
});

test("a status does not go back when an old event comes again", () => {
  const view = foldFrames(emptyRunView, [entry(4, "run.completed", { status: "completed" })]);
  expect(foldFrames(view, [entry(2, "run.resumed")]).status).toBe("completed");
});

test("the text of a step is that of its newest attempt, also for a reader that joined in between", () => {
  const restarted = entry(3, "step.restarted", { step_index: 0, attempt: 2, discards: 2 });
  const view = (...frames: RunFrame[]) => textOfStep(foldFrames(emptyRunView, frames), 0)?.output;
  expect(view(token(2, 4, "Lost"))).toBe("Lost");
  expect(view(token(2, 4, "Lost"), restarted)).toBeUndefined();
  expect(view(token(2, 4, "Lost"), restarted, token(3, 4, "Kept"), token(2, 8, "more"))).toBe("Kept");
});

test.each(corpus)("the events of $name fold to the same state as the journal", ({ entries }) => {
  const state = fold(entries);
  const view = foldFrames(
    emptyRunView,
    entries.map((entry) => frameOf(state.run.run_id, entry) as unknown as RunFrame),
  );
  expect(view.status).toBe(state.status);
  if (isOver(state.status)) expect(view.output).toBe(state.output);
  // Copied entries cost nothing, whatever their last event says.
  if (isOver(state.status) && !state.run.recorded_to) expect(view.usage).toEqual(state.usage);
  if (state.status !== "cancelled") expect(view.error).toEqual(state.error);
  const calls = view.parts.filter((part) => part.kind === "tool");
  expect(calls.map(({ id, tool, result = null }) => ({ id, tool, result }))).toEqual(
    state.calls.map(({ id, tool, output }) => ({ id, tool, result: output ?? null })),
  );
});
