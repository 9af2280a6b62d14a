import { expect, test } from "bun:test";
import { orAway } from "./cluster-away.ts";

test("an engine that fails in the middle of a request gives a 503 with Retry-After, and no 500", async () => {
  const cause = new Error("The engine does not answer: ECONNRESET");
  await expect(orAway(Promise.reject(cause))).rejects.toMatchObject({
    code: "cluster_unavailable",
    status: 503,
    cause,
  });
  expect(await orAway(Promise.resolve(["proj_1"]))).toEqual(["proj_1"]);
});
