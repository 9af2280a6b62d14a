import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Answer } from "../../testing/expect-declared.ts";
import { settledRun } from "../../testing/settled-run.ts";
import { type Client, testApp } from "../../testing/test-app.ts";

const server = testApp();
let client: Client;
beforeAll(async () => {
  client = await server.client();
});
afterAll(() => server[Symbol.asyncDispose]());

type Body = Answer["body"];

const create = async (name: string, script: object[], more: object = {}): Promise<string> => {
  const body = { name, instructions: "Help.", model: "test/script", model_settings: { script }, ...more };
  const answer = await client.post("/v1/agents", body);
  expect([answer.status, answer.body.error]).toEqual([201, undefined]);
  return answer.body.id;
};
const transfer = (name: string): object => ({ tool_calls: [{ name: `transfer_to_${name}`, arguments: {} }] });

/** Makes an agent whose versions answer with their number. */
async function versioned(name: string, versions: number): Promise<string> {
  const id = await create(name, [{ text: "v1" }]);
  for (let version = 2; version <= versions; version++)
    await client.patch(`/v1/agents/${id}`, { model_settings: { script: [{ text: `v${version}` }] } });
  return id;
}
const label = (id: string, name: string, to: object) => client.put(`/v1/agents/${id}/labels/${name}`, to);
const desk = (handoff: unknown): Promise<string> => create("desk", [transfer("refunds")], { handoffs: [handoff] });
const run = async (agent_id: string, more: object = {}): Promise<Body> =>
  (await client.post("/v1/runs?wait=60", { agent_id, input: "My money.", ...more })).body;

test("a handoff leads to the version or the label that it names, and else to the newest", async () => {
  const refunds = await versioned("refunds", 3);
  await label(refunds, "production", { version: 2 });
  expect((await run(await desk({ agent_id: refunds, version: 1 }))).output).toBe("v1");
  expect((await run(await desk({ agent_id: refunds, label: "production" }))).output).toBe("v2");
  expect((await run(await desk(refunds))).output).toBe("v3");
  const shown = await client.get(`/v1/agents/${await desk({ agent_id: refunds, label: "production" })}`);
  expect(shown.body.handoffs).toEqual([{ agent_id: refunds, label: "production", filter: "all" }]);
});

test("a handoff names its agent by name, also with a label or a version behind an @", async () => {
  const refunds = await versioned("refunds", 2);
  const named = await create("refund-desk", [{ text: "named" }]);
  await label(named, "production", { version: 1 });
  const id = await create("desk", [], { handoffs: ["refund-desk@production", { agent_id: `${refunds}@2` }] });
  expect((await client.get(`/v1/agents/${id}`)).body.handoffs).toEqual([
    { agent_id: named, label: "production", filter: "all" },
    { agent_id: refunds, version: 2, filter: "all" },
  ]);
});

test("a handoff to a version or label that is not there is refused with its field", async () => {
  const refunds = await versioned("refunds", 1);
  const id = await create("desk", []);
  const faultOf = async (handoff: unknown) => {
    const { status, body } = await client.patch(`/v1/agents/${id}`, { handoffs: [handoff] });
    return [status, body.error.param];
  };
  expect(await faultOf({ agent_id: refunds, version: 2 })).toEqual([404, "handoffs[0].version"]);
  expect(await faultOf({ agent_id: refunds, label: "beta" })).toEqual([404, "handoffs[0].label"]);
  expect(await faultOf({ agent_id: refunds, label: "beta", version: 1 })).toEqual([400, "handoffs[0].label"]);
  expect(await faultOf({ agent_id: `${refunds}@1`, version: 1 })).toEqual([400, "handoffs[0].version"]);
  expect(await faultOf(`${refunds}@beta`)).toEqual([404, "handoffs[0].agent_id"]);
  expect(await faultOf("nobody here")).toEqual([404, "handoffs[0].agent_id"]);
});

test("the version is pinned when the run is made: a label that moves meanwhile concerns later runs", async () => {
  const refunds = await versioned("refunds", 2);
  await label(refunds, "production", { version: 1 });
  const tool = (await client.post("/v1/tools", { name: "wait", type: "client" })).body.id;
  const id = await create("desk", [{ tool_calls: [{ name: "wait", arguments: {} }] }, transfer("refunds")], {
    tools: [tool],
    handoffs: [{ agent_id: refunds, label: "production" }],
  });
  const waiting = await run(id);
  await label(refunds, "production", { version: 2 });
  const [call] = waiting.required_action.submit_tool_outputs.tool_calls;
  await client.post(`/v1/runs/${waiting.id}/submit_tool_outputs`, {
    tool_outputs: [{ tool_call_id: call.tool_call_id, output: "ok" }],
  });
  expect((await settledRun(server, client, waiting.id)).output).toBe("v1");
  const later = await run(id, { overrides: { tools: [] } });
  expect(later.status).toBe("completed");
});

test("a label that splits gives all runs of a thread the same version of the agent that takes over", async () => {
  const refunds = await versioned("refunds", 2);
  const split = [
    { version: 1, percent: 50 },
    { version: 2, percent: 50 },
  ];
  await label(refunds, "production", { split });
  const id = await desk({ agent_id: refunds, label: "production" });
  const found = new Set<string>();
  for (let turn = 0; found.size < 2 && turn < 60; turn++) {
    const user_id = `user-${turn}`;
    const [first, second] = [await run(id, { user_id }), await run(id, { user_id })];
    expect(second.output).toBe(first.output);
    found.add(first.output);
  }
  expect([...found].sort()).toEqual(["v1", "v2"]);
});

test("where two handoffs name different versions of an agent, the nearest decides, and the first agent keeps its own", async () => {
  const refunds = await versioned("refunds", 2);
  const sales = await create("sales", [transfer("refunds")], { handoffs: [{ agent_id: refunds, version: 2 }] });
  const id = await create("desk", [transfer("sales")], { handoffs: [sales, { agent_id: refunds, version: 1 }] });
  expect((await run(id)).output).toBe("v1");
});

test("an agent whose label is gone has no tool, like one that was deleted", async () => {
  const refunds = await versioned("refunds", 1);
  await label(refunds, "production", { version: 1 });
  const id = await create("desk", [transfer("refunds"), { text: "I do it." }], {
    handoffs: [{ agent_id: refunds, label: "production" }],
  });
  await client.delete(`/v1/agents/${refunds}/labels/production`);
  const done = await run(id);
  expect([done.output, done.tool_calls[0].error.code]).toEqual(["I do it.", "tool_not_found"]);
});

test("a run of an older version hands over as that version says", async () => {
  const refunds = await versioned("refunds", 2);
  const id = await desk({ agent_id: refunds, version: 1 });
  await client.patch(`/v1/agents/${id}`, { handoffs: [refunds] });
  expect((await run(id, { version: 1 })).output).toBe("v1");
  expect((await run(id)).output).toBe("v2");
});
