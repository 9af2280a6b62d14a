import { afterAll, beforeAll, expect, test } from "bun:test";
import { newId, siblingId } from "../domain/ids.ts";
import { clientScopes } from "../domain/scope.ts";
import type { Answer } from "../testing/expect-declared.ts";
import { changedTables, createRows, type Rows } from "../testing/rows.ts";
import { type Kind, type KindName, kinds, makeAgent, makeRun, makeThread } from "../testing/tenancy-kinds.ts";
import { bodies, lists, makes, parameters, places, waits } from "../testing/tenancy-places.ts";
import { testActor } from "../testing/test-actor.ts";
import { type Client, testApp } from "../testing/test-app.ts";

// Objects of another project or environment, deleted objects and objects that never existed must be indistinguishable,
// byte for byte. Checked for every place of the API that takes an id; a place missing in the tables of
// `server/testing/tenancy-places.ts` fails the first tests, so that no new route is forgotten.

const server = testApp();
let owner: Client;
let stranger: Client;
/** The owner's project, but its live environment. */
let live: Client;
/** The owner's project and environment, but another agent. */
let bound: Client;

beforeAll(async () => {
  const manner = { name: "openai", provider: "openai" as const, base_url: null, api_key: "none" };
  await server.connections.put(manner, testActor);
  owner = await server.client({ project: "owner" });
  live = await server.client({ project: "owner", environment: "live" });
  stranger = await server.client({ project: "stranger" });
  bound = await server.client({ project: "owner", agent_ids: [newId("agent")] });
  const many = { reads_per_minute: 1e6, writes_per_minute: 1e6, run_creations_per_minute: 1e6, runs_in_progress: 1e6 };
  for (const { scope } of [owner, stranger]) await server.projects.update(scope.project_id, { limits: many });
});
afterAll(() => server[Symbol.asyncDispose]());

// --- Every place is known -------------------------------------------------------------------------------------------

const routes = server.app.routes
  .filter(({ path }) => path.startsWith("/v1/"))
  .map(({ method, path, hooks }) => ({
    method,
    path: path.replace(/\/$/, ""),
    body: hooks.body as Schema | undefined,
  }));
const parameterOf = (path: string, name: string) => `${path.split("/")[2]} ${name}`;

test("every path parameter is in the table", () => {
  const found = routes.flatMap(({ path }) => [...path.matchAll(/:\w+/g)].map(([name]) => parameterOf(path, name)));
  expect([...new Set(found)].sort()).toEqual(Object.keys(parameters).sort());
});

test("every id in a body or query is in the table", () => {
  const inBodies = routes.flatMap(({ method, path, body }) => idsIn(body).map((field) => `${method} ${path} ${field}`));
  const inQueries = Object.entries(server.operations).flatMap(([route, { query = {} }]) =>
    Object.keys(query)
      .filter((name) => isIdName(name) || (name === "starting_after" && !(query.ending_before && !route.includes(":"))))
      .map((name) => `${route} ?${name}`),
  );
  expect([...inBodies, ...inQueries].sort()).toEqual(Object.keys(places).sort());
});

test("every list is in the table", () => {
  const found = Object.entries(server.operations).filter(
    ([route, { query }]) => query?.ending_before && !route.includes(":"),
  );
  expect(found.map(([route]) => route.replace("GET ", "")).sort()).toEqual(Object.keys(lists).sort());
});

interface Schema {
  type?: string;
  pattern?: string;
  properties?: Record<string, Schema>;
  items?: Schema;
  anyOf?: Schema[];
}

const isIdName = (name: string) => /(^|_)ids?$|^(tools|handoffs)$/.test(name);

/** Paths of fields that hold ids, found by name or pattern. */
function idsIn(schema: Schema | undefined, path = "", name = ""): string[] {
  if (!schema) return [];
  if (schema.anyOf) return [...new Set(schema.anyOf.flatMap((each) => idsIn(each, path, name)))];
  if (schema.items) return idsIn(schema.items, `${path}[]`, name);
  if (schema.properties)
    return Object.entries(schema.properties).flatMap(([key, each]) => idsIn(each, path ? `${path}.${key}` : key, key));
  return schema.type === "string" && (isIdName(name) || schema.pattern?.includes("_[0-9a-hj")) ? [path] : [];
}

