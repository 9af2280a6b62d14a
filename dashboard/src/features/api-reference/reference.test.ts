import { expect, test } from "bun:test";
import type { OpenApi } from "../../entities/server/openapi-api.ts";
import { exampleRequest } from "./example-request.ts";
import { listFields } from "./list-fields.ts";
import { type ListedOperation, listOperations } from "./list-operations.ts";
import { readReferenceSearch } from "./read-reference-search.ts";
import { limitWords } from "./rule-of.ts";
import { trialFault, trialPath } from "./trial.ts";

const document: OpenApi = {
  info: { version: "1" },
  tags: [{ name: "Runs" }, { name: "Agents" }, { name: "Nothing" }],
  paths: {
    "/v1/agents": {
      post: {
        operationId: "agents.create",
        tags: ["Agents"],
        summary: "Create an agent",
        responses: {},
        requestBody: {
          content: {
            "application/json": {
              schema: { $ref: "#/components/schemas/NewAgent" },
              example: { name: "example", model: "test/echo", tools: ["tool_01k6w3v5r8d2f9h1j4m7n0p3qs"] },
            },
          },
        },
      },
    },
    "/v1/runs/{run_id}/events": {
      get: {
        operationId: "listEvents",
        tags: ["Runs"],
        summary: "Read its events",
        responses: {},
        parameters: [{ name: "run_id", in: "path", schema: { type: "string", pattern: "^run_[0-9a-z]{26}$" } }],
      },
    },
  },
  components: {
    responses: {},
    schemas: {
      NewAgent: {
        type: "object",
        required: ["name", "model", "kind", "parts"],
        properties: {
          name: { type: "string", minLength: 1, maxLength: 64, description: "What it is called." },
          model: { type: "string" },
          kind: { type: "string", enum: ["small", "large"] },
          budget: { anyOf: [{ $ref: "#/components/schemas/Budget" }, { type: "null" }] },
          parts: { type: "array", items: { $ref: "#/components/schemas/NewAgent" } },
        },
      },
      Budget: { type: "object", properties: { max: { type: "number", exclusiveMinimum: 0, maximum: 1000000 } } },
    },
  },
};

test("operations are grouped by tag in the document's order, and a search requires all its words", () => {
  expect(listOperations(document).map(({ tag }) => tag)).toEqual(["Runs", "Agents"]);
  expect(listOperations(document, "post AGENT").flatMap(({ operations }) => operations)).toMatchObject([
    { method: "POST", path: "/v1/agents" },
  ]);
  expect(listOperations(document, "post events")).toEqual([]);
});

test("fields are listed with type and limits, nested fields follow their object, and a cycle is listed once", () => {
  const lines = listFields({ $ref: "#/components/schemas/NewAgent" }, document);
  expect(lines.map(({ path, type, required, limits: rule }) => [path, type, required, rule])).toEqual([
    ["name", "string", true, "1 to 64 characters"],
    ["model", "string", true, ""],
    ["kind", "small | large", true, ""],
    ["budget", "Budget or null", false, ""],
    ["budget.max", "number", false, "above 0, at most 1,000,000"],
    ["parts", "list of NewAgent", true, ""],
  ]);
  expect(lines.map(({ description }) => description).filter(Boolean)).toEqual(["What it is called."]);
});

test("the example request is the document's example, adapted to the mode, with placeholders for ids", () => {
  const [runs, agents] = listOperations(document).map(({ operations }) => operations[0]!);
  expect(exampleRequest(runs!, "test")).toEqual({ method: "GET", path: "/v1/runs/run_ID/events" });
  const body = { name: "example", model: "test/echo", tools: ["tool_ID"] };
  expect(exampleRequest(agents!, "test").body).toEqual(body);
  expect(exampleRequest(agents!, "live").body).toEqual({ ...body, model: "openai/gpt-5" });
});

test("limits become words, and invalid query parameters are dropped", () => {
  expect(limitWords({ type: "integer", minimum: 1, maximum: 100, default: 20 })).toBe("1 to 100, default 20");
  expect(limitWords({ type: "string", pattern: "^run_[0-9a-z]{26}$" })).toBe("id run_…");
  expect(readReferenceSearch({ op: "runs.create", q: "run" })).toEqual({ op: "runs.create", q: "run" });
  expect(readReferenceSearch({ op: "<script>" })).toEqual({});
});

test("a trial builds its path from the input, or names the missing parameter", () => {
  const operation = {
    method: "POST",
    path: "/v1/suites/{id}/runs",
    operationId: "suites.runs.create",
    tags: [],
    summary: "",
    parameters: [
      { name: "id", in: "path", required: true, schema: { type: "string" } },
      { name: "limit", in: "query", schema: { type: "integer" } },
      { name: "metadata", in: "query", schema: { type: "object" } },
      { name: "Idempotency-Key", in: "header", schema: { type: "string" } },
    ],
    responses: {},
  } satisfies ListedOperation;
  expect(trialFault(operation, { values: {}, body: null })).toBe("Fill in id.");
  expect(trialFault(operation, { values: { id: "sui_1" }, body: "{" })).toBe("The body is not JSON.");
  const trial = { values: { id: " sui/1 ", limit: "5" }, body: "{}" };
  expect(trialFault(operation, trial)).toBeNull();
  expect(trialPath(operation, trial)).toBe("/suites/sui%2F1/runs?limit=5");
});
