import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import type { Variable, VariableValue } from "../../domain/variable.ts";
import { parseExact } from "../../lib/exact-numbers.ts";
import type { Answer } from "../../testing/expect-declared.ts";
import { type Client, testApp } from "../../testing/test-app.ts";
import { eventVariables } from "./event-variables.ts";

const variables: Variable[] = [
  { name: "customer", type: "string", required: true },
  { name: "amount", type: "number" },
  { name: "days", type: "integer", default: 14 },
  { name: "vip", type: "boolean" },
  { name: "plan", type: "string", enum: ["free", "paid"] },
];

describe("a value of an event", () => {
  const read = (name: string, template: VariableValue, value: unknown) => {
    const { values, missing } = eventVariables({ [name]: template }, variables, {
      body: { value, first: "Ann", last: "Lee" },
      headers: { "x-amount": "7" },
    });
    return missing.length > 0 ? "missing" : values[name];
  };

  test.each<[name: string, value: unknown, expected: unknown]>([
    ["customer", "Ann", "Ann"],
    ["customer", "", ""],
    ["customer", 7, "7"],
    ["customer", true, "true"],
    ["customer", { a: 1 }, '{"a":1}'],
    ["customer", parseExact("12345678901234567890"), "12345678901234567890"],
    ["customer", null, undefined],
    ["customer", undefined, "missing"],
    ["amount", 12.5, 12.5],
    ["amount", "12.5", 12.5],
    ["amount", " -3e2 ", -300],
    ["amount", parseExact("12.50"), 12.5],
    ["amount", "12,50", "12,50"],
    ["amount", "0x10", "0x10"],
    ["amount", "1_000", "1_000"],
    ["amount", "Infinity", "Infinity"],
    ["amount", "NaN", "NaN"],
    ["amount", "", undefined],
    ["amount", [1], [1]],
    ["days", "14", 14],
    ["days", "014", "014"],
    ["vip", false, false],
    ["vip", "false", false],
    ["vip", "true", true],
    ["vip", "yes", "yes"],
    ["vip", 1, 1],
  ])("of the variable %s that is %j is %j", (name, value, expected) => {
    expect(read(name, "{{ body.value }}", value) as unknown).toEqual(expected);
  });

  test("stands in a text, and a constant needs no event", () => {
    expect(read("customer", "{{body.first}} {{body.last}}", null)).toBe("Ann Lee");
    expect(read("customer", "Ann", null)).toBe("Ann");
    expect(read("days", 30, null)).toBe(30);
    expect(read("amount", "{{headers.X-Amount}}", null)).toBe(7);
    expect(read("customer", "{{body.first}} {{body.none}}", null)).toBe("missing");
  });
});

const server = testApp();
afterAll(() => server[Symbol.asyncDispose]());
let client: Client;
beforeAll(async () => {
  client = await server.client();
});

const refundVariables: Variable[] = [
  { name: "total", type: "number", required: true },
  { name: "gift", type: "boolean" },
  { name: "days", type: "integer" },
];
const instructions = "Customer: {{customer}}. Days: {{days}}. Amount: {{amount}}. VIP: {{vip}}. Plan: {{plan}}.";

const made = ({ status, body }: Answer) => {
  expect([status, body.error ?? null]).toEqual([201, null]);
  return body;
};
const newAgent = async (more: object = {}): Promise<string> =>
  made(await client.post("/v1/agents", { name: "desk", instructions, model: "test/echo", variables, ...more })).id;
const newTrigger = async (values: unknown, more: object = {}) =>
  await client.post("/v1/triggers", {
    name: "Refunds",
    agent_id: await newAgent(),
    verification: "github",
    input: "Go: {{body.text}}",
    variables: values,
    ...more,
  });

let count = 0;
async function send({ url, secret }: { url: string; secret: string }, body: unknown) {
  const bytes = typeof body === "string" ? body : JSON.stringify(body);
  const headers = {
    "content-type": "application/json",
    "x-github-delivery": `delivery ${count++}`,
    "x-hub-signature-256": `sha256=${createHmac("sha256", secret).update(bytes).digest("hex")}`,
  };
  const { pathname } = new URL(url);
  const request = new Request(`http://localhost${pathname}`, { method: "POST", headers, body: bytes });
  const response = await server.app.handle(request);
  return { status: response.status, body: JSON.parse(await response.text()) };
}

const deliveriesOf = async ({ id }: { id: string }) => (await client.get(`/v1/triggers/${id}/deliveries`)).body.data;
/** Returns the run of an event, once it is over. */
async function runOf({ body }: { body: { run_id: string } }) {
  const headers = { authorization: `Bearer ${client.key.secret}`, accept: "text/event-stream" };
  await server.send("GET", `/v1/runs/${body.run_id}/events`, undefined, headers);
  return (await client.get(`/v1/runs/${body.run_id}`)).body;
}
const promptOf = async ({ id }: { id: string }): Promise<string> =>
  (await client.get(`/v1/traces/${id}?include=prompt`)).body.steps[0].prompt.messages[0].content;

