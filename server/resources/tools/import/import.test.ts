import { afterAll, expect, test } from "bun:test";
import { newId } from "../../../domain/ids.ts";
import { testApp } from "../../../testing/test-app.ts";

const seen: { method: string; url: string; headers: Record<string, string>; body: string }[] = [];
const documents = new Map<string, () => Response>();
const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  async fetch(request) {
    const { pathname } = new URL(request.url);
    const document = documents.get(pathname);
    if (document) return document();
    const { method, url } = request;
    seen.push({ method, url, headers: Object.fromEntries(request.headers), body: await request.text() });
    return Response.json({ ok: true });
  },
});
afterAll(() => server.stop(true));
const api = `http://127.0.0.1:${server.port}`;

const pets = (paths: object, others: object = {}) => ({
  openapi: "3.1.0",
  info: { title: "Pets", version: "1" },
  servers: [{ url: `${api}/{stage}`, variables: { stage: { default: "v1", enum: ["v1", "v2"] } } }],
  paths,
  components: {
    securitySchemes: {
      key: { type: "apiKey", in: "query", name: "api_key" },
      token: { type: "http", scheme: "bearer" },
      login: { type: "http", scheme: "basic" },
      seat: { type: "apiKey", in: "cookie", name: "seat" },
      header: { type: "apiKey", in: "header", name: "authorization" },
      oauth: { type: "oauth2", flows: {} },
    },
  },
  ...others,
});

const findPets = {
  operationId: "findPets",
  summary: "Find pets",
  security: [{ key: [] }],
  parameters: [
    { name: "tags", in: "query", explode: false, schema: { type: "array", items: { type: "string" } } },
    { name: "api_key", in: "query", required: true, schema: { type: "string" } },
  ],
  responses: { 200: { content: { "application/json": {} } } },
};
const addPet = {
  operationId: "addPet",
  description: "Adds a pet.",
  requestBody: {
    required: true,
    content: {
      "application/json": {
        schema: {
          type: "object",
          required: ["name", "id"],
          properties: { name: { type: "string" }, id: { type: "integer", readOnly: true } },
        },
      },
    },
  },
};
const both = { "/pets": { get: findPets, post: addPet } };

