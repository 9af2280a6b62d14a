import { afterAll, beforeAll, expect, test } from "bun:test";
import { limits } from "../domain/limits.ts";
import { capsuleOf, exportOf, importCapsule } from "../testing/capsules.ts";
import type { Answer } from "../testing/expect-declared.ts";
import { type Client, type TestApp, testApp } from "../testing/test-app.ts";

let server: TestApp;
let client: Client;
beforeAll(async () => {
  server = testApp();
  client = await server.client();
});
afterAll(() => server[Symbol.asyncDispose]());

const scripted = (text = "Done.") => ({ model: "test/script", model_settings: { script: [{ text }] } });
const customer = { name: "customer", type: "string", required: true };

async function newAgent(more: object = {}): Promise<string> {
  const body = { name: "a", instructions: "Serve {{customer}}.", variables: [customer], ...scripted(), ...more };
  const answer = await client.post("/v1/agents", body);
  expect([answer.status, answer.body.error ?? null]).toEqual([201, null]);
  return answer.body.id;
}
const create = (agent_id: string, more: object = {}) =>
  client.post("/v1/runs?wait=60", { agent_id, input: "Go.", ...more });
const promptsOf = async (id: string): Promise<Answer["body"][]> =>
  (await client.get(`/v1/traces/${id}?include=prompt`)).body.steps.flatMap(
    ({ prompt }: Answer["body"]) => prompt ?? [],
  );
const sentTo = async (id: string): Promise<string> => (await promptsOf(id))[0].messages[0].content;
const sent = async (agent_id: string, more: object = {}): Promise<string> => {
  const { status, body } = await create(agent_id, more);
  expect([status, body.error]).toEqual([201, null]);
  return sentTo(body.id);
};
const refusal = ({ status, body }: Answer) => [status, body.error?.code, body.error?.errors?.[0]?.message];

test("an agent that declares no variables sends {{name}} as the text that it is", async () => {
  const instructions = "Say {{customer}}, {{> policy}} and \\{{x}}.";
  expect(await sent(await newAgent({ instructions, variables: [] }))).toBe(instructions);
  const given = await create(await newAgent({ instructions, variables: null }), { variables: { customer: "Ann" } });
  expect(refusal(given)).toEqual([
    400,
    "validation_failed",
    "variables.customer: The agent has no variable of this name.",
  ]);
});

test("values of a run stand in the instructions and in tools' descriptions, and the trace has the text that was sent", async () => {
  const tool = (await client.post("/v1/tools", { name: "look", description: "Looks for {{customer}}; \\{{x}}." })).body;
  const variables = [
    customer,
    { name: "limit", type: "number", default: 2.5 },
    { name: "count", type: "integer" },
    { name: "is_new", type: "boolean" },
    { name: "tone", type: "string", enum: ["kind", "short"], default: "kind" },
    { name: "rest", type: "string" },
  ];
  const instructions = "{{customer}}|{{limit}}|{{count}}|{{ is_new }}|{{tone}}|{{rest}}|\\{{rest}}";
  const agent_id = await newAgent({ instructions, variables, tools: [tool.id] });
  const { body } = await create(agent_id, { variables: { customer: "Ann", count: 3, is_new: false } });
  const [{ messages, tools }] = await promptsOf(body.id);
  expect(messages[0].content).toBe("Ann|2.5|3|false|kind||{{rest}}");
  expect(tools[0].description).toBe("Looks for Ann; {{x}}.");
  expect(body.variables).toEqual({ customer: "Ann", count: 3, is_new: false });
  const agent = (await client.get(`/v1/agents/${agent_id}`)).body;
  expect([agent.instructions, agent.variables]).toEqual([instructions, variables]);
});

test("the descriptions of a client's own tools are no templates", async () => {
  const tools = [{ type: "client", name: "mine", description: "{{customer}} and {{unknown}}" }];
  const { body } = await create(await newAgent(), { variables: { customer: "Ann" }, tools });
  expect((await promptsOf(body.id))[0].tools[0].description).toBe("{{customer}} and {{unknown}}");
});

