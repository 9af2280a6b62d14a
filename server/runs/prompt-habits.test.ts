import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Client, type TestApp, testApp } from "../testing/test-app.ts";

// Texts and values as authors of prompts write them, which templates elsewhere break.

let server: TestApp;
let client: Client;
beforeAll(async () => {
  server = testApp();
  client = await server.client();
});
afterAll(() => server[Symbol.asyncDispose]());

const variables = [
  { name: "customer", type: "string", default: "Ann" },
  { name: "count", type: "integer", default: 5 },
  { name: "vip", type: "boolean", default: true },
];
const save = (instructions: string) =>
  client.post("/v1/agents", { name: "a", instructions, variables, model: "test/echo" });

/** Returns the instructions as the model reads them. */
async function sent(instructions: string, values: Record<string, unknown> = {}): Promise<string> {
  const { status, body } = await save(instructions);
  expect([status, body.error]).toEqual([201, undefined]);
  const run = await client.post("/v1/runs?wait=60", { agent_id: body.id, input: "Go", variables: values });
  expect([run.status, run.body.status]).toEqual([201, "completed"]);
  const { steps } = (await client.get(`/v1/traces/${run.body.id}?include=prompt`)).body;
  return steps[0].prompt.messages[0].content;
}

test.each<[string, string, string]>([
  ["JSON", '{"name": "{{customer}}", "count": {{count}}}', '{"name": "Ann", "count": 5}'],
  ["compact JSON", '{"a":{"b":{{count}}}}', '{"a":{"b":5}}'],
  [
    "a JSON schema",
    '{"type":"object","properties":{"a":{}}} {{customer}}',
    '{"type":"object","properties":{"a":{}}} Ann',
  ],
  ["empty braces", "can be empty {} or { } {{customer}}", "can be empty {} or { } Ann"],
  [
    "names in single braces",
    "Hi {customer}, \u0024{customer}, $customer, %s, <customer> {{customer}}",
    "Hi {customer}, \u0024{customer}, $customer, %s, <customer> Ann",
  ],
  ["LaTeX", "$\\frac{1}{2}^{{{count}}}$", "$\\frac{1}{2}^{5}$"],
  ["code", "if (a) { b({ c: {{count}} }) }", "if (a) { b({ c: 5 }) }"],
  [
    "blanks of all kinds in a place",
    "{{ customer }}{{\tcustomer}}{{\u00a0customer\u00a0}}{{  customer}}",
    "AnnAnnAnnAnn",
  ],
  ["places side by side", "{{customer}}{{count}}{{vip}}", "Ann5true"],
  [
    "a place in a word and in Markdown",
    "pre{{customer}}post **{{customer}}** `{{customer}}`",
    "preAnnpost **Ann** `Ann`",
  ],
  ["line ends of Windows", "a\r\n{{customer}}\r\n", "a\r\nAnn\r\n"],
  ["escaped braces", "Write \\{{customer}} for {{customer}}.", "Write {{customer}} for Ann."],
  ["escaped double braces of another language", '\\{{"a": 1}} {{customer}}', '{{"a": 1}} Ann'],
])("instructions with %s are sent as they are meant", async (_, instructions, text) => {
  expect(await sent(instructions)).toBe(text);
});

test.each([
  `<b>Tom & "Jerry's"</b> &amp; café`,
  '{"a": {"b": 1}}',
  "{customer} {{count}} {% if x %} {{{vip}}} \u0024{count} #{count} <%= vip %>",
  "line one\nline two\r\n\tthree",
  "C:\\new\\table \\{{x}} \\\\ \\n",
  "$& $1 $$ $` $'",
  "👩‍👩‍👧 e\u0301 \u202eabc",
  " kept blanks ",
])("the value %j stands in the prompt unchanged", async (customer) => {
  expect(await sent("[{{customer}}]", { customer })).toBe(`[${customer}]`);
});

test("nothing, zero and false are values, and no reason to take the default", async () => {
  const text = "[{{customer}}] [{{count}}] [{{vip}}]";
  expect(await sent(text, { customer: "", count: 0, vip: false })).toBe("[] [0] [false]");
  expect(await sent(text)).toBe("[Ann] [5] [true]");
  expect(await sent(text, { count: -0 })).toBe("[Ann] [0] [true]");
});

test.each([
  "{{Customer}}",
  "{{customer.name}}",
  "{{customer|upper}}",
  "{{customer or 'you'}}",
  "{{#if customer}}x{{/if}}",
  "{{#customer}}x{{/customer}}",
  "{{^customer}}x{{/customer}}",
  "{{&customer}}",
  "{{! a comment }}",
  "{{$customer}}",
  "{{@customer}}",
  "{{input.customer}}",
  "{{ }}",
  '{{"a": 1}}',
  "{{7*7}}",
  "{{cust omer}}",
  "{{cust\u200bomer}}",
])("%s of another template language is refused when the agent is saved, and named", async (text) => {
  const { status, body } = await save(`Hi ${text}`);
  expect([status, body.error?.param]).toEqual([400, "instructions"]);
  const [tag = ""] = /\{\{.*?\}\}/.exec(text) ?? [];
  expect(body.error.message).toContain(tag.replace(/\{\{\s*|\s*\}\}/g, ""));
});
