import { afterAll, expect, test } from "bun:test";
import type { ImportChoices } from "../../domain/openapi-import.ts";
import { checkSchema } from "../../lib/json-schema.ts";
import { createOpenApiReader } from "../sandbox/openapi-reader.ts";
import type { OpenApiOutcome } from "../sandbox/openapi-task.ts";

const reader = createOpenApiReader({ level: () => "process" });
afterAll(() => reader.stop());

const choices: ImportChoices = { document_url: null, server: null, prefix: "" };
const read = (document: string | Uint8Array | object, given: Partial<ImportChoices> = {}): Promise<OpenApiOutcome> => {
  const text = typeof document === "string" || document instanceof Uint8Array ? document : JSON.stringify(document);
  const bytes = typeof text === "string" ? new TextEncoder().encode(text) : text;
  return reader.read(bytes, { ...choices, ...given }, new AbortController().signal, "project");
};

const base = (others: object) => ({
  openapi: "3.1.0",
  info: { title: "Hostile", version: "1" },
  servers: [{ url: "https://api.example.com" }],
  ...others,
});
const body = (schema: unknown) => ({
  post: { requestBody: { required: true, content: { "application/json": { schema } } } },
});
const ofSchema = (schema: unknown, schemas: object = {}) =>
  base({ paths: { "/x": body(schema) }, components: { schemas } });

async function only(document: string | object, given: Partial<ImportChoices> = {}) {
  const outcome = await read(document, given);
  if (!("document" in outcome)) throw new Error(outcome.error);
  const [operation] = outcome.operations;
  if (!operation) throw new Error("No operation.");
  if (operation.tool) expect(checkSchema(operation.tool.parameters)).toEqual([]);
  return operation;
}

const nested = (depth: number) => `${"[".repeat(depth)}${"]".repeat(depth)}`;
const laughs = [...Array(12).keys()]
  .map(
    (level) =>
      `l${level}: &l${level} [${Array(10)
        .fill(level === 0 ? "x" : `*l${level - 1}`)
        .join(", ")}]`,
  )
  .join("\n");

test.each<[string, string | Uint8Array | object, RegExp]>([
  ["nothing", "  \n", /empty/],
  ["an HTML page", "<!doctype html><p>Not found</p>", /HTML/],
  ["bytes that are not UTF-8", new Uint8Array([123, 34, 255, 254, 34, 125]), /UTF-8/],
  ["UTF-16", new Uint8Array([255, 254, 123, 0, 125, 0]), /UTF-16/],
  ["JSON that ends early", '{"openapi": "3.1.0", "paths": {', /not valid JSON/],
  ["JSON that nests 100,000 levels deep", `{"openapi":"3.1.0","x":${nested(100_000)}}`, /nests deeper/],
  ["YAML that nests 100,000 levels deep", `openapi: 3.1.0\nx: ${nested(100_000)}\n`, /nests deeper/],
  ["YAML with lists of lists", `openapi: 3.1.0\nx:\n  ${"- ".repeat(100_000)}a\n`, /nests deeper/],
  ["a YAML bomb of aliases", `openapi: 3.1.0\n${laughs}\n`, /aliases|alias count/],
  ["a YAML alias of itself", "openapi: 3.1.0\ninfo: &a\n  x: *a\npaths: *a\n", /no operations|nests deeper|aliases/],
  ["a key of YAML twice", "openapi: 3.1.0\nopenapi: 3.0.0\npaths: {}\n", /twice \(line 2\)/],
  ["two YAML documents", "openapi: 3.1.0\n---\nopenapi: 3.0.0\n", /not valid YAML/],
  ["a list", "[1]", /not an object|not valid/],
  ["no version", { paths: {} }, /neither/],
  ["a version to come", base({ openapi: "4.0.0" }), /4.0.0 of OpenAPI is not supported/],
  ["no paths", base({}), /no paths/],
  ["paths that are a list", base({ paths: [] }), /no paths/],
  ["only keys of prototypes as paths", `{"openapi":"3.1.0","paths":{"__proto__":{"get":{}}}}`, /no operations/],
  [
    "too many operations",
    base({ paths: Object.fromEntries([...Array(5001).keys()].map((n) => [`/${n}`, { get: {} }])) }),
    /5001 operations, more than 5000/,
  ],
])("%s is refused with the reason", async (_, document, expected) => {
  const outcome = await read(document);
  expect("error" in outcome && outcome.error).toMatch(expected);
});

test.each<[string, object, string]>([
  ["a file", { $ref: "file:///etc/passwd" }, "external_reference"],
  ["a relative file", { $ref: "../secrets.yaml#/x" }, "external_reference"],
  ["the cloud's metadata", { $ref: "http://169.254.169.254/latest/meta-data" }, "external_reference"],
  ["nothing", { $ref: "#/components/schemas/None" }, "broken_reference"],
  ["a prototype", { $ref: "#/__proto__/constructor" }, "broken_reference"],
  ["no text", { $ref: { a: 1 } }, "broken_reference"],
])("an operation that refers to %s is refused, and nothing is fetched", async (_, schema, code) => {
  expect((await only(ofSchema({ type: "object", properties: { a: schema } }))).refusal).toMatchObject({ code });
});

