import { expect, test } from "bun:test";
import { normalizeHost } from "./normalize-host.ts";

test.each([
  ["https://a/v1/me?x=1", "https://localhost/v1/me?x=1"],
  ["http://hq/v1/me", "http://localhost/v1/me"],
  ["http://abc/", "http://localhost/"],
  ["http://abcd/a/b", "http://abcd/a/b"],
  ["https://a:8443/v1/me", "https://a:8443/v1/me"],
])("%s is routed as %s", (url, routed) => {
  expect(normalizeHost(new Request(url)).url).toBe(routed);
});

test("headers and body stay the same", async () => {
  const request = new Request("https://a/v1/runs", { method: "POST", body: "{}", headers: { host: "a" } });
  expect(normalizeHost(request)).toBe(request);
  expect([request.headers.get("host"), await request.text()]).toEqual(["a", "{}"]);
});
