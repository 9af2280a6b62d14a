import { expect, test } from "bun:test";
import { visitorOf } from "../testing/console-visitor.ts";
import { testApp } from "../testing/test-app.ts";

// A page that lost a response retries: without idempotency, a tool would act twice.
test("a repeated dashboard request with the same idempotency key is carried out once", async () => {
  await using server = testApp({ dashboard: true });
  const client = await server.client();
  const agent = await client.post("/v1/agents", { name: "A", instructions: "Hi.", model: "test/echo" });
  const [owner, viewer] = [await visitorOf(server, "owner"), await visitorOf(server, "viewer")];
  const path = `/${client.scope.project_id}/${client.scope.environment}`;
  const start = (visitor: typeof owner, key: string, input = "Go.") =>
    visitor.send("POST", `${path}/runs?wait=60`, { agent_id: agent.body.id, input }, { "idempotency-key": key });

  const first = await start(owner, "one");
  const again = await start(owner, "one");
  expect([first.status, again.status]).toEqual([201, 201]);
  expect(again.body.id).toBe(first.body.id);
  expect(again.headers.get("idempotent-replayed")).toBe("true");
  expect((await start(owner, "two")).body.id).not.toBe(first.body.id);
  expect((await start(owner, "one", "Something else.")).body.error.code).toBe("idempotency_key_reused");
  expect((await start(viewer, "one")).status).toBe(403);

  const fork = () =>
    owner.send("POST", `${path}/runs/${first.body.id}/fork`, { step_index: 0 }, { "idempotency-key": "three" });
  const [left, right] = [await fork(), await fork()];
  expect(right.body.id).toBe(left.body.id);
});
