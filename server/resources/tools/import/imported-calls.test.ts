import { afterAll, beforeAll, expect, test } from "bun:test";
import { testApp } from "../../../testing/test-app.ts";

/*
 * Documents that importers of other products turn into wrong requests, by their public reports, from the document to
 * the request that arrives.
 */

interface Arrived {
  method: string;
  /** Path and query. */
  target: string;
  headers: Record<string, string>;
  body: string;
}

let arrived: Arrived | null = null;
const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  async fetch(request) {
    const { pathname, search } = new URL(request.url);
    const { method, headers } = request;
    arrived = { method, target: pathname + search, headers: Object.fromEntries(headers), body: await request.text() };
    return Response.json({ name: null });
  },
});
const app = testApp({ loopback: true });
let client: Awaited<ReturnType<typeof app.client>>;
beforeAll(async () => {
  client = await app.client();
});
afterAll(async () => {
  await app[Symbol.asyncDispose]();
  await server.stop(true);
});

let documents = 0;

/** Imports one operation, calls its tool, and returns what arrived and what the call gave. */
async function call(path: string, operation: object, args: object, others: object = {}) {
  const document = {
    openapi: "3.0.3",
    info: { title: `Document ${++documents}`, version: "1" },
    servers: [{ url: `http://127.0.0.1:${server.port}/base/` }],
    ...others,
    paths: { [path]: operation },
  };
  const prefix = `d${documents}_`;
  const imported = (await client.post("/v1/tools/import", { document: JSON.stringify(document), prefix })).body;
  const [{ tool_id, refusal, tool }] = imported.operations;
  expect(refusal).toBeNull();
  arrived = null;
  const { body } = await client.post(`/v1/tools/${tool_id}/test`, { arguments: args });
  return { arrived: arrived as Arrived | null, output: body.output, error: body.error, tool };
}

const ofType = (type: string) => ({ type });
const json = (schema: object, type = "application/json") => ({ required: true, content: { [type]: { schema } } });
const inPath = (name: string, schema: object = ofType("string")) => ({ name, in: "path", required: true, schema });
const inQuery = (name: string, schema: object, others: object = {}) => ({ name, in: "query", schema, ...others });
const inHeader = (name: string, schema: object) => ({ name, in: "header", schema });

const closedBody = {
  type: "object",
  additionalProperties: false,
  properties: { title: ofType("string"), done: { type: "boolean" } },
};

test.each<[string, string, object, object, string, unknown]>([
  [
    "a field of the body with the name of a path parameter",
    "/users/{id}",
    { put: { parameters: [inPath("id")], requestBody: json({ properties: { id: {}, name: {} } }) } },
    { id: "a", body_id: "b", name: "Ada" },
    "PUT /base/users/a",
    { id: "b", name: "Ada" },
  ],
  [
    "a body that takes no other fields, beside parameters in path and query",
    "/tasks/{task}",
    { post: { parameters: [inPath("task"), inQuery("notify", ofType("boolean"))], requestBody: json(closedBody) } },
    { task: "7", notify: false, title: "New" },
    "POST /base/tasks/7?notify=false",
    { title: "New" },
  ],
  [
    "a whole body beside a parameter that is called body",
    "/values",
    { post: { parameters: [inQuery("body", ofType("string"))], requestBody: json({ type: "array", items: {} }) } },
    { body: "active", body_body: [1, "two"] },
    "POST /base/values?body=active",
    [1, "two"],
  ],
  [
    "a body that is a number",
    "/level",
    { put: { requestBody: json(ofType("integer")) } },
    { body: 0 },
    "PUT /base/level",
    0,
  ],
  [
    "a field that may be null",
    "/due",
    {
      patch: { requestBody: json({ properties: { due: { type: "string", nullable: true }, note: ofType("string") } }) },
    },
    { due: null },
    "PATCH /base/due",
    { due: null },
  ],
  [
    "a field that is called $ref",
    "/branches",
    { post: { requestBody: json({ type: "object", properties: { $ref: ofType("string") }, required: ["$ref"] }) } },
    { ref: "main" },
    "POST /base/branches",
    { $ref: "main" },
  ],
])("%s arrives in its place", async (_, path, operation, args, line, sent) => {
  const done = await call(path, operation, args);
  expect(done.error).toBeNull();
  expect(`${done.arrived?.method} ${done.arrived?.target}`).toBe(line);
  expect(JSON.parse(done.arrived?.body || "null")).toEqual(sent);
});

