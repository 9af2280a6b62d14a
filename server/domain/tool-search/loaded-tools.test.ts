import { describe, expect, test } from "bun:test";
import { memoryTools } from "../../resources/agents/memory-tools.ts";
import { tool } from "../../testing/run-fixture.ts";
import {
  answer,
  compacted,
  completed,
  created,
  requested,
  started,
  stateOf,
  toolCompleted,
  toolStarted,
} from "../__fixtures__/events.ts";
import type { AgentSnapshot, ToolSnapshot } from "../agent-snapshot.ts";
import { decide } from "../decide.ts";
import type { PromptMessage } from "../model-call.ts";
import { loadedInRun, modelRequest } from "../prompt.ts";
import { requestCalls } from "../request-calls.ts";
import type { RunEvent } from "../run-event.ts";
import { endStep } from "../step-events.ts";
import { mostTools, searchToolOf, withFreeName, withToolSearch } from "./search-tool.ts";

const plain = (tools: ToolSnapshot[], more: Partial<AgentSnapshot> = {}): AgentSnapshot => ({
  id: "agt_1",
  version: 1,
  name: "Agent",
  model: "test/script",
  instructions: "Be brief.",
  settings: {},
  tools,
  max_turns: 9,
  output_schema: null,
  ...more,
});
const named = (...names: string[]): ToolSnapshot[] =>
  names.map((name) => tool(name, { description: `Does ${name}.`, parameters: { type: "object", required: ["id"] } }));
const deferred = (tools: ToolSnapshot[], more: Partial<AgentSnapshot> = {}) =>
  withToolSearch(plain(tools, more), "deferred");
const agent = deferred(named("a", "b", "c", "d"));

interface Call {
  id: string;
  name: string;
  output?: unknown;
  error?: { code: string; message: string };
}

/** Events of one turn: an answer with these calls, and their results in another order. */
function turn(at: number, first: number, ...calls: Call[]): RunEvent[] {
  const parts = calls.map(({ id, name }) => ({ type: "tool_call" as const, id, name, arguments: "{}" }));
  const begin = calls.flatMap(({ id, name }, i) => [
    requested(id, first + 1 + i, null, {
      turn_index: at,
      tool: name,
      type: name === "search_tools" ? "tool_search" : "http",
    }),
    toolStarted(id, first + 1 + i),
  ]);
  const end = calls
    .map(({ id, name: tool, output = "done", error = null }, i) => [
      toolCompleted(id, first + 1 + i, {
        tool,
        output: error ? null : output,
        error,
        status: error ? "failed" : "completed",
      }),
      endStep({ step_index: first + 1 + i, step_type: "tool_call", status: "completed", latency_ms: 1 }),
    ])
    .toReversed()
    .flat();
  return [
    started(first, { turn_index: at }),
    completed(first, { answer: answer(parts, { message_id: `msg_${first}` }) }),
    ...begin,
    ...end,
  ];
}
const search = (id: string, ...names: string[]): Call => ({
  id,
  name: "search_tools",
  output: { tools: names.map((name) => ({ name, description: "" })), note: "" },
});
const stateAfter = (...events: RunEvent[]) => stateOf(created(), ...events);
const sent = (state: ReturnType<typeof stateAfter>, by = agent) =>
  modelRequest(state, by).tools.map(({ name }) => name);

