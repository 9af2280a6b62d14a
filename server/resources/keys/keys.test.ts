import { describe, expect, test } from "bun:test";
import type { AuditEntry } from "../../domain/api-types/audit.ts";
import { createLog } from "../../lib/log.ts";
import { createAudit } from "../../storage/db/audit.ts";
import { testActor } from "../../testing/test-actor.ts";
import { type Client, testApp } from "../../testing/test-app.ts";
import { environmentOf, mintSecret } from "./secret.ts";
import { createKeyStore } from "./store.ts";

test("a secret names its environment and ends with a checksum", () => {
  for (const environment of ["test", "live"] as const) {
    const secret = mintSecret(environment);
    expect(secret).toMatch(new RegExp(`^sk_${environment}_[0-9A-Za-z]{39}$`));
    expect(environmentOf(secret)).toBe(environment);
    const other = environment === "test" ? "live" : "test";
    expect(environmentOf(secret.replace(environment, other))).toBeNull();
    expect(environmentOf(`${secret.slice(0, -1)}${secret.endsWith("a") ? "b" : "a"}`)).toBeNull();
    expect(environmentOf(`${secret}a`)).toBeNull();
  }
});

test("the secret is in the answer of the creation and nowhere else", async () => {
  await using server = testApp();
  const admin = await server.client();
  const { status, body } = await admin.post("/v1/api_keys", {
    name: "ci",
    scopes: ["run", "read"],
    expires_in_seconds: 60,
  });
  expect(status).toBe(201);
  expect(body).toMatchObject({
    object: "api_key",
    scopes: ["read", "run"],
    status: "active",
    prefix: body.secret.slice(0, 12),
    last4: body.secret.slice(-4),
    created_by: admin.key.id,
    metadata: {},
    ...admin.scope,
  });
  const stored = JSON.stringify(server.db.sqlite.query("SELECT * FROM api_keys").all());
  const shown = JSON.stringify([
    (await admin.get("/v1/api_keys")).body,
    (await admin.get(`/v1/api_keys/${body.id}`)).body,
  ]);
  expect(stored + shown).not.toContain(body.secret);
  expect(
    (await server.send("GET", "/v1/me", undefined, { authorization: `Bearer ${body.secret}` })).body,
  ).toMatchObject({
    id: body.id,
    project: "default",
  });
});

test("a revoked key fails on the next request, also when another process revoked it", async () => {
  await using server = testApp();
  const [admin, reader, other] = [
    await server.client(),
    await server.client({ scopes: ["read"] }),
    await server.client(),
  ];
  expect((await reader.get("/v1/me")).status).toBe(200);
  expect((await admin.delete(`/v1/api_keys/${reader.key.id}`)).body).toMatchObject({
    id: reader.key.id,
    deleted: true,
  });
  expect((await reader.get("/v1/me")).body.error).toMatchObject({
    code: "key_revoked",
    details: { reason: "requested" },
  });
  expect(server.keys.noLongerValid(reader.key.id)?.code).toBe("key_revoked");
  expect((await admin.delete(`/v1/api_keys/${reader.key.id}`)).status).toBe(404);
  expect((await admin.get(`/v1/api_keys/${reader.key.id}`)).body.status).toBe("revoked");
  server.db.sqlite.query("UPDATE api_keys SET revoked_at_ms = 1 WHERE id = ?").run(other.key.id);
  expect((await other.get("/v1/me")).status).toBe(401);
});

test("the last admin key of a project and environment cannot be revoked", async () => {
  await using server = testApp();
  const [admin] = [
    await server.client(),
    await server.client({ scopes: ["read"] }),
    await server.client({ environment: "live" }),
  ];
  expect((await admin.delete(`/v1/api_keys/${admin.key.id}`)).body.error.code).toBe("last_admin_key");
  const second = await server.client();
  expect((await second.delete(`/v1/api_keys/${admin.key.id}`)).status).toBe(200);
  expect((await second.delete(`/v1/api_keys/${second.key.id}`)).status).toBe(409);
});