test("a reference to itself, direct or around corners, ends", async () => {
  const loop = { A: { $ref: "#/components/schemas/B" }, B: { $ref: "#/components/schemas/A" } };
  expect((await only(ofSchema({ $ref: "#/components/schemas/A" }, loop))).tool).not.toBeNull();
  const parameters = [{ $ref: "#/components/parameters/P" }];
  const components = { parameters: { P: { $ref: "#/components/parameters/P" } } };
  const refused = await only(base({ paths: { "/x": { get: { parameters } } }, components }));
  expect(refused.refusal).toMatchObject({ code: "broken_reference" });
  const path = await only(base({ paths: { "/x": { $ref: "#/paths/~1x" } } }));
  expect(path.refusal).toMatchObject({ code: "broken_reference" });
});

test("a schema that contains itself is kept down to where it does", async () => {
  const Node = {
    type: "object",
    properties: { name: { type: "string" }, children: { type: "array", items: { $ref: "#/components/schemas/Node" } } },
  };
  const { tool, notes } = await only(ofSchema({ $ref: "#/components/schemas/Node" }, { Node }));
  expect(tool?.parameters.properties).toEqual({
    name: { type: "string" },
    children: { type: "array", items: { type: "object" } },
  });
  expect(notes).toEqual(["Not checked where a schema contains itself."]);
});

test("a schema that doubles with each level is cut, and the operation says so", async () => {
  const schemas = Object.fromEntries(
    [...Array(30).keys()].map((level) => {
      const next = { $ref: `#/components/schemas/S${level + 1}` };
      return [`S${level}`, { type: "object", properties: { a: next, b: next }, allOf: [{ properties: { c: next } }] }];
    }),
  );
  const { tool, notes } = await only(ofSchema({ $ref: "#/components/schemas/S0" }, { ...schemas, S30: {} }));
  expect(tool).not.toBeNull();
  expect(notes.join()).toContain("Simplified");
});

test("an enum of 100,000 values is not checked", async () => {
  const { tool, notes } = await only(ofSchema({ type: "object", properties: { a: { enum: [...Array(1e5).keys()] } } }));
  expect(tool?.parameters.properties).toEqual({ a: {} });
  expect(notes).toEqual(["Not checked: an enum of 100000 values."]);
});

test("a pattern that could run for ever is not checked", async () => {
  const { tool, notes } = await only(
    ofSchema({ type: "object", properties: { a: { type: "string", pattern: "^(a+)+$" } } }),
  );
  expect(tool?.parameters.properties).toEqual({ a: { type: "string" } });
  expect(notes.join()).toContain("pattern");
});

test("names of prototypes among fields and parameters are left out", async () => {
  const document = `{"openapi":"3.1.0","servers":[{"url":"https://a.example"}],"paths":{"/x":{"post":{"parameters":
    [{"name":"__proto__","in":"query","schema":{}}],"requestBody":{"required":true,"content":{"application/json":
    {"schema":{"type":"object","required":["constructor"],"properties":{"__proto__":{"type":"string"},"constructor":{},"a":{}}}}}}}}}}`;
  const { tool } = await only(document);
  expect(Object.keys(tool?.parameters.properties as object).toSorted()).toEqual(["a", "proto"]);
  expect(({} as { type?: unknown }).type).toBeUndefined();
});

test("braces of a path that do not match are refused, and undeclared ones are texts", async () => {
  for (const path of ["/a/{id", "/a/id}", "/a/{}", "/a/{b{c}}", "/a/../b", "/a b"])
    expect((await only(base({ paths: { [path]: { get: {} } } }))).refusal).toMatchObject({ code: "path_invalid" });
  const parameters = [{ name: "other", in: "path", required: true, schema: {} }];
  const { tool, notes } = await only(base({ paths: { "/a/{pet.id}": { get: { parameters } } } }));
  expect(tool).toMatchObject({
    url: "https://api.example.com/a/{pet_id}",
    parameters: { properties: { pet_id: { type: "string" } }, required: ["pet_id"] },
    request: { parameters: [{ argument: "pet_id", name: "pet.id", in: "path" }] },
  });
  expect(notes).toHaveLength(2);
});