describe("a trigger with variables", () => {
  test("gives each run the values of its event, by the types that the agent declares", async () => {
    const values = {
      customer: "{{body.customer.first}} {{body.customer.last}}",
      amount: "{{body.amount}}",
      vip: "{{body.vip}}",
      plan: "paid",
    };
    const trigger = made(await newTrigger(values));
    expect(trigger.variables).toEqual(values);
    const sent = await send(trigger, {
      text: "Hello",
      customer: { first: "Ann", last: "Lee" },
      amount: "12.50",
      vip: true,
    });
    const run = await runOf(sent);
    expect(run).toMatchObject({
      input: "Go: Hello",
      variables: { customer: "Ann Lee", amount: 12.5, vip: true, plan: "paid" },
    });
    expect(await promptOf(run)).toBe("Customer: Ann Lee. Days: 14. Amount: 12.5. VIP: true. Plan: paid.");
  });

  test("shows them, changes them, and takes them away", async () => {
    const trigger = made(await newTrigger({ customer: "Ann" }));
    const { body } = await client.patch(`/v1/triggers/${trigger.id}`, { variables: { customer: "{{body.name}}" } });
    expect(body.variables).toEqual({ customer: "{{body.name}}" });
    const { body: other } = await client.patch(`/v1/triggers/${trigger.id}`, { name: "Other" });
    expect(other.variables).toEqual({ customer: "{{body.name}}" });
    // The agent needs a value.
    const { status, body: refused } = await client.patch(`/v1/triggers/${trigger.id}`, { variables: null });
    expect([status, refused.error.param]).toEqual([400, "variables.customer"]);
    const agent_id = await newAgent({ variables: null });
    const { body: free } = await client.patch(`/v1/triggers/${trigger.id}`, { agent_id, variables: null });
    expect(free.variables).toBeNull();
  });

  test.each<[string, unknown, string]>([
    ["a name that the agent does not have", { customer: "A", other: "x" }, "variables.other"],
    ["a constant of another type", { customer: "A", days: "soon" }, "variables.days"],
    ["a number that is a part of a text", { customer: "A", amount: "{{body.a}} EUR" }, "variables.amount"],
    ["a text that is none of the choices", { customer: "A", plan: "gold" }, "variables.plan"],
    ["none of those that the agent needs", { days: 1 }, "variables.customer"],
    ["none at all", null, "variables.customer"],
    ["a place that is none", { customer: "{{constructor}}" }, "variables.customer"],
    ["a place without an end", { customer: "{{body.a" }, "variables.customer"],
    ["a template in a template", { customer: "{{body.{{body.a}}}}" }, "variables.customer"],
    ["a list", { customer: ["A"] }, "variables.customer"],
    ["a long text", { customer: "x".repeat(20_000) }, "variables.customer"],
    ["a name of every object", '{"customer": "A", "__proto__": "x"}', "variables.__proto__"],
    ["a constructor", { customer: "A", constructor: "x" }, "variables.constructor"],
  ])("is refused with %s, and names it", async (_, given, param) => {
    const values = typeof given === "string" ? "RAW" : given;
    const body = JSON.stringify({
      name: "Refunds",
      agent_id: await newAgent(),
      verification: "github",
      variables: values,
    }).replace('"RAW"', String(given));
    const { status, body: answer } = await client.post("/v1/triggers", body);
    expect([status, answer.error?.param]).toEqual([400, param]);
  });

  test("makes no run of an event whose values do not fit, and its record says which", async () => {
    const trigger = made(
      await newTrigger({ customer: "{{body.name}}", amount: "{{body.amount}}", plan: "{{body.plan}}" }),
    );
    const events: [object | string, string][] = [
      [{ name: "Ann", amount: "a lot" }, "variables.amount: Must be a number."],
      [{ name: "Ann", amount: { value: 1 } }, "variables.amount: Must be a number."],
      ['{"name":"Ann","amount":123456789012345678901}', "variables.amount: The number has more digits than fit"],
      [{ name: "Ann", plan: "gold" }, 'variables.plan: Must be one of "free", "paid".'],
      [{ name: null }, "variables.customer: The agent needs a value of the variable customer."],
      [{}, "variables.customer: The agent needs a value of the variable customer."],
      [{ name: "x".repeat(20_000) }, "variables.customer: Must have at most 16384 bytes."],
    ];
    for (const [event, reason] of events) {
      const { status, body } = await send(trigger, event);
      expect([status, body.error.code]).toEqual([400, "validation_failed"]);
      const [delivery] = await deliveriesOf(trigger);
      expect(delivery).toMatchObject({ outcome: "failed", status: 400, run_id: null });
      expect(delivery.reason).toStartWith(`validation_failed: ${reason}`);
    }
    const runs = await client.get(`/v1/runs?metadata[trigger_id]=${trigger.id}`);
    expect(runs.body.data).toEqual([]);
    // The same event may come again, and makes a run when it fits.
    expect((await send(trigger, { name: "Ann" })).status).toBe(202);
  });

  test("rejects an event that lacks a place, if it is told so, and leaves the value to the default otherwise", async () => {
    const values = { customer: "Ann", days: "{{body.days}}" };
    const run = await runOf(await send(made(await newTrigger(values)), {}));
    expect([run.variables, (await promptOf(run)).includes("Days: 14.")]).toEqual([{ customer: "Ann" }, true]);
    const strict = made(await newTrigger(values, { on_missing: "reject", input: "Go" }));
    expect((await send(strict, {})).body.error).toMatchObject({
      param: "variables.days",
      message: "variables.days: The event lacks `body.days`.",
    });
    expect((await send(strict, { days: 3 })).status).toBe(202);
  });

  test("knows the types of agents that a handoff leads to, its own agent's first", async () => {
    const refunds = await newAgent({ name: "refunds", instructions: "{{total}} {{days}}", variables: refundVariables });
    const agent_id = await newAgent({ handoffs: [refunds] });
    const values = { customer: "Ann", days: "{{body.days}}", total: "{{body.total}}", gift: "{{body.gift}}" };
    const trigger = made(await newTrigger(values, { agent_id }));
    const run = await runOf(await send(trigger, { days: "7", total: "12.5", gift: "true" }));
    expect(run.variables).toEqual({ customer: "Ann", days: 7, total: 12.5, gift: true });
    const part = await client.patch(`/v1/triggers/${trigger.id}`, {
      variables: { ...values, total: "{{body.a}} EUR" },
    });
    expect([part.status, part.body.error.param]).toEqual([400, "variables.total"]);
  });

  test("reads values by the types of the version that it names", async () => {
    const agent_id = await newAgent({
      variables: [{ name: "customer", type: "integer" }],
      instructions: "{{customer}}",
    });
    await client.patch(`/v1/agents/${agent_id}`, { variables: [{ name: "customer", type: "string" }] });
    const values = { customer: "{{body.id}}" };
    const [first, newest] = [
      made(await newTrigger(values, { agent_id, version: 1 })),
      made(await newTrigger(values, { agent_id })),
    ];
    expect((await runOf(await send(first, { id: "7", text: "a" }))).variables).toEqual({ customer: 7 });
    expect((await runOf(await send(newest, { id: "7", text: "a" }))).variables).toEqual({ customer: "7" });
  });

  test("follows the agent: what no longer fits its variables fails and says so, and no run is without them", async () => {
    const agent_id = await newAgent();
    const trigger = made(await newTrigger({ customer: "{{body.name}}", amount: "{{body.amount}}" }, { agent_id }));
    await client.patch(`/v1/agents/${agent_id}`, {
      instructions: "Customer: {{customer}}",
      variables: [{ name: "customer", type: "integer" }],
    });
    const { body } = await send(trigger, { name: "Ann", amount: 1 });
    expect(body.error.message).toBe("variables.customer: Must be an integer.");
    await send(trigger, { name: "7", amount: 1 });
    const [{ reason }] = await deliveriesOf(trigger);
    expect(reason).toBe("validation_failed: variables.amount: The agent has no variable of this name.");
    // It can still be switched off, although it no longer fits.
    expect((await client.patch(`/v1/triggers/${trigger.id}`, { enabled: false })).status).toBe(200);
    await client.patch(`/v1/triggers/${trigger.id}`, { enabled: true, variables: { customer: "{{body.name}}" } });
    expect((await runOf(await send(trigger, { name: "7" }))).variables).toEqual({ customer: 7 });
  });

  test.each([
    "{{constructor}}",
    "{{__proto__}}",
    "{{customer}}",
    "{{days}}",
    "{{body.secret}}",
    "{{> policy}}",
    "{{{{days}}}}",
    "{{headers.authorization}}",
    "\\{{days}}",
    "{% raw %}{{ 7*7 }}{% endraw %} $\u007b7*7} #{7*7} <%= 7 %> {0} %s",
    "$& $1 $` $' $$",
  ])("keeps %s in an event as the text that it is, in the input and in the instructions", async (text) => {
    const trigger = made(await newTrigger({ customer: "{{body.text}}" }));
    const run = await runOf(await send(trigger, { text, secret: "s3cret" }));
    expect([run.input, run.variables]).toEqual([`Go: ${text}`, { customer: text }]);
    expect(await promptOf(run)).toStartWith(`Customer: ${text}. Days: 14.`);
    expect(run.messages[0].content).toBe(`Go: ${text}`);
  });
});
