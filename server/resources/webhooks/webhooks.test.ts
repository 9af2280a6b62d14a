import { afterAll, describe, expect, test } from "bun:test";
import { Webhook, WebhookVerificationError } from "standardwebhooks";
import { createEgress } from "../../lib/egress.ts";
import { type Client, type TestApp, type TestAppOptions, testApp } from "../../testing/test-app.ts";
import { startWebhookReceiver } from "../../testing/webhook-receiver.ts";
import { checkAddress } from "./address.ts";
import { createOutbox } from "./outbox.ts";

const server = testApp();
afterAll(() => server[Symbol.asyncDispose]());
let projects = 0;
const newClient = (on: TestApp = server) => on.client({ project: `p${projects++}` });
const somewhere = "https://[2001:4860:4860::8888]/hooks";

/** Creates a webhook and returns it with its secret. */
async function makeWebhook(client: Client, body: object) {
  const answer = await client.post("/v1/webhooks", { events: ["*"], ...body });
  expect(answer.status).toBe(201);
  return answer.body as { id: string; secret: string };
}

const agentBody = { name: "a", instructions: "b", model: "test/echo" };

async function makeAgent(client: Client, script?: object[], tools: object[] = []): Promise<string> {
  const ids: string[] = [];
  for (const tool of tools) ids.push((await client.post("/v1/tools", tool)).body.id);
  const model = script ? { model: "test/script", model_settings: { script } } : {};
  const { status, body } = await client.post("/v1/agents", { ...agentBody, ...model, tools: ids });
  expect(status).toBe(201);
  return body.id;
}

const run = async (client: Client, agent_id: string, input = "Hi") =>
  (await client.post("/v1/runs?wait=60", { agent_id, input })).body;

const get = async (client: Client, id: string) => (await client.get(`/v1/webhooks/${id}`)).body;
const deliveriesOf = async (client: Client, id: string, query = "") =>
  (await client.get(`/v1/webhooks/${id}/deliveries?limit=100${query}`)).body.data;
const deliveryOf = async (client: Client, id: string) => {
  const [{ id: delivery }] = await deliveriesOf(client, id);
  return (await client.get(`/v1/webhooks/${id}/deliveries/${delivery}`)).body;
};

const hostOf = ({ url }: { url: string }) => new URL(url).host;
/** Returns the audit entries about a webhook that the server switched off. */
const switchedOff = async (client: Client, id: string) => {
  const { body } = await client.get(`/v1/audit_log?action=webhook.disabled&target_id=${id}`);
  expect(body.data).toMatchObject(Array(body.data.length).fill({ actor: { type: "cli", id: "runnel", ip: null } }));
  return body.data;
};

/** Creates a server whose clock stands still until it is set. */
function clockedApp(options: TestAppOptions = {}) {
  let at = 1_800_000_000_000;
  const app = testApp({ now: () => at, ...options });
  return Object.assign(app, {
    now: () => at,
    set: (ms: number) => {
      at = ms;
    },
  });
}