// --- Every place answers alike --------------------------------------------------------------------------------------

const things = new Map<string, Promise<{ taken: string[]; gone: string[] }>>();
/** Objects of the owner, created once for all tests, which must not change them. */
function thingsOf(name: KindName): Promise<{ taken: string[]; gone: string[] }> {
  const kind: Kind = kinds[name];
  const made = things.get(name) ?? makeThings(kind);
  things.set(name, made);
  return made;
}
const makeThings = async (kind: Kind) => ({
  taken: await kind.make(owner),
  gone: (await kind.gone?.(owner)) ?? [],
});

/** Well-formed ids that a client may not see, with the client. */
async function foreignIds(name: KindName, liveToo: boolean): Promise<[why: string, client: Client, id: string][]> {
  const kind: Kind = kinds[name];
  const { taken, gone } = await thingsOf(name);
  const clients: [string, Client][] = [["of another project", stranger]];
  if (liveToo) clients.push(["of the other environment", live]);
  if (kind.ofAgent) clients.push(["of an agent that the key may not use", bound]);
  return [
    ...clients.flatMap(([why, client]) => taken.map((id): [string, Client, string] => [why, client, id])),
    ...gone.map((id): [string, Client, string] => ["deleted", owner, id]),
  ];
}

/** Ids of another kind or none, including known ids with a wrong prefix. */
async function wrongIds(name: KindName): Promise<string[]> {
  const { taken } = await thingsOf(name);
  const others = name === "memory" ? (["message"] as const) : (["memory", "message"] as const);
  const renamed = name === "secret" ? [] : taken.flatMap((id) => others.map((other) => siblingId(id, other)));
  return [...renamed, ...taken.filter((id) => id.includes("_")).map((id) => id.slice(0, -1)), ...kinds[name].malformed];
}

/** Everything that a client sees of a response, except its request id and rate limit headers. */
function seen({ status, body, headers }: Answer): object {
  const ignored = /^(x-request-id|date|x-ratelimit-(remaining|reset))$/;
  const shown = [...headers].filter(([name]) => !ignored.test(name)).sort();
  return { status, headers: shown, body: JSON.stringify(body).replace(body.request_id, "req") };
}

/** The same for responses that describe a new object or repeat the input. */
const alike = (answer: Answer, sent: string): string =>
  JSON.stringify(seen(answer))
    .replaceAll(decodeURIComponent(sent), "<sent>")
    .replaceAll(/\b[a-z]+_[0-9a-hjkmnp-tv-z]{26}\b/g, "<id>")
    .replaceAll(/\bsk_(test|live)_\w+/g, "<secret>")
    .replaceAll(/\\"last4\\":\\"\w+\\"/g, "<last4>")
    .replaceAll(/"(test|live)\\"/g, "<environment>")
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "<time>");

const ask = ({ key }: Pick<Client, "key">, method: string, path: string, body?: unknown) =>
  server.send(method, path, body, { authorization: `Bearer ${key.secret}` });

const atWork = server.db.sqlite.query(
  "SELECT 1 FROM runs WHERE status = 'in_progress' UNION ALL SELECT 1 FROM erasures WHERE completed_at_ms IS NULL",
);

/** The same, once all background work (reading, indexing, erasing, sweeping) and all runs have ended. */
async function rowsAtRest(of: Partial<Client>): Promise<Rows> {
  const { processing, memory, files, blobs } = server;
  while (atWork.get()) await Bun.sleep(1);
  await processing.idle();
  await memory.indexer.idle();
  await Promise.all([files.idle(), memory.sweeper.collect(), blobs.collect()]);
  return rowsBut(of);
}

const rows = createRows(server.db);
/** All rows that are not this client's own. */
const rowsBut = ({ scope }: Partial<Client>) => rows.but(scope);
const changed = (of: Partial<Client>, before: Rows) => changedTables(before, rowsBut(of));

const withParameter = routes.filter(({ path }) => path.includes(":"));

