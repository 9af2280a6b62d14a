import { expect, test } from "bun:test";
import { limits } from "../../domain/limits.ts";
import type { Scope } from "../../domain/scope.ts";
import { type Client, type TestApp, testApp } from "../../testing/test-app.ts";
import { createKeyStore } from "./keys.ts";
import { createStoreRows } from "./row.ts";

const make = async (client: Client, more: object = {}): Promise<string> =>
  (await client.post("/v1/memory", { name: "pad", kind: "kv", ...more })).body.id;

const withKey =
  (server: TestApp, { key }: Client) =>
  (method: string, path: string, body?: unknown, ifMatch?: string) =>
    server.send(method, path, body, {
      authorization: `Bearer ${key.secret}`,
      ...(ifMatch !== undefined && { "if-match": ifMatch }),
    });

test("a value is stored by its key, and each write is a new version", async () => {
  await using server = testApp();
  const client = await server.client({ scopes: ["admin"] });
  const path = `/v1/memory/${await make(client)}/keys/plan`;
  expect((await client.get(path)).status).toBe(404);
  expect((await client.put(path, { value: { steps: [1, "two", null] } })).body).toMatchObject({
    object: "memory_key",
    key: "plan",
    version: 1,
    scope_id: null,
    expires_at: null,
    value: { steps: [1, "two", null] },
  });
  expect((await client.put(path, { value: null })).body).toMatchObject({ version: 2, value: null });
  expect((await client.get(path)).body).toMatchObject({ version: 2, value: null });
  expect((await client.delete(path)).body).toMatchObject({ object: "memory_key", key: "plan", deleted: true });
  expect([(await client.get(path)).status, (await client.delete(path)).status]).toEqual([404, 404]);
});

test("a recreated key has no versions of the earlier one, whether that was deleted or expired", async () => {
  let at = Date.now();
  await using server = testApp({ now: () => at });
  const client = await server.client({ scopes: ["admin"] });
  const send = withKey(server, client);
  const path = `/v1/memory/${await make(client)}/keys/turn`;
  await client.put(path, { value: "a" });
  await client.delete(path);
  expect((await send("PUT", path, { value: "b", ttl_seconds: 1 }, "0")).body.version).toBe(2);
  expect((await send("PUT", path, { value: "late" }, "1")).status).toBe(409);
  at += 1000;
  await server.sweep();
  expect((await send("PUT", path, { value: "c" }, "0")).body.version).toBe(3);
  expect((await send("DELETE", path, undefined, "2")).status).toBe(409);
});

test("a repeated call writes nothing, unless another write came between", async () => {
  await using server = testApp();
  const client = await server.client();
  const place = { memory_id: await make(client), scope_id: null, key: "plan" };
  const find = ({ project_id, environment }: Scope, id: string) =>
    createStoreRows(server.db).find({ project_id, environment }, id);
  const keys = createKeyStore({ db: server.db, findStore: find });
  const put = async (value: string, call: string) =>
    (await keys.put(client.scope, place, { value }, null, call)).version;
  expect([await put("a", "call_1"), await put("a", "call_1"), await put("b", "call_2")]).toEqual([1, 1, 2]);
  expect(await put("a", "call_1")).toBe(3);
});

test("of two concurrent writes over the same version exactly one succeeds", async () => {
  await using server = testApp();
  const client = await server.client();
  const send = withKey(server, client);
  const path = `/v1/memory/${await make(client)}/keys/turn`;
  const race = async (ifMatch: string) => {
    const answers = await Promise.all(["a", "b", "c"].map((value) => send("PUT", path, { value }, ifMatch)));
    const lost = answers.filter(({ status }) => status === 409);
    expect(lost.map(({ body }) => body.error.code)).toEqual(["precondition_failed", "precondition_failed"]);
    return answers.find(({ status }) => status === 200)!.body.version;
  };
  expect(await race("0")).toBe(1);
  expect(await race("1")).toBe(2);
  expect((await send("DELETE", path, undefined, "1")).status).toBe(409);
  expect((await send("DELETE", path, undefined, "2")).status).toBe(200);
  expect((await send("DELETE", path, undefined, "2")).status).toBe(409);
  for (const wrong of ['"1"', "*", "-1", "one", ""])
    expect((await send("PUT", path, { value: 1 }, wrong)).body.error?.param).toBe("If-Match");
});

test("a key may be any text without control characters, and only exactly that text finds it", async () => {
  await using server = testApp();
  const client = await server.client();
  const id = await make(client);
  const keys = ["a/b", "a%2Fb", "ä ö", "日本", "a+b", "?x=1#y", "__proto__", "x".repeat(limits.key_length), "'\"\\;--"];
  for (const key of keys) {
    const path = `/v1/memory/${id}/keys/${encodeURIComponent(key)}`;
    expect((await client.put(path, { value: key })).body).toMatchObject({ key, value: key });
    expect((await client.get(path)).body).toMatchObject({ key, value: key });
  }
  const { body } = await client.get(`/v1/memory/${id}/keys?limit=100&order=asc`);
  expect(body.data.map(({ key }: { key: string }) => key).sort()).toEqual(keys.toSorted());
  for (const key of ["a\nb", "\u0000", "\u0085", "x".repeat(limits.key_length + 1)]) {
    const path = `/v1/memory/${id}/keys/${encodeURIComponent(key)}`;
    const { status, body } = await client.put(path, { value: 1 });
    expect([key, status, body.error?.param]).toEqual([key, 400, "key"]);
    expect((await client.get(path)).status).toBe(404);
  }
});