describe("the resource", () => {
  test("a secret is shown at its creation and never again, and is stored encrypted", async () => {
    const client = await newClient();
    const { body } = await client.post("/v1/webhooks", {
      url: somewhere,
      events: ["run.completed"],
      description: "The shop",
      metadata: { a: "b" },
    });
    expect(structuredClone(body)).toMatchObject({
      object: "webhook",
      url: somewhere,
      events: ["run.completed"],
      description: "The shop",
      enabled: true,
      status: "active",
      disabled_reason: null,
      last_delivery_at: null,
      failure_count: 0,
      metadata: { a: "b" },
      previous_secret_expires_at: null,
      secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
      ...client.scope,
    });
    expect(body.secret_prefix).toBe(body.secret.slice(0, 10));
    const later = await get(client, body.id);
    expect(later).not.toHaveProperty("secret");
    expect((await client.get("/v1/webhooks")).body.data).toMatchObject([{ id: body.id }]);
    const rows = server.db.sqlite.query("SELECT * FROM webhooks").all();
    expect(JSON.stringify([rows, later])).not.toContain(body.secret.slice(11, 40));
  });

  test("a change applies, and a deleted webhook is gone at once", async () => {
    const client = await newClient();
    const { id } = await makeWebhook(client, { url: somewhere });
    const changed = await client.patch(`/v1/webhooks/${id}`, { events: ["file.ready"], enabled: false });
    expect(changed.body).toMatchObject({ events: ["file.ready"], status: "disabled", disabled_reason: "requested" });
    expect((await client.patch(`/v1/webhooks/${id}`, { enabled: true })).body).toMatchObject({
      status: "active",
      disabled_reason: null,
      events: ["file.ready"],
    });
    expect((await client.delete(`/v1/webhooks/${id}`)).body).toMatchObject({ id, object: "webhook", deleted: true });
    expect((await client.delete(`/v1/webhooks/${id}`)).status).toBe(404);
    expect((await client.get("/v1/webhooks")).body.data).toEqual([]);
    expect((await client.get(`/v1/webhooks/${id}/deliveries`)).status).toBe(404);
  });

  test.each<[string, string, "test" | "live", number, string | undefined]>([
    ["https anywhere", somewhere, "live", 201, undefined],
    ["https at this machine", "https://127.0.0.1:8443/", "test", 201, undefined],
    ["http at this machine", "http://127.0.0.1:8080/", "test", 201, undefined],
    ["http at this machine by name", "http://localhost:8080/", "test", 201, undefined],
    ["http at this machine, live", "http://127.0.0.1:8080/", "live", 403, "url_not_allowed"],
    ["this machine, live", "https://127.0.0.1/", "live", 403, "url_not_allowed"],
    ["this machine by a name, live", "https://localhost/", "live", 403, "url_not_allowed"],
    ["this machine by a name of its own, live", "https://a.localhost/", "live", 403, "url_not_allowed"],
    ["a name that means another machine everywhere, live", "https://nas.localdomain/", "live", 403, "url_not_allowed"],
    ["http elsewhere", "http://[2001:4860:4860::8888]/", "test", 403, "url_not_allowed"],
    ["a private network", "https://10.0.0.1/", "test", 403, "url_not_allowed"],
    ["cloud metadata", "https://169.254.169.254/", "test", 403, "url_not_allowed"],
    ["another protocol", "ftp://127.0.0.1/", "test", 403, "url_not_allowed"],
    ["a port of another protocol", "https://[2001:4860:4860::8888]:25/", "test", 403, "url_not_allowed"],
    ["a user's name", "https://user:password@example.com/", "test", 400, "validation_failed"],
    ["no address", "nothing", "test", 400, "validation_failed"],
  ])("an address may be public https, or this machine in test: %s", async (_, url, environment, status, code) => {
    const client = await server.client({ project: `address-${environment}`, environment });
    const made = await client.post("/v1/webhooks", { url, events: ["*"] });
    expect([made.status, made.body.error?.code, made.body.error?.param]).toEqual([status, code, code && "url"]);
    if (status === 201) return;
    const { id } = await makeWebhook(client, { url: somewhere });
    expect((await client.patch(`/v1/webhooks/${id}`, { url })).body.error?.code).toBe(code);
    await client.delete(`/v1/webhooks/${id}`);
  });

  test("an unresolvable name is accepted, unless it belongs to this machine", async () => {
    const egress = createEgress({ allow: [], loopback: false }, async () => []);
    await checkAddress("https://hooks.example.com/", egress, "live");
    for (const host of ["localhost", "a.localhost", "localdomain", "nas.localdomain"])
      await expect(checkAddress(`https://${host}/`, egress, "live")).rejects.toMatchObject({ code: "url_not_allowed" });
  });

  test("the operator's egress rules do not allow plain http", async () => {
    await using open = testApp({ egress: ["10.0.0.0/8", "erp.internal"] });
    const client = await open.client();
    expect((await client.post("/v1/webhooks", { url: "https://10.0.0.1/", events: ["*"] })).status).toBe(201);
    for (const url of ["http://10.0.0.1/", "http://erp.internal/"])
      expect((await client.post("/v1/webhooks", { url, events: ["*"] })).status).toBe(403);
  });

  test.each([[{ events: [] }], [{ events: ["run.started"] }], [{ events: ["*", "*"] }], [{ extra: 1 }], [{}]])(
    "%j is refused",
    async (body) => {
      expect((await (await newClient()).post("/v1/webhooks", { url: somewhere, ...body })).status).toBe(400);
    },
  );

  test("an environment has at most a hundred, and a deleted one makes room", async () => {
    await using large = testApp();
    const client = await large.client();
    await large.projects.update(client.scope.project_id, { limits: { writes_per_minute: 0 } });
    const ids: string[] = [];
    for (let i = 0; i < 100; i++) ids.push((await makeWebhook(client, { url: somewhere })).id);
    const one = { url: somewhere, events: ["*"] };
    expect((await client.post("/v1/webhooks", one)).body.error.code).toBe("validation_failed");
    await client.delete(`/v1/webhooks/${ids[0]}`);
    expect((await client.post("/v1/webhooks", one)).status).toBe(201);
  });

  test("a restricted key creates none and reads no deliveries about other agents' runs", async () => {
    await using receiver = startWebhookReceiver();
    const client = await newClient();
    const { id } = await makeWebhook(client, { url: receiver.url });
    const [own, other] = [await makeAgent(client), await makeAgent(client)];
    for (const agent of [own, other]) await run(client, agent);
    await server.deliverWebhooks();
    const bound = await server.client({ project: `p${projects - 1}`, agent_ids: [own] });
    for (const path of ["", `/${id}/test`, `/${id}/rotate_secret`]) {
      const body = path === "" ? { url: somewhere, events: ["*"] } : {};
      const { error } = (await bound.post(`/v1/webhooks${path}`, body)).body;
      expect(error).toMatchObject({ code: "insufficient_scope", details: { bound_by: "agent_ids" } });
    }
    expect((await bound.delete(`/v1/webhooks/${id}`)).status).toBe(403);
    const [all, seen] = [await deliveriesOf(client, id), await deliveriesOf(bound, id)];
    expect([all.length, seen.length]).toEqual([2, 1]);
    const hidden = all.find((each: { id: string }) => each.id !== seen[0].id).id;
    const path = `/v1/webhooks/${id}/deliveries`;
    expect([(await bound.get(`${path}/${seen[0].id}`)).status, (await bound.get(`${path}/${hidden}`)).status]).toEqual([
      200, 404,
    ]);
  });

  test("a delivery is found only under its own webhook, and only by its own project", async () => {
    await using receiver = startWebhookReceiver();
    const client = await newClient();
    const [mine, other] = [
      await makeWebhook(client, { url: receiver.url }),
      await makeWebhook(client, { url: receiver.url }),
    ];
    const { id } = (await client.post(`/v1/webhooks/${mine.id}/test`, {})).body;
    const stranger = await newClient();
    const live = await server.client({ project: `p${projects - 2}`, environment: "live" });
    for (const [who, path] of [
      [client, `/v1/webhooks/${other.id}/deliveries/${id}`],
      [stranger, `/v1/webhooks/${mine.id}/deliveries/${id}`],
      [live, `/v1/webhooks/${mine.id}/deliveries/${id}`],
    ] as const) {
      expect((await who.get(path)).status).toBe(404);
      expect((await who.post(`${path}/redeliver`, {})).status).toBe(404);
    }
    expect((await client.get(`/v1/webhooks/${mine.id}/deliveries/${id}`)).status).toBe(200);
  });
});