test.each(withParameter.filter(({ method, path }) => !makes.has(`${method} ${path}`)))(
  "$method $path treats an object that is not visible like one that never existed, and changes nothing",
  async ({ method, path }) => {
    const [name] = /:\w+/.exec(path)!;
    const kind = parameters[parameterOf(path, name)]!;
    const address = (id: string) =>
      path
        .replace(name, id)
        .replace(":version", "1")
        .replace(":label", "production")
        .replace(":delivery_id", newId("delivery"))
        .replace(":entry_id", newId("memory_entry"))
        .replace(":key", "note")
        .replace(":name", "feedback");
    const body = method === "GET" || method === "DELETE" ? undefined : (bodies[`${method} ${path}`]?.() ?? {});
    const never = seen(await ask(owner, method, address(kinds[kind].never()), body));
    expect(never).toMatchObject({ status: 404 });
    const others = await foreignIds(kind, true);
    const wrong = await wrongIds(kind);
    const before = await rowsAtRest({});
    for (const [why, client, id] of others)
      expect({ why, id, answer: seen(await ask(client, method, address(id), body)) }).toEqual({
        why,
        id,
        answer: never,
      });
    for (const id of wrong)
      expect({ id, answer: seen(await ask(owner, method, address(id), body)) }).toEqual({ id, answer: never });
    expect(changed({}, before)).toEqual([]);
  },
);

/** Requests with a token of the owner for the object's agent, but for another user, thread or run. */
async function* tokensFor(kind: KindName, id: string): AsyncGenerator<Pick<Client, "key">> {
  const agent_id = kind === "run" ? (await owner.get(`/v1/runs/${id}`)).body.agent_id : await makeAgent(owner);
  const run = await makeRun(owner, false);
  const others = [
    { agent_id },
    { agent_id, thread_id: await makeThread(owner) },
    { agent_id: run.agent_id, run_id: run.id },
  ];
  for (const bound of others) {
    const made = await owner.post("/v1/client_tokens", {
      ...bound,
      scopes: [...clientScopes],
      expires_in_seconds: 600,
    });
    expect(made.status).toBe(201);
    yield { key: { id: "", secret: made.body.token } };
  }
}

test.each(withParameter.filter(({ method, path }) => server.operations[`${method} ${path}`]?.client))(
  "$method $path treats an object outside a client token's bounds like one that never existed",
  async ({ method, path }) => {
    const [name] = /:\w+/.exec(path)!;
    const kind = parameters[parameterOf(path, name)]!;
    const body = method === "GET" ? undefined : (bodies[`${method} ${path}`]?.() ?? {});
    const { taken } = await thingsOf(kind);
    for (const id of taken)
      for await (const token of tokensFor(kind, id)) {
        const before = rowsBut({});
        const never = seen(await ask(token, method, path.replace(name, kinds[kind].never()), body));
        expect(never).toMatchObject({ status: 404 });
        expect(seen(await ask(token, method, path.replace(name, id), body))).toEqual(never);
        expect(changed({}, before)).toEqual([]);
      }
  },
);

test("every list for client tokens shows them only what they are bound to", async () => {
  const open = Object.keys(lists).filter((path) => server.operations[`GET ${path}`]?.client);
  expect(open.length).toBeGreaterThan(1);
  for (const path of open)
    for await (const token of tokensFor("thread", await makeThread(owner))) {
      const { data } = (await ask(token, "GET", path)).body;
      expect(data.length).toBeLessThan(2); // Only the run or thread it is bound to.
    }
});

test.each(withParameter.filter(({ body }) => body !== undefined))(
  "$method $path reports a wrong body the same way for every id",
  async ({ method, path }) => {
    const [name] = /:\w+/.exec(path)!;
    const kind = parameters[parameterOf(path, name)]!;
    const address = (id: string) => path.replace(name, id);
    const others = await foreignIds(kind, true);
    const before = await rowsAtRest({});
    for (const body of [{ surprise: 1 }, "[]", "{"]) {
      const never = seen(await ask(owner, method, address(kinds[kind].never()), body));
      for (const [why, client, id] of others)
        expect({ why, answer: seen(await ask(client, method, address(id), body)) }).toEqual({ why, answer: never });
    }
    expect(changed({}, before)).toEqual([]);
  },
);