test("an expired key is refused", async () => {
  let at = 1_800_000_000_000;
  await using server = testApp({ now: () => at });
  const admin = await server.client();
  const { body: key } = await admin.post("/v1/api_keys", { name: "short", scopes: ["read"], expires_in_seconds: 5 });
  const status = async () =>
    (await server.send("GET", "/v1/me", undefined, { authorization: `Bearer ${key.secret}` })).status;
  at += 4999;
  expect(await status()).toBe(200);
  at += 1;
  expect(await status()).toBe(401);
  expect((await admin.get(`/v1/api_keys/${key.id}`)).body.status).toBe("expired");
});

test("outside its networks a key looks like an invalid one", async () => {
  await using server = testApp();
  const { scope } = await server.client();
  const { keys } = server;
  const allowed_cidrs = ["203.0.113.0/24", "2001:db8::/32"];
  const { secret } = await keys.create({ ...scope, actor: testActor }, { name: "n", scopes: ["read"], allowed_cidrs });
  for (const ip of ["203.0.113.7", "::ffff:203.0.113.7", "2001:db8::1"])
    expect(keys.authenticate(secret, ip)).not.toBeNull();
  for (const ip of ["203.0.114.7", "::1", "nonsense", null]) expect(keys.authenticate(secret, ip)).toBeNull();
  const admin = await server.client();
  const wrong = await admin.post("/v1/api_keys", { name: "n", scopes: ["read"], allowed_cidrs: ["10.0.0.0/8", "x"] });
  expect(wrong.body.error.param).toBe("allowed_cidrs[1]");
});

test("a key sent in clear text is marked, and a live one is revoked unless the operator disabled that", async () => {
  await using server = testApp();
  for (const [environment, keepLive, valid] of [
    ["test", false, true],
    ["live", true, true],
    ["live", false, false],
  ] as const) {
    const { key, scope } = await server.client({ environment });
    await server.keys.expose(key.secret, { keepLive });
    expect(server.keys.get(scope, key.id).exposed_at).not.toBeNull();
    expect(server.keys.noLongerValid(key.id) === null).toBe(valid);
  }
  await server.keys.expose("sk_live_nonsense");
});

describe("a key that came in clear text", () => {
  const remote = { ip: "203.0.113.7", local: false };
  const here = { ip: "127.0.0.1", local: true };
  const audited = async (client: Client) =>
    (await client.get("/v1/audit_log?action=api_key.exposed")).body.data.map(
      ({ actor, target, details }: AuditEntry) => ({ ip: actor.ip, key: target!.id, ...details }),
    );

  test("from this machine is logged, and not revoked", async () => {
    await using server = testApp();
    const [admin, other] = [await server.client({ environment: "live" }), await server.client({ environment: "live" })];
    expect(await server.keys.expose(other.key.secret, here)).toMatchObject({ id: other.key.id, exposure: "local" });
    expect((await other.get("/v1/me")).status).toBe(200);
    const { exposure, exposed_at, revoked_at } = server.keys.get(admin.scope, other.key.id);
    expect([exposure, exposed_at, revoked_at]).toEqual(["local", expect.any(String), null]);
    expect(await audited(admin)).toEqual([
      { ip: "127.0.0.1", key: other.key.id, name: "test", revoked: false, exposure: "local" },
    ]);
  });

  test("from elsewhere after that is revoked, and its owner learns the reason", async () => {
    await using server = testApp();
    const [admin, other] = [await server.client({ environment: "live" }), await server.client({ environment: "live" })];
    await server.keys.expose(other.key.secret, here);
    await server.keys.expose(other.key.secret, remote);
    await server.keys.expose(other.key.secret, here);
    const { status, headers, body } = await other.get("/v1/me");
    expect([status, headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
    expect(body.error).toMatchObject({
      code: "key_revoked",
      message: expect.stringContaining("sent over plain HTTP"),
      details: { reason: "exposed", revoked_at: expect.stringMatching(/Z$/) },
    });
    expect((await audited(admin)).map(({ exposure }: { exposure: string }) => exposure)).toEqual(["revoked", "local"]);
  });

  test("is not revoked if it is the last admin key of its environment, and is once there is another", async () => {
    await using server = testApp();
    const admin = await server.client({ environment: "live" });
    await server.client({ environment: "test" });
    await server.client({ environment: "live", scopes: ["run"] });
    const commits = server.db.write.commits();
    for (let i = 0; i < 3; i++) await server.keys.expose(admin.key.secret, remote);
    expect(server.db.write.commits()).toBe(commits + 1);
    expect((await admin.get(`/v1/api_keys/${admin.key.id}`)).body).toMatchObject({
      status: "active",
      exposure: "last_admin_key",
      exposed_at: expect.any(String),
      revoked_at: null,
    });
    expect(await audited(admin)).toMatchObject([{ ip: "203.0.113.7", revoked: false, exposure: "last_admin_key" }]);
    const other = await server.client({ environment: "live" });
    await server.keys.expose(admin.key.secret, remote);
    expect((await admin.get("/v1/me")).body.error.code).toBe("key_revoked");
    expect((await other.get("/v1/me")).status).toBe(200);
  });

  test("is logged without its secret", async () => {
    const lines: string[] = [];
    const both = Promise.withResolvers<void>();
    const write = (line: string) => void (lines.push(line) === 2 && both.resolve());
    const log = createLog({ format: "json", write });
    const rules = { tls: false, trustProxy: [], insecureHttp: false };
    await using server = testApp({ log, transport: { rules, peerOf: () => remote.ip } });
    const admin = await server.client({ environment: "live" });
    const other = await server.client({ environment: "live" });
    for (const { key } of [other, admin]) {
      const headers = { host: "localhost", authorization: `Bearer ${key.secret}` };
      expect((await server.send("GET", "/v1/me", undefined, headers)).body.error.code).toBe("https_required");
    }
    await both.promise;
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { level: "warn", id: other.key.id, exposure: "revoked", client: remote.ip },
      { level: "warn", id: admin.key.id, exposure: "last_admin_key", client: remote.ip },
    ]);
    expect(lines.join()).not.toContain(admin.key.secret);
  });
});

