import { expect, test } from "bun:test";
import { afterFailure } from "./after-failure.ts";
import { unknownPolicies } from "./agent-snapshot.ts";

const tools = [true, false].flatMap((idempotent) => unknownPolicies.map((on_unknown) => ({ idempotent, on_unknown })));

test.each(tools)("a call that was never sent may be repeated, and one that was answered has failed: %o", (tool) => {
  expect([afterFailure("not_sent", tool), afterFailure("answered", tool)]).toEqual(["repeat", "fail"]);
});

test.each(tools)(
  "what left is repeated where that is safe or wanted, and nothing is guessed of the rest: %o",
  (tool) => {
    const expected = tool.idempotent || tool.on_unknown === "retry" ? "repeat" : tool.on_unknown;
    expect(afterFailure("sent", tool)).toBe(expected);
  },
);