test.each(withParameter.filter(({ method, path }) => makes.has(`${method} ${path}`)))(
  "$method $path creates its own object if another tenant has one of the same name",
  async ({ method, path }) => {
    const [name] = /:\w+/.exec(path)!;
    const kind = parameters[parameterOf(path, name)]!;
    for (const client of [stranger, live]) {
      const { taken } = await thingsOf(kind);
      const body = () => bodies[`${method} ${path}`]?.();
      const at = (id: string) => path.replace(name, id) + (waits[`${method} ${path}`] ?? "");
      const fresh = kinds[kind].never();
      const never = alike(await ask(client, method, at(fresh), body()), fresh);
      expect(never).toContain('"status":200');
      const before = await rowsAtRest(client);
      for (const id of taken) expect(alike(await ask(client, method, at(id), body()), id)).toBe(never);
      expect(changed(client, before)).toEqual([]);
      for (const id of [...taken, fresh]) await client.delete(path.replace(name, id));
    }
  },
);

const known = Object.entries(places).flatMap(([place, how]) => (how ? [{ place, ...how }] : []));

test.each(known)("$place treats another tenant's id like one that never existed", async (place) => {
  const method = place.place.split(" ")[0]!;
  const others = await foreignIds(place.kind, !place.inTestOnly);
  for (const [why, client, id] of others) {
    if (client === bound) continue; // Its agents are checked first: another error, on purpose.
    const send = async (id: string) => {
      const { path, body } = await place.ask(client, id);
      const before = await rowsAtRest(client);
      const answer = await ask(client, method, path, body);
      expect({ why, changed: changed(client, before) }).toEqual({ why, changed: [] });
      return alike(answer, id);
    };
    expect({ why, answer: await send(id) }).toEqual({ why, answer: await send(kinds[place.kind].never()) });
  }
});

test.each(known)("$place refuses an id of a wrong kind", async (place) => {
  const method = place.place.split(" ")[0]!;
  for (const id of await wrongIds(place.kind)) {
    const { path, body } = await place.ask(stranger, id);
    const before = await rowsAtRest({});
    const { status, body: answer } = await ask(stranger, method, path, body);
    if (status >= 400) expect(changed({}, before)).toEqual([]);
    // A filter accepts any text and finds nothing; all other places refuse.
    if (status < 400) expect({ id, data: answer.data }).toEqual({ id, data: [] });
    else expect([400, 404]).toContain(status);
  }
});

test.each(Object.entries(lists))(
  "a cursor of %s is a position, even of another tenant, and an id of another kind is refused",
  async (path, kind) => {
    const idsOf = async (client: Client, query: string): Promise<string[]> => {
      const answer = await ask(client, "GET", `${path}?limit=100${query}`);
      expect(answer.status).toBe(200);
      return answer.body.data.map(({ id }: { id: string }) => id);
    };
    const allIdsOf = async (client: Client): Promise<string[]> => {
      const all: string[] = [];
      for (
        let page = await idsOf(client, "");
        page.length > 0;
        page = await idsOf(client, `&starting_after=${all.at(-1)}`)
      )
        all.push(...page);
      return all;
    };
    const place = (id: string) => id.slice(id.indexOf("_"));
    for (const [why, client, id] of await foreignIds(kind, true)) {
      const own = await allIdsOf(client);
      const [after, before] = [
        await idsOf(client, `&starting_after=${id}`),
        await idsOf(client, `&ending_before=${id}`),
      ];
      expect({ why, after, before }).toEqual({
        why,
        after: own.filter((one) => place(one) < place(id)).slice(0, 100),
        before: own.filter((one) => place(one) > place(id)).slice(-100),
      });
    }
    for (const id of await wrongIds(kind))
      for (const cursor of ["starting_after", "ending_before"]) {
        const { status, body } = await ask(owner, "GET", `${path}?${cursor}=${id}`);
        expect({ id, answer: [status, body.error?.code] }).toEqual({ id, answer: [400, "invalid_cursor"] });
      }
  },
);

test("lists of one tenant contain nothing of another", async () => {
  for (const [path, kind] of Object.entries(lists)) {
    await thingsOf(kind);
    for (const client of [stranger, live]) {
      const { body } = await client.get(`${path}?limit=100`);
      // An audit entry may concern both environments.
      for (const { project_id, environment } of body.data)
        expect({ project_id, environment: environment ?? client.scope.environment }).toEqual(client.scope);
    }
  }
});
