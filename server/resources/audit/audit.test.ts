import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { newId } from "../../domain/ids.ts";
import { createAudit } from "../../storage/db/audit.ts";
import { skillText, zipOf } from "../../testing/archives.ts";
import { oauthClientId, oauthClientSecret, startOAuthServer } from "../../testing/oauth-server.ts";
import { testActor } from "../../testing/test-actor.ts";
import { type Client, testApp } from "../../testing/test-app.ts";

const server = testApp();
afterAll(() => server[Symbol.asyncDispose]());

interface Entry {
  action: string;
  actor: { type: string; id: string; ip: string | null };
  target: { type: string; id: string } | null;
  details: Record<string, unknown>;
  request_id: string | null;
  project_id: string | null;
  environment: string | null;
}

const agent = { name: "a", instructions: "b", model: "test/echo" };
const newKey = { name: "k", scopes: ["read"] };
const secret = "canary-4711";

/** Request that succeeds, in a project made for it, and its expected audit entry. */
interface Deed {
  path?: string;
  body?: unknown;
  action: string;
  /** Target of the entry, if it is not the id in the answer. */
  target?: string;
}

const made = async (client: Client, resource: string, body: unknown): Promise<string> => {
  const answer = await client.post(`/v1/${resource}`, body);
  expect(answer.status).toBe(201);
  return answer.body.id;
};
const bearer = ({ key }: Client) => ({ authorization: `Bearer ${key.secret}` });
const newRun = async (client: Client) =>
  made(client, "runs?wait=60", { agent_id: await made(client, "agents", agent), input: "Hi" });
const chatPage = { access: "link", title: secret };
async function newChatPage(client: Client): Promise<{ path: string; target: string }> {
  const target = await made(client, "agents", agent);
  const path = `/v1/agents/${target}/chat_page`;
  await server.send("PUT", path, chatPage, bearer(client));
  return { path, target };
}
/** An OpenAPI document whose only operation has this description. */
const documentOf = (description: string): string =>
  JSON.stringify({ openapi: "3.1.0", servers: [{ url: nobody }], paths: { "/pets": { get: { description } } } });
const oauthClient = {
  name: "o",
  grant: "client_credentials",
  client_id: oauthClientId,
  client_secret: oauthClientSecret,
  token_endpoint: "http://127.0.0.1:65535/token",
};
/** Makes a grant and returns its path. */
async function newGrant(client: Client): Promise<string> {
  await using issuer = await startOAuthServer();
  const address = { ...oauthClient, token_endpoint: `${issuer.url}/token` };
  const oauth_client_id = await made(client, "oauth_clients", address);
  await server.oauth.get(client.scope, oauth_client_id, null);
  return `/v1/oauth_grants/${(await client.get("/v1/oauth_grants")).body.data[0].id}`;
}
const headers = { "X-Secret": secret };
/** Address without a listener. */
const nobody = "http://127.0.0.1:65535/";
const webhook = { url: `${nobody}${secret}`, events: ["run.completed"] };
const store = { name: "m", kind: "vector", metadata: { note: secret } };
const newSchedule = async (client: Client) => ({
  name: "s",
  agent_id: await made(client, "agents", agent),
  input: secret,
  cron: "0 0 1 1 *",
  timezone: "UTC",
});
const newSkill = (name: string) => ({
  content_base64: zipOf([{ path: `${name}/SKILL.md`, content: skillText(name, "Says how.") }]).toBase64(),
});
/** Returns the path of a label that was moved from one version to the next. */
async function movedLabel(client: Client): Promise<string> {
  const path = `/v1/agents/${await made(client, "agents", agent)}`;
  await client.patch(path, { instructions: "c" });
  for (const version of [1, 2]) await client.put(`${path}/labels/production`, { version });
  return `${path}/labels/production`;
}
const newTrigger = async (client: Client) => ({
  name: "t",
  agent_id: await made(client, "agents", agent),
  input: secret,
  verification: "shared_secret",
  secret: `${secret} of at least sixteen`,
});
const newSuite = async (client: Client) => ({
  name: "s",
  run_ids: [await newRun(client)],
  metadata: { note: secret },
});

