import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { newId } from "../../domain/ids.ts";
import type { Answer } from "../../testing/expect-declared.ts";
import { type Client, testApp } from "../../testing/test-app.ts";

setDefaultTimeout(60_000); // Documents are parsed by separate processes.

const server = testApp();
let client: Client;
let other: Client;
beforeAll(async () => {
  await server.recover();
  client = await server.client();
  other = await server.client({ project: "other" });
  const limits = { writes_per_minute: 1e6, run_creations_per_minute: 1e6, runs_in_progress: 1e6 };
  await server.projects.update(client.scope.project_id, { limits });
});
afterAll(() => server[Symbol.asyncDispose]());

const made = ({ status, body }: Answer): Answer["body"] => {
  expect([status, body.error ?? null]).toEqual([201, null]);
  return body;
};
const agentOf = async (by: Client, more: object = {}): Promise<string> =>
  made(await by.post("/v1/agents", { name: "a", instructions: "Say.", model: "test/echo", ...more })).id;
const run = async (by: Client, body: object): Promise<Answer["body"]> =>
  made(await by.post("/v1/runs?wait=60", { agent_id: await agentOf(by), input: "Hi.", ...body }));
const erase = async (userId: string, by = client): Promise<Answer["body"]> => {
  const { status, body } = await by.delete(`/v1/users/${encodeURIComponent(userId)}/data?wait=60`);
  expect([status, body.error ?? null]).toEqual([200, null]);
  return body;
};
const unique = () => `user ${newId("run")}`;
const none = { runs: 0, threads: 0, memory_entries: 0, memory_keys: 0, files: 0, schedules: 0, oauth_grants: 0 };

/** All rows of all tables that contain a text, except the audit log. */
function rowsWith(text: string): string[] {
  const { sqlite } = server.db;
  const tables = sqlite
    .query<{ name: string }, []>(
      "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type IN ('table', 'shadow')",
    )
    .all();
  return tables.flatMap(({ name }) =>
    sqlite
      .query<Record<string, unknown>, []>(`SELECT * FROM ${name}`)
      .all()
      .filter((row) => Object.values(row).some((value) => String(value).includes(text)))
      .map((row) => `${name} ${JSON.stringify(row).slice(0, 200)}`),
  );
}

/** Creates one object of every kind for a user, each with the user's name or a marker word in it. */
async function furnish(by: Client, user_id: string, word: string): Promise<void> {
  const input = `I am ${word}.`;
  const session_id = `session of ${user_id}`;
  await run(by, { user_id, session_id, input });
  await run(by, { user_id, input, thread_id: "new" });
  const thread = made(await by.post("/v1/threads", { user_id, title: word }));
  await by.post(`/v1/threads/${thread.id}/messages`, { role: "user", content: input });
  const daily = { cron: "0 9 * * *", timezone: "Europe/Berlin" };
  made(await by.post("/v1/schedules", { name: "s", input, user_id, agent_id: await agentOf(by), ...daily }));
  for (const [scope, scope_id] of [
    ["user", user_id],
    ["session", session_id],
  ] as const) {
    const vectors = made(await by.post("/v1/memory", { name: "m", kind: "vector", scope })).id;
    made(await by.post(`/v1/memory/${vectors}/entries`, { text: input, scope_id }));
    const keys = made(await by.post("/v1/memory", { name: "m", kind: "kv", scope })).id;
    const query = `scope_id=${encodeURIComponent(scope_id)}`;
    expect((await by.put(`/v1/memory/${keys}/keys/name?${query}`, { value: word })).status).toBe(200);
  }
}

const upload = async (by: Client, text: string, more: object = {}): Promise<string> =>
  made(await by.post("/v1/files", { filename: "a.txt", text, purpose: "attachment", ...more })).id;

test("no table has data of an erased user, and data of others stays", async () => {
  const [user, neighbour] = [unique(), unique()];
  const words = ["Rumpelstilzchen", "Rapunzel", "Aschenputtel"] as const;
  await furnish(client, user, words[0]);
  await furnish(client, neighbour, words[1]);
  await furnish(other, user, words[2]);
  await server.search.catchUp();
  const others = [words[1], words[2]].map((word) => rowsWith(word).length);

  const { user_id, status, deleted } = await erase(user);
  expect([user_id, status]).toEqual([null, "completed"]);
  expect(deleted).toEqual({
    runs: 2,
    threads: 2,
    memory_entries: 2,
    memory_keys: 2,
    files: 0,
    schedules: 1,
    oauth_grants: 0,
  });
  expect(rowsWith(words[0])).toEqual([]);
  const left = rowsWith(user).filter((row) => row.includes(client.scope.project_id));
  expect(left).toEqual([]);
  expect([words[1], words[2]].map((word) => rowsWith(word).length)).toEqual(others);
  expect((await erase(user)).deleted).toEqual(none);
});

