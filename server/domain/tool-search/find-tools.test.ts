import { describe, expect, test } from "bun:test";
import { manyTools } from "../../testing/many-tools.ts";
import { tool } from "../../testing/run-fixture.ts";
import type { AgentSnapshot, ToolSnapshot } from "../agent-snapshot.ts";
import type { ToolCall } from "../run-state.ts";
import { findTools, searchesBefore, withLoadingHint } from "./find-tools.ts";
import { rankTools } from "./rank.ts";
import { withToolSearch } from "./search-tool.ts";

const agentOf = (tools: ToolSnapshot[]): AgentSnapshot =>
  withToolSearch(
    {
      id: "agt_1",
      version: 1,
      name: "Agent",
      model: "test/script",
      instructions: "",
      settings: {},
      tools,
      max_turns: 5,
      output_schema: null,
    },
    "deferred",
  );

const named = (name: string, description = "", parameters: object = { type: "object", properties: {} }) =>
  tool(name, { description, parameters: parameters as ToolSnapshot["parameters"] });
const office = agentOf(manyTools.map(({ name, description, inputSchema }) => named(name, description, inputSchema)));
const nothing = { loaded: [], searches: 0 };
const found = (query: string, agent = office) => findTools(query, agent, nothing).tools.map(({ name }) => name);

describe("a search finds", () => {
  test.each([
    ["refund a payment", "stripe_create_refund"],
    ["give the customer their money back", "stripe_create_refund"],
    ["scheduling meetings", "calendar_create_event"],
    ["find a time when everyone is free", "calendar_find_free_slots"],
    ["send mail to Bob", "gmail_send_email"],
    ["post a message in slack", "slack_post_message"],
    ["make a ticket for the bug", "jira_create_ticket"],
    ["what is the weather in Oslo", "travel_get_weather"],
    ["restart the server", "cloud_restart_instance"],
    ["silence the alerts", "monitor_mute_alert"],
    ["stop the subscription", "stripe_cancel_subscription"],
    ["list tables", "warehouse_list_tables"],
    ["currencies", "travel_convert_currency"],
  ])("%s: %s", (query, name) => {
    expect(found(query)[0]).toBe(name);
  });

  test("each of sixty tools by its description, among the first three", () => {
    const missed = manyTools.filter(({ name, description }) => !found(description).slice(0, 3).includes(name));
    expect(missed).toEqual([]);
  });

  test("parts of names in snake_case and camelCase, and both as one word", () => {
    const agent = agentOf([named("bitable_v1_appTableRecord_search"), named("addPerson"), named("getURLs")]);
    expect(found("table record", agent)).toEqual(["bitable_v1_appTableRecord_search"]);
    expect(found("person", agent)).toEqual(["addPerson"]);
    expect(found("url", agent)).toEqual(["getURLs"]);
    expect(found("addperson", agent)).toEqual(["addPerson"]);
    expect(found("pullrequest")).toContain("github_create_pull_request");
  });

  test("a tool by the names and descriptions of its parameters, nested ones too", () => {
    const properties = {
      filters: { type: "array", items: { type: "object", properties: { warrantyUntil: { type: "string" } } } },
      x: { type: "string", description: "The odometer's reading." },
    };
    const agent = agentOf([named("a"), named("b", "", { type: "object", properties }), named("c")]);
    expect(found("warranty", agent)).toEqual(["b"]);
    expect(found("odometer", agent)).toEqual(["b"]);
  });

  test("a tool without a description by its name, among many that share a word with it", () => {
    const rest = Array.from({ length: 100 }, (_, i) => named(`get_state_${i}`, "Get the state history of an entity."));
    const agent = agentOf([...rest, named("get_sauna_history")]);
    expect(found("get sauna history", agent)[0]).toBe("get_sauna_history");
  });

  test("words of other scripts", () => {
    const agent = agentOf([
      named("a", "请求退款并通知客户"),
      named("b", "Отправить письмо"),
      named("c", "Übersicht der Straßen"),
    ]);
    expect(found("退款", agent)).toEqual(["a"]);
    expect(found("письмо", agent)).toEqual(["b"]);
    expect(found("strassen ubersicht", agent)).toEqual(["c"]);
  });

  test("a word with a slip of the pen, or cut short", () => {
    expect(found("tiket")[0]).toStartWith("jira_");
    expect(found("calender")[0]).toStartWith("calendar_");
    expect(found("repo files")[0]).toBe("github_get_file_contents");
  });
});

