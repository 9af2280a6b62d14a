import { expect, test } from "bun:test";
import { head_bytes, refuseLargeHead } from "./refuse-large-head.ts";

const withHeader = (name: string, value: string) => new Request("https://localhost/", { headers: [[name, value]] });

test.each(["x-anything", "set-cookie", "cookie"])("the size of a request's head counts the text of %s", (name) => {
  expect(() => refuseLargeHead(withHeader(name, "x".repeat(head_bytes - 100)))).not.toThrow();
  expect(() => refuseLargeHead(withHeader(name, "x".repeat(head_bytes)))).toThrow("have at most");
});