describe("whether tools are deferred", () => {
  const some = (count: number) => named(...Array.from({ length: count }, (_, i) => `t${i}`));
  test("follows the number of the agent's tools, or its setting", () => {
    const isOn = (count: number, loading: "auto" | "all" | "deferred") =>
      searchToolOf(withToolSearch(plain(some(count)), loading)) !== undefined;
    expect([isOn(mostTools, "auto"), isOn(mostTools + 1, "auto")]).toEqual([false, true]);
    expect([isOn(100, "all"), isOn(1, "deferred"), isOn(0, "deferred")]).toEqual([false, true, false]);
  });

  test("does not count tools of the memory and of the request, which are never deferred", () => {
    const store = { memory_id: "mem_1", name: "s", kind: "kv", scope: "project", access: "read_write" } as const;
    const memory = memoryTools([{ ...store, auto_retrieve: false, top_k: 1, score_threshold: 0 }]);
    const own = some(30).map((one) => ({ ...one, of_request: true as const }));
    const tools = [...some(mostTools), ...memory, ...own];
    expect(withToolSearch(plain(tools), "auto").tools).toEqual(tools);
    const on = deferred(tools);
    expect(sent(stateAfter(), on)).toEqual(["search_tools", "kv_get", "kv_set", ...own.map(({ name }) => name)]);
  });

  test("an agent with few tools sends what it sent before, byte for byte", () => {
    const few = plain(named("a", "b"));
    expect(withToolSearch(few, "auto")).toBe(few);
    const { name, description, parameters } = few.tools[0]!;
    expect(JSON.stringify(modelRequest(stateAfter(), few).tools[0])).toBe(
      JSON.stringify({ name, description, parameters }),
    );
  });

  test("a record of an older version keeps all tools, however many: it has no search tool", () => {
    const many = plain(some(60));
    expect(sent(stateAfter(), many)).toHaveLength(60);
    expect(decide(stateAfter(), many, 0)).not.toMatchObject({ events: [{ tools_loaded: expect.anything() }] });
  });
});

describe("loaded tools", () => {
  test("come after the others in the order of the calls that loaded them, whichever ended first", () => {
    const state = stateAfter(...turn(0, 0, search("1", "c", "a"), search("2", "b", "c")));
    expect(sent(state)).toEqual(["search_tools", "c", "a", "b"]);
    const next = stateAfter(
      ...turn(0, 0, search("1", "c")),
      ...turn(1, 2, search("2", "a", "c"), { id: "3", name: "d" }),
    );
    // The beginning of the list stays: a provider reads it from its cache.
    expect(sent(next)).toEqual(["search_tools", "c", "d", "a"]);
  });

  test("have the whole definition, and those that are not loaded none", () => {
    const [, c] = modelRequest(stateAfter(...turn(0, 0, search("1", "c"))), agent).tools;
    expect(c).toEqual({ name: "c", description: "Does c.", parameters: { type: "object", required: ["id"] } });
    const first = modelRequest(stateAfter(), agent);
    expect(first.tools.map(({ name }) => name)).toEqual(["search_tools"]);
    expect(first.tools[0]?.description).toContain("a, b, c, d");
  });

  test("stay loaded when the conversation is compacted", () => {
    const turns = [...turn(0, 0, search("1", "c")), ...turn(1, 2, { id: "2", name: "c" })];
    const start = started(4, { step_type: "compaction", turn_index: 2 });
    const state = stateAfter(...turns, start, compacted(4, { left_out: 4, summary: "All." }));
    expect(modelRequest(state, agent).messages).toHaveLength(3);
    expect(sent(state)).toEqual(["search_tools", "c"]);
  });

  test("stay loaded in the thread's later runs, in their order", () => {
    const call = (id: string, name: string): PromptMessage => ({
      role: "assistant",
      parts: [{ type: "tool_call", id, name, arguments: "{}" }],
    });
    const result = (call_id: string, tool: string, output: unknown): PromptMessage => ({
      role: "tool",
      call_id,
      tool,
      output: JSON.stringify(output),
      is_error: false,
    });
    const messages: PromptMessage[] = [
      { role: "user", content: "Hi" },
      call("x", "search_tools"),
      result("x", "search_tools", search("x", "d", "b", "gone").output),
      call("y", "a"),
      result("y", "a", "done"),
    ];
    const history = created({ thread_id: "thr_1", prepare: ["history"] });
    const state = stateOf(history, { type: "history.loaded", messages }, ...turn(0, 0, search("1", "c")));
    expect(sent(state)).toEqual(["search_tools", "d", "b", "a", "c"]);
  });

  test("include the one that tool_choice names, from the first call on, which must call it", () => {
    const forced = deferred(named("a", "b"), { settings: { tool_choice: { name: "b" } } });
    expect(sent(stateAfter(), forced)).toEqual(["search_tools", "b"]);
    expect(modelRequest(stateAfter(), forced).settings.tool_choice).toEqual({ name: "b" });
  });

  test("a model that must call a tool must still do so after its first search, and not for ever", () => {
    const forced = deferred(named("a", "b"), { settings: { tool_choice: "required" } });
    const choice = (...turns: RunEvent[]) => modelRequest(stateAfter(...turns), forced).settings.tool_choice;
    const searches = [...turn(0, 0, search("1", "a")), ...turn(1, 2, search("2", "b"))];
    expect([choice(), choice(...turn(0, 0, search("1", "a"))), choice(...searches)]).toEqual([
      "required",
      "required",
      undefined,
    ]);
    expect(choice(...turn(0, 0, { id: "1", name: "a" }))).toBeUndefined();
  });

  test("are not those that a failed, withheld or forged result names", () => {
    const forged = { id: "1", name: "a", output: { tools: [{ name: "b" }] } };
    const withheld = { ...search("2", "c"), error: { code: "guardrail_blocked", message: 'Not "c".' } };
    const strange = [{ id: "3", name: "search_tools", output: "no JSON" }, search("4", "search_tools", "zzz")];
    expect(loadedInRun(stateAfter(...turn(0, 0, forged, withheld, ...strange)), agent)).toEqual(["a"]);
  });

  test("are written down at each model call", () => {
    const next = decide(stateAfter(...turn(0, 0, search("1", "c", "a"))), agent, 0);
    expect(next).toMatchObject({ events: [{ type: "step.started", tools_loaded: ["c", "a"] }] });
    expect(decide(stateAfter(), agent, 0)).toMatchObject({ events: [{ tools_loaded: [] }] });
  });
});

