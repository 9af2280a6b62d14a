import { expect, test } from "bun:test";
import { createLog, type Log } from "../lib/log.ts";
import { testApp } from "../testing/test-app.ts";

test("the URL of a callback or of a consent, which is a secret, is not logged with a client's request id", async () => {
  const lines: string[] = [];
  const log = createLog({ format: "json", write: (line) => void lines.push(line) });
  await using server = testApp({ log });
  for (const path of [
    "/callbacks/canary-of-a-token",
    "/callbacks//canary-of-a-token",
    "/callbacks/canary%2Dof-a-token/x",
  ])
    await server.send("POST", path, {}, { "x-client-request-id": "mine" });
  await server.send("GET", "/oauth/consent/canary-of-a-token", undefined, { "x-client-request-id": "mine" });
  expect(lines.filter((line) => line.includes("/callbacks/"))).toHaveLength(3);
  expect(lines.filter((line) => line.includes("/oauth/consent/"))).toHaveLength(1);
  expect(lines.join("\n")).not.toContain("of-a-token");
});

test("a client's own request id is logged beside ours, cut at 128 characters", async () => {
  const lines: Record<string, unknown>[] = [];
  const log: Log = { info: (_, fields) => lines.push(fields ?? {}), warn() {}, error() {} };
  await using server = testApp({ log });
  const { headers } = await server.send("GET", "/healthz", undefined, { "x-client-request-id": "c".repeat(200) });
  await server.send("GET", "/healthz");
  expect(lines).toEqual([
    { request_id: headers.get("x-request-id"), client_request_id: "c".repeat(128), method: "GET", path: "/healthz" },
  ]);
});