test.each([
  ["a missing one", {}, "variables.customer: The agent needs a value of the variable customer."],
  ["an unknown name", { customer: "Ann", x: 1 }, "variables.x: The agent has no variable of this name."],
  [
    "a name of every object",
    { customer: "A", toString: "x" },
    "variables.toString: The agent has no variable of this name.",
  ],
  ["another type", { customer: 5 }, "variables.customer: Must be a string."],
  ["null", { customer: null }, "variables.customer: Must be a string."],
  ["an object", { customer: { a: 1 } }, "variables.customer: Must be a string."],
  ["a text for a number", { customer: "A", limit: "5" }, "variables.limit: Must be a number."],
  ["a fraction for an integer", { customer: "A", count: 1.5 }, "variables.count: Must be an integer."],
  ["no value of the list", { customer: "A", tone: "rude" }, 'variables.tone: Must be one of "kind", "short".'],
  [
    "a long value",
    { customer: "ä".repeat(limits.variable_bytes / 2 + 1) },
    "variables.customer: Must have at most 16384 bytes.",
  ],
])("a run with %s is 400 with the name", async (_, variables, message) => {
  const declared = [
    customer,
    { name: "limit", type: "number" },
    { name: "count", type: "integer" },
    { name: "tone", type: "string", enum: ["kind", "short"] },
  ];
  expect(refusal(await create(await newAgent({ variables: declared }), { variables }))).toEqual([
    400,
    "validation_failed",
    message,
  ]);
});

test("a value is data: its braces, backslashes and dollars stay text", async () => {
  const variables = [customer, { name: "other", type: "string", default: "secret" }];
  const agent_id = await newAgent({ variables, instructions: "{{customer}}!" });
  for (const value of [
    "{{other}}",
    "{{constructor}}",
    "{{__proto__}}",
    "{{> x}}",
    "\\{{other}}",
    "$& $1 $`",
    "{{customer}}",
  ])
    expect(await sent(agent_id, { variables: { customer: value } })).toBe(`${value}!`);
});

test("a value named like a property of every object is a value, and a prototype is none", async () => {
  const variables = [
    { name: "valueOf", type: "string" },
    { name: "toString", type: "string", default: "none" },
  ];
  const agent_id = await newAgent({ variables, instructions: "{{valueOf}}|{{toString}}" });
  expect(await sent(agent_id)).toBe("|none");
  expect(await sent(agent_id, { variables: { valueOf: "A" } })).toBe("A|none");
  const answer = await server.send(
    "POST",
    "/v1/runs",
    `{"agent_id": "${agent_id}", "input": "Go.", "variables": {"__proto__": {"toString": "x"}}}`,
    { authorization: `Bearer ${client.key.secret}`, "content-type": "application/json" },
  );
  expect([answer.status, answer.body.error.code]).toEqual([400, "validation_failed"]);
});

test("a number with more digits than fit is refused, because it would change", async () => {
  const variables = [{ name: "id", type: "integer" }];
  const agent_id = await newAgent({ variables, instructions: "{{id}}" });
  const answer = await server.send(
    "POST",
    "/v1/runs",
    `{"agent_id": "${agent_id}", "input": "Go.", "variables": {"id": 12345678901234567890}}`,
    { authorization: `Bearer ${client.key.secret}`, "content-type": "application/json" },
  );
  expect(refusal(answer)[2]).toBe("variables.id: The number has more digits than fit: give it as a string.");
});

test("values and snippets that make the prompt too long are refused", async () => {
  const agent_id = await newAgent({ instructions: "{{customer}}".repeat(150) });
  const long = "x".repeat(limits.variable_bytes);
  expect(refusal(await create(agent_id, { variables: { customer: long } }))).toEqual([
    400,
    "validation_failed",
    "variables: The instructions become too long with these values.",
  ]);
  expect(
    refusal(
      await client.post("/v1/agents", {
        name: "a",
        variables: [customer],
        ...scripted(),
        instructions: "{{customer}}".repeat(201),
      }),
    ),
  ).toEqual([400, "validation_failed", "instructions: Must have at most 200 places like {{name}}."]);
});

