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

test("a handoff stands in the place of its call, and the way back leads to the run's own agent", () => {
  const call = { id: "c", name: "transfer_to_refunds", arguments: { reason: "Broken." } };
  const answer = (id: string, more: Partial<ThreadMessage>) => message({ id, role: "assistant", content: id, ...more });
  const parts = conversation([
    message({}),
    answer("msg_2", { tool_calls: [call] }),
    message({ id: "msg_3", role: "tool", content: "{}", tool_call_id: "c" }),
    answer("msg_4", { agent_id: "agt_2", interrupted: true }),
    answer("msg_5", {}),
    answer("msg_6", { run_id: "run_2" }),
  ]);
  expect(parts[0]?.items).toMatchObject([
    { kind: "said", by: "user" },
    { kind: "said", text: "msg_2" },
    { kind: "handoff", agentId: "agt_2", reason: "Broken." },
    { kind: "said", text: "msg_4", isInterrupted: true },
    { kind: "handoff", agentId: null },
    { kind: "said", text: "msg_5" },
  ]);
  expect(parts[1]?.items).toMatchObject([{ kind: "said", text: "msg_6" }]);
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
