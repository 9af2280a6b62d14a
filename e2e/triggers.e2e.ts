import { expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import { createScripted } from "./fixtures.ts";
import { type Json, type Runnel, startRunnel } from "./harness.ts";

// Triggers on the executable, over sockets, with the death of the process around the write that makes a run.

async function newTrigger(server: Runnel): Promise<Json> {
  const agent_id = await createScripted(server, [{ text: "Done." }]);
  const answer = await server.post("/v1/triggers", { name: "t", agent_id, verification: "github" });
  expect(answer.status).toBe(201);
  return answer.body;
}

/** Sends an event as GitHub does, always the same one. */
async function send(server: Runnel, { url, secret }: Json, as = secret): Promise<{ status: number; body: Json }> {
  const body = JSON.stringify({ action: "opened", issue: { title: "Ümlaut 🚒" } });
  const response = await server.fetch(new URL(url).pathname, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "x-github-event": "issues",
      "x-github-delivery": "72d3162e-cc78-11e3-81ab-4c9367dc0958",
      "x-hub-signature-256": `sha256=${createHmac("sha256", as).update(body).digest("hex")}`,
    },
    body,
  });
  return { status: response.status, body: await response.json() };
}

const runs = async (server: Runnel): Promise<Json[]> => (await server.get("/v1/runs")).body.data;

test.each(["before_trigger.started", "after_trigger.started", "before_run.created", "after_run.created"])(
  "a process that dies %s has made one run of an event once its sender has repeated it",
  async (point) => {
    await using server = await startRunnel();
    const trigger = await newTrigger(server);
    await server.stop();
    await server.restart({ RUNNEL_FAILPOINT: point });
    expect(await send(server, trigger).catch(() => null)).toBeNull();
    expect(await server.died()).toBe("SIGKILL");
    await server.restart({});
    const again = await send(server, trigger);
    expect([200, 202]).toContain(again.status);
    const last = await send(server, trigger);
    expect([last.status, last.body.outcome, last.body.run_id]).toEqual([200, "duplicate", again.body.run_id]);
    expect((await runs(server)).map(({ id, metadata }) => [id, metadata.trigger_id])).toEqual([
      [again.body.run_id, trigger.id],
    ]);
  },
);

test("an unknown trigger and a wrong signature are answered alike over a socket", async () => {
  await using server = await startRunnel();
  const trigger = await newTrigger(server);
  const wrong = await send(server, trigger, "a wrong secret");
  const unknown = await send(server, { ...trigger, url: trigger.url.replace(/.{5}$/, "00000") }, "a wrong secret");
  expect([wrong.status, unknown.status]).toEqual([401, 401]);
  expect(wrong.body.error).toEqual(unknown.body.error);
  expect((await send(server, trigger)).status).toBe(202);
});
