import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { createAgent, createScripted, createTool, stubConnection } from "./fixtures.ts";
import { type Json, type ParsedResponse, type Runnel, startRunnel } from "./harness.ts";
import { startModelServer } from "./model-server.ts";
import { waitUntil } from "./until.ts";

// API keys in use by services, which may have to be revoked within seconds.

let server: Runnel;
const model = startModelServer();
beforeAll(async () => {
  server = await startRunnel({ environment: stubConnection(model.url) });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await model[Symbol.asyncDispose]();
});

async function send(method: string, path: string, key: string, body?: unknown): Promise<ParsedResponse> {
  const response = await server.fetch(path, { method, key, ...(body !== undefined && { body: JSON.stringify(body) }) });
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.startsWith("application/json");
  return { status: response.status, body: isJson ? JSON.parse(text) : text, headers: response.headers };
}

async function command(...args: string[]): Promise<Json> {
  const { code, stdout, stderr } = await server.command(...args, "--json");
  expect([code, code === 0 ? "" : stderr]).toEqual([0, ""]);
  return JSON.parse(stdout);
}

/** Sends 200 requests a second, with these keys in turn, until it is stopped; counts by status. */
function startLoad(keys: string[]) {
  const statuses = new Map<number, number>();
  const open = new Set<Promise<void>>();
  let turn = 0;
  const ask = async (key: string) => {
    const response = await server.fetch("/v1/me", { key });
    await response.arrayBuffer();
    statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
  };
  const responses = () => [...statuses.values()].reduce((a, b) => a + b, 0);
  const began = performance.now();
  let asked = 0;
  // By the clock, because a busy machine calls a timer late.
  const timer = setInterval(() => {
    for (; asked < (performance.now() - began) / 5; asked++) {
      const one: Promise<void> = ask(keys[turn++ % keys.length]!).finally(() => open.delete(one));
      open.add(one);
    }
  }, 5);
  return {
    responses,
    /** Waits for this many more responses. */
    async more(count: number): Promise<void> {
      const goal = responses() + count;
      await waitUntil(() => responses() >= goal);
    },
    async end(): Promise<Record<string, number>> {
      clearInterval(timer);
      await Promise.all(open);
      return Object.fromEntries(statuses);
    },
  };
}

test("a key is rotated under 200 requests a second without a failure, and a revoked key is refused at the next request", async () => {
  const scoped = { name: "backend", scopes: ["read", "run"], metadata: { team: "blue" } };
  const { status, body: old } = await send("POST", "/v1/api_keys", server.keys.test, scoped);
  expect([status, old.status, old.scopes]).toEqual([201, "active", ["read", "run"]]);
  expect((await send("POST", "/v1/agents", old.secret, {})).body.error.code).toBe("insufficient_scope");

  const keys = [old.secret];
  const load = startLoad(keys);
  await load.more(100);
  const rotation = await send("POST", `/v1/api_keys/${old.id}/rotate`, server.keys.test, { overlap_seconds: 3600 });
  expect([rotation.status, rotation.body.previous.status]).toEqual([201, "rotating"]);
  const { body: fresh } = rotation;
  keys.push(fresh.secret); // Some of the services have it by now, the others do not.
  await load.more(400);
  const shorter = new Date(Date.now() + 600_000).toISOString();
  const patched = await send("PATCH", `/v1/api_keys/${old.id}`, server.keys.test, { expires_at: shorter });
  expect(patched.body).toMatchObject({ status: "rotating", expires_at: shorter, rotated_to: fresh.id });
  await load.more(200);
  keys.shift(); // Now all have it.
  await load.more(100);
  const statuses = await load.end();
  expect(Object.keys(statuses)).toEqual(["200"]);
  expect(statuses[200]).toBeGreaterThanOrEqual(800);

  await send("PATCH", `/v1/api_keys/${old.id}`, server.keys.test, { expires_at: new Date().toISOString() });
  expect((await send("GET", "/v1/me", old.secret)).body.error.code).toBe("invalid_api_key");
  expect((await send("GET", "/v1/me", fresh.secret)).body.key).toMatchObject({ name: "backend", status: "active" });
  expect((await send("DELETE", `/v1/api_keys/${fresh.id}`, server.keys.test)).status).toBe(200);
  expect((await send("GET", "/v1/me", fresh.secret)).status).toBe(401);
});

