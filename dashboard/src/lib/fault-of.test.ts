import { expect, test } from "bun:test";
import { ApiError } from "./api.ts";
import { faultOf } from "./fault-of.ts";

const refusal = (param: string, message: string) =>
  new ApiError(400, "validation_failed", message, null, [{ param, message }]);

test("a fault is found by its field, or by the entry of a list, without the wire name", () => {
  expect(faultOf(refusal("cron", "cron: Expected five fields."), "cron")).toBe("Expected five fields.");
  expect(faultOf(refusal("limits.a", "limits.a: Too large."), "limits.a")).toBe("Too large.");
  expect(faultOf(refusal("allowed_cidrs[1]", "allowed_cidrs[1]: No network."), "allowed_cidrs")).toBe("No network.");
});

test("other fields and other errors have nothing to say", () => {
  expect(faultOf(refusal("cronometer", "x"), "cron")).toBeNull();
  expect(faultOf(new Error("lost"), "cron")).toBeNull();
  expect(faultOf(null, "cron")).toBeNull();
});