test.each<[string, string, object[], object, string]>([
  [
    "a value that looks like a path stays one segment",
    "/files/{id}",
    [inPath("id")],
    { id: "a/b?c#d e" },
    "/files/a%2Fb%3Fc%23d%20e",
  ],
  ["a value is encoded once", "/labels/{id}", [inPath("id")], { id: "Caf%C3%A9 1" }, "/labels/Caf%25C3%25A9%201"],
  [
    "a list and a boolean of a path are written as the style says",
    "/items/{ids}/{all}",
    [inPath("ids", { type: "array", items: ofType("integer") }), inPath("all", ofType("boolean"))],
    { ids: [1, 2, 3], all: true },
    "/items/1,2,3/true",
  ],
  [
    "an optional value that is null is not sent",
    "/search",
    [inQuery("after", { type: "string", nullable: true }), inQuery("limit", ofType("integer"))],
    { after: null, limit: 0 },
    "/search?limit=0",
  ],
  [
    "an object keeps the name of its parameter",
    "/surveys",
    [inQuery("target", { type: "object", properties: { id: {}, type: {} } }, { style: "deepObject", explode: true })],
    { target: { id: "5", type: "organisation" } },
    "/surveys?target%5Bid%5D=5&target%5Btype%5D=organisation",
  ],
  [
    "a name with brackets is sent as it is",
    "/pages",
    [inQuery("page[size]", ofType("integer")), inQuery("ids[]", { type: "array", items: ofType("integer") })],
    { page_size: 2, ids: [1, 2] },
    "/pages?page%5Bsize%5D=2&ids%5B%5D=1&ids%5B%5D=2",
  ],
])("%s", async (_, path, parameters, args, target) => {
  const done = await call(path, { get: { parameters } }, args);
  expect([done.error, done.arrived?.target]).toEqual([null, `/base${target}`]);
});

test("values of headers are texts, and stay as they are", async () => {
  const parameters = [
    inHeader("Cache-Control", ofType("string")),
    inHeader("X-Dry-Run", ofType("boolean")),
    inHeader("X-Depth", ofType("integer")),
    inHeader("X-Fields", { type: "array", items: ofType("string") }),
  ];
  const args = { "Cache-Control": "max-age=3600, private", "X-Dry-Run": false, "X-Depth": 2, "X-Fields": ["a", "b"] };
  const done = await call("/headers", { get: { parameters } }, args);
  expect(done.error).toBeNull();
  expect(done.arrived?.headers).toMatchObject({
    "cache-control": "max-age=3600, private",
    "x-dry-run": "false",
    "x-depth": "2",
    "x-fields": "a,b",
  });
});

test("a kind of JSON keeps its media type", async () => {
  const requestBody = json({ properties: { title: ofType("string") } }, "application/merge-patch+json");
  const done = await call("/patch", { patch: { requestBody } }, { title: "New" });
  expect(done.arrived?.headers["content-type"]).toBe("application/merge-patch+json");
  expect(done.arrived?.body).toBe('{"title":"New"}');
});

test("an answer with null where the document has a text is passed on", async () => {
  const schema = { type: "object", properties: { name: ofType("string") }, required: ["name"] };
  const done = await call(
    "/name",
    { get: { responses: { 200: { content: { "application/json": { schema } } } } } },
    {},
  );
  expect([done.error, done.output]).toEqual([null, { name: null }]);
});

test("schemas are ones that models take: lists have items, null is a type, and no keyword of OpenAPI is left", async () => {
  const components = {
    schemas: { Tag: { type: "string", nullable: true, example: "a", xml: { name: "tag" } } },
    parameters: { Limit: inQuery("limit", { type: "integer", nullable: true, default: 10 }) },
  };
  const parameters = [
    { $ref: "#/components/parameters/Limit" },
    inQuery("tags", { type: "array", nullable: true }),
    inQuery("guid", { $ref: "#/x-common/guid" }),
  ];
  const requestBody = json({ type: "object", properties: { tag: { $ref: "#/components/schemas/Tag" } } });
  const others = { components, "x-common": { guid: { type: "string", format: "uuid" } } };
  const { tool } = await call("/schemas", { post: { operationId: "", parameters, requestBody } }, {}, others);
  expect(tool.name).toBe(`d${documents}_POST_schemas`);
  expect(tool.parameters.properties).toEqual({
    limit: { type: ["integer", "null"], default: 10 },
    tags: { type: ["array", "null"], items: {} },
    guid: { type: "string", format: "uuid" },
    tag: { type: ["string", "null"] },
  });
});
