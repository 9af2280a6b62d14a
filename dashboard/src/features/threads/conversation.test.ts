import { expect, test } from "bun:test";
import type { ThreadMessage } from "../../../../server/domain/api-types/thread.ts";
import { conversation, removeSentText } from "./conversation.ts";
import { metadataFault } from "./edit-thread.tsx";
import { readThreadsSearch } from "./read-threads-search.ts";

const message = (part: Partial<ThreadMessage>): ThreadMessage => ({
  id: "msg_1",
  run_id: "run_1",
  role: "user",
  content: "Hello",
  created_at: "2026-11-21T02:00:00.000Z",
  ...part,
});

test("messages are grouped by run, and a tool's output is paired with its call", () => {
  const parts = conversation([
    message({}),
    message({ id: "msg_2", role: "assistant", content: "", tool_calls: [{ id: "c", name: "look", arguments: {} }] }),
    message({ id: "msg_3", role: "tool", content: "42", tool_call_id: "c" }),
    message({ id: "msg_4", role: "assistant", content: "It is 42." }),
    message({ id: "msg_5", run_id: "run_2", content: "Thanks" }),
  ]);
  expect(parts.map(({ runId }) => runId)).toEqual(["run_1", "run_2"]);
  expect(parts[0]?.items).toMatchObject([
    { kind: "said", by: "user", text: "Hello" },
    { kind: "call", name: "look", output: "42" },
    { kind: "said", by: "assistant", text: "It is 42." },
  ]);
});

test("metadata must be pairs of strings", () => {
  expect(metadataFault({ a: "1" })).toBeNull();
  expect(metadataFault([1])).toMatch(/object/);
  expect(metadataFault({ a: 1 })).toMatch(/“a”/);
  expect(metadataFault({ a: "x".repeat(513) })).toMatch(/512/);
});

test("valid filters are read from an address and others are ignored", () => {
  expect(readThreadsSearch({ user: "ada", status: "tired", session: 7 })).toEqual({ user: "ada", session: "7" });
});

test("text written while a message is being sent stays in the field", () => {
  expect(removeSentText("Hello", "Hello")).toBe("");
  expect(removeSentText("Hello again", "Hello")).toBe(" again");
  expect(removeSentText("Something else", "Hello")).toBe("Something else");
});