test("an operationId that is there several times, or is too long, makes names that are unique and stay the same", async () => {
  const long = "x".repeat(200);
  const paths = {
    "/a": { get: { operationId: "get it!" }, put: { operationId: long } },
    "/b": { get: { operationId: "get.it" }, put: { operationId: `${long}y` } },
    "/ü": { get: { operationId: "ü" } },
  };
  const names = async (all: object) => {
    const outcome = await read(base({ paths: all }));
    return "document" in outcome
      ? Object.fromEntries(outcome.operations.map((each) => [each.operation, each.tool?.name]))
      : {};
  };
  const found = await names(paths);
  expect(new Set(Object.values(found)).size).toBe(5);
  for (const name of Object.values(found)) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
  const turned = Object.fromEntries(Object.entries(paths).toReversed());
  expect(await names(turned)).toEqual(found);
});

test("keys of YAML that are no texts are read as texts, and merged maps are merged", async () => {
  const document = `
openapi: 3.0.3
servers: [{url: "https://api.example.com"}]
x-all: &all {summary: All, responses: {200: {content: {application/json: {}}}}}
paths:
  /x:
    get:
      <<: *all
      parameters: [{name: 1, in: query}]
  /y: {get: *all}
`;
  const outcome = await read(document);
  if (!("document" in outcome)) throw new Error(outcome.error);
  expect(outcome.operations.map(({ refusal, tool }) => refusal?.code ?? tool?.description)).toEqual([
    "parameter_unsupported",
    "All",
  ]);
});

test("choices that are written without quotes, or with too many, can be chosen", async () => {
  const yaml = `
openapi: 3.1.0
servers: [{url: "https://api.example.com"}]
paths:
  /x:
    get:
      parameters:
        - {name: version, in: query, schema: {type: string, enum: [1.0, 012, 1e3, 2024-01-01, NO, True], default: 1.0}}
        - {name: level, in: query, schema: {type: [string, "null"], enum: [1, 2, null]}}
        - {name: count, in: query, schema: {type: integer, enum: ["1", 2, "many"], default: "1"}}
        - {name: size, in: query, schema: {type: [integer, string], enum: [1, "1"]}}
`;
  expect((await only(yaml)).tool?.parameters.properties).toEqual({
    version: { type: "string", enum: ["1.0", "012", "1e3", "2024-01-01", "NO", "True"], default: "1.0" },
    level: { type: ["string", "null"], enum: ["1", "2", null] },
    count: { type: "integer", enum: [1, 2, "many"], default: 1 },
    size: { type: ["integer", "string"], enum: [1, "1"] },
  });
  const schema = { type: "object", properties: { level: { type: "string", enum: [1, true, "1"] } } };
  expect((await only(ofSchema(schema))).tool?.parameters.properties).toEqual({
    level: { type: "string", enum: ["1", "true"] },
  });
});

test("an operation says that a body takes fields which its tool has not", async () => {
  const properties = { a: { type: "string" } };
  const notesOf = async (more: object) => (await only(ofSchema({ type: "object", properties, ...more }))).notes;
  expect(await notesOf({ additionalProperties: true })).toEqual([
    "Not sent: fields of its body that the document does not name.",
  ]);
  expect(await notesOf({})).toEqual([]);
});

test("values of other types than OpenAPI's break one operation, or nothing", async () => {
  const odd = [null, 1, "x", [], [[]], { a: 1 }, true];
  const paths = Object.fromEntries(
    odd.map((value, index) => [
      `/${index}`,
      {
        get: value,
        post: {
          parameters: value,
          requestBody: value,
          responses: value,
          tags: value,
          security: value,
          servers: value,
          operationId: value,
          summary: value,
        },
        put: body(value).post,
      },
    ]),
  );
  const outcome = await read(base({ paths, security: "x", components: "y", info: [] }));
  if (!("document" in outcome)) throw new Error(outcome.error);
  expect(outcome.operations).toHaveLength(21);
  for (const { tool, refusal } of outcome.operations) expect((tool === null) !== (refusal === null)).toBe(true);
});

test("servers that are no web addresses are not used", async () => {
  const paths = { "/x": { get: {} } };
  for (const url of [
    "file:///etc",
    "javascript:alert(1)",
    "https://a:b@example.com",
    "/relative",
    "https://{host}",
    "ftp://x",
  ])
    expect((await only(base({ paths, servers: [{ url }] }))).refusal).toMatchObject({ code: "server_unknown" });
  const { tool } = await only(base({ paths, servers: [{ url: "/v1/" }] }), {
    document_url: "https://a.example/docs/o.json",
  });
  expect(tool?.url).toBe("https://a.example/v1/x");
});

test("a document of 16 MB with one endless text is read, and its texts are cut", async () => {
  const description = "word ".repeat(3_200_000);
  const { tool } = await only(base({ paths: { "/x": { get: { description } } }, info: { title: description } }));
  expect(tool?.description.length).toBeLessThan(1100);
});

test("braces in a description cannot name a variable or a secret of an agent", async () => {
  const description = "Use {{secret.KEY}} and {{> snippet}} and {{{name}}}.";
  const { tool } = await only(base({ paths: { "/x": { get: { description } } } }));
  expect(tool?.description).not.toContain("{{");
});
