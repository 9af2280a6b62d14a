import { expect, test } from "bun:test";
import { Elysia } from "elysia";
import { atOnce } from "./at-once.ts";

test("a hook that awaits nothing is not awaited, whatever its text looks like", () => {
  const hook = () => Object.freeze(undefined);
  const answer = (of: typeof hook) =>
    new Elysia().onRequest(of).get("/", "yes").fetch(new Request("http://localhost/"));
  expect(answer(hook)).toBeInstanceOf(Promise);
  expect(answer(atOnce(hook))).toBeInstanceOf(Response);
});
