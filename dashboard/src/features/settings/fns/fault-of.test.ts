import { expect, test } from "bun:test";
import { ApiError } from "../../../lib/api.ts";
import { faultOf } from "./fault-of.ts";

const refusal = new ApiError(400, "validation_failed", "limits.a: Too large.", null, [
  { param: "limits.a", message: "limits.a: Too large." },
  { param: "name", message: "There is such a name." },
]);

test("a field shows what the server said of it, without the wire's name", () => {
  expect(faultOf(refusal, "limits.a")).toBe("Too large.");
  expect(faultOf(refusal, "name")).toBe("There is such a name.");
});

test("a field shows nothing of what was said of another, nor of another kind of failure", () => {
  expect(faultOf(refusal, "limits.b")).toBeNull();
  expect(faultOf(new ApiError(0, "unreachable", "No answer."), "name")).toBeNull();
  expect(faultOf(new Error("x"), "name")).toBeNull();
  expect(faultOf(null, "name")).toBeNull();
});
