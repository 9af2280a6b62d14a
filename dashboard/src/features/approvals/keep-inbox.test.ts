import { expect, test } from "bun:test";
import { keepInbox } from "./keep-inbox.ts";

const call = (id: string, needs = "approval") => ({ id, needs });
const open = (id: string) => ({ call: call(id), isGone: false });
const nothing = new Set<string>();

test("what was answered elsewhere keeps its place and says so", () => {
  expect(keepInbox([open("a"), open("b")], [call("b")], nothing)).toEqual([
    { call: call("a"), isGone: true },
    open("b"),
  ]);
});

test("what was answered here goes", () => {
  expect(keepInbox([open("a"), open("b")], [call("b")], new Set(["a approval"]))).toEqual([open("b")]);
});

test("what is new comes last, and what asks for something else is open again", () => {
  const shown = [{ call: call("a"), isGone: true }];
  const answered = new Set(["a approval"]);
  expect(keepInbox(shown, [call("c")], answered)).toEqual([open("c")]);
  const again = keepInbox([], [call("a", "output")], answered);
  expect(keepInbox(again, [], answered)).toEqual([{ call: call("a", "output"), isGone: true }]);
});
