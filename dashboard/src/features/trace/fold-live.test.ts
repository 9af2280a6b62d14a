import { describe, expect, test } from "bun:test";
import type { Frame } from "../../lib/types.ts";
import { emptyLive, foldLive } from "./fold-live.ts";

const at = "2026-11-21T01:20:00.123Z";

const entry = (seq: number, event: string, data: Record<string, unknown> = {}): Frame => ({
  id: String(seq),
  event,
  data: { seq, at, ...data },
});
const token = (seq: number, offset: number, delta: string, kind = "output"): Frame => ({
  id: `${seq}.${offset}`,
  event: "token",
  data: { seq, at, step_index: 0, offset, delta, kind },
});
const textOf = (frames: Frame[]) => foldLive(emptyLive, frames).texts.get(0);

describe("the text of a model call", () => {
  test("is the same however the stream is cut into batches", () => {
    const frames = [token(2, 3, "One"), token(2, 7, " two"), token(2, 13, " three")];
    const single = frames.reduce((view, frame) => foldLive(view, [frame]), emptyLive);
    expect(single).toEqual(foldLive(emptyLive, frames));
    expect(textOf(frames)?.output).toBe("One two three");
  });

  test("holds nothing twice when frames come again, or overlap", () => {
    const frames = [token(2, 3, "One"), token(2, 7, " two")];
    expect(textOf([...frames, ...frames])?.output).toBe("One two");
    expect(textOf([token(2, 3, "One"), token(2, 7, "One two")])?.output).toBe("One two");
  });

  test("keeps reasoning apart from output, both counting for the offset", () => {
    expect(textOf([token(2, 4, "Hmm.", "reasoning"), token(2, 8, "Yes.")])).toMatchObject({
      reasoning: "Hmm.",
      output: "Yes.",
    });
  });

  test("begins anew once its step was restarted, and what was given up does not come back", () => {
    const restarted = entry(3, "step.restarted", { step_index: 0, attempt: 2, discards: 2 });
    expect(textOf([token(2, 4, "Lost"), restarted])).toBeUndefined();
    expect(textOf([token(2, 4, "Lost"), restarted, token(3, 4, "Kept"), token(2, 8, "more")])?.output).toBe("Kept");
  });
});

describe("the status of a run", () => {
  const status = (...events: [string, object?][]) =>
    foldLive(
      emptyLive,
      events.map(([event, data], index) => entry(index + 1, event, { ...data })),
    ).status;

  test("is that of its newest event that tells one", () => {
    expect(status(["run.queued"], ["run.started"], ["step.started"])).toBe("in_progress");
    expect(status(["run.started"], ["run.requires_action"])).toBe("requires_action");
    expect(status(["run.failed", { status: "cancelled" }])).toBe("cancelled");
  });

  test("does not go back when an old event comes again", () => {
    const view = foldLive(emptyLive, [entry(4, "run.completed", { status: "completed" })]);
    expect(foldLive(view, [entry(2, "run.resumed")]).status).toBe("completed");
  });
});

test("a view that was handed out does not change", () => {
  const before = foldLive(emptyLive, [token(2, 3, "One")]);
  const copy = structuredClone(before);
  foldLive(before, [token(2, 7, " two"), entry(3, "run.completed", { status: "completed" })]);
  expect(before).toEqual(copy);
});
