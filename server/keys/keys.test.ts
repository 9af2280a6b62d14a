import { expect, test } from "bun:test";
import { testApp } from "../testing/test-app.ts";
import { environmentOf, mintSecret } from "./secret.ts";
import { createKeyStore } from "./store.ts";

test("a secret names its environment and carries a checksum of all before it", () => {
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
  expect((await reader.get("/v1/me")).body.error.code).toBe("invalid_api_key");
  expect(server.keys.isValid(reader.key.id)).toBe(false);
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

test("a key ends when it expires", async () => {
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

test("outside its networks a key is like any that is wrong", async () => {
  await using server = testApp();
  const { scope } = await server.client();
  const keys = createKeyStore({ db: server.db });
  const { secret } = await keys.create(
    scope,
    { name: "n", scopes: ["read"], allowed_cidrs: ["203.0.113.0/24", "2001:db8::/32"] },
    "cli",
  );
  for (const ip of ["203.0.113.7", "::ffff:203.0.113.7", "2001:db8::1"])
    expect(keys.authenticate(secret, ip)).not.toBeNull();
  for (const ip of ["203.0.114.7", "::1", "nonsense", null]) expect(keys.authenticate(secret, ip)).toBeNull();
  const admin = await server.client();
  const wrong = await admin.post("/v1/api_keys", { name: "n", scopes: ["read"], allowed_cidrs: ["10.0.0.0/8", "x"] });
  expect(wrong.body.error.param).toBe("allowed_cidrs[1]");
});

test("a key that came in clear text is marked, and a live one is revoked unless the operator keeps it", async () => {
  await using server = testApp();
  for (const [environment, keepLive, valid] of [
    ["test", false, true],
    ["live", true, true],
    ["live", false, false],
  ] as const) {
    const { key, scope } = await server.client({ environment });
    await server.keys.expose(key.secret, { keepLive });
    expect(server.keys.get(scope, key.id).exposed_at).not.toBeNull();
    expect(server.keys.isValid(key.id)).toBe(valid);
  }
  await server.keys.expose("sk_live_nonsense");
});

test("when a key was last used is written in batches", async () => {
  await using server = testApp();
  const { key, scope } = await server.client();
  const commits = server.db.write.commits();
  for (let i = 0; i < 20; i++) server.keys.authenticate(key.secret, "203.0.113.7");
  expect(server.keys.get(scope, key.id).last_used_ip).toBe("203.0.113.7");
  await server.keys.writeLastUsed();
  await server.keys.writeLastUsed();
  expect(server.db.write.commits()).toBe(commits + 1);
  expect(createKeyStore({ db: server.db }).get(scope, key.id).last_used_ip).toBe("203.0.113.7");
});

test("a key for some agents makes no key for others", async () => {
  await using server = testApp();
  const some = await server.client({ agent_ids: ["agt_00000000000000000000000000"] });
  for (const agent_ids of [undefined, null, ["agt_00000000000000000000000001"]])
    expect((await some.post("/v1/api_keys", { name: "n", scopes: ["read"], agent_ids })).status).toBe(403);
  expect(
    (await some.post("/v1/api_keys", { name: "n", scopes: ["read"], agent_ids: ["agt_00000000000000000000000000"] }))
      .status,
  ).toBe(201);
});

test("an agent id that cannot be one is named by its place", async () => {
  await using server = testApp();
  const admin = await server.client();
  const agent_ids = ["agt_00000000000000000000000000", "agt_nope"];
  const { status, body } = await admin.post("/v1/api_keys", { name: "n", scopes: ["read"], agent_ids });
  expect([status, body.error.code, body.error.param]).toEqual([400, "validation_failed", "agent_ids[1]"]);
  expect(body.error.message).toContain("id of an agent");
});