test("only a client with the secret learns that a key was revoked, and only from an allowed network", async () => {
  await using server = testApp();
  const admin = await server.client();
  const allowed_cidrs = ["203.0.113.0/24"];
  const { body: bound } = await admin.post("/v1/api_keys", { name: "n", scopes: ["read"], allowed_cidrs });
  await admin.delete(`/v1/api_keys/${bound.id}`);
  expect(server.keys.revoked(bound.secret, "203.0.113.7")?.code).toBe("key_revoked");
  for (const [secret, ip] of [
    [bound.secret, "203.0.114.7"],
    [bound.secret, null],
    [admin.key.secret, "203.0.113.7"],
    [mintSecret("test"), "203.0.113.7"],
    ["nonsense", "203.0.113.7"],
  ] as const)
    expect(server.keys.revoked(secret, ip)).toBeNull();
});

test("the last use of keys is written in batches", async () => {
  await using server = testApp();
  const { key, scope } = await server.client();
  const commits = server.db.write.commits();
  for (let i = 0; i < 20; i++) server.keys.authenticate(key.secret, "203.0.113.7");
  expect(server.keys.get(scope, key.id).last_used_ip).toBe("203.0.113.7");
  await server.keys.writeLastUsed();
  await server.keys.writeLastUsed();
  expect(server.db.write.commits()).toBe(commits + 1);
  expect(createKeyStore({ db: server.db, audit: createAudit({ db: server.db }) }).get(scope, key.id).last_used_ip).toBe(
    "203.0.113.7",
  );
});

test("a key restricted to some agents creates no key for others", async () => {
  await using server = testApp();
  const some = await server.client({ agent_ids: ["agt_00000000000000000000000000"] });
  for (const agent_ids of [undefined, null, ["agt_00000000000000000000000001"]])
    expect((await some.post("/v1/api_keys", { name: "n", scopes: ["read"], agent_ids })).status).toBe(403);
  expect(
    (await some.post("/v1/api_keys", { name: "n", scopes: ["read"], agent_ids: ["agt_00000000000000000000000000"] }))
      .status,
  ).toBe(201);
});

test("an invalid agent id is reported with its index", async () => {
  await using server = testApp();
  const admin = await server.client();
  const agent_ids = ["agt_00000000000000000000000000", "agt_nope"];
  const { status, body } = await admin.post("/v1/api_keys", { name: "n", scopes: ["read"], agent_ids });
  expect([status, body.error.code, body.error.param]).toEqual([400, "validation_failed", "agent_ids[1]"]);
  expect(body.error.message).toContain("id of an agent");
});

const soon = (at: number, seconds: number) => new Date(at + seconds * 1000).toISOString();