describe("a search does not find", () => {
  test("a tool whose name has the letters inside another word", () => {
    const agent = agentOf([named("spreadsheet_open", "Opens a sheet."), named("read_page", "Reads a page.")]);
    expect(found("read", agent)).toEqual(["read_page"]);
  });

  test("anything, if no word fits: it says so and does not list all tools", () => {
    const { tools, note } = findTools("xylophone quartet", office, nothing);
    expect(tools).toEqual([]);
    expect(note).toStartWith("No tool fits.");
    expect(found("the and of to")).toEqual([]);
  });

  test("more than five tools, or itself", () => {
    expect(found("create list get search update delete").length).toBe(5);
    expect(found("search_tools")).not.toContain("search_tools");
  });
});

describe("exact names", () => {
  test("select: loads each name in its order, whatever case and separator", () => {
    expect(found("select:gmail_send_email,slack_post_message")).toEqual(["gmail_send_email", "slack_post_message"]);
    expect(found(" Select: Gmail_Send_Email slackPostMessage ")).toEqual(["gmail_send_email", "slack_post_message"]);
    expect(found("select:`jira_add_comment`")).toEqual(["jira_add_comment"]);
  });

  test("names alone are as good as select:", () => {
    expect(found("gmail_send_email, travel_rent_car")).toEqual(["gmail_send_email", "travel_rent_car"]);
  });

  test("the name of a tool is first, before tools with the same words", () => {
    const agent = agentOf([named("addActivity_mcp_pipedrive"), named("addPerson_mcp_pipedrive"), named("addPerson")]);
    expect(found("addPerson_mcp_pipedrive", agent)).toEqual(["addPerson_mcp_pipedrive"]);
    expect(found("add person", agent)[0]).toBe("addPerson");
  });

  test("a name that no tool has is named as such, with the near ones loaded", () => {
    expect(findTools("select:create_refund,teleport", office, nothing)).toMatchObject({
      tools: [{ name: "stripe_create_refund" }],
      not_found: ["teleport"],
    });
  });

  test("tools of two servers with one name are two tools, and both are found", () => {
    const agent = agentOf([named("sentry_list_issues", "List errors."), named("github_list_issues", "List issues.")]);
    expect(found("list issues", agent).sort()).toEqual(["github_list_issues", "sentry_list_issues"]);
    expect(found("github issues", agent)[0]).toBe("github_list_issues");
    expect(findTools("select:list_issues", agent, nothing)).toMatchObject({
      tools: [{ name: "sentry_list_issues" }, { name: "github_list_issues" }],
      not_found: ["list_issues"],
    });
  });
});

describe("the result for a model that searches again and again", () => {
  test("names the loaded tools and asks for a call", () => {
    const { note } = findTools("refund", office, { loaded: ["stripe_create_refund"], searches: 1 });
    expect(note).toContain("Loaded already: stripe_create_refund. Call them instead of searching again.");
  });

  test("says after three turns of nothing but searches how often the model has searched", () => {
    expect(findTools("refund", office, { loaded: [], searches: 2 }).note).not.toContain("in a row");
    expect(findTools("refund", office, { loaded: [], searches: 3 }).note).toContain("searched 4 times in a row");
    const call = (turn_index: number, type: string) => ({ turn_index, type }) as ToolCall;
    const calls = [call(0, "http"), call(1, "tool_search"), call(2, "tool_search"), call(2, "tool_search")];
    expect(searchesBefore(call(3, "tool_search"), calls)).toBe(2);
    expect(searchesBefore(call(3, "tool_search"), [...calls, call(2, "http")])).toBe(0);
  });

  test("is shown tools that are always loaded, too", () => {
    const memory = { ...named("memory_search", "Searches what is remembered."), type: "memory" } as ToolSnapshot;
    const { tools, note } = findTools("remembered", agentOf([named("a"), memory]), nothing);
    expect(tools).toMatchObject([{ name: "memory_search" }]);
    expect(note).toBe("Loaded already: memory_search. Call them instead of searching again.");
  });
});

