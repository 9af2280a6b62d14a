import { expect, test } from "bun:test";
import type { RunSteered } from "./run-event.ts";
import { afterCall, isInterrupted, releaseHeld, takeSteered, unansweredMessages } from "./steering.ts";

type Said = { role: string; id: string; steered?: true };
const add = (list: Said[], item: Said) => [...list, item];
const event = (message_id: string, more: Partial<RunSteered> = {}): RunSteered => ({
  message_id,
  content: "Hi",
  ...more,
});
const empty = { messages: [] as Said[], open: [] as { step_type: "model_call" | "compaction" | "tool_call" }[] };
const idsOf = (list: readonly { id: string }[] = []) => list.map(({ id }) => id);

test("a message joins the conversation at once, unless the prompt is being sent or the provider has to go on", () => {
  expect(idsOf(takeSteered(empty, event("a"), 1, add).messages)).toEqual(["a"]);
  const during = (step_type: "model_call" | "compaction" | "tool_call") =>
    takeSteered({ ...empty, open: [{ step_type }] }, event("a"), 1, add);
  expect(idsOf(during("tool_call").messages)).toEqual(["a"]);
  for (const step of ["model_call", "compaction"] as const) {
    expect(during(step).messages).toBeUndefined();
    expect(idsOf(during(step).held)).toEqual(["a"]);
  }
  expect(idsOf(takeSteered({ ...empty, is_continued: true }, event("a"), 1, add).held)).toEqual(["a"]);
});

test("held messages follow the answer in their order, and are held no longer", () => {
  const open = [{ step_type: "model_call" as const }];
  const first = { ...empty, open, ...takeSteered({ ...empty, open }, event("a"), 1, add) };
  const second = { ...first, ...takeSteered(first, event("b", { interrupt: true }), 2, add) };
  expect([isInterrupted(first), isInterrupted(second)]).toEqual([false, true]);
  expect(unansweredMessages(second)).toBe(2);
  const after = { ...second, open: [], ...afterCall({ ...second, open: [] }, false, add) };
  expect([idsOf(after.messages), after.held]).toEqual([["a", "b"], []]);
  expect(after.messages.some((message) => "interrupt" in message)).toBe(false);
  expect(unansweredMessages(after)).toBe(2);
  expect(unansweredMessages({ messages: [...after.messages, { role: "assistant", id: "c" }] })).toBe(0);
});

test("messages wait for the end of an answer that the provider paused, and interrupt no later call", () => {
  const open = [{ step_type: "model_call" as const }];
  const held = { ...empty, open, ...takeSteered({ ...empty, open }, event("a", { interrupt: true }), 1, add) };
  const paused = { ...held, is_continued: true, ...afterCall({ ...held, open: [], is_continued: true }, false, add) };
  expect([paused.messages, idsOf(paused.held), isInterrupted(paused)]).toEqual([[], ["a"], false]);
  const cancelled = afterCall({ ...paused, open: [] }, true, add);
  expect([idsOf(cancelled.messages), cancelled.is_continued]).toEqual([["a"], false]);
});

test("documents of a message are read once it joins the conversation, after the history and before a search", () => {
  const files = [{ file_id: "file_1", mime_type: "text/plain", sha256: "0", filename: "a.txt" }];
  const withFiles = event("a", { files });
  const idle = { ...empty, to_prepare: ["history" as const, "retrieval" as const] };
  expect(takeSteered(idle, withFiles, 1, add).to_prepare).toEqual(["history", "documents", "retrieval"]);
  expect(takeSteered({ ...idle, to_prepare: [] }, withFiles, 1, add).to_prepare).toEqual(["documents"]);
  expect(takeSteered(idle, event("a"), 1, add)).not.toHaveProperty("to_prepare");
  const busy = { ...empty, to_prepare: [], open: [{ step_type: "model_call" as const }] };
  const held = { ...busy, ...takeSteered(busy, withFiles, 1, add) };
  expect(held.to_prepare).toEqual([]);
  expect(releaseHeld(held, add).to_prepare).toEqual(["documents"]);
});
