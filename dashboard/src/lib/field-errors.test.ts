import { expect, test } from "bun:test";
import { ApiError } from "./api.ts";
import { fieldErrorOf } from "./field-errors.ts";

const refusal = (param: string, message: string) =>
  new ApiError(400, "validation_failed", message, null, [{ param, message }]);

test("a field's error includes errors of its list entries and omits the API name", () => {
  expect(fieldErrorOf(refusal("cron", "cron: Expected five fields."), "cron")).toBe("Expected five fields.");
  expect(fieldErrorOf(refusal("limits.a", "limits.a: Too large."), "limits.a")).toBe("Too large.");
  expect(fieldErrorOf(refusal("allowed_cidrs[1]", "allowed_cidrs[1]: No network."), "allowed_cidrs")).toBe(
    "No network.",
  );
});

test("other fields and other errors return null", () => {
  expect(fieldErrorOf(refusal("cronometer", "x"), "cron")).toBeNull();
  expect(fieldErrorOf(new Error("lost"), "cron")).toBeNull();
  expect(fieldErrorOf(null, "cron")).toBeNull();
});
