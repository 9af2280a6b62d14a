import { expect, test } from "bun:test";
import { createLateRef } from "./late-ref.ts";

test("a late reference throws before it is set, by its name, and if it is set twice", () => {
  const greeting = createLateRef<{ hello(): string }>("the greeting");
  expect(greeting).toThrow("the greeting is not provided yet.");
  greeting.provide({ hello: () => "Hello." });
  expect(greeting().hello()).toBe("Hello.");
  expect(() => greeting.provide({ hello: () => "Goodbye." })).toThrow("the greeting is provided already.");
});
