import { afterAll, expect, test } from "bun:test";
import { AppError } from "../domain/errors.ts";
import { testApp } from "../testing/test-app.ts";
import type { Route } from "./operation.ts";
import { createWriteAdmission } from "./write-admission.ts";

// Checked for every route: a new one is refused on a full disk, unless it opts out and is listed here.
const goesOn = [
  "DELETE /v1/agents/:id",
  "DELETE /v1/agents/:id/chat_page",
  "DELETE /v1/agents/:id/labels/:label",
  "DELETE /v1/api_keys/:id",
  "DELETE /v1/files/:id",
  "DELETE /v1/memory/:id",
  "DELETE /v1/memory/:id/entries/:entry_id",
  "DELETE /v1/memory/:id/keys/:key",
  "DELETE /v1/oauth_clients/:id",
  "DELETE /v1/oauth_grants/:id",
  "DELETE /v1/runs/:id",
  "DELETE /v1/schedules/:id",
  "DELETE /v1/scores/:id",
  "DELETE /v1/secrets/:name",
  "DELETE /v1/skills/:id",
  "DELETE /v1/snippets/:id",
  "DELETE /v1/suites/:id",
  "DELETE /v1/threads/:id",
  "DELETE /v1/tools/:id",
  "DELETE /v1/traces/:run_id",
  "DELETE /v1/triggers/:id",
  "DELETE /v1/users/:id/data",
  "DELETE /v1/webhooks/:id",
  "PATCH /v1/api_keys/:id",
  "POST /v1/agents/:id/chat_page/rotate",
  "POST /v1/agents/:id/labels/:label/rollback",
  "POST /v1/api_keys/:id/rotate",
  "POST /v1/client_tokens",
  "POST /v1/memory/:id/search",
  "POST /v1/runs/:id/cancel",
  "POST /v1/runs/:id/pause",
  "POST /v1/runs/:id/resume",
  "POST /v1/runs/:id/submit_tool_outputs",
  "POST /v1/suites/:id/runs/:suite_run_id/cancel",
];

test("a nearly full disk refuses every write with 507, except those that end, answer or free something", async () => {
  let isFull = false;
  const requireRoom = () => {
    if (isFull) throw new AppError("storage_full", "The disk is nearly full.", { retryAfter: 30 });
  };
  await using server = testApp({ requireRoom });
  const { key } = await server.client();
  isFull = true;
  const taken: string[] = [];
  for (const { method, path } of server.app.routes.filter(({ path }) => path.startsWith("/v1/"))) {
    const authorization = `Bearer ${key.secret}`;
    const { status, headers } = await server.send(method, path.replaceAll(/:\w+/g, "none"), undefined, {
      authorization,
    });
    if (status !== 507) taken.push(`${method} ${path.replace(/\/$/, "")}`);
    else expect([method, headers.get("retry-after")]).toEqual([method, "30"]);
  }
  expect(taken.filter((route) => !route.startsWith("GET")).sort()).toEqual(goesOn);
});

const server = testApp({ dashboard: true });
afterAll(() => server[Symbol.asyncDispose]());
const isNewWork = createWriteAdmission(server.routes as () => Route[]);

test.each([
  ["POST", "/console/api/proj_1/live/agents", true],
  ["PATCH", "/console/api/projects/proj_1", true],
  ["POST", "/console/api/projects", true],
  ["POST", "/console/api/setup", true],
  ["POST", "/console/api/login", false],
  ["POST", "/console/api/logout", false],
  ["POST", "/console/api/projects/proj_1/archive", false],
  ["POST", "/console/api/projects/proj_1/delete", false],
  ["POST", "/console/api/proj_1/live/runs/run_1/cancel", false],
  ["POST", "/console/api/proj_1/live/runs/run_1/submit_tool_outputs/", false],
  ["PATCH", "/console/api/proj_1/live/api_keys/key_1", false],
  ["POST", "/console/api/proj_1/live/api_keys/key_1/rotate", false],
  ["POST", "/v1/api_keys", true],
  ["GET", "/console/api/session", false],
  ["PUT", "/v1/secrets/cancel", true],
  ["POST", "/v1/runs?wait=5", true],
  ["POST", "/healthz", false],
  ["POST", "/callbacks/token", false],
])("%s %s can wait: %s", (method, path, expected) => {
  expect(isNewWork(new Request(`http://localhost${path}`, { method }))).toBe(expected);
});
