import { expect, test } from "bun:test";
import type { Log } from "../lib/log.ts";
import { testApp } from "../testing/test-app.ts";

test("a client's own request id stands in the log beside ours, cut at 128 characters", async () => {
  const lines: Record<string, unknown>[] = [];
  const log: Log = { info: (_, fields) => lines.push(fields ?? {}), warn() {}, error() {} };
  await using server = testApp({ log });
  const { headers } = await server.send("GET", "/healthz", undefined, { "x-client-request-id": "c".repeat(200) });
  await server.send("GET", "/healthz");
  expect(lines).toEqual([
    { request_id: headers.get("x-request-id"), client_request_id: "c".repeat(128), method: "GET", path: "/healthz" },
  ]);
});