describe("a call of a tool that is not loaded", () => {
  const called = (name: string, args: string, by = agent) => {
    const state = stateAfter(started(0));
    const events = requestCalls([{ type: "tool_call", id: "x", name, arguments: args }], state, by);
    return events.find((event) => event.type === "tool.completed")?.error ?? null;
  };

  test("is run, if its arguments fit", () => {
    expect(called("a", '{"id": 1}')).toBeNull();
  });

  test("is refused by what is missing, and the model has the definition next", () => {
    const error = called("a", "{}");
    expect(error?.code).toBe("invalid_arguments");
    expect(error?.message).toContain("The definition of a is loaded now");
    expect(sent(stateAfter(...turn(0, 0, { id: "x", name: "a", error: error! })))).toEqual(["search_tools", "a"]);
  });

  test("by a wrong name loads the tools that it may mean", () => {
    const agent = deferred(named("github_create_issue", "github_list_issues", "slack_post"));
    const error = called("mcp__github__create_issue", "{}", agent);
    expect(error?.code).toBe("tool_not_found");
    const state = stateAfter(...turn(0, 0, { id: "x", name: "mcp__github__create_issue", error: error! }));
    expect(sent(state, agent)).toEqual(["search_tools", "github_create_issue"]);
  });

  test("an agent with all tools reads the same errors as before", () => {
    expect(called("z", "{}", plain(named("a")))).toEqual({
      code: "tool_not_found",
      message: "There is no tool of this name.",
    });
  });
});

test("a search that a fork has no record of is run: it calls nothing outside", () => {
  const recorded = { mode: "recorded_only" as const, calls: [] };
  const state = stateOf(created({ recorded }), started(0));
  const call = (name: string, args: object) =>
    requestCalls([{ type: "tool_call", id: "x", name, arguments: JSON.stringify(args) }], state, agent)[0];
  expect(call("a", { id: 1 })).toMatchObject({ call: { recorded: -1 } });
  const event = call("search_tools", { query: "a" });
  expect(event).toMatchObject({ call: { type: "tool_search", tool_id: null, needs: null } });
  expect(event).not.toHaveProperty("call.recorded");
});

test("a search tool gives way to another tool of its name", () => {
  const made = deferred(named("a", "search_tools"));
  expect(searchToolOf(made)?.name).toBe("search_tools_2");
  expect(withFreeName(made)).toEqual(made);
  expect(sent(stateAfter(), made)).toEqual(["search_tools_2"]);
});

test("a list of names that would make each request long is cut to the beginnings of names", () => {
  const servers = ["github", "slack", "jira"];
  const many = Array.from({ length: 120 }, (_, i) => `${servers[i % 3]}_do_something_number_${i}`);
  const { description } = searchToolOf(deferred(named(...many)))!;
  expect(description).toEndWith("Their names begin with github_* (40), slack_* (40), jira_* (40).");
  const wild = Array.from({ length: 128 }, (_, i) => `${"w".repeat(50)}${i}_x`);
  expect(searchToolOf(deferred(named(...wild)))!.description.length).toBeLessThan(2600);
});
