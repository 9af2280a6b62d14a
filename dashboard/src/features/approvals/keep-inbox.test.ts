import { expect, test } from "bun:test";
import { mergeInbox } from "./keep-inbox.ts";

const call = (id: string, needs = "approval") => ({ id, needs });
const open = (id: string) => ({ call: call(id), isGone: false });
const nothing = new Set<string>();

test("a call answered elsewhere keeps its place and is marked", () => {
  expect(mergeInbox([open("a"), open("b")], [call("b")], nothing)).toEqual([
    { call: call("a"), isGone: true },
    open("b"),
  ]);
});

test("a call answered here is removed", () => {
  expect(mergeInbox([open("a"), open("b")], [call("b")], new Set(["a approval"]))).toEqual([open("b")]);
});

test("a new call is appended, and a call that needs another answer is open again", () => {
  const shown = [{ call: call("a"), isGone: true }];
  const answered = new Set(["a approval"]);
  expect(mergeInbox(shown, [call("c")], answered)).toEqual([open("c")]);
  const again = mergeInbox([], [call("a", "output")], answered);
  expect(mergeInbox(again, [], answered)).toEqual([{ call: call("a", "output"), isGone: true }]);
});