test("rotation creates a successor with all settings of the old key, and both are valid until the overlap ends", async () => {
  let at = 1_800_000_000_000;
  await using server = testApp({ now: () => at });
  const admin = await server.client();
  const { body: old } = await admin.post("/v1/api_keys", {
    name: "backend",
    scopes: ["run"],
    agent_ids: ["agt_00000000000000000000000000"],
    allowed_cidrs: ["203.0.113.0/24"],
    metadata: { team: "blue" },
  });
  const { status, body } = await admin.post(`/v1/api_keys/${old.id}/rotate`, { overlap_seconds: 60 });
  expect(status).toBe(201);
  const { id, secret, prefix, last4, created_at, request_id, previous, rotated_from, ...same } = body;
  expect(previous).toEqual({ id: old.id, status: "rotating", expires_at: soon(at, 60) });
  expect(rotated_from).toBe(old.id);
  expect(old).toMatchObject(same);
  expect(secret).not.toBe(old.secret);
  expect((await admin.get(`/v1/api_keys/${old.id}`)).body).toMatchObject({
    status: "rotating",
    rotated_to: id,
    expires_at: soon(at, 60),
  });
  const ip = "203.0.113.7";
  at += 59_999;
  expect([old.secret, secret].map((one) => server.keys.authenticate(one, ip)?.id)).toEqual([old.id, id]);
  at += 1;
  expect([old.secret, secret].map((one) => server.keys.authenticate(one, ip)?.id)).toEqual([undefined, id]);
  expect((await admin.get(`/v1/api_keys/${old.id}`)).body.status).toBe("expired");
});

test("the overlap of a rotation is a day by default, and zero ends the old key at once", async () => {
  await using server = testApp({ now: () => 1_800_000_000_000 });
  const admin = await server.client();
  const a = await server.client({ scopes: ["read"] });
  expect((await admin.post(`/v1/api_keys/${a.key.id}/rotate`)).body.previous.expires_at).toBe(
    soon(1_800_000_000_000, 86_400),
  );
  const b = await server.client({ scopes: ["read"] });
  const { body } = await admin.post(`/v1/api_keys/${b.key.id}/rotate`, { overlap_seconds: 0 });
  expect(body.previous.status).toBe("expired");
  expect((await b.get("/v1/me")).status).toBe(401);
  for (const overlap_seconds of [-1, 2_592_001, 1.5, "60"])
    expect((await admin.post(`/v1/api_keys/${admin.key.id}/rotate`, { overlap_seconds })).status).toBe(400);
});

test("the overlap can be shortened and extended, by another key than the one that ends", async () => {
  const at = 1_800_000_000_000;
  await using server = testApp({ now: () => at });
  const old = await server.client();
  const { body: fresh } = await old.post(`/v1/api_keys/${old.key.id}/rotate`, { overlap_seconds: 3600 });
  const bearer = { authorization: `Bearer ${fresh.secret}` };
  const patch = (expires_at: string | null) =>
    server.send("PATCH", `/v1/api_keys/${old.key.id}`, { expires_at }, bearer);
  expect((await old.patch(`/v1/api_keys/${old.key.id}`, { expires_at: soon(at, 7200) })).status).toBe(403);
  expect((await patch(soon(at, 7200))).body).toMatchObject({ status: "rotating", expires_at: soon(at, 7200) });
  expect((await old.patch(`/v1/api_keys/${old.key.id}`, { expires_at: soon(at, 60) })).body.expires_at).toBe(
    soon(at, 60),
  );
  for (const end of [null, soon(at, 31 * 86_400)])
    expect((await patch(end)).body.error).toMatchObject({ code: "validation_failed", param: "expires_at" });
  expect((await patch(soon(at, -5))).body).toMatchObject({ status: "expired", expires_at: soon(at, 0) });
  expect((await old.get("/v1/me")).status).toBe(401);
  expect((await patch(soon(at, 60))).body.error.code).toBe("key_not_active");
});

