import { expect, test } from "bun:test";
import { testActor } from "../../testing/test-actor.ts";
import { type Client, testApp } from "../../testing/test-app.ts";
import { selectTornDown, selectUnfinished } from "./project-teardown.ts";

async function startRun(client: Client, delta_ms: number, extra: object = {}): Promise<string> {
  const script = [{ text: "a b c d e f g h", delta_ms }];
  const { body: agent } = await client.post("/v1/agents", {
    name: "slow",
    instructions: "",
    model: "test/script",
    model_settings: { script },
  });
  return (await client.post("/v1/runs", { agent_id: agent.id, input: "x", ...extra })).body.id;
}

test("an archived project's runs are cancelled, also those that wait, and runs of others continue", async () => {
  await using server = testApp();
  const [shop, other] = [await server.client({ project: "shop" }), await server.client({ project: "other" })];
  const live = await server.client({ project: "shop", environment: "live" });
  const { body: tool } = await shop.post("/v1/tools", { name: "ask", type: "client" });
  const { body: asking } = await shop.post("/v1/agents", {
    name: "asks",
    instructions: "",
    model: "test/script",
    tools: [tool.id],
    model_settings: { script: [{ tool_calls: [{ name: "ask", arguments: {} }] }] },
  });
  const waits = (await shop.post("/v1/runs?wait=60", { agent_id: asking.id, input: "x" })).body.id;
  const works = await startRun(shop, 60_000);
  const goesOn = await startRun(other, 60_000);
  const { project_id } = shop.scope;
  await server.projects.archive(project_id, testActor);
  await server.windDown();
  await server.projects.unarchive(project_id, testActor);
  for (const id of [waits, works]) {
    const { body } = await shop.get(`/v1/runs/${id}`);
    expect(body).toMatchObject({ status: "cancelled", error: { code: "run_cancelled" } });
    expect(body.error.message).toContain("The project was archived.");
  }
  expect((await other.get(`/v1/runs/${goesOn}`)).body.status).toBe("in_progress");
  expect((await live.get("/v1/me")).status).toBe(200);
});

test("a deleted project is gone at once, its name is free, and its runs, rows and streams end", async () => {
  await using server = testApp();
  const shop = await server.client({ project: "shop" });
  const { project_id } = shop.scope;
  const id = await startRun(shop, 60_000);
  const stream = await server.app.handle(
    new Request(`http://localhost/v1/runs/${id}/events`, {
      headers: { accept: "text/event-stream", authorization: `Bearer ${shop.key.secret}` },
    }),
  );
  await server.projects.remove(project_id, testActor);
  expect((await shop.get("/v1/me")).status).toBe(401);
  expect(() => server.projects.byId(project_id)).toThrow();
  const again = await server.projects.create("shop");
  await server.windDown();
  expect(await stream.text()).not.toContain("run.completed");
  expect(server.db.sqlite.query("SELECT id FROM projects").all()).toEqual([{ id: again.id }]);
  expect(server.db.sqlite.query("SELECT 1 FROM runs").all()).toEqual([]);
  expect(server.pool.driving()).toBe(0);
  // Other projects and the next owner of the name learn nothing of it; operators do.
  const entry = server.db.sqlite
    .query("SELECT project_id, details FROM audit_log WHERE action = 'project.deleted'")
    .all();
  expect(entry).toEqual([{ project_id: null, details: '{"name":"shop"}' }]);
});

test("runs of a project that was archived while no server ran do not start again", async () => {
  await using server = testApp();
  const shop = await server.client({ project: "shop" });
  const id = await startRun(shop, 60_000);
  server.db.sqlite.query("UPDATE projects SET archived_at_ms = 1 WHERE id = ?").run(shop.scope.project_id);
  await server.recover();
  expect(server.db.sqlite.query("SELECT status, attempt FROM runs WHERE id = ?").get(id)).toEqual({
    status: "cancelled",
    attempt: 1,
  });
});

test("the search for running work reads no finished work", async () => {
  await using server = testApp();
  const plan = server.db.sqlite.query<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${selectTornDown}`).all();
  const runs = plan.map(({ detail }) => detail).filter((detail) => /\br\b/.test(detail));
  expect(runs).toEqual([expect.stringContaining("project_id=? AND environment=? AND status=?")]);
});

test("runs of a project that another process archives are cancelled, although nothing happens in this one", async () => {
  await using server = testApp();
  const shop = await server.client({ project: "shop" });
  await server.recover();
  const id = await startRun(shop, 60_000);
  // Not by the writer of this process, which would wake the poll.
  server.db.sqlite.query("UPDATE projects SET archived_at_ms = 1 WHERE id = ?").run(shop.scope.project_id);
  const status = server.db.sqlite.query<{ status: string }, [string]>("SELECT status FROM runs WHERE id = ?");
  while (status.get(id)?.status !== "cancelled") await Bun.sleep(5);
});

test("a queued run, which has no deadline, counts as unfinished", async () => {
  await using server = testApp();
  const shop = await server.client({ project: "shop" });
  const id = await startRun(shop, 60_000);
  server.db.sqlite.query("UPDATE runs SET status = 'queued', expires_at_ms = NULL WHERE id = ?").run(id);
  expect(server.db.sqlite.query<{ is_unfinished: number }, []>(selectUnfinished).get()!.is_unfinished).toBe(1);
});

test.each(["in_progress", "requires_action", "paused"])(
  "a run that is %s counts as unfinished until it ends",
  async (status) => {
    await using server = testApp();
    const shop = await server.client({ project: "shop" });
    const unfinished = () =>
      server.db.sqlite.query<{ is_unfinished: number }, []>(selectUnfinished).get()!.is_unfinished;
    expect(unfinished()).toBe(0);
    const id = await startRun(shop, 60_000);
    server.db.sqlite.query("UPDATE runs SET status = ? WHERE id = ?").run(status, id);
    expect(unfinished()).toBe(1);
    server.db.sqlite.query("UPDATE runs SET status = 'in_progress' WHERE id = ?").run(id);
    await shop.post(`/v1/runs/${id}/cancel`, {});
    expect(unfinished()).toBe(0);
  },
);
