import { expect, test } from "bun:test";
import type { ImportedOperation } from "../../../../../server/resources/tools/import/schema.ts";
import { argumentLines, firstChoice, groupsOf, rowsOf, stillChosen } from "./operation-groups.ts";
import { serverAddresses } from "./server-addresses.ts";

const operation = (name: string, more: Partial<ImportedOperation> = {}): ImportedOperation => ({
  operation: `GET /${name}`,
  operation_id: name,
  tags: [],
  deprecated: false,
  difference: "added",
  changes: [],
  edited: false,
  chosen: true,
  outcome: "created",
  tool_id: null,
  tool: {
    name,
    description: `Reads ${name}.`,
    method: "GET",
    url: `https://api.example.com/${name}`,
    parameters: { type: "object", properties: {} },
    request: { parameters: [], body: null },
    response: "json",
  },
  refusal: null,
  notes: [],
  security: [],
  auth: [],
  ...more,
});
const refused = { difference: "refused", tool: null, refusal: { code: "body_unsupported", message: "XML." } } as const;
const known = (difference: "changed" | "unchanged") => ({ difference, tool_id: "tool_1" });

test("of a small new document all possible operations are chosen, except deprecated ones; of a large one none", () => {
  const small = [operation("a"), operation("b", { deprecated: true }), operation("c", refused)];
  expect([...firstChoice(small)]).toEqual(["GET /a"]);
  expect(firstChoice(Array.from({ length: 21 }, (_, index) => operation(`o${index}`))).size).toBe(0);
});

test("of a document that was imported before only changes are chosen, except those that replace a person's own", () => {
  const again = [
    operation("a", known("changed")),
    operation("b", { ...known("changed"), edited: true }),
    operation("c", known("unchanged")),
    operation("d"),
  ];
  expect([...firstChoice(again)]).toEqual(["GET /a"]);
  expect(firstChoice([operation("c", known("unchanged")), operation("d")]).size).toBe(0);
});

test("a newer preview keeps what is chosen, as far as it can be imported", () => {
  const chosen = new Set(["GET /a", "GET /b", "GET /gone"]);
  expect([...stillChosen(chosen, [operation("a"), operation("b", refused), operation("c")])]).toEqual(["GET /a"]);
});

test("operations stand below their first tag, and are found by name, path, tag and description", () => {
  const all = [
    operation("findPets", { tags: ["pets", "animals"] }),
    operation("ping"),
    operation("addPet", { tags: ["pets"], difference: "changed" }),
  ];
  const names = (filter: Partial<Parameters<typeof groupsOf>[1]>) =>
    groupsOf(all, { q: "", difference: undefined, ...filter }).map(({ tag, operations }) => [
      tag,
      operations.map((each) => each.operation_id),
    ]);
  expect(names({})).toEqual([
    ["pets", ["findPets", "addPet"]],
    ["Other operations", ["ping"]],
  ]);
  expect(names({ q: "animals" })).toEqual([["pets", ["findPets"]]]);
  expect(names({ q: "get /ADD" })).toEqual([["pets", ["addPet"]]]);
  expect(names({ q: "reads ping" })).toEqual([["Other operations", ["ping"]]]);
  expect(names({ difference: "changed" })).toEqual([["pets", ["addPet"]]]);
});

test("a closed group shows its heading only, and operations without tags need none", () => {
  const kinds = (tags: string[][], isOpen: boolean) =>
    rowsOf(
      groupsOf(
        tags.map((each, index) => operation(`o${index}`, { tags: each })),
        { q: "", difference: undefined },
      ),
      () => isOpen,
    ).map(({ kind }) => kind);
  expect(kinds([["a"], ["a"], ["b"]], false)).toEqual(["group", "group"]);
  expect(kinds([["a"], ["b"]], true)).toEqual(["group", "operation", "group", "operation"]);
  expect(kinds([[], []], false)).toEqual(["operation", "operation"]);
});

test("arguments are listed with type and place, required ones first", () => {
  const upload = operation("upload");
  upload.tool!.parameters = {
    type: "object",
    required: ["id", "photo"],
    properties: {
      tags: { type: "array", items: { type: "string" }, description: "Tags of the pet." },
      id: { type: "integer" },
      photo: { type: "string" },
      size: { enum: ["s", "l"] },
    },
  };
  upload.tool!.request = {
    parameters: [
      { argument: "tags", in: "query", name: "tag[]" },
      { argument: "id", in: "path" },
    ],
    body: { type: "multipart", fields: [{ argument: "photo", file: true }, { argument: "size" }] },
  };
  expect(argumentLines(upload)?.map(({ name, type, place, isRequired }) => [name, type, place, isRequired])).toEqual([
    ["id", "integer", "path", true],
    ["photo", "string", "multipart file", true],
    ["tags", "list of string", "query, as tag[]", false],
    ["size", "choice", "multipart body", false],
  ]);
  expect(argumentLines(operation("c", refused))).toBeNull();
});

test("servers are offered with each value of their variables, relative ones by the document's address", () => {
  const variables = [{ name: "stage", default: "v1", enum: ["v1", "v2"], description: "" }];
  const offered = (source: string) =>
    serverAddresses({
      source,
      server: "https://api.example.com/v1",
      servers: [
        { url: "https://api.example.com/{stage}", description: "Main", variables },
        { url: "/local/", description: "Local", variables: [] },
        { url: "https://{open}.example.com", description: "", variables: [] },
      ],
    }).map(({ url, description }) => `${url} ${description}`.trim());
  expect(offered("https://docs.example.com/openapi.json")).toEqual([
    "https://api.example.com/v1 Main",
    "https://api.example.com/v2 Main",
    "https://docs.example.com/local Local",
  ]);
  expect(offered("Pets")).toEqual(["https://api.example.com/v1 Main", "https://api.example.com/v2 Main"]);
});