test("only an active key can be rotated: one with a successor names it, one that has ended stays so", async () => {
  await using server = testApp();
  const [admin, other] = [await server.client(), await server.client()];
  const rotate = (id: string) => admin.post(`/v1/api_keys/${id}/rotate`);
  const { body: second } = await rotate(other.key.id);
  const again = await rotate(other.key.id);
  expect([again.status, again.body.error.code]).toEqual([409, "key_not_active"]);
  expect(again.body.error.details).toEqual({ status: "rotating", rotated_to: second.id });
  const { body: third } = await rotate(second.id);
  expect((await admin.get(`/v1/api_keys/${second.id}`)).body).toMatchObject({
    rotated_from: other.key.id,
    rotated_to: third.id,
    status: "rotating",
  });
  await admin.delete(`/v1/api_keys/${third.id}`);
  expect((await rotate(third.id)).body.error.details.status).toBe("revoked");
  const late = await admin.patch(`/v1/api_keys/${third.id}`, { expires_at: "2040-01-01T00:00:00Z" });
  expect(late.body.error.code).toBe("key_not_active");
  expect((await admin.patch(`/v1/api_keys/${third.id}`, { name: "gone" })).body).toMatchObject({
    name: "gone",
    status: "revoked",
  });
});

test("name, metadata and expiry of a key can change, its rights cannot", async () => {
  await using server = testApp();
  const admin = await server.client();
  const { key } = await server.client({ scopes: ["read"] });
  const path = `/v1/api_keys/${key.id}`;
  const changed = await admin.patch(path, {
    name: "ci",
    metadata: { a: "b" },
    expires_at: "2030-01-01T00:00:00+01:00",
  });
  expect(changed.body).toMatchObject({ name: "ci", metadata: { a: "b" }, expires_at: "2029-12-31T23:00:00.000Z" });
  expect((await admin.patch(path, { expires_at: null })).body).toMatchObject({ name: "ci", expires_at: null });
  for (const body of [{ scopes: ["admin"] }, { agent_ids: null }, { allowed_cidrs: null }, { status: "active" }])
    expect((await admin.patch(path, body)).body.error.code).toBe("unknown_parameter");
  for (const expires_at of ["", "tomorrow", "2030-01-01", "2030-13-01T00:00:00Z", "2090-01-01T00:00:00Z", 5])
    expect([expires_at, (await admin.patch(path, { expires_at })).status]).toEqual([expires_at, 400]);
});

test("a key cannot create, rotate or extend a key that has more rights or a later expiry than itself", async () => {
  const at = 1_800_000_000_000;
  await using server = testApp({ now: () => at });
  const admin = await server.client();
  const agent_ids = ["agt_00000000000000000000000000", "agt_00000000000000000000000001"];
  const allowed_cidrs = ["203.0.113.0/24", "2001:db8::/32"];
  const { keys } = server;
  const bound = await keys.create(
    { ...admin.scope, actor: testActor },
    { name: "bound", scopes: ["admin"], agent_ids, allowed_cidrs, expires_in_seconds: 3600 },
  );
  const author = { ...admin.scope, actor: { type: "api_key" as const, id: bound.id, ip: null, request_id: null } };
  const within = { agent_ids, allowed_cidrs, expires_in_seconds: 3600 };
  const create = (more: object) => keys.create(author, { name: "n", scopes: ["admin"], ...within, ...more });
  expect(await create({ agent_ids: agent_ids.slice(1), allowed_cidrs: ["203.0.113.128/25"] })).toMatchObject({
    created_by: bound.id,
  });
  // The missing right is named: no scope would lift a restriction.
  for (const [bound_by, more] of [
    ["agent_ids", { agent_ids: null }],
    ["agent_ids", { agent_ids: [...agent_ids, "agt_00000000000000000000000002"] }],
    ["allowed_cidrs", { allowed_cidrs: null }],
    ["allowed_cidrs", { allowed_cidrs: ["203.0.112.0/23"] }],
    ["allowed_cidrs", { allowed_cidrs: ["203.0.113.0/23"] }],
    ["allowed_cidrs", { allowed_cidrs: ["::ffff:203.0.113.0/120"] }],
    ["allowed_cidrs", { allowed_cidrs: ["203.0.113.0/25", "0.0.0.0/0"] }],
    ["expires_at", { expires_in_seconds: 3601 }],
    ["expires_at", { expires_in_seconds: undefined }],
  ] as const)
    await expect(create(more)).rejects.toMatchObject({ code: "insufficient_scope", details: { bound_by } });
  // The secret of a successor is as good as the key: rotating a stronger key would mean to become it.
  await expect(keys.rotate(author, admin.key.id, {})).rejects.toMatchObject({ code: "insufficient_scope" });
  await expect(keys.update(author, bound.id, { expires_at: null })).rejects.toMatchObject({
    code: "insufficient_scope",
  });
  expect(await keys.rotate(author, bound.id, {})).toMatchObject({
    agent_ids,
    allowed_cidrs,
    expires_at: soon(at, 3600),
  });
});