describe("the stream of a key revoked by another process reports it and ends within two pings, and its run continues", () => {
  test.each(["busy", "quiet"])("while it is %s", async (kind) => {
    const quiet = kind === "quiet";
    const agent_id = quiet ? await createAsking() : await createAgent(server, "words-100000-20");
    const flags = ["--scopes", "run", "--agents", agent_id, "--expires-in", "1h"];
    const key = await command("keys", "create", ...flags);
    expect(key).toMatchObject({ agent_ids: [agent_id], scopes: ["run"], created_by: "cli" });
    const body = { agent_id, input: "Talk.", stream: true };
    await using stream = await server.stream("/v1/runs", { body, key: key.secret });
    const run = (await stream.until(quiet ? "run.requires_action" : "token")).data.run_id;
    await command("keys", "revoke", key.id);
    const pings = () => stream.comments.filter((comment) => comment === "ping").length;
    const before = pings();
    expect((await send("GET", "/v1/me", key.secret)).status).toBe(401);
    await stream.rest();
    expect(pings() - before).toBeLessThanOrEqual(1);
    expect(stream.ending()).toBe("ended");
    const { id, event, data } = stream.frames.at(-1)!;
    expect({ id, event, code: data.error.code }).toEqual({ id: "", event: "error", code: "key_revoked" });
    expect((await server.get(`/v1/runs/${run}`)).body.status).toBe(quiet ? "requires_action" : "in_progress");
    await server.post(`/v1/runs/${run}/cancel`, {});
  });
});

/** Creates an agent that waits for a client tool's output at once. */
async function createAsking(): Promise<string> {
  const tool = await createTool(server);
  const script = [{ tool_calls: [{ name: tool.name, arguments: { city: "Oslo" } }] }, { text: "Thank you." }];
  return await createScripted(server, script, { tools: [tool.id] });
}

test("the command line rotates a key that a running server accepts, and lists the result", async () => {
  const key = await command("keys", "create", "--scopes", "read", "--cidrs", "127.0.0.0/8, ::1/128", "--name", "ci");
  expect((await send("GET", "/v1/me", key.secret)).status).toBe(200);
  const next = await command("keys", "rotate", key.id, "--overlap", "1h", "--expires-in", "90d");
  expect(next).toMatchObject({ name: "ci", allowed_cidrs: ["127.0.0.0/8", "::1/128"], rotated_from: key.id });
  for (const { secret } of [key, next]) expect((await send("GET", "/v1/me", secret)).status).toBe(200);
  const last = await server.command("keys", "rotate", next.id, "--overlap", "0s");
  expect(last.stdout).toMatch(/^sk_test_[0-9A-Za-z]{39}\n$/);
  expect((await send("GET", "/v1/me", next.secret)).status).toBe(401);
  const { data } = await command("keys", "list");
  const statuses = Object.fromEntries(data.map(({ id, status }: Json) => [id, status]));
  expect([statuses[key.id], statuses[next.id]]).toEqual(["rotating", "expired"]);
  for (const wrong of [
    ["--overlap", "1"],
    ["--overlap", "31d"],
    ["--expires-in", "0s"],
  ])
    expect((await server.command("keys", "rotate", key.id, ...wrong)).code).toBe(2);
  expect((await server.command("keys", "create", "--cidrs", "example.com")).stderr).toContain("allowed_cidrs[0]");
  expect((await server.command("keys", "rotate", key.id)).stderr).toContain("only an active one");
});

