import { expect, test } from "bun:test";
import { orUnavailable } from "./cluster-unavailable.ts";

test("a failure of Postgres during a request gives a 503 with Retry-After, not a 500", async () => {
  const cause = new Error("The engine does not answer: ECONNRESET");
  await expect(orUnavailable(Promise.reject(cause))).rejects.toMatchObject({
    code: "cluster_unavailable",
    status: 503,
    cause,
  });
  expect(await orUnavailable(Promise.resolve(["proj_1"]))).toEqual(["proj_1"]);
});