test.each([
  ["api_keys", { name: "back door", scopes: ["admin"] }],
  ["agents", { name: "back door", instructions: "", model: "test/echo" }],
])("a key that is revoked during its request to /%s changes nothing any more", async (route, asked) => {
  await using server = testApp();
  const [admin, thief] = [await server.client(), await server.client()];
  let send = (_: string) => {};
  const body = new ReadableStream({
    start(controller) {
      send = (text) => {
        controller.enqueue(new TextEncoder().encode(text));
        controller.close();
      };
    },
  });
  const headers = { authorization: `Bearer ${thief.key.secret}`, "content-type": "application/json" };
  const before = (await admin.get(`/v1/${route}`)).body.data.length;
  const slow = server.app.handle(new Request(`http://localhost/v1/${route}`, { method: "POST", headers, body }));
  expect((await admin.delete(`/v1/api_keys/${thief.key.id}`)).status).toBe(200);
  send(JSON.stringify(asked));
  expect((await slow).status).toBe(401);
  expect((await admin.get(`/v1/${route}`)).body.data.length).toBe(before);
});

test("the last admin key cannot get an expiry, nor end while its successor is the only other one", async () => {
  await using server = testApp();
  const admin = await server.client();
  const path = `/v1/api_keys/${admin.key.id}`;
  const past = await admin.patch(path, { expires_at: "2020-01-01T00:00:00Z" });
  expect([past.status, past.body.error.code]).toEqual([409, "last_admin_key"]);
  const { body: next } = await admin.post(`${path}/rotate`, { overlap_seconds: 60 });
  // The old key is valid for a minute only; then no key could create another one.
  expect((await admin.delete(`/v1/api_keys/${next.id}`)).body.error.code).toBe("last_admin_key");
  expect((await admin.patch(path, { expires_at: "2020-01-01T00:00:00Z" })).status).toBe(200);
});

test("the keys of an archived project are refused until it is restored", async () => {
  await using server = testApp();
  const admin = await server.client({ project: "shop" });
  await server.projects.archive(admin.scope.project_id, testActor);
  expect((await admin.get("/v1/me")).body.error.code).toBe("invalid_api_key");
  expect(server.keys.noLongerValid(admin.key.id)?.code).toBe("project_archived");
  await server.projects.unarchive(admin.scope.project_id, testActor);
  expect((await admin.get("/v1/me")).status).toBe(200);
});

test("a key can read when it must be replaced", async () => {
  const at = 1_800_000_000_000;
  await using server = testApp({ now: () => at });
  const [admin, reader] = [await server.client(), await server.client({ scopes: ["read"] })];
  expect((await reader.get("/v1/me")).body.key).toEqual({
    name: "test",
    status: "active",
    expires_at: null,
    rotated_to: null,
    exposed_at: null,
  });
  const { body: next } = await admin.post(`/v1/api_keys/${reader.key.id}/rotate`, { overlap_seconds: 60 });
  expect((await reader.get("/v1/me")).body).toMatchObject({
    id: reader.key.id,
    scopes: ["read"],
    environment: "test",
    key: { status: "rotating", expires_at: soon(at, 60), rotated_to: next.id },
    rate_limits: { reads_per_minute: { limit: 600 } },
  });
});

test("a list shows the last use as a single key does", async () => {
  await using server = testApp();
  const [admin, reader] = [await server.client(), await server.client({ scopes: ["read"] })];
  await reader.get("/v1/me");
  const [listed] = (await admin.get("/v1/api_keys?limit=1")).body.data;
  expect(listed).toEqual({ ...(await admin.get(`/v1/api_keys/${reader.key.id}`)).body, request_id: undefined });
  expect(listed.last_used_at).not.toBeNull();
});

