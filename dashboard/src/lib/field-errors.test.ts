import { expect, test } from "bun:test";
import { ApiError } from "./api.ts";
import { fieldErrorOf, serverFieldErrors } from "./field-errors.ts";

const refusal = (param: string, message: string) =>
  new ApiError(400, "validation_failed", message, null, [{ param, message }]);

test("a field's error includes errors of its list entries and omits the API name", () => {
  expect(fieldErrorOf(refusal("cron", "cron: Must have five fields."), "cron")).toBe("Must have five fields.");
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

test("an error is at the field with the longest part of its path, and else beside the form", () => {
  const draft = { "auth.issuer": "", "auth.scopes": "", limits: "", base_url: "" };
  const placed = (param: string) => serverFieldErrors(refusal(param, `${param}: No.`), draft);
  expect(placed("auth.issuer")).toEqual({ faults: { "auth.issuer": "No." }, rest: [] });
  expect(placed("auth.scopes[3]")).toEqual({ faults: { "auth.scopes": "No." }, rest: [] });
  expect(placed("limits.steps[0].most")).toEqual({ faults: { limits: "No." }, rest: [] });
  expect(placed("base_url")).toEqual({ faults: { base_url: "No." }, rest: [] });
  for (const param of ["auth", "auth.issuers", "base_urls", "", "toString.x"])
    expect(placed(param).rest).toHaveLength(1);
});