describe("an event", () => {
  test("reports a run that ended, with a signature that Standard Webhooks' own library accepts", async () => {
    await using receiver = startWebhookReceiver();
    const client = await newClient();
    const { id, secret } = await makeWebhook(client, { url: receiver.url, events: ["run.completed"] });
    const made = await run(client, await makeAgent(client), "Hello");
    const [{ headers, body }] = (await receiver.heard(1)) as [never];
    const event = new Webhook(secret).verify(body, headers);
    const { messages, ...shown } = (await client.get(`/v1/runs/${made.id}`)).body;
    delete shown.request_id;
    expect(event).toEqual({
      id: headers["webhook-id"],
      object: "event",
      type: "run.completed",
      created_at: made.completed_at,
      ...client.scope,
      run_id: made.id,
      seq: expect.any(Number),
      data: { object: shown },
    });
    expect(headers).toMatchObject({ "content-type": "application/json" });
    await server.deliverWebhooks();
    expect(await get(client, id)).toMatchObject({ status: "active", failure_count: 0 });
    expect((await get(client, id)).last_delivery_at).not.toBeNull();

    const other = new Webhook(`whsec_${btoa("x".repeat(32))}`);
    const verifies = (webhook: Webhook, text: string, changed: object = {}) => {
      try {
        return webhook.verify(text, { ...(headers as Record<string, string>), ...changed }) !== null;
      } catch (error) {
        expect(error).toBeInstanceOf(WebhookVerificationError);
        return false;
      }
    };
    const right = new Webhook(secret);
    expect(verifies(right, body)).toBe(true);
    expect(verifies(other, body)).toBe(false);
    expect(verifies(right, `${body} `)).toBe(false);
    expect(verifies(right, body, { "webhook-id": "evt_other" })).toBe(false);
    expect(verifies(right, body, { "webhook-timestamp": String(Number(headers["webhook-timestamp"]) - 1) })).toBe(
      false,
    );
  });

  test("that is recorded and sent again later is refused as outdated", async () => {
    const begun = Date.now() - 10 * 60_000;
    await using past = testApp({ now: () => begun });
    await using receiver = startWebhookReceiver();
    const client = await past.client();
    const { id, secret } = await makeWebhook(client, { url: receiver.url });
    await client.post(`/v1/webhooks/${id}/test`, {});
    const [{ headers, body }] = (await receiver.heard(1)) as [never];
    expect(() => new Webhook(secret).verify(body, headers)).toThrow("too old");
  });

  test("shows the run as it was then, whatever happened to it since", async () => {
    await using app = clockedApp();
    await using receiver = startWebhookReceiver(() => new Response("Later.", { status: 503 }));
    const client = await app.client();
    await makeWebhook(client, { url: receiver.url });
    const agent = await makeAgent(
      client,
      [{ tool_calls: [{ name: "ask", arguments: { a: 1 } }] }, { text: "Done." }],
      [{ name: "ask", parameters: { type: "object" } }],
    );
    const waiting = await run(client, agent);
    const call = waiting.required_action.submit_tool_outputs.tool_calls[0];
    const tool_outputs = [{ tool_call_id: call.tool_call_id, output: "secret output" }];
    await client.post(`/v1/runs/${waiting.id}/submit_tool_outputs`, { tool_outputs });
    while ((await client.get(`/v1/runs/${waiting.id}`)).body.status !== "completed") await Bun.sleep(1);
    app.set(app.now() + 60_000);
    await app.deliverWebhooks();
    const events = receiver.received.map(({ body }) => JSON.parse(body));
    const latest = [...new Map(events.map((event) => [event.id, event])).values()];
    const bySeq = latest.sort((a, b) => a.seq - b.seq);
    expect(bySeq.map(({ type, data }) => [type, data.object.status])).toEqual([
      ["tool.requested", "in_progress"],
      ["run.requires_action", "requires_action"],
      ["run.resumed", "in_progress"],
      ["run.completed", "completed"],
    ]);
    expect(bySeq[0].data.tool_call).toMatchObject({
      id: call.tool_call_id,
      name: "ask",
      arguments: { a: 1 },
      needs: "output",
    });
    expect(bySeq[1].data.object.required_action).toEqual(waiting.required_action);
    expect(bySeq[1].data.object.expires_at).toBe(waiting.expires_at);
    expect(JSON.stringify(latest)).not.toContain("secret output");
    expect(bySeq[3].data.object.tool_calls).toMatchObject([{ id: call.tool_call_id, status: "completed" }]);
    for (const { data } of latest) expect(data.object).not.toHaveProperty("messages");
  });

  test("of a cancelled run is run.failed with the status cancelled", async () => {
    await using receiver = startWebhookReceiver();
    const client = await newClient();
    await makeWebhook(client, { url: receiver.url, events: ["run.failed"] });
    const agent = await makeAgent(client, [{ tool_calls: [{ name: "ask", arguments: {} }] }], [{ name: "ask" }]);
    const { id } = await run(client, agent);
    await client.post(`/v1/runs/${id}/cancel`, { reason: "enough" });
    const [received] = await receiver.heard(1);
    expect(JSON.parse(received!.body)).toMatchObject({
      type: "run.failed",
      run_id: id,
      data: { object: { status: "cancelled", error: { code: "run_cancelled" } } },
    });
  });

  test("is sent to every webhook that subscribes to it, each under an id of its own", async () => {
    await using receiver = startWebhookReceiver();
    const client = await newClient();
    const at = (path: string) => `${receiver.url}/${path}`;
    await makeWebhook(client, { url: at("all"), events: ["*"] });
    await makeWebhook(client, { url: at("ends"), events: ["run.failed", "run.completed"] });
    await makeWebhook(client, { url: at("files"), events: ["file.ready"] });
    await makeWebhook(client, { url: at("off"), events: ["*"], enabled: false });
    const stranger = await newClient();
    await makeWebhook(stranger, { url: at("stranger"), events: ["*"] });
    await run(client, await makeAgent(client));
    await server.deliverWebhooks();
    expect(receiver.received.map(({ path }) => path).sort()).toEqual(["/hooks/all", "/hooks/ends"]);
    expect(new Set(receiver.received.map(({ headers }) => headers["webhook-id"])).size).toBe(2);
  });

  test("about another resource shows it as it was, and is inserted in the same write", async () => {
    await using receiver = startWebhookReceiver();
    const client = await newClient();
    await makeWebhook(client, { url: receiver.url, events: ["file.ready"] });
    const outbox = createOutbox({ db: server.db });
    await server.db.write(() => outbox.announce(client.scope, "file.ready", { id: "file_1", object: "file" }));
    await server.db.write(() => outbox.announce(client.scope, "file.failed", { id: "file_2", object: "file" }));
    expect(outbox.take()).toHaveLength(1);
    await server.deliverWebhooks();
    expect(receiver.received.map(({ body }) => JSON.parse(body))).toMatchObject([
      { type: "file.ready", run_id: null, seq: null, data: { object: { id: "file_1", object: "file" } } },
    ]);
  });

  test("about an upload that is ready comes at once, and a refused upload has none", async () => {
    await using receiver = startWebhookReceiver();
    const client = await newClient();
    await makeWebhook(client, { url: receiver.url, events: ["file.ready"] });
    const upload = { filename: "a.txt", text: "a" };
    expect((await client.post("/v1/files", { ...upload, purpose: "output" })).status).toBe(400);
    const { body: file } = await client.post("/v1/files", { ...upload, purpose: "code_interpreter" });
    await receiver.heard(1);
    const { request_id, ...object } = file;
    expect(receiver.received.map(({ body }) => JSON.parse(body))).toMatchObject([
      { type: "file.ready", run_id: null, seq: null, data: { object } },
    ]);
  });

  test("has at most 20 KB, and marks omissions", async () => {
    await using receiver = startWebhookReceiver();
    const client = await newClient();
    await makeWebhook(client, { url: receiver.url });
    const big = "ä€😀".repeat(20_000);
    const long = { text: big };
    const calls = Array.from({ length: 40 }, (_, i) => ({ name: "ask", arguments: { i, text: "x".repeat(2000) } }));
    const metadata = Object.fromEntries(Array.from({ length: 16 }, (_, i) => [`key${i}`, "😀".repeat(250)]));
    const agents = [
      await makeAgent(client, [long]),
      await makeAgent(client, [{ tool_calls: calls }], [{ name: "ask", parameters: { type: "object" } }]),
    ];
    for (const agent_id of agents)
      await client.post("/v1/runs?wait=60", { agent_id, input: big.slice(0, 60_000), metadata });
    await server.deliverWebhooks();
    expect(receiver.received.length).toBe(42);
    for (const { body } of receiver.received) {
      expect(Buffer.byteLength(body)).toBeLessThanOrEqual(20_000);
      const { data } = JSON.parse(body);
      expect(data).toMatchObject({ truncated: true, object: { object: "run", model: expect.any(String) } });
      expect(body.isWellFormed()).toBe(true);
    }
    const asked = JSON.parse(receiver.received.find(({ body }) => body.includes('"tool.requested"'))!.body);
    expect(asked.data.tool_call.arguments.text).toHaveLength(2000);
  });

  test("is inserted in the transaction of its cause or not at all", async () => {
    await using app = testApp();
    await using receiver = startWebhookReceiver();
    const client = await app.client();
    const { id } = await makeWebhook(client, { url: receiver.url });
    const agent = await makeAgent(client, [{ tool_calls: [{ name: "ask", arguments: {} }] }], [{ name: "ask" }]);
    const waiting = await run(client, agent);
    await app.deliverWebhooks();
    const before = (await deliveriesOf(client, id)).length;
    // The commit itself fails, after everything was written.
    app.db.sqlite.run("CREATE TABLE doom (id TEXT REFERENCES projects (id) DEFERRABLE INITIALLY DEFERRED) STRICT");
    app.db.sqlite.run(
      "CREATE TRIGGER doomed AFTER INSERT ON webhook_deliveries BEGIN INSERT INTO doom (id) VALUES ('nothing'); END",
    );
    expect((await client.post(`/v1/runs/${waiting.id}/cancel`)).status).toBe(500);
    expect((await deliveriesOf(client, id)).length).toBe(before);
    app.db.sqlite.run("DROP TRIGGER doomed");
    expect((await client.post(`/v1/runs/${waiting.id}/cancel`)).status).toBe(200);
    await app.deliverWebhooks();
    expect((await deliveriesOf(client, id)).length).toBe(before + 1);
    expect(receiver.received.length).toBe(before + 1);
  });
});

