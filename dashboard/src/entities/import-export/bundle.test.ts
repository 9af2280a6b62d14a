import { describe, expect, test } from "bun:test";
import type { Agent } from "../../../../server/resources/agents/schema.ts";
import type { Tool } from "../../../../server/resources/tools/schema.ts";
import { bundleOf, freeName, planOf, readBundle, type Target } from "./bundle.ts";

const tool = {
  id: "tool_1",
  object: "tool",
  name: "lookup",
  type: "http",
  description: "Looks up.",
  url: "https://a.example",
  headers: { authorization: "********", accept: "text/{{secret.CRM_KEY}}" },
  parameters: null,
  enabled: true,
  signing_secret: "whsec_1",
  updated_at: "2026-11-21T02:00:00.000Z",
  project_id: "proj_1",
  environment: "test",
} as unknown as Tool;
const agent = {
  id: "agt_1",
  object: "agent",
  name: "Clerk",
  instructions: "Be brief.",
  model: "test/echo",
  version: 3,
  tools: [{ id: "tool_1", name: "lookup", type: "http" }],
  description: null,
  metadata: {},
  memory: { stores: [{ memory_id: "mem_1" }], history: { mode: "thread", max_messages: 20 }, context: {} },
} as unknown as Agent;
const nothing: Target = { agents: [], agent: null, tools: [], secrets: [] };

test("a bundle has definitions but no ids, state or secrets", () => {
  const bundle = bundleOf(agent, [tool]);
  expect(bundle.agent).toEqual({
    name: "Clerk",
    instructions: "Be brief.",
    model: "test/echo",
    metadata: {},
    tools: ["lookup"],
    memory: { history: { mode: "thread", max_messages: 20 }, context: {} },
  });
  expect(bundle.tools[0]?.headers).toEqual({ accept: "text/{{secret.CRM_KEY}}" });
  expect(bundle.withheld).toEqual(["lookup: authorization"]);
  expect(JSON.stringify(bundle)).not.toMatch(/tool_1|agt_1|mem_1|whsec_1|proj_1/);
  expect(readBundle(JSON.stringify(bundle))).toEqual(bundle);
});

test("an agent without a memory policy stays without one, also in files from before policies had a default", () => {
  const bundle = bundleOf({ ...agent, memory: null }, []);
  expect(bundle.agent).toMatchObject({ memory: null });
  const { memory: _, ...before } = bundle.agent!;
  expect(readBundle(JSON.stringify({ ...bundle, agent: before }))).toEqual(bundle);
});

test("a file that is not a bundle is rejected", () => {
  for (const text of ["", "[]", "{}", '{"object":"agent"}']) expect(readBundle(text)).toMatch(/not an exported/);
  expect(readBundle('{"object":"runnel.bundle","version":2}')).toMatch(/version 2/);
  expect(readBundle('{"object":"runnel.bundle","version":1,"agent":null,"withheld":[],"tools":[1]}')).toMatch(
    /missing/,
  );
});

describe("a plan", () => {
  test("creates missing objects and names the missing secrets", () => {
    const plan = planOf(bundleOf(agent, [tool]), nothing);
    expect([plan.agent?.state, plan.tools.map(({ state }) => state)]).toEqual(["new", ["new"]]);
    expect(plan.missing).toEqual(["CRM_KEY"]);
    expect(planOf(bundleOf(agent, [tool]), { ...nothing, secrets: ["CRM_KEY"] }).missing).toEqual([]);
  });

  test("lists the fields that differ", () => {
    const there: Target = {
      ...nothing,
      agent: { ...agent, id: "agt_2", model: "test/script" },
      tools: [{ ...tool, id: "tool_2" }],
    };
    const plan = planOf(bundleOf(agent, [tool]), there);
    expect(plan.agent).toMatchObject({ state: "differs", fields: ["model"], id: "agt_2" });
    expect(plan.tools).toMatchObject([{ state: "same", fields: [], id: "tool_2" }]);
  });
});

test("a copy has a unique name", () => {
  expect(freeName("Clerk", [], " ")).toBe("Clerk copy");
  expect(freeName("Clerk", ["Clerk copy"], " ")).toBe("Clerk copy 2");
  expect(freeName("lookup", ["lookup_copy", "lookup_copy_2"], "_")).toBe("lookup_copy_3");
});
