import { expect, test } from "bun:test";
import { withoutIds } from "./without-ids.ts";

test("ids are dropped and all other parameters are kept", () => {
  const id = "agt_01kahvz3pn0000000000000000";
  expect(withoutIds({ agent: id, after: id, status: "failed", q: "agt_", step: 3 })).toEqual({
    status: "failed",
    q: "agt_",
    step: 3,
  } as object);
});
