import { expect, test } from "bun:test";
import { createSignal } from "./signal.ts";

test("whoever listens is told of everything, in the order in which they began to", () => {
  const named = createSignal<[name: string]>();
  const heard: string[] = [];
  named.listen((name) => heard.push(`first ${name}`));
  named.tell("a");
  named.listen((name) => heard.push(`second ${name}`));
  named.tell("b");
  expect(heard).toEqual(["first a", "first b", "second b"]);
});