test("documents are deleted with the only user whose runs got them", async () => {
  const [user, neighbour] = [unique(), unique()];
  const own = await upload(client, `Own ${user}`);
  const shared = await upload(client, `Shared ${user}`);
  const never = await upload(client, `Never given ${user}`);
  await run(client, { user_id: user, file_ids: [own, shared] });
  await run(client, { user_id: neighbour, file_ids: [shared] });
  const store = made(await client.post("/v1/memory", { name: "m", kind: "vector", scope: "user" })).id;
  const remembered = await upload(client, `Kept ${user}`, { purpose: "retrieval", memory_id: store, scope_id: user });

  expect((await erase(user)).deleted).toMatchObject({ runs: 1, files: 2, memory_entries: 1 });
  const statusOf = async (id: string) => (await client.get(`/v1/files/${id}`)).status;
  expect(await Promise.all([own, shared, never, remembered].map(statusOf))).toEqual([404, 200, 200, 404]);
  expect((await erase(neighbour)).deleted).toMatchObject({ runs: 1, files: 1 });
  expect(await statusOf(shared)).toBe(404);
});

test("an active run is cancelled first, and a pinned run is deleted too", async () => {
  const user = unique();
  const script = [{ delay_ms: 600_000 }];
  const slow = await agentOf(client, { model: "test/script", model_settings: { script } });
  const live = made(await client.post("/v1/runs", { agent_id: slow, input: "Wait.", user_id: user, thread_id: "new" }));
  const pinned = await run(client, { user_id: user });
  const kept = await run(client, {});
  const suite = made(await client.post("/v1/suites", { name: user, run_ids: [pinned.id, kept.id] }));
  made(await client.post(`/v1/suites/${suite.id}/runs?wait=60`, {}));

  expect((await erase(user)).deleted).toMatchObject({ runs: 2, threads: 1 });
  for (const { id } of [live, pinned]) expect((await client.get(`/v1/runs/${id}`)).status).toBe(404);
  const { body } = await client.get(`/v1/suites/${suite.id}`);
  expect(body.cases.map(({ run_id }: { run_id: string }) => run_id)).toEqual([kept.id]);
  expect((await client.get(`/v1/suites/${suite.id}/runs`)).status).toBe(200);
});

test("data left by a killed server is erased after the start, and counted once", async () => {
  const first = testApp();
  const by = await first.client();
  const user = unique();
  for (let i = 0; i < 3; i++) await run(by, { user_id: user, session_id: "s" });
  const { project_id, environment } = by.scope;
  // State after a crash in the middle.
  const id = newId("erasure");
  first.db.sqlite
    .query(
      `INSERT INTO erasures (project_id, environment, id, user_id, deleted, created_at_ms) VALUES (?, ?, ?, ?, ?, ?)`,
    )
    .run(project_id, environment, id, user, JSON.stringify({ ...none, runs: 4 }), Date.now());
  await first.stop();
  await using next = testApp({ db: first.db });
  await next.recover();
  const authorization = `Bearer ${(await next.client()).key.secret}`;
  const found = await next.send("DELETE", `/v1/users/${encodeURIComponent(user)}/data?wait=60`, undefined, {
    authorization,
  });
  expect(found.status).toBe(200);
  const { body } = await next.send("GET", `/v1/erasures/${id}`, undefined, { authorization });
  expect(body).toMatchObject({ status: "completed", user_id: null, deleted: { runs: 7 } });
});

test("two requests for one user are one erasure, whose audit entry does not name the user", async () => {
  const user = unique();
  await run(client, { user_id: user });
  const [a, b] = await Promise.all([erase(user), erase(user)]);
  expect(a.id).toBe(b.id);
  const { body } = await client.get(`/v1/audit_log?target_id=${a.id}`);
  expect(body.data).toMatchObject([{ action: "erasure.requested", actor: { id: client.key.id } }]);
  expect(JSON.stringify(body)).not.toContain(user);
  const { body: list } = await client.get("/v1/erasures?limit=1");
  expect(list.data[0]).toMatchObject({ id: a.id, deleted: { runs: 1 } });
});

test("a key for some agents cannot erase a user", async () => {
  const bound = await server.client({ agent_ids: [await agentOf(client)] });
  const { status, body } = await bound.delete("/v1/users/somebody/data");
  expect([status, body.error.code, body.error.details]).toEqual([403, "insufficient_scope", { bound_by: "agent_ids" }]);
});

test("many runs, and a thread with many messages, are erased in several writes", async () => {
  const user = unique();
  const thread = made(await client.post("/v1/threads", { user_id: user }));
  for (let i = 0; i < 205; i++)
    await client.post(`/v1/threads/${thread.id}/messages`, { role: "user", content: `Message ${i}` });
  const agent_id = await agentOf(client);
  await Promise.all(
    Array.from({ length: 60 }, () => client.post("/v1/runs?wait=60", { agent_id, input: "Hi.", user_id: user })),
  );
  const commits: number[] = [];
  const { tables, total } = { tables: ["runs", "thread_messages"], total: 60 + 205 };
  const left = () =>
    tables.reduce(
      (sum, table) => sum + server.db.sqlite.query<{ n: number }, []>(`SELECT count(*) AS n FROM ${table}`).get()!.n,
      0,
    );
  const before = left();
  const { body } = await client.delete(`/v1/users/${encodeURIComponent(user)}/data`);
  // Not by requests: as many as a busy machine needs are above the rate limit.
  const isOver = server.db.sqlite.query("SELECT 1 FROM erasures WHERE id = ? AND completed_at_ms IS NOT NULL");
  while (!isOver.get(body.id)) {
    commits.push(left());
    await server.db.write(() => {});
  }
  expect(before - left()).toBeGreaterThanOrEqual(total);
  // A reader between two writes saw it partly deleted.
  expect(new Set(commits).size).toBeGreaterThan(2);
  expect((await client.get(`/v1/erasures/${body.id}`)).body.deleted).toMatchObject({ runs: 60, threads: 1 });
});

