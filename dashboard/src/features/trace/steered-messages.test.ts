import { expect, test } from "bun:test";
import { steeredInto, waitingMessages } from "./steered-messages.tsx";
import { stepOf } from "./trace-fixtures.ts";

const said = (id: string, more: object = {}) => ({ id, role: "user" as const, content: id, created_at: "", ...more });
const steered = (id: string) => said(id, { steered: true as const });
const step = stepOf(1, {
  type: "model_call",
  input: { messages: [said("msg_0"), steered("msg_1"), { id: "msg_2", role: "assistant", content: "Yes." }] },
});

test("a message belongs to the first model call that has it", () => {
  expect(steeredInto(step).map(({ id }) => id)).toEqual(["msg_1"]);
  expect(steeredInto(stepOf(2))).toEqual([]);
});

test("a message waits until a model call has it, whether the run or its stream told of it", () => {
  const run = { status: "paused" as const, messages: [said("msg_0"), steered("msg_1"), steered("msg_3")] };
  const part = { kind: "message" as const, key: "msg_4", content: "Now" };
  const waiting = waitingMessages(run, [step], { parts: [part, { ...part, key: "msg_3" }] });
  expect(waiting.map(({ id }) => id).toSorted()).toEqual(["msg_3", "msg_4"]);
  expect(waitingMessages({ ...run, status: "completed" }, [step], { parts: [part] })).toEqual([]);
});