test("a test key sees nothing of live in any list, nor by any id; another project learns nothing", async () => {
  const neighbour = await command("keys", "create", "--project", "neighbour", "--create-project");
  const { live } = server.keys;
  const made: Record<string, string> = {};
  const make = async (name: string, path: string, body: object) => {
    const answer = await send("POST", path, live, body);
    expect([path, answer.status]).toEqual([path, 201]);
    made[name] = answer.body.id;
    return answer.body.id as string;
  };
  const tool = await make("tools", "/v1/tools", { name: "secret_tool", type: "client" });
  const agent = { name: "Secret agent", instructions: "Be quiet.", model: "openai_compatible/stub/tools-1" };
  const agent_id = await make("agents", "/v1/agents", { ...agent, tools: [tool] });
  const run = await make("runs", "/v1/runs?wait=60", { agent_id, input: "Secret input" });
  await make("api_keys", "/v1/api_keys", { name: "Secret key", scopes: ["read"] });
  expect((await send("GET", `/v1/runs/${run}`, live)).body.status).toBe("requires_action");

  const { paths } = (await send("GET", "/v1/openapi.json", live)).body;
  const gets = Object.keys(paths).filter((path) => paths[path].get);
  const lists = gets.filter((path) => !path.includes("{"));
  expect(lists).toEqual(
    expect.arrayContaining(["/v1/agents", "/v1/runs", "/v1/traces", "/v1/approvals", "/v1/api_keys"]),
  );
  const strangers = [server.keys.test, neighbour.secret];
  const foreign = (text: string) => Object.values(made).filter((id) => text.includes(id));
  const needed: Record<string, string> = { "/v1/search": "q=Secret", "/v1/analytics": "group_by=agent" };
  for (const path of lists)
    for (const key of strangers) {
      const page = await send("GET", `${path}?limit=100&${needed[path] ?? ""}`, key);
      // It has no pages.
      const { status, body } = page.status === 400 ? await send("GET", `${path}?${needed[path] ?? ""}`, key) : page;
      const text = JSON.stringify(body);
      expect([path, status, foreign(text), text.includes("Secret ")]).toEqual([path, 200, [], false]);
    }
  // Another project's item gets the same response as one that never existed.
  const nobody = (id: string) => id.replace(/[0-9a-z]{10}$/, "0000000000");
  for (const path of gets.filter((path) => path.includes("{"))) {
    const id = made[path.split("/")[2]!] ?? run;
    const at = (one: string) => path.replace(/\{version\}/, "1").replace(/\{\w+\}/, one);
    for (const key of strangers) {
      const [theirs, none] = [await send("GET", at(id), key), await send("GET", at(nobody(id)), key)];
      // The data of an unknown user is empty.
      const status = path === "/v1/users/{id}/data" ? 200 : 404;
      expect([path, theirs.status, theirs.body.error]).toEqual([path, status, none.body.error]);
    }
  }
  for (const key of strangers) {
    const owner = key === server.keys.test ? "test" : "neighbour";
    expect([owner, (await send("DELETE", `/v1/api_keys/${made.api_keys}`, key)).status]).toEqual([owner, 404]);
    expect((await send("POST", `/v1/api_keys/${made.api_keys}/rotate`, key, {})).status).toBe(404);
    const [theirs, none] = [
      await send("POST", "/v1/runs", key, { agent_id, input: "x" }),
      await send("POST", "/v1/runs", key, { agent_id: nobody(agent_id), input: "x" }),
    ];
    expect([theirs.status, theirs.body.error]).toEqual([400, { ...none.body.error, param: "agent_id" }]);
    expect((await send("POST", `/v1/runs/${run}/cancel`, key, {})).status).toBe(404);
  }
});

