import { describe, expect, test } from "bun:test";
import { parseWorkspace, toPublicUrl, toRouterUrl } from "./workspace-address.ts";

const inner = (path: string) => toRouterUrl(new URL(path, "http://localhost")).href.slice("http://localhost".length);
const outer = (path: string) => toPublicUrl(new URL(path, "http://localhost")).href.slice("http://localhost".length);

describe("an address with project and mode", () => {
  test.each(["/proj_1/live/runs/run_1?step=3#end", "/proj_1/test", "/proj_1/live/runs?q=two+words&status=failed"])(
    "%s is unchanged after the routes parsed it",
    (address) => {
      expect(inner(address)).toContain("workspace=proj_1%2F");
      expect(outer(inner(address))).toBe(address);
    },
  );

  test("is a plain path to the routes, and a project alone means test mode", () => {
    expect(inner("/proj_1/live/runs")).toBe("/runs?workspace=proj_1%2Flive");
    expect(inner("/proj_1/runs")).toBe("/runs?workspace=proj_1%2Ftest");
    expect(inner("/proj_1")).toBe("/?workspace=proj_1%2Ftest");
  });

  test("cannot be set by a query parameter", () => {
    expect(inner("/runs?workspace=proj_2%2Flive&q=a")).toBe("/runs?q=a");
    expect(inner("/proj_1/test/runs?workspace=proj_2%2Flive")).toBe("/runs?workspace=proj_1%2Ftest");
  });
});

test("an address without project and mode stays unchanged", () => {
  for (const address of ["/login?to=/runs", "/runs/run_1?tab=raw#x", "/"]) {
    expect(inner(address)).toBe(address);
    expect(outer(address)).toBe(address);
  }
});

test("an invalid workspace is null", () => {
  expect(parseWorkspace("proj_1/live")).toEqual({ projectId: "proj_1", mode: "live" });
  for (const text of [undefined, null, "", "proj_1", "proj_1/prod", "proj_1/live/x", "//evil.example/live"])
    expect(parseWorkspace(text)).toBeNull();
});