describe("the error of a call", () => {
  const missing = { code: "tool_not_found", message: "There is no tool of this name." };
  test.each([
    ["functions.stripe_create_refund", ["stripe_create_refund"]],
    ["mcp__stripe__create_refund", ["stripe_create_refund"]],
    ["stripeCreateRefund", ["stripe_create_refund"]],
    ["create_refund", ["stripe_create_refund"]],
    ["stripe_creat_refund", ["stripe_create_refund"]],
    ["office_stripe_create_refund", ["stripe_create_refund"]],
    ["refund_create", ["stripe_create_refund"]],
  ])("that names %s says which tool is near", (name, near) => {
    const { message } = withLoadingHint(missing, name, [], office);
    expect([...message.matchAll(/"(.*?)"/g)].map(([, each]) => each!)).toEqual(near);
  });

  test("that is near to none says how to search", () => {
    expect(withLoadingHint(missing, "teleport", [], office).message).toBe(
      "There is no tool of this name. Find one with search_tools.",
    );
  });

  test("whose definition the model had not read says that it is loaded now", () => {
    const bad = { code: "invalid_arguments", message: "charge: required" };
    expect(withLoadingHint(bad, "stripe_create_refund", [], office).message).toContain("loaded now: call it again");
    expect(withLoadingHint(bad, "stripe_create_refund", ["stripe_create_refund"], office)).toBe(bad);
    expect(withLoadingHint(bad, "a", [], { ...office, tools: [named("a")] })).toBe(bad);
  });
});

test("a description is cut to its first sentence, on one line, without half a character", () => {
  const lines = [
    "Reads  a\n page. Then more.",
    `${"long ".repeat(40)}end.`,
    "🙂".repeat(200),
    "Reads e.g. pages. More.",
  ];
  const agent = agentOf(lines.map((line, i) => named(`t_${i}`, line)));
  const [first, second, third, fourth] = findTools("select:t_0,t_1,t_2,t_3", agent, nothing).tools;
  expect(first?.description).toBe("Reads a page.");
  expect(second?.description).toEndWith("…");
  expect(second!.description.length).toBeLessThanOrEqual(160);
  expect(third!.description.isWellFormed()).toBe(true);
  expect(fourth?.description).toBe("Reads e.g. pages.");
});

test("hostile schemas and queries take no time and break nothing", () => {
  let deep: object = { type: "string" };
  for (let i = 0; i < 2000; i++) deep = { type: "object", properties: { a: deep } };
  const wide = {
    type: "object",
    properties: Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`p${i}`, {}])),
  };
  const agent = agentOf([
    named("a", "x".repeat(100_000), deep),
    named("b", "(((".repeat(1000), wide),
    named("c", "c", { properties: 3 }),
  ]);
  expect(found("constructor __proto__ toString", agent)).toEqual([]);
  expect(found("(a+)+$ \\ [", agent)).toBeArray();
  expect(found("p1", agent)).toEqual(["b"]);
  expect(found(`select:${",".repeat(900)}`, agent)).toEqual([]);
});

test("equal tools keep the order of the agent, so that a search has one answer", () => {
  const tools = Array.from({ length: 9 }, (_, i) => named(`same_${i}`, "The same."));
  expect(rankTools("same", tools, 3).map(({ name }) => name)).toEqual(["same_0", "same_1", "same_2"]);
});