const start = async (options: Parameters<typeof testApp>[0] = {}) => {
  const app = testApp({ loopback: true, ...options });
  const client = await app.client();
  return {
    app,
    client,
    import: async (body: object) => (await client.post("/v1/tools/import", body)).body,
    [Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
  };
};

const of = (answer: { operations: { operation: string }[] }, operation: string) =>
  answer.operations.find((each) => each.operation === operation) as unknown as Record<string, never>;

test("an import says what each operation becomes, and with dry_run stores nothing", async () => {
  await using at = await start();
  const answer = await at.import({ document: JSON.stringify(pets(both)), dry_run: true });
  expect(answer).toMatchObject({ object: "tool_import", dry_run: true, source: "Pets", server: `${api}/v1` });
  expect(answer.counts).toMatchObject({ operations: 2, added: 2, created: 2, refused: 0 });
  expect(of(answer, "GET /pets")).toMatchObject({
    operation_id: "findPets",
    difference: "added",
    outcome: "created",
    tool_id: null,
    security: [["key"]],
    auth: null,
    tool: {
      name: "findPets",
      description: "Find pets",
      method: "GET",
      url: `${api}/v1/pets`,
      response: "json",
      parameters: {
        type: "object",
        properties: { tags: { type: "array", items: { type: "string" } } },
        additionalProperties: false,
      },
      request: { parameters: [{ argument: "tags", in: "query", explode: false }], body: null },
    },
  });
  expect(of(answer, "POST /pets").tool).toMatchObject({
    parameters: { properties: { name: { type: "string" } }, required: ["name"] },
    request: { body: { type: "json", fields: [{ argument: "name" }] } },
  });
  expect((await at.client.get("/v1/tools")).body.data).toEqual([]);
});

test("the chosen operations become tools that call the API, with the secret of their scheme", async () => {
  await using at = await start();
  await at.client.put("/v1/secrets/PETS_KEY", { value: "pets-key-1" });
  const order = {
    document: JSON.stringify(pets(both)),
    operations: ["findPets"],
    auth: { key: { secret: "PETS_KEY" } },
  };
  const answer = await at.import({ ...order, prefix: "pets_" });
  expect(answer.counts).toMatchObject({ created: 1, added: 2 });
  expect(of(answer, "POST /pets")).toMatchObject({ chosen: false, outcome: null, tool_id: null });
  const { tool_id: id, auth } = of(answer, "GET /pets");
  expect(auth).toEqual(["key"] as never);
  const tool = (await at.client.get(`/v1/tools/${id}`)).body;
  expect(tool).toMatchObject({
    name: "pets_findPets",
    query: { api_key: "********" },
    openapi: { source: "Pets", operation: "GET /pets", operation_id: "findPets", sha256: answer.sha256 },
  });
  expect(JSON.stringify(tool)).not.toContain("PETS_KEY");
  const tried = await at.client.post(`/v1/tools/${id}/test`, { arguments: { tags: ["a", "b"] } });
  expect(tried.body).toMatchObject({ output: { ok: true }, error: null });
  expect(new URL(seen.at(-1)!.url).search).toBe("?tags=a%2Cb&api_key=pets-key-1");
});

test("imported again, a document shows the difference, and updates only what is chosen", async () => {
  await using at = await start();
  const third = { get: { operationId: "getPet", parameters: [] } };
  await at.import({ document: JSON.stringify(pets({ ...both, "/pets/{id}": third })) });
  const list = (await at.client.get("/v1/tools?name=addPet")).body.data;
  await at.client.patch(`/v1/tools/${list[0].id}`, { name: "renamed", timeout_ms: 5000, description: "By hand." });

  const next = pets({
    "/pets": { get: { ...findPets, summary: "Find all pets" }, post: addPet },
    "/toys": { get: { operationId: "findToys" } },
  });
  const order = { document: JSON.stringify(next), operations: ["GET /pets", "findToys"] };
  const plan = await at.import({ ...order, dry_run: true });
  expect(plan.counts).toEqual({
    operations: 3,
    added: 1,
    changed: 2,
    unchanged: 0,
    refused: 0,
    removed: 1,
    created: 1,
    updated: 1,
  });
  expect(of(plan, "GET /pets")).toMatchObject({ difference: "changed", changes: ["description"], edited: false });
  expect(of(plan, "POST /pets")).toMatchObject({ difference: "changed", edited: true, tool: { name: "renamed" } });
  expect(plan.removed).toMatchObject([{ name: "getPet", operation: "GET /pets/{id}" }]);

  const done = await at.import(order);
  expect(done.counts).toEqual(plan.counts);
  const tools = (await at.client.get("/v1/tools")).body.data as {
    name: string;
    description: string;
    timeout_ms: number;
  }[];
  expect(Object.fromEntries(tools.map(({ name, description }) => [name, description]))).toEqual({
    findPets: "Find all pets",
    renamed: "By hand.",
    getPet: "GET /pets/{id}",
    findToys: "GET /toys",
  });
  expect((await at.import(order)).counts).toMatchObject({ added: 0, changed: 1, unchanged: 2, updated: 0, created: 0 });
  await at.import({ document: order.document, operations: ["addPet"] });
  const [changed] = (await at.client.get("/v1/tools?name=renamed")).body.data;
  expect(changed).toMatchObject({ description: "Adds a pet.", timeout_ms: 5000 });
});

test("an operation whose path changed keeps its tool by its operationId", async () => {
  await using at = await start();
  await at.import({ document: JSON.stringify(pets({ "/pets": { get: findPets } })) });
  const answer = await at.import({ document: JSON.stringify(pets({ "/animals": { get: findPets } })) });
  expect(of(answer, "GET /animals")).toMatchObject({
    outcome: "updated",
    changes: ["url"],
    tool: { name: "findPets" },
  });
  expect(answer.counts).toMatchObject({ removed: 0, created: 0, updated: 1 });
});

test("tools of a scheme with access tokens name the OAuth client, also if they sent a secret before", async () => {
  await using at = await start();
  await at.client.put("/v1/secrets/TOKEN", { value: "a-token" });
  const created = await at.client.post("/v1/oauth_clients", {
    name: "Pets",
    grant: "client_credentials",
    token_endpoint: `${api}/token`,
    client_id: "runnel",
    client_secret: "secret",
  });
  const oauth_client_id = created.body.id;
  const document = JSON.stringify(
    pets({ "/mine": { get: { operationId: "findMine", security: [{ oauth: ["read"] }, { token: [] }] } } }),
  );
  const by = (auth: object) => at.import({ document, auth });
  const toolOf = async (answer: Awaited<ReturnType<typeof by>>) =>
    (await at.client.get(`/v1/tools/${of(answer, "GET /mine").tool_id}`)).body;

  expect(await toolOf(await by({ token: { secret: "TOKEN" } }))).toMatchObject({
    auth: null,
    headers: { Authorization: "********" },
  });
  const answer = await by({ oauth: { oauth_client_id } });
  expect(of(answer, "GET /mine")).toMatchObject({ outcome: "updated", changes: ["headers", "auth"], auth: ["oauth"] });
  expect(await toolOf(answer)).toMatchObject({ auth: { type: "oauth", oauth_client_id }, headers: {} });
  expect(answer.security_schemes).toContainEqual(
    expect.objectContaining({ name: "oauth", oauth_client_id, secret: null, takes_oauth_client: true }),
  );
  expect(of(await by({ oauth: { oauth_client_id } }), "GET /mine")).toMatchObject({
    outcome: "unchanged",
    changes: [],
  });
  // Without any choice the tool keeps its client.
  expect(of(await by({}), "GET /mine")).toMatchObject({ outcome: "unchanged", auth: null });
  const back = await by({ token: { secret: "TOKEN" } });
  expect(of(back, "GET /mine")).toMatchObject({ outcome: "updated", changes: ["headers", "auth"] });
  expect(await toolOf(back)).toMatchObject({ auth: null, headers: { Authorization: "********" } });
});

test.each([["login"], ["header"]])(
  "two schemes that both set the header Authorization are never sent together: token and %s",
  async (other) => {
    await using at = await start();
    for (const name of ["A", "B"]) await at.client.put(`/v1/secrets/${name}`, { value: `value-of-${name}` });
    const both = { get: { security: [{ token: [], [other]: [] }] } };
    const auth = { token: { secret: "A" }, [other]: { secret: "B" } };
    const answer = await at.import({ document: JSON.stringify(pets({ "/both": both })), auth });
    expect(of(answer, "GET /both")).toMatchObject({ outcome: "created", auth: null });
  },
);

test("a tool whose scheme becomes another one sends the header Authorization once", async () => {
  await using at = await start();
  for (const name of ["A", "B"]) await at.client.put(`/v1/secrets/${name}`, { value: `value-of-${name}` });
  const document = JSON.stringify(pets({ "/mine": { get: { security: [{ token: [] }, { header: [] }] } } }));
  await at.import({ document, auth: { token: { secret: "A" } } });
  const again = await at.import({ document, auth: { header: { secret: "B" } } });
  const { tool_id: id, changes } = of(again, "GET /mine");
  expect(changes).toEqual(["headers"] as never);
  expect((await at.client.get(`/v1/tools/${id}`)).body.headers).toEqual({ authorization: "********" });
  await at.client.post(`/v1/tools/${id}/test`, { arguments: {} });
  expect(seen.at(-1)!.headers.authorization).toBe("value-of-B");
});

test("each scheme of the document needs a secret, which is sent as the scheme says", async () => {
  await using at = await start();
  for (const name of ["A", "B", "C", "D"]) await at.client.put(`/v1/secrets/${name}`, { value: `value-of-${name}` });
  const paths = Object.fromEntries(
    ["token", "login", "oauth"].map((name) => [`/${name}`, { get: { security: [{ [name]: [], seat: [] }] } }]),
  );
  const auth = { token: { secret: "A" }, login: { secret: "B" }, oauth: { secret: "C" }, seat: { secret: "D" } };
  const answer = await at.import({ document: JSON.stringify(pets(paths)), auth });
  expect(answer.security_schemes).toContainEqual(
    expect.objectContaining({
      name: "login",
      secret: "B",
      secret_holds: "The Base64 of user:password.",
      suggested_secret: "PETS_LOGIN",
    }),
  );
  expect(answer.security_schemes).toContainEqual(
    expect.objectContaining({ name: "header", secret_holds: "The whole header, such as Bearer and the token." }),
  );
  const sent = [];
  for (const name of ["token", "login", "oauth"]) {
    await at.client.post(`/v1/tools/${of(answer, `GET /${name}`).tool_id}/test`, { arguments: {} });
    const { authorization, cookie } = seen.at(-1)!.headers;
    sent.push([authorization, cookie]);
  }
  expect(sent).toEqual([
    ["Bearer value-of-A", "seat=value-of-D"],
    ["Basic value-of-B", "seat=value-of-D"],
    ["Bearer value-of-C", "seat=value-of-D"],
  ]);
});

test("a document is fetched through the guard, and its servers may be relative to its address", async () => {
  await using at = await start();
  documents.set("/docs/openapi.json", () => Response.json(pets(both, { servers: [{ url: "../v3" }] })));
  const answer = await at.import({ url: `${api}/docs/openapi.json`, dry_run: true });
  expect(answer).toMatchObject({ source: `${api}/docs/openapi.json`, server: `${api}/v3` });
  documents.set("/huge", () => new Response(new Uint8Array(17 * 1024 * 1024)));
  documents.set("/gone", () => new Response("", { status: 404 }));
  documents.set("/round", () => Response.redirect("/round"));
  documents.set("/metadata", () => Response.redirect("https://169.254.169.254/latest/meta-data"));
  const failing: [string, string, string | undefined][] = [
    ["/huge", "url_not_fetched", "too_large"],
    ["/gone", "url_not_fetched", "bad_status"],
    ["/round", "url_not_fetched", "too_many_redirects"],
    ["/metadata", "url_not_allowed", undefined],
  ];
  for (const [path, code, reason] of failing) {
    const { error } = await at.import({ url: `${api}${path}`, dry_run: true });
    expect([path, error.code, error.param, error.details?.reason]).toEqual([path, code, "url", reason]);
  }
  for (const url of ["http://169.254.169.254/openapi.json", "file:///etc/passwd", "http://10.0.0.1/x"])
    expect((await at.import({ url })).error).toMatchObject({ code: "url_not_allowed", param: "url" });
});

test("an import is bound to the document of its preview: one that has changed since is refused, and nothing is stored", async () => {
  await using at = await start();
  const serve = (paths: object) => documents.set("/bound.json", () => Response.json(pets(paths)));
  serve(both);
  const url = `${api}/bound.json`;
  const plan = await at.import({ url, dry_run: true });
  serve({ ...both, "/wipe": { delete: {} } });
  const bound = { url, sha256: plan.sha256 };
  const refused = await at.client.post("/v1/tools/import", bound);
  expect([refused.status, refused.body.error.code, refused.body.error.param]).toEqual([
    409,
    "document_changed",
    "sha256",
  ]);
  expect((await at.import({ ...bound, dry_run: true })).error.code).toBe("document_changed");
  expect((await at.client.get("/v1/tools")).body.data).toEqual([]);
  const again = await at.import({ url, dry_run: true });
  expect(refused.body.error.details).toEqual({ sha256: again.sha256 });
  expect((await at.import({ url, sha256: again.sha256 })).counts).toMatchObject({ created: 3 });
  const document = JSON.stringify(pets(both));
  const { sha256 } = await at.import({ document, dry_run: true });
  expect((await at.import({ document: `${document} `, sha256 })).error.code).toBe("document_changed");
  expect((await at.import({ document, sha256: sha256.toUpperCase() })).error).toMatchObject({ param: "sha256" });
});

test("a document of more than 500 operations is imported in parts by its tags, and no part takes away an earlier one's", async () => {
  await using at = await start();
  const tagged = (tag: string, count: number) =>
    Array.from({ length: count }, (_, index) => [`/${tag}/${index}`, { get: { tags: [tag] } }]);
  const paths = Object.fromEntries([...tagged("repos", 450), ...tagged("actions", 100), ...tagged("orgs", 3)]);
  const document = JSON.stringify(pets({ ...paths, "/plain": { get: {} } }));
  const { error } = await at.import({ document });
  expect(error).toMatchObject({ code: "validation_failed", param: "operations" });
  expect(error.message).toContain("at most 500 operations that change something, and these are 554");
  expect(error.message).toContain('Tags of these: "repos" (450), "actions" (100), "orgs" (3).');
  const both = await at.import({ document, tags: ["repos", "actions"] });
  expect(both.error).toMatchObject({ param: "tags", message: expect.stringContaining("these are 550") });
  expect((await at.client.get("/v1/tools")).body.data).toEqual([]);

  expect((await at.import({ document, tags: ["repos"] })).counts).toMatchObject({ created: 450, added: 554 });
  const second = { document, tags: ["actions"], operations: ["GET /plain"] };
  const plan = await at.import({ ...second, dry_run: true });
  expect(plan.counts).toMatchObject({ added: 104, unchanged: 450, removed: 0, created: 101 });
  expect(plan.removed).toEqual([]);
  expect((await at.import(second)).counts).toMatchObject({ created: 101, removed: 0 });
  // The tools that are there already are no part of the limit.
  expect((await at.import({ document })).counts).toMatchObject({ created: 3, updated: 0, unchanged: 551, removed: 0 });
});

test.each<[string, object, string]>([
  ["neither document nor address", {}, "document"],
  ["both", { url: `${api}/x`, document: "{}" }, "url"],
  ["no OpenAPI document", { document: "{}" }, "document"],
  ["an unknown operation", { document: JSON.stringify(pets(both)), operations: ["nope"] }, "operations[0]"],
  ["an unknown tag", { document: JSON.stringify(pets(both)), tags: ["nope"] }, "tags[0]"],
  ["an unknown scheme", { document: JSON.stringify(pets(both)), auth: { nope: { secret: "A" } } }, "auth.nope"],
  ["a scheme with neither secret nor client", { document: JSON.stringify(pets(both)), auth: { key: {} } }, "auth.key"],
  [
    "an OAuth client for a key",
    { document: JSON.stringify(pets(both)), auth: { key: { oauth_client_id: newId("oauth_client") } } },
    "auth.key.oauth_client_id",
  ],
  [
    "an unknown OAuth client",
    { document: JSON.stringify(pets(both)), auth: { oauth: { oauth_client_id: newId("oauth_client") } } },
    "auth.oauth.oauth_client_id",
  ],
  ["an unknown secret", { document: JSON.stringify(pets(both)), auth: { key: { secret: "A" } } }, "auth.key.secret"],
  ["a server that is no address", { document: JSON.stringify(pets(both)), server: "api.example.com" }, "server"],
  ["a server with a login", { document: JSON.stringify(pets(both)), server: "https://a:b@example.com" }, "server"],
  ["an unknown field", { document: "{}", nope: 1 }, "nope"],
])("an import with %s is refused, and names the parameter", async (_, body, param) => {
  await using at = await start();
  const { error } = await at.import(body);
  expect([error.type, error.param]).toEqual(["invalid_request_error", param]);
});

test("operations at addresses that tools may not call, and with names that are taken, are refused with the reason", async () => {
  await using at = await start();
  await at.client.post("/v1/tools", { name: "addPet" });
  const inside = { servers: [{ url: "http://169.254.169.254" }], operationId: "inside" };
  const answer = await at.import({ document: JSON.stringify(pets({ ...both, "/inside": { get: inside } })) });
  expect(of(answer, "GET /inside")).toMatchObject({
    difference: "refused",
    tool: null,
    refusal: { code: "url_not_allowed" },
  });
  expect(of(answer, "POST /pets").refusal).toMatchObject({ code: "name_taken" });
  expect(answer.counts).toMatchObject({ created: 1, refused: 2 });
});

test("tools keep their secrets to themselves where the document moves to another server", async () => {
  await using at = await start();
  await at.client.put("/v1/secrets/K", { value: "value-of-k" });
  const auth = { key: { secret: "K" } };
  await at.import({ document: JSON.stringify(pets({ "/pets": { get: findPets } })), auth });
  const moved = {
    document: JSON.stringify(pets({ "/pets": { get: findPets } })),
    server: api.replace("127.0.0.1", "localhost"),
  };
  expect((await at.import(moved)).error).toMatchObject({ param: "query", code: "validation_failed" });
  expect((await at.import({ ...moved, auth })).counts).toMatchObject({ updated: 1 });
});

test("a tool whose server moves needs its OAuth client again, whose tokens were meant for the old one", async () => {
  await using at = await start();
  const client = await at.client.post("/v1/oauth_clients", {
    name: "Pets",
    grant: "client_credentials",
    token_endpoint: `${api}/token`,
    client_id: "runnel",
    client_secret: "secret",
  });
  const auth = { oauth: { oauth_client_id: client.body.id } };
  const document = JSON.stringify(pets({ "/mine": { get: { security: [{ oauth: [] }] } } }));
  await at.import({ document, auth });
  const moved = { document, server: api.replace("127.0.0.1", "localhost") };
  expect((await at.import(moved)).error).toMatchObject({ param: "auth", code: "validation_failed" });
  const answer = await at.import({ ...moved, auth });
  expect(answer.counts).toMatchObject({ updated: 1 });
  const { tool_id: id } = of(answer, "GET /mine");
  expect((await at.client.get(`/v1/tools/${id}`)).body).toMatchObject({
    url: `${moved.server}/mine`,
    auth: { type: "oauth", ...auth.oauth },
  });
});

test("another project neither sees nor changes the tools of an import", async () => {
  await using at = await start();
  const document = JSON.stringify(pets(both));
  await at.import({ document });
  const other = await at.app.client({ project: "other" });
  const answer = (await other.post("/v1/tools/import", { document, dry_run: true })).body;
  expect(answer.counts).toMatchObject({ added: 2, unchanged: 0 });
});

test("an import of which one tool cannot be stored stores none", async () => {
  await using at = await start();
  const document = JSON.stringify(pets(both));
  at.app.db.sqlite.run(
    "CREATE TRIGGER refuse BEFORE INSERT ON tools WHEN NEW.name = 'addPet' BEGIN SELECT RAISE(ABORT, 'refused'); END",
  );
  expect((await at.client.post("/v1/tools/import", { document })).status).toBe(500);
  expect((await at.client.get("/v1/tools")).body.data).toEqual([]);
});

test("without a sandbox no document is read", async () => {
  await using at = await start({ sandbox: "off" });
  expect((await at.import({ document: "{}" })).error).toMatchObject({ code: "unsupported_media_type" });
});
