import { expect, test } from "bun:test";
import { createEventEmitter } from "./event-emitter.ts";

test("listeners get every event, in the order of subscription", () => {
  const named = createEventEmitter<[name: string]>();
  const heard: string[] = [];
  named.listen((name) => heard.push(`first ${name}`));
  named.tell("a");
  named.listen((name) => heard.push(`second ${name}`));
  named.tell("b");
  expect(heard).toEqual(["first a", "first b", "second b"]);
});