describe("a secret", () => {
  test("that is replaced signs beside the new one until the overlap ends, and then no more", async () => {
    let ahead = 0;
    await using app = testApp({ now: () => Date.now() + ahead });
    await using receiver = startWebhookReceiver();
    const client = await app.client();
    const { id, secret: first } = await makeWebhook(client, { url: receiver.url });
    const rotated = await client.post(`/v1/webhooks/${id}/rotate_secret`, { overlap_seconds: 60 });
    const { secret: second, previous_secret_expires_at } = rotated.body;
    expect(second).not.toBe(first);
    expect(previous_secret_expires_at).not.toBeNull();
    const verifies = async (secret: string) => {
      await client.post(`/v1/webhooks/${id}/test`, {});
      const { headers, body } = receiver.received.at(-1)!;
      try {
        return new Webhook(secret).verify(body, headers) !== null;
      } catch {
        return false;
      }
    };
    expect([await verifies(first), await verifies(second)]).toEqual([true, true]);
    expect(receiver.received.at(-1)!.headers["webhook-signature"]!.split(" ")).toHaveLength(2);
    ahead = 60_000;
    expect([await verifies(first), await verifies(second)]).toEqual([false, true]);
    const third = (await client.post(`/v1/webhooks/${id}/rotate_secret`, { overlap_seconds: 0 })).body.secret;
    expect([await verifies(second), await verifies(third)]).toEqual([false, true]);
  });
});

