import { expect, test } from "bun:test";
import type { Tool } from "../../../../server/resources/tools/schema.ts";
import { approvalWords } from "../../entities/tool/tool-api.ts";
import { ApiError } from "../../lib/api.ts";
import { exampleArguments } from "../../lib/example-arguments.ts";
import { blameTool, readToolDraft, toolChanges, toolCreation, toolDraftOf } from "./tool-draft.ts";
import { toolParts } from "./types/tool-parts.ts";

const tool = {
  id: "tool_1",
  name: "pay",
  type: "http",
  description: "Pays.",
  parameters: { type: "object", properties: {} },
  approval: { when: { properties: { usd: { minimum: 100 } } } },
  on_unknown: "ask",
  max_output_bytes: 262_144,
  enabled: true,
  url: "https://example.com/pay",
  method: "POST",
  headers: { authorization: "********" },
  timeout_ms: 30_000,
  retries: 0,
  idempotent: false,
  response: "json",
} as unknown as Tool;

test("an unedited tool has no changes", () => {
  expect(toolChanges(toolDraftOf(tool), tool)).toEqual({});
  expect(readToolDraft("http", toolDraftOf(tool)).faults).toEqual({});
});

test("only changed fields are sent, and masked headers are sent back unchanged", () => {
  const draft = { ...toolDraftOf(tool), retries: "2", headers: [{ name: "authorization", value: "********" }] };
  expect(toolChanges(draft, tool)).toEqual({ retries: 2 });
});

test("an agent tool keeps its version or label, and is sent with its agent if one of them changes", () => {
  const calls = { ...tool, type: "agent", agent_id: "agt_1", version: null, label: "production" } as Tool;
  const draft = toolDraftOf(calls);
  expect(toolChanges(draft, calls)).toEqual({});
  expect(toolChanges({ ...draft, agent_id: "agt_2" }, calls)).toEqual({
    agent_id: "agt_2",
    version: null,
    label: "production",
  });
  expect(toolChanges({ ...draft, choice: "3" }, calls)).toEqual({ agent_id: "agt_1", version: 3, label: null });
  const made = { ...toolDraftOf(), name: "ask", agent_id: "agt_1" };
  expect(toolCreation("agent", made)).toEqual({ type: "agent", name: "ask", agent_id: "agt_1" });
  expect(toolCreation("agent", { ...made, choice: "@beta" })).toMatchObject({ label: "beta" });
});

test("an OAuth client is sent with another URL, is taken away by none, and of MCP servers may be discovered", () => {
  const calls = { ...tool, auth: { type: "oauth", oauth_client_id: "oac_1" } } as unknown as Tool;
  const draft = toolDraftOf(calls);
  const url = "https://other.example/pay";
  expect(toolChanges(draft, calls)).toEqual({});
  expect(toolChanges({ ...draft, url }, calls)).toEqual({ url, auth: { type: "oauth", oauth_client_id: "oac_1" } });
  expect(toolChanges({ ...draft, auth: "" }, calls)).toEqual({ auth: null });
  expect(toolChanges({ ...toolDraftOf(tool), url }, tool)).toEqual({ url });
  const mcp = { ...toolDraftOf(), name: "files", server_url: "https://mcp.example/mcp", auth: "discovered" };
  expect(toolCreation("mcp", mcp)).toMatchObject({ auth: { type: "oauth" } });
  expect(toolCreation("mcp", { ...mcp, auth_per_user: true })).toMatchObject({ auth: { per_user: true } });
  expect(toolCreation("mcp", { ...mcp, auth: "" })).not.toHaveProperty("auth");
});

test("rules for failures are JSON in the form, kept as they are, and taken away by an empty text", () => {
  const failures = [{ field: "ok", equals: false, hint: "Ask later." }];
  const refusing = { ...tool, failures } as Tool;
  const draft = toolDraftOf(refusing);
  expect(JSON.parse(draft.failures)).toEqual(failures);
  expect(toolChanges(draft, refusing)).toEqual({});
  expect(toolChanges({ ...draft, failures: " " }, refusing)).toEqual({ failures: null });
  expect(toolChanges({ ...toolDraftOf(tool), failures: '[{"status": 409}]' }, tool)).toEqual({
    failures: [{ status: 409 }],
  });
  const made = { ...toolDraftOf(), name: "pay", url: "https://example.com/pay" };
  expect(toolCreation("http", made)).not.toHaveProperty("failures");
  const faults = (failures: string) => readToolDraft("http", { ...draft, failures }).faults.failures;
  expect(faults("[{")).toStartWith("Invalid JSON");
  expect(faults('{"status": 409}')).toBe("Must be a list: [ … ].");
  const refused = [{ param: "failures[0].field", message: "`equals` needs a field." }];
  expect(blameTool(new ApiError(400, "validation_failed", "", null, refused), draft).faults).toEqual({
    failures: "`equals` needs a field.",
  });
});

test("a new tool is sent with its type and without default values", () => {
  const draft = { ...toolDraftOf(), name: "greet", description: "Greets." };
  expect(toolCreation("client", draft)).toEqual({ type: "client", name: "greet", description: "Greets." });
  expect(toolCreation("code", { ...draft, source: "(args) => 1" })).toMatchObject({ source: "(args) => 1" });
  expect(toolCreation("code", { ...draft, hasSource: false })).toMatchObject({ source: null });
});

test("a missing value is reported at its field", () => {
  const faults = (type: Tool["type"]) => Object.keys(readToolDraft(type, toolDraftOf()).faults);
  expect(faults("http")).toEqual(["name", "url"]);
  expect(faults("mcp")).toEqual(["name", "server_url"]);
  expect(faults("agent")).toEqual(["name", "agent_id"]);
});

test("server errors appear at their fields", () => {
  const refused = [
    { param: "headers.x", message: "No such secret." },
    { param: "approval.when", message: "Not a schema." },
    { param: "odd", message: "Something else." },
  ];
  const { faults, rest } = blameTool(new ApiError(400, "validation_failed", "", null, refused), toolDraftOf());
  expect(faults).toEqual({ headers: "No such secret.", when: "Not a schema." });
  expect(rest).toEqual(["Something else."]);
});

test("example arguments match the schema", () => {
  const schema = {
    type: "object",
    properties: {
      name: { type: "string" },
      usd: { type: "number", minimum: 5 },
      kind: { enum: ["a", "b"] },
      tags: { type: "array", items: { type: "string" }, minItems: 1 },
      deep: { properties: { on: { type: "boolean" } } },
      size: { type: "integer", default: 7 },
    },
  };
  expect(exampleArguments(schema)).toMatchObject({ usd: 5, kind: "a", deep: { on: true }, size: 7 });
  expect(exampleArguments({})).toEqual({});
});

test("a tool's target and approval are described in words", () => {
  expect(toolParts.http.target(tool)).toBe("POST https://example.com/pay");
  expect(approvalWords(tool.approval)).toBe("Conditional");
});