test("snippets that make the prompt too long are refused, also in instructions of an override", async () => {
  const text = "x".repeat(limits.snippet_bytes);
  const { body } = await client.post("/v1/snippets", { name: "long", text });
  expect(body.error ?? null).toBeNull();
  const agent_id = await newAgent({ instructions: "{{> long}}", variables: [], snippets: ["long"] });
  const overrides = { instructions: "{{> long}}".repeat(20) };
  expect(refusal(await create(agent_id, { overrides }))[2]).toBe(
    "variables: The instructions become too long with these values.",
  );
  const tooLong = { name: "a", instructions: "{{> long}}".repeat(5), snippets: ["long"], ...scripted() };
  expect(refusal(await client.post("/v1/agents", tooLong))[2]).toBe(
    "instructions: Must have at most 262144 bytes together with the snippets.",
  );
});

test.each([
  [
    { instructions: "{{custmer}}" },
    "instructions: {{custmer}} is no variable of the agent: declare it, or write \\{{ for braces.",
  ],
  [
    { instructions: "{{secret.KEY}}" },
    "instructions: {{secret.KEY}} is no variable of the agent: declare it, or write \\{{ for braces.",
  ],
  [
    { instructions: "{{> policy}}" },
    "instructions: {{> policy}} is no snippet of the agent: add it to snippets, or write \\{{ for braces.",
  ],
  [{ variables: [customer, customer] }, "variables[1].name: Another variable has this name."],
  [
    { variables: [customer, { name: "constructor", type: "string" }] },
    "variables[1].name: A request cannot have this name: choose another one.",
  ],
  [{ variables: [{ ...customer, default: 5 }] }, "variables[0].default: Must be a string."],
  [
    { variables: [{ ...customer, type: "number", enum: ["a"] }] },
    "variables[0].enum: Only a variable of the type string has this.",
  ],
  [{ variables: [{ ...customer, enum: ["a"], default: "b" }] }, 'variables[0].default: Must be one of "a".'],
])("the agent %j is 400 when it is saved", async (more, message) => {
  const good = { name: "a", instructions: "{{customer}}", variables: [customer], ...scripted() };
  expect(refusal(await client.post("/v1/agents", { ...good, ...more }))).toEqual([400, "validation_failed", message]);
  const { body } = await client.post("/v1/agents", good);
  expect(refusal(await client.patch(`/v1/agents/${body.id}`, more))).toEqual([400, "validation_failed", message]);
  expect((await client.get(`/v1/agents/${body.id}`)).body.version).toBe(1);
});

test("a tool whose description has an undeclared name is 400 when the agent is saved", async () => {
  const tool = (await client.post("/v1/tools", { name: "find", description: "For {{nobody}}." })).body;
  const body = { name: "a", instructions: "{{customer}}", variables: [customer], tools: [tool.id], ...scripted() };
  expect(refusal(await client.post("/v1/agents", body))[2]).toStartWith("tools[0]: {{nobody}} is no variable");
  expect((await client.post("/v1/agents", { ...body, instructions: "", variables: [] })).status).toBe(201);
});

test("instructions of an override are a template, and additional ones are text", async () => {
  const agent_id = await newAgent();
  const variables = { customer: "Ann" };
  const instructions = "Now {{customer}}.";
  const additional_instructions = "And {{customer}} \\{{x}} {{unknown}}.";
  expect(await sent(agent_id, { variables, overrides: { instructions, additional_instructions } })).toBe(
    `Now Ann.\n\n${additional_instructions}`,
  );
  expect(refusal(await create(agent_id, { variables, overrides: { instructions: "{{x}}" } }))[2]).toStartWith(
    "overrides.instructions: {{x}} is no variable",
  );
});