const hours = (n: number) => n * 3_600_000;
const schedule_ms = [5000, 300_000, 1_800_000, ...[2, 5, 10, 14, 20, 24].map(hours)];

/** Sets the clock to the next attempt of a webhook's only delivery, makes the attempt, and returns the delivery. */
async function next(app: ReturnType<typeof clockedApp>, client: Client, id: string) {
  app.set(Date.parse((await deliveryOf(client, id)).next_attempt_at));
  await app.deliverWebhooks();
  return deliveryOf(client, id);
}

describe("an event that is not accepted", () => {
  test("is tried ten times over 75 hours under the same id, each wait within a fifth of the schedule", async () => {
    await using app = clockedApp();
    await using receiver = startWebhookReceiver(() => new Response("No.", { status: 500 }));
    const client = await app.client();
    const { id } = await makeWebhook(client, { url: receiver.url, events: ["run.completed"] });
    await run(client, await makeAgent(client));
    await app.deliverWebhooks();
    let delivery = await deliveryOf(client, id);
    expect(delivery).toMatchObject({ status: "retrying", attempts_count: 1 });
    expect(await get(client, id)).toMatchObject({ status: "failing", failure_count: 1 });
    while (delivery.status === "retrying") {
      app.set(Date.parse(delivery.next_attempt_at) - 1);
      await app.deliverWebhooks();
      expect((await deliveryOf(client, id)).attempts_count).toBe(delivery.attempts_count);
      delivery = await next(app, client, id);
    }
    expect(delivery).toMatchObject({ status: "failed", attempts_count: 10, next_attempt_at: null });
    const times = delivery.attempts.map(({ at }: { at: string }) => Date.parse(at));
    const waits = times.slice(1).map((at: number, index: number) => at - times[index]);
    expect(waits).toHaveLength(schedule_ms.length);
    waits.forEach((wait: number, index: number) => {
      expect(wait).toBeWithin(schedule_ms[index]! * 0.8, schedule_ms[index]! * 1.2 + 1);
    });
    expect(new Set(receiver.received.map(({ headers }) => headers["webhook-id"]))).toEqual(
      new Set([delivery.event_id]),
    );
    expect(new Set(receiver.received.map(({ body }) => body)).size).toBe(1);
    const stamps = receiver.received.map(({ headers }) => Number(headers["webhook-timestamp"]));
    expect(stamps).toEqual(times.map((at: number) => Math.floor(at / 1000)));
    expect(await get(client, id)).toMatchObject({ status: "failing", failure_count: 10 });

    receiver.answerWith(() => new Response(null, { status: 204 }));
    await client.post(`/v1/webhooks/${id}/deliveries/${delivery.id}/redeliver`, {});
    await app.deliverWebhooks();
    expect(await deliveryOf(client, id)).toMatchObject({ status: "delivered", attempts_count: 11 });
    expect(await get(client, id)).toMatchObject({ status: "active", failure_count: 0 });
  });

  test("is listed as retried while it fails, and as pending only before its first attempt", async () => {
    await using app = clockedApp();
    await using receiver = startWebhookReceiver(() => new Response("No.", { status: 500 }));
    const client = await app.client();
    const { id } = await makeWebhook(client, { url: receiver.url, events: ["run.completed"] });
    await run(client, await makeAgent(client));
    const found = async () => {
      const statuses = ["pending", "retrying", "failed", "delivered"];
      const lists = await Promise.all(statuses.map((status) => deliveriesOf(client, id, `&status=${status}`)));
      return statuses.filter((status, index) => {
        expect(lists[index]!.every((each: { status: string }) => each.status === status)).toBe(true);
        return lists[index]!.length > 0;
      });
    };
    expect(await found()).toEqual(["pending"]);
    await app.deliverWebhooks();
    expect(await found()).toEqual(["retrying"]);
    for (let hour = 0; hour < 3; hour++) await next(app, client, id);
    expect(await found()).toEqual(["retrying"]);
    receiver.answerWith(() => new Response(null, { status: 204 }));
    await next(app, client, id);
    expect(await found()).toEqual(["delivered"]);
  });

  test("waits for the receiver's Retry-After, but not longer than a day", async () => {
    await using app = clockedApp();
    const asked = ["3600", "1", "9999999"];
    await using receiver = startWebhookReceiver(
      () => new Response("Busy.", { status: 429, headers: { "retry-after": asked.shift() ?? "" } }),
    );
    const client = await app.client();
    const { id } = await makeWebhook(client, { url: receiver.url, events: ["run.completed"] });
    await run(client, await makeAgent(client));
    await app.deliverWebhooks();
    const waits: number[] = [];
    for (let i = 0; i < 3; i++) {
      const { next_attempt_at } = await deliveryOf(client, id);
      waits.push(Date.parse(next_attempt_at) - app.now());
      if (i < 2) await next(app, client, id);
    }
    expect(waits[0]).toBe(hours(1));
    expect(waits[1]).toBeWithin(240_000, 360_001);
    expect(waits[2]).toBe(hours(24));
  });

  test("switches its webhook off after a 410, and an admin may switch it on again", async () => {
    await using app = clockedApp();
    await using receiver = startWebhookReceiver(() => new Response("Gone.", { status: 410 }));
    const client = await app.client();
    const { id } = await makeWebhook(client, { url: receiver.url, events: ["run.completed"] });
    const agent = await makeAgent(client);
    await run(client, agent);
    await app.deliverWebhooks();
    expect(await get(client, id)).toMatchObject({ enabled: false, status: "disabled", disabled_reason: "gone" });
    expect(await deliveryOf(client, id)).toMatchObject({ status: "failed", next_attempt_at: null });
    expect(await switchedOff(client, id)).toMatchObject([{ details: { host: hostOf(receiver), reason: "gone" } }]);
    await run(client, agent);
    await app.deliverWebhooks();
    expect(receiver.received.length).toBe(1);
    const back = await client.patch(`/v1/webhooks/${id}`, { enabled: true });
    expect(back.body).toMatchObject({ status: "active", disabled_reason: null, failure_count: 0 });
    receiver.answerWith(() => new Response("Taken."));
    await run(client, agent);
    await app.deliverWebhooks();
    expect(receiver.received.length).toBe(2);
  });

  test("switches its webhook off after five days of failures, and the waiting deliveries continue when it is on again", async () => {
    await using app = clockedApp();
    await using receiver = startWebhookReceiver(() => new Response("No.", { status: 500 }));
    const client = await app.client();
    const { id } = await makeWebhook(client, { url: receiver.url, events: ["run.completed"] });
    const agent = await makeAgent(client);
    const begun = app.now();
    for (let hour = 0; hour <= 5 * 24; hour += 20) {
      app.set(begun + hours(hour));
      await run(client, agent);
      await app.deliverWebhooks();
      expect((await get(client, id)).status).toBe(hour < 120 ? "failing" : "disabled");
    }
    expect(await get(client, id)).toMatchObject({ enabled: false, disabled_reason: "failing" });
    expect(await switchedOff(client, id)).toMatchObject([{ details: { host: hostOf(receiver), reason: "failing" } }]);
    const heard = receiver.received.length;
    app.set(app.now() + hours(48));
    await app.deliverWebhooks();
    expect(receiver.received.length).toBe(heard);
    receiver.answerWith(() => new Response("Taken."));
    await client.patch(`/v1/webhooks/${id}`, { enabled: true });
    await app.deliverWebhooks();
    expect(await deliveriesOf(client, id, "&status=pending")).toEqual([]);
    expect(await get(client, id)).toMatchObject({ status: "active", failure_count: 0 });
  });

  test("does not count against a changed address", async () => {
    await using app = clockedApp();
    await using fine = startWebhookReceiver();
    const asked = Promise.withResolvers<void>();
    const moved = Promise.withResolvers<void>();
    await using receiver = startWebhookReceiver(async () => {
      asked.resolve();
      await moved.promise;
      return new Response("Gone.", { status: 410 });
    });
    const client = await app.client();
    const { id } = await makeWebhook(client, { url: receiver.url, events: ["run.completed"] });
    await run(client, await makeAgent(client));
    const sending = app.deliverWebhooks();
    await asked.promise;
    await client.patch(`/v1/webhooks/${id}`, { url: fine.url });
    moved.resolve();
    await sending;
    expect(await get(client, id)).toMatchObject({ url: fine.url, status: "active", failure_count: 0 });
    app.set(app.now() + hours(1));
    await app.deliverWebhooks();
    expect(fine.received.length).toBe(1);
  });

  test("does not count against an address that the webhook gets later", async () => {
    await using app = clockedApp();
    await using receiver = startWebhookReceiver(() => new Response("No.", { status: 500 }));
    const client = await app.client();
    const { id } = await makeWebhook(client, { url: receiver.url, events: ["run.completed"] });
    await run(client, await makeAgent(client));
    await app.deliverWebhooks();
    expect(await get(client, id)).toMatchObject({ status: "failing", failure_count: 1 });
    const { body } = await client.patch(`/v1/webhooks/${id}`, { url: `${receiver.url}elsewhere` });
    expect(body).toMatchObject({ status: "active", failure_count: 0 });
    app.set(app.now() + hours(24 * 6));
    await app.deliverWebhooks();
    expect(await get(client, id)).toMatchObject({ status: "failing", failure_count: 1 });
  });

  test.each(["delete", "switch off"])("is not tried again after the webhook changes by: %s", async (what) => {
    await using app = clockedApp();
    await using receiver = startWebhookReceiver(() => new Response("No.", { status: 500 }));
    const client = await app.client();
    const { id } = await makeWebhook(client, { url: receiver.url, events: ["run.completed"] });
    await run(client, await makeAgent(client));
    await app.deliverWebhooks();
    if (what === "delete") await client.delete(`/v1/webhooks/${id}`);
    else await client.patch(`/v1/webhooks/${id}`, { enabled: false });
    app.set(app.now() + hours(80));
    await app.deliverWebhooks();
    expect(receiver.received.length).toBe(1);
  });

  test("was redirected: the redirect is not followed", async () => {
    await using target = startWebhookReceiver();
    await using receiver = startWebhookReceiver(() => Response.redirect(target.url, 307));
    const client = await newClient();
    const { id } = await makeWebhook(client, { url: receiver.url });
    const { body } = await client.post(`/v1/webhooks/${id}/test`, {});
    expect(body).toMatchObject({ status: "failed", attempts: [{ error: { code: "redirected" } }] });
    expect(target.received).toEqual([]);
  });

  test("is not sent to an address that is no longer allowed, although it was at its creation", async () => {
    const client = await newClient();
    const { id } = await makeWebhook(client, { url: somewhere });
    server.db.sqlite.query("UPDATE webhooks SET url = 'https://10.0.0.1/' WHERE id = ?").run(id);
    const { body } = await client.post(`/v1/webhooks/${id}/test`, {});
    expect(body).toMatchObject({ attempts: [{ response: null, error: { code: "address_forbidden" } }] });
  });
});