/** A successful request for each route that changes something as an admin. A new route must be added here. */
const deeds: Record<string, (client: Client) => Promise<Deed>> = {
  "POST /v1/agents": async () => ({ body: { ...agent, instructions: secret }, action: "agent.created" }),
  "PATCH /v1/agents/:id": async (client) => ({
    path: `/v1/agents/${await made(client, "agents", agent)}`,
    body: { instructions: secret },
    action: "agent.updated",
  }),
  "DELETE /v1/agents/:id": async (client) => ({
    path: `/v1/agents/${await made(client, "agents", agent)}`,
    action: "agent.deleted",
  }),
  "POST /v1/tools": async () => ({
    body: { name: "t", url: "http://127.0.0.1:8080/x", headers },
    action: "tool.created",
  }),
  "PATCH /v1/tools/:id": async (client) => ({
    path: `/v1/tools/${await made(client, "tools", { name: "t", url: "http://127.0.0.1:8080/x" })}`,
    body: { headers },
    action: "tool.updated",
  }),
  "DELETE /v1/tools/:id": async (client) => ({
    path: `/v1/tools/${await made(client, "tools", { name: "t" })}`,
    action: "tool.deleted",
  }),
  "POST /v1/tools/:id/refresh": async (client) => ({
    path: `/v1/tools/${await made(client, "tools", { name: "t", type: "mcp", server_url: nobody, headers })}/refresh`,
    body: {},
    action: "tool.refreshed",
  }),
  "POST /v1/tools/catalog/:name": async () => ({
    path: "/v1/tools/catalog/fetch_page",
    body: {},
    action: "tool.created",
  }),
  "POST /v1/tools/:id/test": async (client) => {
    const target = await made(client, "tools", { name: "t", type: "webhook", url: nobody, headers });
    return { path: `/v1/tools/${target}/test`, body: { arguments: { text: secret } }, action: "tool.tested", target };
  },
  "POST /v1/memory": async () => ({ body: store, action: "memory.created" }),
  "PATCH /v1/memory/:id": async (client) => ({
    path: `/v1/memory/${await made(client, "memory", store)}`,
    body: { metadata: { note: secret } },
    action: "memory.updated",
  }),
  "DELETE /v1/memory/:id": async (client) => ({
    path: `/v1/memory/${await made(client, "memory", store)}`,
    action: "memory.deleted",
  }),
  "POST /v1/webhooks": async () => ({ body: webhook, action: "webhook.created" }),
  "PATCH /v1/webhooks/:id": async (client) => ({
    path: `/v1/webhooks/${await made(client, "webhooks", webhook)}`,
    body: { description: secret },
    action: "webhook.updated",
  }),
  "DELETE /v1/webhooks/:id": async (client) => ({
    path: `/v1/webhooks/${await made(client, "webhooks", webhook)}`,
    action: "webhook.deleted",
  }),
  "POST /v1/webhooks/:id/test": async (client) => {
    const target = await made(client, "webhooks", webhook);
    return { path: `/v1/webhooks/${target}/test`, body: {}, action: "webhook.tested", target };
  },
  "POST /v1/webhooks/:id/rotate_secret": async (client) => ({
    path: `/v1/webhooks/${await made(client, "webhooks", webhook)}/rotate_secret`,
    body: { overlap_seconds: 60 },
    action: "webhook.secret_rotated",
  }),
  "POST /v1/webhooks/:id/redeliver": async (client) => ({
    path: `/v1/webhooks/${await made(client, "webhooks", webhook)}/redeliver`,
    body: { since: "2026-01-01T00:00:00Z" },
    action: "webhook.redelivered",
  }),
  "POST /v1/webhooks/:id/deliveries/:delivery_id/redeliver": async (client) => {
    const id = await made(client, "webhooks", { ...webhook, enabled: false });
    const { body } = await client.post(`/v1/webhooks/${id}/test`, {});
    const path = `/v1/webhooks/${id}/deliveries/${body.id}/redeliver`;
    return { path, body: {}, action: "delivery.redelivered" };
  },
  "POST /v1/schedules": async (client) => ({ body: await newSchedule(client), action: "schedule.created" }),
  "PATCH /v1/schedules/:id": async (client) => ({
    path: `/v1/schedules/${await made(client, "schedules", await newSchedule(client))}`,
    body: { input: `${secret}, too` },
    action: "schedule.updated",
  }),
  "DELETE /v1/schedules/:id": async (client) => ({
    path: `/v1/schedules/${await made(client, "schedules", await newSchedule(client))}`,
    action: "schedule.deleted",
  }),
  "POST /v1/oauth_clients": async () => ({
    body: { ...oauthClient, client_secret: secret },
    action: "oauth_client.created",
  }),
  "PATCH /v1/oauth_clients/:id": async (client) => ({
    path: `/v1/oauth_clients/${await made(client, "oauth_clients", oauthClient)}`,
    body: { client_secret: secret },
    action: "oauth_client.updated",
  }),
  "DELETE /v1/oauth_clients/:id": async (client) => ({
    path: `/v1/oauth_clients/${await made(client, "oauth_clients", oauthClient)}`,
    action: "oauth_client.deleted",
  }),
  "DELETE /v1/oauth_grants/:id": async (client) => ({ path: await newGrant(client), action: "oauth_grant.deleted" }),
  "POST /v1/triggers": async (client) => ({ body: await newTrigger(client), action: "trigger.created" }),
  "PATCH /v1/triggers/:id": async (client) => ({
    path: `/v1/triggers/${await made(client, "triggers", await newTrigger(client))}`,
    body: { input: `${secret}, too` },
    action: "trigger.updated",
  }),
  "DELETE /v1/triggers/:id": async (client) => ({
    path: `/v1/triggers/${await made(client, "triggers", await newTrigger(client))}`,
    action: "trigger.deleted",
  }),
  "POST /v1/triggers/:id/rotate_secret": async (client) => ({
    path: `/v1/triggers/${await made(client, "triggers", await newTrigger(client))}/rotate_secret`,
    body: { secret: `${secret} of at least sixteen`, overlap_seconds: 60 },
    action: "trigger.secret_rotated",
  }),
  "PUT /v1/agents/by-name/:name": async (client) => ({
    target: await made(client, "agents", { ...agent, name: "clerk" }),
    path: "/v1/agents/by-name/clerk",
    body: { instructions: secret, model: "test/echo" },
    action: "agent.updated",
  }),
  "POST /v1/tools/import": async (client) => {
    const before = await client.post("/v1/tools/import", { document: documentOf("before") });
    return {
      target: before.body.operations[0].tool_id,
      path: "/v1/tools/import",
      body: { document: documentOf(secret) },
      action: "tool.updated",
    };
  },
  "PUT /v1/tools/by-name/:name": async (client) => ({
    target: await made(client, "tools", { name: "look_up" }),
    path: "/v1/tools/by-name/look_up",
    body: { description: secret },
    action: "tool.updated",
  }),
  "PUT /v1/agents/:id/labels/:label": async (client) => ({
    path: `/v1/agents/${await made(client, "agents", agent)}/labels/production`,
    body: { version: 1 },
    action: "label.created",
  }),
  "POST /v1/agents/:id/labels/:label/rollback": async (client) => ({
    path: `${await movedLabel(client)}/rollback`,
    action: "label.rolled_back",
  }),
  "DELETE /v1/agents/:id/labels/:label": async (client) => ({
    path: await movedLabel(client),
    action: "label.deleted",
  }),
  "POST /v1/skills": async () => ({ body: newSkill("letters"), action: "skill.created" }),
  "DELETE /v1/skills/:id": async (client) => ({
    path: `/v1/skills/${await made(client, "skills", newSkill("refunds"))}`,
    action: "skill.deleted",
  }),
  "POST /v1/snippets": async () => ({ body: { name: "policy", text: secret }, action: "snippet.created" }),
  "PATCH /v1/snippets/:id": async (client) => ({
    path: `/v1/snippets/${await made(client, "snippets", { name: "tone", text: "a" })}`,
    body: { text: secret },
    action: "snippet.updated",
  }),
  "DELETE /v1/snippets/:id": async (client) => ({
    path: `/v1/snippets/${await made(client, "snippets", { name: "gone", text: "a" })}`,
    action: "snippet.deleted",
  }),
  "DELETE /v1/users/:id/data": async () => ({ path: "/v1/users/somebody/data", action: "erasure.requested" }),
  "POST /v1/suites": async (client) => ({ body: await newSuite(client), action: "suite.created" }),
  "PATCH /v1/suites/:id": async (client) => ({
    path: `/v1/suites/${await made(client, "suites", await newSuite(client))}`,
    body: { description: secret },
    action: "suite.updated",
  }),
  "DELETE /v1/suites/:id": async (client) => ({
    path: `/v1/suites/${await made(client, "suites", await newSuite(client))}`,
    action: "suite.deleted",
  }),
  "POST /v1/api_keys": async () => ({ body: { name: "k", scopes: ["read"] }, action: "api_key.created" }),
  "PATCH /v1/api_keys/:id": async (client) => ({
    path: `/v1/api_keys/${await made(client, "api_keys", newKey)}`,
    body: { name: "other" },
    action: "api_key.updated",
  }),
  "POST /v1/api_keys/:id/rotate": async (client) => {
    const target = await made(client, "api_keys", newKey);
    return { path: `/v1/api_keys/${target}/rotate`, body: { overlap_seconds: 60 }, action: "api_key.rotated", target };
  },
  "DELETE /v1/api_keys/:id": async (client) => ({
    path: `/v1/api_keys/${await made(client, "api_keys", newKey)}`,
    action: "api_key.revoked",
  }),
  "PUT /v1/agents/:id/chat_page": async (client) => {
    const target = await made(client, "agents", agent);
    return { path: `/v1/agents/${target}/chat_page`, body: chatPage, action: "chat_page.set", target };
  },
  "POST /v1/agents/:id/chat_page/rotate": async (client) => {
    const { path, target } = await newChatPage(client);
    return { path: `${path}/rotate`, action: "chat_page.rotated", target };
  },
  "DELETE /v1/agents/:id/chat_page": async (client) => ({
    ...(await newChatPage(client)),
    action: "chat_page.deleted",
  }),
  "PUT /v1/secrets/:name": async () => ({ path: "/v1/secrets/NAME", body: { value: secret }, action: "secret.set" }),
  "DELETE /v1/secrets/:name": async (client) => {
    await server.send("PUT", "/v1/secrets/NAME", { value: secret }, bearer(client));
    return { path: "/v1/secrets/NAME", action: "secret.deleted" };
  },
  "DELETE /v1/files/:id": async (client) => {
    const upload = { filename: "a.txt", text: "a", purpose: "attachment" };
    return { path: `/v1/files/${await made(client, "files", upload)}`, action: "file.deleted" };
  },
  "DELETE /v1/runs/:id": async (client) => ({ path: `/v1/runs/${await newRun(client)}`, action: "run.deleted" }),
  "DELETE /v1/traces/:run_id": async (client) => ({
    path: `/v1/traces/${await newRun(client)}`,
    action: "trace.deleted",
  }),
};