test("a value that is too large, dangerous or missing is refused", async () => {
  await using server = testApp();
  const client = await server.client();
  const path = `/v1/memory/${await make(client)}/keys/a`;
  const put = async (body: unknown) => {
    const { status, body: answer } = await client.put(path, body);
    return [status, answer.error?.code];
  };
  expect(await put({ value: "x".repeat(limits.key_value_bytes - 2) })).toEqual([200, undefined]);
  expect(await put({ value: "x".repeat(limits.key_value_bytes - 1) })).toEqual([413, "payload_too_large"]);
  expect(await put({ value: "ä".repeat(limits.key_value_bytes / 2) })).toEqual([413, "payload_too_large"]);
  expect(await put('{"value":{"a":{"__proto__":1}}}')).toEqual([400, "validation_failed"]);
  expect(await put({})).toEqual([400, "validation_failed"]);
  expect(await put({ value: 1, ttl_seconds: 0 })).toEqual([400, "validation_failed"]);
});

test("keys are listed by prefix and in pages, without those of others", async () => {
  await using server = testApp();
  const client = await server.client();
  const id = await make(client, { scope: "session" });
  const keys = `/v1/memory/${id}/keys`;
  for (const key of ["a", "b/1", "b/2", "b/3", "c"])
    await client.put(`${keys}/${encodeURIComponent(key)}?scope_id=s1`, { value: 1 });
  await client.put(`${keys}/b%2F9?scope_id=s2`, { value: 1 });
  const list = async (query: string) => (await client.get(`${keys}?scope_id=s1&${query}`)).body;
  const names = (body: { data: { key: string }[] }) => body.data.map(({ key }) => key);
  expect(names(await list("order=asc"))).toEqual(["a", "b/1", "b/2", "b/3", "c"]);
  expect(names(await list("prefix=b%2F"))).toEqual(["b/3", "b/2", "b/1"]);
  const first = await list("prefix=b%2F&order=asc&limit=2");
  expect([names(first), first.has_more, first.last_id]).toEqual([["b/1", "b/2"], true, "b/2"]);
  expect(names(await list("prefix=b%2F&order=asc&limit=2&starting_after=b%2F2"))).toEqual(["b/3"]);
  expect(names(await list("order=asc&starting_after=b%2F25"))).toEqual(["b/3", "c"]);
  expect(names(await list("prefix=b&order=asc&starting_after=a"))).toEqual(["b/1", "b/2", "b/3"]);
  expect((await client.get(keys)).body.error.param).toBe("scope_id");
  expect((await client.get(`${keys}/a`)).body.error.param).toBe("scope_id");
  expect((await client.get(`${keys}/a?scope_id=s2`)).status).toBe(404);
  expect((await client.get(`/v1/memory/${id}`)).body.keys).toBe(6);
});

test("an expired key is gone, and is deleted later; written again it continues its version numbers", async () => {
  let at = Date.now();
  await using server = testApp({ now: () => at });
  const client = await server.client();
  const id = await make(client, { ttl_seconds: 60 });
  const path = (key: string) => `/v1/memory/${id}/keys/${key}`;
  await client.put(path("a"), { value: 1 });
  await client.put(path("b"), { value: 1, ttl_seconds: 600 });
  at += 60_000;
  expect((await client.get(path("a"))).status).toBe(404);
  expect((await client.get(`/v1/memory/${id}/keys`)).body.data).toHaveLength(1);
  expect((await withKey(server, client)("PUT", path("a"), { value: 2 }, "0")).body.version).toBe(2);
  at += 60_000;
  await server.sweep();
  expect((await client.get(`/v1/memory/${id}`)).body.keys).toBe(1);
  expect(server.db.sqlite.query("SELECT key FROM memory_keys").all()).toEqual([{ key: "b" }]);
});

test("a scope has a maximum number of keys, and expired ones do not count", async () => {
  let at = Date.now();
  await using server = testApp({ now: () => at });
  const client = await server.client();
  const id = await make(client, { scope: "user" });
  const { project_id, environment } = client.scope;
  await server.db.write(() =>
    server.db.sqlite
      .query(
        `INSERT INTO memory_keys (project_id, environment, memory_id, scope_id, key, value, version, tool_call_id, created_at_ms, updated_at_ms, expires_at_ms) SELECT ?, ?, ?, 'ann', 'k' || value, '1', 1, NULL, 0, 0, ?
         FROM json_each(?)`,
      )
      .run(
        project_id,
        environment,
        id,
        at + 1000,
        JSON.stringify(Array.from({ length: limits.keys_per_scope }, (_, index) => index)),
      ),
  );
  const put = async (scope_id: string, key = "new") =>
    (await client.put(`/v1/memory/${id}/keys/${key}?scope_id=${scope_id}`, { value: 1 })).status;
  expect([await put("ann"), await put("bob"), await put("ann", "k1")]).toEqual([400, 200, 200]);
  at += 1000;
  expect(await put("ann")).toBe(200);
});

test("a store of entries has no keys", async () => {
  await using server = testApp();
  const client = await server.client();
  const id = (await client.post("/v1/memory", { name: "m", kind: "vector" })).body.id;
  expect((await client.put(`/v1/memory/${id}/keys/a`, { value: 1 })).body.error.code).toBe("validation_failed");
  expect((await client.get(`/v1/memory/${id}/keys`)).status).toBe(400);
});