describe("the log", () => {
  test("has every attempt with its request and response, and hides secrets in them", async () => {
    await using receiver = startWebhookReceiver();
    const client = await newClient();
    const { id, secret } = await makeWebhook(client, { url: receiver.url, events: ["run.completed"] });
    receiver.answerWith(
      () => new Response(`You said ${secret}!`, { headers: { "x-echo": secret, "set-cookie": "session=1" } }),
    );
    const made = await run(client, await makeAgent(client));
    await server.deliverWebhooks();
    const delivery = await deliveryOf(client, id);
    const { body, headers } = receiver.received[0]!;
    expect(delivery).toMatchObject({
      object: "webhook_delivery",
      webhook_id: id,
      run_id: made.id,
      type: "run.completed",
      status: "delivered",
      event_id: headers["webhook-id"],
      attempts_count: 1,
      next_attempt_at: null,
      body,
      attempts: [
        {
          number: 1,
          latency_ms: expect.any(Number),
          error: null,
          request: { url: receiver.url, headers: { "webhook-signature": headers["webhook-signature"] } },
          response: { status: 200, truncated: false, headers: { "set-cookie": "[hidden]" } },
        },
      ],
    });
    expect(delivery.id.slice(4)).toBe(delivery.event_id.slice(4));
    expect(JSON.stringify(delivery)).not.toContain(secret.slice(6, 20));
  });

  test("is filtered by status, type and run, and paged", async () => {
    await using receiver = startWebhookReceiver(({ body }) =>
      body.includes('"webhook.test"') ? new Response("No.", { status: 400 }) : new Response("Taken."),
    );
    const client = await newClient();
    const { id } = await makeWebhook(client, { url: receiver.url });
    const agent = await makeAgent(client);
    const made = await run(client, agent);
    await run(client, agent);
    await client.post(`/v1/webhooks/${id}/test`, {});
    await server.deliverWebhooks();
    const count = async (query: string) => (await deliveriesOf(client, id, query)).length;
    expect([await count(""), await count("&status=failed"), await count("&status=delivered")]).toEqual([3, 1, 2]);
    expect([await count("&type=webhook.test"), await count(`&run_id=${made.id}`)]).toEqual([1, 1]);
    const path = `/v1/webhooks/${id}/deliveries?limit=2`;
    const first = (await client.get(path)).body;
    const second = (await client.get(`${path}&starting_after=${first.last_id}`)).body;
    expect([first.has_more, second.has_more, second.data.length]).toEqual([true, false, 1]);
    expect((await client.get(`${path}&status=nothing`)).status).toBe(400);
  });

  test("a test event is sent once, also to a webhook that is off, and does not count as a failure", async () => {
    await using receiver = startWebhookReceiver(() => new Response("No.", { status: 410 }));
    const client = await newClient();
    const { id } = await makeWebhook(client, { url: receiver.url, events: ["file.ready"], enabled: false });
    const { status, body } = await client.post(`/v1/webhooks/${id}/test`, {});
    expect(status).toBe(200);
    expect(body).toMatchObject({ type: "webhook.test", status: "failed", run_id: null, attempts: [{ number: 1 }] });
    expect(JSON.parse(receiver.received[0]!.body).data.object).toMatchObject({ id, object: "webhook" });
    expect(await get(client, id)).toMatchObject({ disabled_reason: "requested", failure_count: 0 });
  });

  test("failed deliveries since a time are sent again, and no others", async () => {
    await using app = clockedApp();
    await using receiver = startWebhookReceiver(() => new Response("No.", { status: 500 }));
    const client = await app.client();
    const { id } = await makeWebhook(client, { url: receiver.url, events: ["run.completed"] });
    const agent = await makeAgent(client);
    const runs: string[] = [];
    for (let i = 0; i < 3; i++) {
      runs.push((await run(client, agent)).id);
      await app.deliverWebhooks();
      app.set(app.now() + 100);
    }
    receiver.answerWith(() => new Response("Taken."));
    runs.push((await run(client, agent)).id);
    await app.deliverWebhooks();
    const heard = receiver.received.length;
    const since = (await deliveriesOf(client, id, `&run_id=${runs[1]}`))[0].created_at;
    const answer = await client.post(`/v1/webhooks/${id}/redeliver`, { since });
    expect(answer.body).toMatchObject({ id, object: "webhook_redelivery", deliveries: 2 });
    await app.deliverWebhooks();
    const again = receiver.received.slice(heard).map(({ body }) => JSON.parse(body).run_id);
    expect(again.sort()).toEqual(runs.slice(1, 3).sort());
    expect((await client.post(`/v1/webhooks/${id}/redeliver`, { since: "yesterday" })).status).toBe(400);
  });

  test("is deleted after 30 days, and with its run, its webhook and its project", async () => {
    await using app = clockedApp();
    await using receiver = startWebhookReceiver();
    const client = await app.client();
    const agent = await makeAgent(client);
    const rows = () =>
      ["webhooks", "webhook_deliveries", "webhook_attempts"].map(
        (table) => app.db.sqlite.query<{ n: number }, []>(`SELECT count(*) AS n FROM ${table}`).get()!.n,
      );
    const { id } = await makeWebhook(client, { url: receiver.url, events: ["run.completed"] });
    const old = await run(client, agent);
    await app.deliverWebhooks();
    app.set(app.now() + hours(29 * 24));
    for (let i = 0; i < 3; i++) await run(client, agent);
    const gone = await run(client, agent);
    await app.deliverWebhooks();
    await app.sweep();
    expect(rows()).toEqual([1, 5, 5]);
    app.set(app.now() + hours(25));
    await app.sweep();
    expect(rows()).toEqual([1, 4, 4]);
    expect((await deliveriesOf(client, id, `&run_id=${old.id}`)).length).toBe(0);
    await client.delete(`/v1/runs/${gone.id}`);
    expect(rows()).toEqual([1, 3, 3]);
    await client.delete(`/v1/webhooks/${id}`);
    await app.sweep();
    expect(rows()).toEqual([0, 0, 0]);
    expect(app.db.sqlite.query("PRAGMA foreign_key_check").all()).toEqual([]);
  });

  test("a run whose trace was deleted before its event was sent is reported by the rest of it", async () => {
    await using receiver = startWebhookReceiver(() => new Response("No.", { status: 500 }));
    const client = await newClient();
    const { id } = await makeWebhook(client, { url: receiver.url, events: ["run.completed"] });
    const body = await run(client, await makeAgent(client));
    await server.deliverWebhooks();
    // Simulate that the process died before it recorded the first attempt.
    server.db.sqlite.query("UPDATE webhook_deliveries SET body = NULL WHERE run_id = ?").run(body.id);
    await client.delete(`/v1/traces/${body.id}`);
    const [{ id: delivery }] = await deliveriesOf(client, id);
    await client.post(`/v1/webhooks/${id}/deliveries/${delivery}/redeliver`, {});
    await server.deliverWebhooks();
    expect(JSON.parse(receiver.received.at(-1)!.body).data).toMatchObject({
      truncated: true,
      object: { id: body.id, status: "completed", output: body.output },
    });
  });
});