const changing = Object.entries(server.operations)
  .filter(([route, { needs }]) => needs === "admin" && !route.startsWith("GET "))
  .map(([route]) => route);

let strangers = 0;
/** Returns an admin of an empty project. */
const newAdmin = () => server.client({ project: `p${strangers++}` });

const log = async (client: Client, query = ""): Promise<Entry[]> =>
  (await client.get(`/v1/audit_log?limit=100${query}`)).body.data;

/** Returns every row of every table, to prove that nothing changed. */
function everything(): Record<string, unknown[]> {
  const tables = server.db.sqlite
    .query<{ name: string }, []>("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    .all();
  return Object.fromEntries(tables.map(({ name }) => [name, server.db.sqlite.query(`SELECT * FROM ${name}`).all()]));
}

test("every route that changes something as an admin is tested here", () => {
  expect(Object.keys(deeds).sort()).toEqual(changing.toSorted());
});

describe.each(Object.keys(deeds))("%s", (route) => {
  const [method = "", pattern = ""] = route.split(" ");
  const ask = (client: Client, path: string, body: unknown) => server.send(method, path, body, bearer(client));

  test("writes one entry: actor, action, target and request, and no secret", async () => {
    const client = await newAdmin();
    const { path = pattern, body, action, target } = await deeds[route]!(client);
    const before = await log(client);
    const answer = await ask(client, path, body);
    expect(answer.status).toBeLessThan(300);
    const entries = (await log(client)).slice(0, -before.length || undefined);
    expect(entries).toEqual([
      {
        id: expect.stringMatching(/^aud_[0-9a-z]{26}$/),
        object: "audit_entry",
        created_at: expect.any(String),
        action,
        actor: { type: "api_key", id: client.key.id, ip: null },
        target: { type: action.split(".")[0], id: target ?? answer.body.id ?? answer.body.data[0].id },
        details: expect.any(Object),
        request_id: answer.headers.get("x-request-id"),
        metadata: {},
        project_id: client.scope.project_id,
        environment: client.scope.environment,
      } as never,
    ]);
    for (const hidden of [secret, answer.body.secret, answer.body.signing_secret])
      if (hidden) expect(JSON.stringify(entries)).not.toContain(hidden);
  });

  test("writes nothing when it is refused, except a refusal for a missing scope", async () => {
    const client = await newAdmin();
    const { path = pattern, body } = await deeds[route]!(client);
    const reader = await server.client({ project: `p${strangers - 1}`, scopes: ["read"] });
    const before = await log(client);
    const nothing = path
      .replace(/(agt|tool|run|key|whk|sch|sui)_\w{26}/, (id) => newId(kindOf(id)))
      .replace("NAME", method === "DELETE" ? "NOTHING" : "NAME");
    const refused = [
      await ask(reader, path, body),
      await ask(client, `${path}?surprise=1`, body),
      await ask(client, path, { surprise: 1 }),
      ...(nothing === path ? [] : [await ask(client, nothing, body)]),
    ];
    for (const { status } of refused) expect(status).toBeWithin(400, 500);
    await server.db.write(() => {}); // Requests do not wait for the note of a refusal, but later writes follow it.
    const [last, ...others] = await log(client);
    expect(last).toMatchObject({ action: "request.refused", details: { required_scope: "admin", method } });
    expect(others).toEqual(before);
  });

  test("leaves neither the change nor the entry when the transaction is rolled back", async () => {
    const client = await newAdmin();
    const { path = pattern, body } = await deeds[route]!(client);
    await server.keys.writeLastUsed();
    // Uploads of other tests are read in the background, and users that they erased are.
    while (
      server.db.sqlite
        .query(
          `SELECT 1 FROM files WHERE status IN ('uploaded', 'processing')
           UNION ALL SELECT 1 FROM erasures WHERE completed_at_ms IS NULL`,
        )
        .get()
    )
      await Bun.sleep(5);
    const before = everything();
    // The commit itself fails, after everything was written.
    server.db.sqlite.run("CREATE TABLE doom (id TEXT REFERENCES projects (id) DEFERRABLE INITIALLY DEFERRED) STRICT");
    server.db.sqlite.run(
      "CREATE TRIGGER doomed AFTER INSERT ON audit_log BEGIN INSERT INTO doom (id) VALUES ('nothing'); END",
    );
    try {
      expect((await ask(client, path, body)).status).toBe(500);
    } finally {
      server.db.sqlite.run("DROP TRIGGER doomed");
      server.db.sqlite.run("DROP TABLE doom");
    }
    expect(everything()).toEqual(before);
  });
});

const kindOf = (id: string) =>
  (
    ({
      agt: "agent",
      tool: "tool",
      run: "run",
      key: "api_key",
      whk: "webhook",
      sch: "schedule",
      trg: "trigger",
      sui: "suite",
    }) as const
  )[id.split("_")[0] as "agt"];

describe("GET /v1/audit_log", () => {
  let [owner, live, neighbour]: Client[] = [];
  beforeAll(async () => {
    owner = await server.client({ project: "owner" });
    live = await server.client({ project: "owner", environment: "live" });
    neighbour = await server.client({ project: "neighbour" });
  });
  const audit = createAudit({ db: server.db });
  const note = (scope: object | null, action: string) =>
    server.db.write(() => audit.note({ ...scope, actor: testActor }, action, null));

  test("is a list with pages, a time range and filters by action, actor and target", async () => {
    const client = await newAdmin();
    const ids = [];
    for (let i = 0; i < 3; i++) ids.push(await made(client, "tools", { name: `t${i}` }));
    const all = (await client.get("/v1/audit_log?action=tool.created")).body;
    expect(all.data.map(({ target }: Entry) => target!.id)).toEqual(ids.toReversed());
    const first = (await client.get("/v1/audit_log?action=tool.created&limit=2")).body;
    expect([first.data.length, first.has_more]).toEqual([2, true]);
    const rest = (await client.get(`/v1/audit_log?action=tool.created&limit=2&starting_after=${first.last_id}`)).body;
    expect(rest.data.map(({ target }: Entry) => target!.id)).toEqual([ids[0]]);
    expect(await log(client, `&target_id=${ids[1]}`)).toHaveLength(1);
    expect(await log(client, `&action=tool.created&actor_id=${client.key.id}`)).toHaveLength(3);
    expect(await log(client, "&actor_id=somebody")).toEqual([]);
    const { request_id } = all.data[1];
    expect((await log(client, `&request_id=${request_id}`)).map(({ target }) => target?.id)).toEqual([ids[1]]);
    expect(await log(client, "&created_at[gt]=2999-01-01T00:00:00Z")).toEqual([]);
    for (const query of ["action=Nonsense!", "metadata[a]=b", "starting_after=aud_none"])
      expect((await client.get(`/v1/audit_log?${query}`)).status).toBe(400);
  });

  test("shows its environment and entries of both environments, and nothing of another project or of the whole server", async () => {
    const { project_id } = owner!.scope;
    await note(owner!.scope, "a.test");
    await note(live!.scope, "a.live");
    await note({ project_id, environment: null }, "a.both");
    await note(neighbour!.scope, "a.neighbour");
    await note(null, "a.server");
    const seen = async (client: Client) =>
      (await log(client)).map(({ action }) => action).filter((action) => action.startsWith("a."));
    expect(await seen(owner!)).toEqual(["a.both", "a.test"]);
    expect(await seen(live!)).toEqual(["a.both", "a.live"]);
    expect(await seen(neighbour!)).toEqual(["a.neighbour"]);
    const [theirs] = (await neighbour!.get("/v1/audit_log")).body.data;
    const after = (await log(owner!, `&starting_after=${theirs.id}`)).map(({ action }) => action);
    expect(after).not.toContain("a.neighbour");
    expect(after).toContain("a.both");
  });

  test("shows a restricted key only its own actions", async () => {
    const bound = await server.client({ project: "owner", agent_ids: [newId("agent")] });
    await made(owner!, "agents", agent);
    expect(await log(bound)).toEqual([]);
    const tool = await made(bound, "tools", { name: "mine" });
    expect((await log(bound)).map(({ target }) => target!.id)).toEqual([tool]);
  });

  test("requires the admin scope", async () => {
    for (const scope of ["read", "run"] as const) {
      const client = await server.client({ project: "owner", scopes: [scope] });
      expect((await client.get("/v1/audit_log")).status).toBe(403);
    }
  });
});

describe("the log", () => {
  test("names the changed fields of an agent, and has no entry for a change without effect", async () => {
    const client = await newAdmin();
    const id = await made(client, "agents", agent);
    await client.patch(`/v1/agents/${id}`, { name: "a", instructions: "c" });
    await client.patch(`/v1/agents/${id}`, { name: "a", instructions: "c" });
    const [updated, ...rest] = await log(client, `&target_id=${id}`);
    expect(updated!.details).toEqual({ name: "a", version: 2, changes: ["instructions"] });
    expect(rest.map(({ action }) => action)).toEqual(["agent.created"]);
  });

  test("is never edited", async () => {
    await newAdmin(); // Make sure that the log has an entry.
    expect(() => server.db.sqlite.run("UPDATE audit_log SET actor_id = 'me'")).toThrow("never edited");
  });

  test("is deleted with its project; entries of the whole server stay", async () => {
    await using other = testApp();
    const client = await other.client({ project: "gone" });
    const audit = createAudit({ db: other.db });
    await client.post("/v1/tools", { name: "t" });
    const { project_id } = client.scope;
    await other.db.write(() => {
      other.db.sqlite.query("DELETE FROM projects WHERE id = ?").run(project_id);
      audit.note({ actor: testActor }, "project.deleted", project_id);
    });
    const left = other.db.sqlite.query<{ action: string }, []>("SELECT action FROM audit_log").all();
    expect(left.map(({ action }) => action)).toEqual(["project.deleted"]);
  });

  test("keeps an entry for a year, and deletes it then", async () => {
    let at = Date.parse("2026-01-01T00:00:00Z");
    await using other = testApp({ now: () => at });
    const client = await other.client();
    await client.post("/v1/tools", { name: "old" });
    at += 364 * 24 * 3_600_000;
    await client.post("/v1/tools", { name: "new" });
    const names = async () => {
      await other.sweep();
      const { data } = (await client.get("/v1/audit_log?action=tool.created")).body;
      return data.map(({ details }: Entry) => details.name);
    };
    expect(await names()).toEqual(["new", "old"]);
    at += 2 * 24 * 3_600_000;
    expect(await names()).toEqual(["new"]);
  });
});