describe("a project", () => {
  async function startRun(project: string) {
    const key = await command("keys", "create", "--project", project, "--create-project");
    const script = [{ text: "word ".repeat(1000), delta_ms: 50 }];
    const agent = { name: "a", instructions: "", model: "test/script", model_settings: { script } };
    const { body } = await send("POST", "/v1/agents", key.secret, agent);
    const stream = await server.stream("/v1/runs", {
      body: { agent_id: body.id, input: "x", stream: true },
      key: key.secret,
    });
    const run: string = (await stream.until("token")).data.run_id;
    return { key, stream, run };
  }

  test("that another process archives has its keys refused, its streams ended and its runs cancelled", async () => {
    const { key, stream, run } = await startRun("attic");
    await command("projects", "archive", "attic");
    expect((await send("GET", "/v1/me", key.secret)).status).toBe(401);
    const frames = await stream.rest();
    expect(stream.ending()).toBe("ended");
    await stream.close();
    expect(frames.map(({ event }) => event)).not.toContain("run.completed");
    const { data } = await command("projects", "list");
    expect(data.find(({ name }: Json) => name === "attic").archived_at).toBeString();
    await waitUntil(() => statusOf(run) === "cancelled"); // No key is accepted any more, so the database is read.
    await command("projects", "unarchive", "attic");
    const { body } = await send("GET", `/v1/runs/${run}`, key.secret);
    expect([body.status, body.error.message]).toEqual(["cancelled", expect.stringContaining("archived")]);
  });

  test("that is large is deleted with all its data, and a running server stays fast", async () => {
    const { key, stream } = await startRun("large");
    const path = join(server.dataDir, "runnel.db");
    seed(path, "large", 4000, 10);
    const load = startLoad([server.keys.test]);
    await load.more(20);
    const refused = await server.command("projects", "delete", "large");
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining("--yes")]);
    const before = load.responses();
    const { id } = await command("projects", "delete", "large", "--yes");
    expect(load.responses() - before, "responses while it was deleted").toBeGreaterThan(20);
    expect(Object.keys(await load.end())).toEqual(["200"]);
    await stream.rest();
    await stream.close();
    expect((await send("GET", "/v1/me", key.secret)).status).toBe(401);
    expect(rowsWith(path, id)).toEqual(["audit_log"]); // The entry of the deletion, for operators.
    expect((await server.command("projects", "delete", "large", "--yes")).code).toBe(1);
    expect((await command("projects", "create", "large")).id).not.toBe(id);
  });

  test("that was deleted while no server ran is gone when the command ends", async () => {
    const { stream } = await startRun("shed");
    await server.stop();
    await stream.close();
    const { id } = await command("projects", "delete", "shed", "--yes");
    expect(rowsWith(join(server.dataDir, "runnel.db"), id)).toEqual(["audit_log"]);
    await server.restart();
    expect((await server.get("/v1/me")).status).toBe(200);
  });
});

function statusOf(run: string): string {
  const db = new Database(join(server.dataDir, "runnel.db"), { readonly: true });
  try {
    return db.query<{ status: string }, [string]>("SELECT status FROM runs WHERE id = ?").get(run)!.status;
  } finally {
    db.close();
  }
}

/** Adds finished runs to a project, each with this many events. */
function seed(path: string, project: string, runs: number, events: number): void {
  const db = new Database(path);
  db.run("PRAGMA busy_timeout = 5000");
  db.run("PRAGMA foreign_keys = ON");
  const ids = JSON.stringify(Array.from({ length: runs }, (_, index) => `run_${String(index).padStart(26, "0")}`));
  const seqs = JSON.stringify(Array.from({ length: events }, (_, index) => index + 1));
  db.query(
    `INSERT INTO runs (id, project_id, environment, agent_id, status, seq, attempt, metadata, created_at_ms, ended_at_ms,
       status_since_ms, timeout_ms, action_timeout_ms)
     SELECT r.value, p.id, 'live', 'agt', 'completed', 1, 1, '{}', 1, 1, 1, 1, 1
     FROM json_each(?) r, projects p WHERE p.name = ?`,
  ).run(ids, project);
  db.query(
    `INSERT INTO run_events (run_id, seq, at_ms, type, data, blobs) SELECT r.value, e.value, 1, 'x', printf('"%0500d"', 1), NULL
     FROM json_each(?) r, json_each(?) e`,
  ).run(ids, seqs);
  db.close();
}

/** Returns the tables that hold an id. */
function rowsWith(path: string, id: string): string[] {
  const db = new Database(path, { readonly: true });
  const tables = db
    .query<{ name: string }, []>("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    .all();
  const found = tables.filter(({ name }) => JSON.stringify(db.query(`SELECT * FROM ${name}`).all()).includes(id));
  db.close();
  return found.map(({ name }) => name);
}
