import { expect, test } from "bun:test";
import { Elysia } from "elysia";
import { syncHook } from "./sync-hook.ts";

test("a synchronous hook is not awaited, whatever its source looks like", () => {
  const hook = () => Object.freeze(undefined);
  const answer = (of: typeof hook) =>
    new Elysia().onRequest(of).get("/", "yes").fetch(new Request("http://localhost/"));
  expect(answer(hook)).toBeInstanceOf(Promise);
  expect(answer(syncHook(hook))).toBeInstanceOf(Response);
});