test("a thread has values for its runs, which a run replaces, and agents without them ignore", async () => {
  const variables = { customer: "Ann", other: 5 };
  const thread = (await client.post("/v1/threads", { variables })).body;
  expect(thread.variables).toEqual(variables);
  const agent_id = await newAgent();
  expect(await sent(agent_id, { thread_id: thread.id })).toBe("Serve Ann.");
  expect(await sent(agent_id, { thread_id: thread.id, variables: { customer: "Bob" } })).toBe("Serve Bob.");
  expect(await sent(await newAgent({ variables: [], instructions: "{{customer}}" }), { thread_id: thread.id })).toBe(
    "{{customer}}",
  );
  expect((await client.patch(`/v1/threads/${thread.id}`, { variables: { customer: "Cy" } })).body.variables).toEqual({
    customer: "Cy",
  });
  expect(await sent(agent_id, { thread_id: thread.id })).toBe("Serve Cy.");
  await client.patch(`/v1/threads/${thread.id}`, { variables: null });
  expect((await create(agent_id, { thread_id: thread.id })).status).toBe(400);
  for (const [bad, message] of [
    [{ customer: {} }, "variables.customer: Must be a string, a number or a boolean."],
    [{ "a b": 1 }, "variables.a b: A variable cannot have this name."],
  ] as const)
    expect(refusal(await client.post("/v1/threads", { variables: bad }))[2]).toBe(message);
});

test("a schedule is checked against its agent, and its runs have its values", async () => {
  const agent_id = await newAgent();
  const body = { name: "s", agent_id, input: "Go.", cron: "0 9 * * *", timezone: "Europe/Berlin" };
  expect(refusal(await client.post("/v1/schedules", body))[2]).toContain("variables.customer");
  const schedule = await client.post("/v1/schedules", { ...body, variables: { customer: "Ann" } });
  expect([schedule.status, schedule.body.variables]).toEqual([201, { customer: "Ann" }]);
  const path = `/v1/schedules/${schedule.body.id}`;
  expect(refusal(await client.patch(path, { variables: { customer: 1 } }))[2]).toContain("variables.customer");
  const fired = await client.post(`${path}/trigger`, {});
  expect(fired.body.error ?? null).toBeNull();
  const run_id = fired.body.run_id ?? fired.body.id;
  await client.get(`/v1/runs/${run_id}?wait=60`);
  expect((await client.get(`/v1/runs/${run_id}`)).body.variables).toEqual({ customer: "Ann" });
});

test("values of a client token go before all others, and its holder neither sets nor sees any", async () => {
  const variables = [customer, { name: "tier", type: "string", default: "free" }];
  const agent_id = await newAgent({ variables, instructions: "{{customer}} {{tier}}" });
  const thread = (await client.post("/v1/threads", { user_id: "ada", variables: { customer: "X", tier: "gold" } }))
    .body;
  const body = { agent_id, scopes: ["run", "read"], expires_in_seconds: 600, user_id: "ada" };
  expect(refusal(await client.post("/v1/client_tokens", { ...body, variables: { x: 1 } }))[2]).toContain("variables.x");
  await client.put(`/v1/agents/${body.agent_id}/labels/released`, { version: 1 });
  const byLabel = { ...body, label: "released", variables: { customer: "Ann" } };
  expect((await client.post("/v1/client_tokens", byLabel)).status).toBe(201);
  const made = await client.post("/v1/client_tokens", { ...body, variables: { customer: "Ann" } });
  expect([made.status, made.body.variables]).toEqual([201, { customer: "Ann" }]);
  const ask = (method: string, path: string, content?: unknown) =>
    server.send(method, path, content, { authorization: `Bearer ${made.body.token}` });
  const run = await ask("POST", "/v1/runs?wait=60", { agent_id, input: "Go.", thread_id: thread.id });
  expect([run.status, run.body.variables]).toEqual([201, undefined]);
  expect(await sentTo(run.body.id)).toBe("Ann gold");
  expect((await client.get(`/v1/runs/${run.body.id}`)).body.variables).toEqual({ customer: "Ann", tier: "gold" });
  for (const path of [`/v1/runs/${run.body.id}`, "/v1/runs", `/v1/threads/${thread.id}`, "/v1/threads"])
    expect(JSON.stringify((await ask("GET", path)).body)).not.toContain("gold");
  const set = await ask("POST", "/v1/runs", { agent_id, input: "Go.", variables: { customer: "Eve" } });
  expect([set.status, set.body.error.param]).toEqual([403, "variables"]);
  const begun = await ask("POST", "/v1/threads", { variables: { tier: "gold" } });
  expect([begun.status, begun.body.error.param]).toEqual([403, "variables"]);
});