test("a key that is sent in clear text repeatedly costs one write", async () => {
  await using server = testApp();
  const { key } = await server.client();
  const commits = server.db.write.commits();
  for (let i = 0; i < 5; i++) await server.keys.expose(key.secret);
  expect(server.db.write.commits()).toBe(commits + 1);
});

test("every change of a key is in the audit log, and no secret is", async () => {
  await using server = testApp();
  const admin = await server.client({ environment: "live" });
  const { body: made } = await admin.post("/v1/api_keys", { name: "ci", scopes: ["read"] });
  await admin.patch(`/v1/api_keys/${made.id}`, { name: "cd" });
  await admin.patch(`/v1/api_keys/${made.id}`, { name: "cd" });
  const { body: next } = await admin.post(`/v1/api_keys/${made.id}/rotate`);
  await server.keys.expose(next.secret);
  await admin.delete(`/v1/api_keys/${made.id}`);
  const { data } = (await admin.get("/v1/audit_log?order=asc")).body;
  const mine = data.filter(({ action }: { action: string }) => action.startsWith("api_key.")).slice(1);
  expect(
    mine.map(({ action, target, actor }: { action: string; target: { id: string }; actor: { id: string } }) => [
      action,
      target.id,
      actor.id,
    ]),
  ).toEqual([
    ["api_key.created", made.id, admin.key.id],
    ["api_key.updated", made.id, admin.key.id],
    ["api_key.rotated", made.id, admin.key.id],
    ["api_key.exposed", next.id, next.id],
    ["api_key.revoked", made.id, admin.key.id],
  ]);
  for (const secret of [admin.key.secret, made.secret, next.secret]) expect(JSON.stringify(data)).not.toContain(secret);
});

test("a client that lost the answer to a rotation gets the same secret again", async () => {
  await using server = testApp();
  const admin = await server.client();
  const headers = { authorization: `Bearer ${admin.key.secret}`, "idempotency-key": "rotate 1" };
  const rotate = () => server.send("POST", `/v1/api_keys/${admin.key.id}/rotate`, {}, headers);
  const [first, again] = [await rotate(), await rotate()];
  expect([first.status, again.status, again.headers.get("idempotent-replayed")]).toEqual([201, 201, "true"]);
  expect(again.body.secret).toBe(first.body.secret);
  expect((await admin.get("/v1/api_keys")).body.data).toHaveLength(2);
});

test("an answer with a secret is repeated only to the key that requested it", async () => {
  await using server = testApp();
  const [root, other] = [await server.client(), await server.client()];
  const { body: minute } = await root.post("/v1/api_keys", { name: "m", scopes: ["admin"], expires_in_seconds: 60 });
  const ask = (secret: string, path: string, body: object) =>
    server.send("POST", path, body, { authorization: `Bearer ${secret}`, "idempotency-key": path });
  for (const [path, body] of [
    ["/v1/api_keys", { name: "k", scopes: ["admin"] }],
    [`/v1/api_keys/${other.key.id}/rotate`, {}],
    ["/v1/tools", { name: "t", url: "https://example.com/t" }],
  ] as const) {
    const first = await ask(root.key.secret, path, body);
    const again = await ask(root.key.secret, path, body);
    expect([first.status, again.status, again.body.secret]).toEqual([201, 201, first.body.secret]);
    expect(again.body.signing_secret).toBe(first.body.signing_secret);
    const stolen = await ask(minute.secret, path, body);
    expect([stolen.status, stolen.body.error.code]).toEqual([409, "idempotency_key_reused"]);
  }
  // An answer without a secret is repeated to any key of the project and environment.
  const agent = { name: "a", instructions: "", model: "test/echo" };
  const { body } = await ask(root.key.secret, "/v1/agents", agent);
  expect((await ask(minute.secret, "/v1/agents", agent)).body.id).toBe(body.id);
});

test("a restricted admin key neither changes nor ends a key beyond its restrictions", async () => {
  await using server = testApp();
  const agent_ids = ["agt_00000000000000000000000000"];
  const [root, bound, within] = [
    await server.client(),
    await server.client({ agent_ids }),
    await server.client({ agent_ids, scopes: ["read"] }),
  ];
  await server.client();
  const path = `/v1/api_keys/${root.key.id}`;
  for (const answer of [
    await bound.patch(path, { expires_at: "2020-01-01T00:00:00Z" }),
    await bound.patch(path, { name: "mine" }),
    await bound.delete(path),
  ])
    expect([answer.status, answer.body.error.code]).toEqual([403, "insufficient_scope"]);
  expect((await root.get("/v1/me")).status).toBe(200);
  expect((await bound.patch(`/v1/api_keys/${within.key.id}`, { name: "n" })).status).toBe(200);
  expect((await bound.delete(`/v1/api_keys/${within.key.id}`)).status).toBe(200);
});