describe("the download of a user's data", () => {
  const download = async (userId: string, by = client) => {
    const path = `http://localhost/v1/users/${encodeURIComponent(userId)}/data`;
    const headers = { authorization: `Bearer ${by.key.secret}` };
    const response = await server.app.handle(new Request(path, { headers }));
    const text = await response.text();
    expect([response.status, response.headers.get("content-type")]).toEqual([200, "application/x-ndjson"]);
    return { text, objects: text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line)])) };
  };

  test("contains all that an erasure would delete, as API objects, and nothing of others", async () => {
    const [user, neighbour] = [unique(), unique()];
    await furnish(client, user, "Dornroeschen");
    await furnish(client, neighbour, "Froschkoenig");
    await furnish(other, user, "Allerleirauh");
    const given = await upload(client, "Of one");
    const shared = await upload(client, "Of both");
    await run(client, { user_id: user, file_ids: [given, shared] });
    await run(client, { user_id: neighbour, file_ids: [shared] });

    const { text, objects } = await download(user);
    expect([text.includes("Froschkoenig"), text.includes("Allerleirauh")]).toEqual([false, false]);
    const counts = Map.groupBy(objects, ({ object }) => object);
    const found = Object.fromEntries([...counts].map(([object, all]) => [object, all.length]));
    expect(found).toEqual({ run: 3, thread: 2, message: 3, schedule: 1, memory_entry: 2, memory_key: 2, file: 1 });
    for (const { id } of counts.get("run")!) {
      const { request_id, ...shown } = (await client.get(`/v1/runs/${id}`)).body;
      expect(counts.get("run")).toContainEqual(shown);
    }
    expect(counts.get("file")).toMatchObject([{ id: given }]);
    const { deleted } = await erase(user);
    expect(deleted).toEqual({
      runs: 3,
      threads: 2,
      memory_entries: 2,
      memory_keys: 2,
      files: 1,
      schedules: 1,
      oauth_grants: 0,
    });
    expect((await download(user)).text).toBe("");
  });

  test("contains more than one page of each", async () => {
    const user = unique();
    const thread = made(await client.post("/v1/threads", { user_id: user }));
    for (let i = 0; i < 120; i++)
      await client.post(`/v1/threads/${thread.id}/messages`, { role: "user", content: `Message ${i}` });
    const pad = made(await client.post("/v1/memory", { name: "m", kind: "kv", scope: "user" })).id;
    const query = `scope_id=${encodeURIComponent(user)}`;
    for (let i = 0; i < 60; i++) await client.put(`/v1/memory/${pad}/keys/k${i}?${query}`, { value: i });
    const { objects } = await download(user);
    const said = objects.flatMap(({ object, content }) => (object === "message" ? [content] : []));
    expect(said).toEqual(Array.from({ length: 120 }, (_, i) => `Message ${i}`));
    const keys = objects.flatMap(({ object, value }) => (object === "memory_key" ? [value] : []));
    expect(keys.sort((a, b) => a - b)).toEqual(Array.from({ length: 60 }, (_, i) => i));
  });

  test("is refused to a key for some agents, or without the admin scope", async () => {
    const bound = await server.client({ agent_ids: [await agentOf(client)] });
    const reader = await server.client({ scopes: ["read"] });
    for (const [by, details] of [
      [bound, { bound_by: "agent_ids" }],
      [reader, { required_scope: "admin" }],
    ] as const) {
      const { status, body } = await by.get("/v1/users/somebody/data");
      expect([status, body.error.code, body.error.details]).toEqual([403, "insufficient_scope", details]);
    }
  });
});

test("an upload of a visitor that no run used is deleted with the visitor at once", async () => {
  const [user, neighbour] = [unique(), unique()];
  const agent_id = await agentOf(client);
  const send = async (user_id: string) => {
    const asked = { agent_id, user_id, scopes: ["upload", "read"], expires_in_seconds: 600 };
    const token = made(await client.post("/v1/client_tokens", asked)).token;
    const note = { filename: "a.txt", text: `Of ${user_id}`, purpose: "attachment" };
    const { status, body } = await server.send("POST", "/v1/files", note, { authorization: `Bearer ${token}` });
    expect([status, body.error ?? null]).toEqual([201, null]);
    return body.id as string;
  };
  const [sent, kept] = [await send(user), await send(neighbour)];
  expect((await erase(user)).deleted).toMatchObject({ files: 1 });
  expect((await client.get(`/v1/files/${sent}`)).status).toBe(404);
  expect((await client.get(`/v1/files/${kept}`)).status).toBe(200);
});
