import { expect, test } from "bun:test";
import { readWebhookSearch } from "./read-webhook-search.ts";

test("filters and delivery are read from an address, and invalid values are left out", () => {
  expect(readWebhookSearch({ status: "failed", type: "run.failed", delivery: "dlv_1", after: "dlv_2" })).toEqual({
    status: "failed",
    type: "run.failed",
    delivery: "dlv_1",
    after: "dlv_2",
  });
  expect(readWebhookSearch({ status: "odd", type: "<b>", delivery: "run_1", after: "whk_2" })).toEqual({});
});