test("a key with an expiry may revoke one without: a leak must be stopped at once", async () => {
  await using server = testApp();
  const root = await server.client();
  const { body: month } = await root.post("/v1/api_keys", {
    name: "month",
    scopes: ["admin"],
    expires_in_seconds: 2_592_000,
  });
  const leaked = await server.client({ scopes: ["run"] });
  const bearer = { authorization: `Bearer ${month.secret}` };
  expect((await server.send("DELETE", `/v1/api_keys/${leaked.key.id}`, undefined, bearer)).status).toBe(200);
});

test("an admin key that is restricted or expires sooner does not replace the last one", async () => {
  await using server = testApp();
  const root = await server.client();
  const make = async (more: object) => {
    const { body } = await root.post("/v1/api_keys", { name: "n", scopes: ["admin"], ...more });
    return body.id as string;
  };
  const agent_ids = ["agt_00000000000000000000000000"];
  const narrow = [
    await make({ expires_in_seconds: 60 }),
    await make({ agent_ids }),
    await make({ allowed_cidrs: ["203.0.113.0/24"] }),
  ];
  const path = `/v1/api_keys/${root.key.id}`;
  expect((await root.delete(path)).body.error?.code).toBe("last_admin_key");
  expect((await root.patch(path, { expires_at: "2020-01-01T00:00:00Z" })).body.error?.code).toBe("last_admin_key");
  for (const id of narrow) expect((await root.delete(`/v1/api_keys/${id}`)).status).toBe(200);
  await make({});
  expect((await root.delete(path)).status).toBe(200);
});

test.each([
  ["a line of its own", "ci\u001b[2K\rroot"],
  ["a line's end", "ci\nroot"],
  ["a control character of eight bits", "ci\u009b2K"],
  ["nothing but spaces", " \u00a0 "],
  ["nothing", ""],
])("a key or agent cannot have a name with %s", async (_, name) => {
  await using server = testApp();
  const root = await server.client();
  const answers = [
    await root.post("/v1/api_keys", { name, scopes: ["read"] }),
    await root.patch(`/v1/api_keys/${root.key.id}`, { name }),
    await root.post("/v1/agents", { name, instructions: "", model: "test/echo" }),
  ];
  for (const { status, body } of answers) expect([status, body.error?.param]).toEqual([400, "name"]);
});

test("an expiry on an impossible date is refused, and so is one in a list's filter", async () => {
  await using server = testApp();
  const root = await server.client();
  const { key } = await server.client({ scopes: ["read"] });
  for (const time of [
    "2027-02-30T00:00:00Z",
    "2027-02-29T12:00:00+01:00",
    "2027-04-31T00:00:00Z",
    "2027-01-01T24:00:00Z",
  ]) {
    expect([time, (await root.patch(`/v1/api_keys/${key.id}`, { expires_at: time })).status]).toEqual([time, 400]);
    const list = await root.get(`/v1/api_keys?created_at[gt]=${encodeURIComponent(time)}`);
    expect([time, list.status]).toEqual([time, 400]);
  }
  const { body } = await root.patch(`/v1/api_keys/${key.id}`, { expires_at: "2028-02-29T23:30:00-01:00" });
  expect(body.expires_at).toBe("2028-03-01T00:30:00.000Z");
});

test("a network without possible clients is refused", async () => {
  await using server = testApp();
  const root = await server.client();
  const make = (network: string) =>
    root.post("/v1/api_keys", { name: "n", scopes: ["read"], allowed_cidrs: [network] });
  for (const network of ["::ffff:127.0.0.0/104", "::ffff:0:0/96"])
    expect((await make(network)).body.error?.param).toBe("allowed_cidrs[0]");
  for (const network of ["127.0.0.0/8", "2001:db8::/32", "::/0"]) expect((await make(network)).status).toBe(201);
});