test("a fork keeps the values, and may replace them", async () => {
  const { body } = await create(await newAgent(), { variables: { customer: "Ann" } });
  const fork = (edits?: object, more: object = {}) =>
    client.post(`/v1/runs/${body.id}/fork?wait=60`, { step_index: -1, ...(edits && { edits }), ...more });
  expect(await sentTo((await fork()).body.id)).toBe("Serve Ann.");
  expect(await sentTo((await fork({}, { agent: "current" })).body.id)).toBe("Serve Ann.");
  expect(await sentTo((await fork({ variables: { customer: "Bob" } })).body.id)).toBe("Serve Bob.");
  expect(await sentTo((await fork({ instructions: "Hi {{customer}}." })).body.id)).toBe("Hi Ann.");
  expect(refusal(await fork({ instructions: "Hi {{x}}." }))[2]).toContain("edits.instructions");
  expect(refusal(await fork({ variables: { x: 1 } }))[2]).toContain("edits.variables.x");
});

test("a fork with the current agent needs a value for what that agent requires", async () => {
  const agent_id = await newAgent();
  const { body } = await create(agent_id, { variables: { customer: "Ann" } });
  const variables = [{ name: "city", type: "string", required: true }];
  await client.patch(`/v1/agents/${agent_id}`, { variables, instructions: "{{city}}" });
  const fork = (edits: object) =>
    client.post(`/v1/runs/${body.id}/fork?wait=60`, { step_index: -1, agent: "current", edits });
  expect(refusal(await fork({}))[2]).toContain("edits.variables.city");
  expect(await sentTo((await fork({ variables: { city: "Oslo" } })).body.id)).toBe("Oslo");
});

test("a replay has the same prompts, and one with the current agent shows that its instructions differ", async () => {
  const agent_id = await newAgent();
  const { body } = await create(agent_id, { variables: { customer: "{{customer}}" } });
  const replay = async (agent: string) =>
    (await client.post(`/v1/runs/${body.id}/replay`, { mode: "verify", agent })).body.replay.divergences;
  expect(await replay("pinned")).toEqual([]);
  expect(await replay("current")).toEqual([]);
  await client.patch(`/v1/agents/${agent_id}`, { instructions: "Help {{customer}}." });
  expect(await replay("pinned")).toEqual([]);
  expect(await replay("current")).toMatchObject([{ kind: "prompt" }]);
});

test("an exported trace and a capsule keep the values, and their imports send the same text", async () => {
  const { body } = await create(await newAgent(), { variables: { customer: "Ann" } });
  for (const taken of [
    await client.post("/v1/traces", await exportOf(client, body.id)),
    await importCapsule(server, client, await capsuleOf(server, client, body.id)),
  ]) {
    expect(taken.status).toBe(201);
    const run_id = taken.body.run_id ?? taken.body.id;
    expect(await sentTo(run_id)).toBe("Serve Ann.");
  }
});

test("a called agent gets the values of the same names, and a call without a required one fails", async () => {
  const child = await newAgent({ name: "child", instructions: "Child of {{customer}}." });
  const tool = (await client.post("/v1/tools", { name: "ask_child", type: "agent", agent_id: child })).body;
  const script = [{ tool_calls: [{ name: "ask_child", arguments: { input: "Go." } }] }, { text: "Done." }];
  const more = { tools: [tool.id], model_settings: { script } };
  const parent = await newAgent({ ...more, instructions: "{{customer}}" });
  const { body } = await create(parent, { variables: { customer: "Ann" } });
  expect(await sentTo(body.tool_calls[0].subagent_run_id)).toBe("Child of Ann.");
  const without = await create(await newAgent({ ...more, instructions: "None.", variables: [] }));
  expect(without.body.tool_calls[0].error.message).toContain("variable customer");
});
