import { expect, test } from "bun:test";
import { createPort } from "./port.ts";

test("what is asked before it is provided is refused by its name, and nobody provides it twice", () => {
  const greeting = createPort<{ hello(): string }>("the greeting");
  expect(greeting).toThrow("Nobody provides the greeting yet.");
  greeting.provide({ hello: () => "Hello." });
  expect(greeting().hello()).toBe("Hello.");
  expect(() => greeting.provide({ hello: () => "Goodbye." })).toThrow("Somebody provides the greeting already.");
});
