import type { Json, Runnel } from "../../e2e/harness.ts";
import { skillText, zipOf } from "../../server/testing/archives.ts";
import { type DeskRuns, seedDesk } from "./seed-desk.ts";
import { type LabelledAgents, seedLabels } from "./seed-labels.ts";
import { seedTeamwork, type TeamworkIds } from "./seed-teamwork.ts";

/** Ids of the items whose pages are taken. */
export interface SeededIds extends DeskRuns, TeamworkIds, LabelledAgents {
  agent: string;
  run: string;
  failed: string;
  waiting: string;
  /** A run with a very long name and output. */
  long: string;
  /** An agent whose runs fail. */
  failing: string;
  thread: string;
  tool: string;
  skill: string;
  store: string;
  webhook: string;
  oauthClient: string;
  schedule: string;
  trigger: string;
  suite: string;
  suiteCase: string;
  /** An agent with every setting, and a tool with conditional approval. */
  built: string;
  builtTool: string;
  codeTool: string;
  key: string;
  /** A store of facts of users. */
  facts: string;
}

const long =
  "Quarterly reconciliation of everything that was ever ordered, returned, exchanged or forgotten in the northern warehouse";
const unbroken = "Donaudampfschifffahrtsgesellschaftskapitän".repeat(3).slice(0, 120);

/** Fills the test data of a server: successes, failures, waiting runs, and names and texts of every length. */
export async function seed(server: Runnel): Promise<SeededIds> {
  const make = async (path: string, body: Json): Promise<Json> => {
    const answer = await server.post(path, body);
    if (answer.status >= 300) throw new Error(`POST ${path}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const agentOf = (name: string, script: Json[], more: Json = {}) =>
    make("/v1/agents", {
      name,
      instructions: "You are the desk of Acme Teas. Be brief.",
      model: "test/script",
      model_settings: { script },
      ...more,
    });
  const run = (agent_id: string, input: string, more: Json = {}) =>
    make("/v1/runs?wait=20", { agent_id, input, ...more });
  const parameters = { type: "object", properties: { order_id: { type: "string" } } };
  const tool = await make("/v1/tools", {
    name: "refund_payment",
    type: "client",
    description: "Pays an order back.",
    approval: "always",
    parameters,
  });
  await make("/v1/tools", { name: "lookup_order", type: "client", description: long, parameters });

  const agent = await agentOf("Refund desk", [{ text: "Order 4711 left **Frankfurt** this morning.", delta_ms: 2 }]);
  const asking = await agentOf(
    "Order changes",
    [{ tool_calls: [{ name: "refund_payment", arguments: { order_id: "4711" } }] }, { text: "Done." }],
    { tools: [tool.id] },
  );
  const failing = await agentOf(long, [{ error: "The provider returned 503: the model is overloaded." }]);
  const talking = await agentOf(unbroken, [{ text: `${long}. ${unbroken} `.repeat(30) }]);
  const limited = await make("/v1/agents", { name: "Invoice reader", instructions: "Read.", model: "test/refusal" });

  // No server listens there: its deliveries fail, and are retried.
  const webhook = await make("/v1/webhooks", { url: "http://127.0.0.1:59999/hooks/runnel", events: ["run.failed"] });
  // No authorization server listens there.
  const oauthClient = await make("/v1/oauth_clients", {
    name: "Team calendar",
    grant: "authorization_code",
    issuer: "http://127.0.0.1:59998",
    client_id: "runnel",
    scopes: ["calendar.read", "calendar.write"],
  });
  await make("/v1/oauth_clients", {
    name: long.slice(0, 100),
    grant: "authorization_code",
    per_user: true,
    authorization_endpoint: "http://127.0.0.1:59998/authorize",
    token_endpoint: "http://127.0.0.1:59998/token",
    client_id: "client-of-the-warehouse".repeat(5),
  });
  const thread = await make("/v1/threads", { title: long, user_id: "user_4711" });
  const first = await run(agent.id, "Where is order 4711?", { thread_id: thread.id, user_id: "user_4711" });
  for (let n = 0; n < 12; n++) await run(agent.id, `Where is order ${4712 + n}?`);
  const failed = await run(failing.id, `${long}?`);
  for (let n = 0; n < 3; n++) await run(failing.id, "Digest.");
  const endless = await run(talking.id, `${unbroken} ${long}`);
  await run(limited.id, "Read this.");
  const waiting = await run(asking.id, "Pay 4711 back.");
  await run(asking.id, "And 4712.");

  for (const [name, scopes] of [
    ["Web shop", ["run"]],
    ["Dashboards of the finance department in the northern region", ["read"]],
    ["CI smoke tests", ["run", "read"]],
  ])
    await make("/v1/api_keys", { name, scopes, expires_in_seconds: name === "CI smoke tests" ? 259_200 : 31_536_000 });
  const rotated = await make("/v1/api_keys", { name: "Mobile backend", scopes: ["run"] });
  await make(`/v1/api_keys/${rotated.id}/rotate`, { overlap_seconds: 86_400 });

  await make(`/v1/webhooks/${webhook.id}/test`, {});
  await make("/v1/snippets", { name: "refund_policy", text: "Refunds are possible within {{days}} days." });
  const makeSkill = (name: string) => {
    const head = { path: `${name}/SKILL.md`, content: skillText(name, "Says how it is done here.") };
    const rules = { path: `${name}/references/rules.md`, content: "# Rules\n\nBe kind and short.\n" };
    return make("/v1/skills", { content_base64: zipOf([head, rules]).toBase64() });
  };
  const skill = await makeSkill("writing-letters");
  await makeSkill("refunds");
  const store = await make("/v1/memory", { name: "Manuals", kind: "vector" });
  await make("/v1/memory", { name: long.slice(0, 100), kind: "vector" });
  for (const [filename, text] of [
    ["manual.txt", "Tea is brewed at 80 degrees."],
    [`${unbroken.slice(0, 100)}.md`, `# ${long}`],
  ] as const) {
    const content_base64 = Buffer.from(text).toString("base64");
    await make("/v1/files", { filename, purpose: "attachment", content_base64 });
  }
  const schedule = await make("/v1/schedules", {
    name: "Nightly digest",
    agent_id: agent.id,
    input: "Write the digest.",
    cron: "0 2 * * *",
    timezone: "Europe/Berlin",
  });
  const trigger = await make("/v1/triggers", { name: "Issue reports", agent_id: agent.id, verification: "stripe" });
  return {
    ...(await seedBuilt(make)),
    key: rotated.id,
    ...(await seedDesk(make, server)),
    ...(await seedTeamwork(make, server)),
    ...(await seedLabels(make, server)),
    ...(await seedSuite(make, server, [first.id, failed.id])),
    agent: agent.id,
    run: first.id,
    failed: failed.id,
    waiting: waiting.id,
    long: endless.id,
    failing: failing.id,
    thread: thread.id,
    tool: tool.id,
    skill: skill.id,
    store: store.id,
    webhook: webhook.id,
    oauthClient: oauthClient.id,
    schedule: schedule.id,
    trigger: trigger.id,
  };
}

/** Creates an agent and tools with content in every form editor. */
async function seedBuilt(make: (path: string, body: Json) => Promise<Json>) {
  const parameters = {
    type: "object",
    required: ["order_id", "lines"],
    properties: {
      order_id: { type: "string", description: "Number of the order." },
      reason: { type: "string", enum: ["broken", "late", "other"] },
      amount: { type: "number", minimum: 0 },
      lines: {
        type: "array",
        items: { type: "object", properties: { sku: { type: "string" }, pieces: { type: "integer" } } },
      },
      address: { type: "object", properties: { city: { type: "string" }, zip: { type: "string" } } },
    },
  };
  const builtTool = await make("/v1/tools", {
    name: "send_refund",
    type: "client",
    description: "Sends money back.",
    parameters,
    approval: { when: { properties: { amount: { exclusiveMinimum: 50 }, reason: { enum: ["late", "other"] } } } },
  });
  const codeTool = await make("/v1/tools", {
    name: "days_since",
    type: "code",
    language: "javascript",
    description: "Days since a date.",
    source:
      "(args) => {\n  const then = new Date(args.date); // UTC\n  return { days: Math.round((Date.now() - then) / 864e5) };\n}\n",
    parameters: { type: "object", properties: { date: { type: "string", format: "date" } } },
  });
  const facts = await make("/v1/memory", { name: "Customers", kind: "vector", scope: "user" });
  for (const text of ["Prefers **Assam** to Darjeeling.", "Lives in Oslo.", "Has a cat, two teapots and no patience."])
    await make(`/v1/memory/${facts.id}/entries`, { text, scope_id: "ada" });
  const built = await make("/v1/agents", {
    name: "Order desk",
    model: "test/script",
    tools: [builtTool.id, codeTool.id],
    description: "Answers what customers ask of their orders.",
    instructions: "# Order desk\n\nYou write to **{{customer}}** in {{language}}.\n\n- Quote the order.\n- Be `brief`.",
    model_settings: {
      temperature: 0.3,
      script: [
        { text: "Let me look.", tool_calls: [{ name: "days_since", arguments: { date: "2026-11-01" } }] },
        { text: "It left **Frankfurt**.", delta_ms: 5 },
      ],
    },
    guardrails: [
      { type: "pii", on: ["input", "output"], action: "redact", config: { kinds: ["email", "phone"] } },
      { type: "regex", on: ["output"], action: "block", config: { pattern: "internal-\\d+" } },
      { type: "max_length", on: ["input"], action: "flag", config: { max_length: 4000 } },
    ],
    memory: { stores: [{ memory_id: facts.id, learn: true }], history: { mode: "thread" } },
    output_schema: { type: "object", properties: { answer: { type: "string" }, sure: { type: "boolean" } } },
    budget: { max_cost_usd: 0.5, max_tool_calls: 20 },
    metadata: { team: "support" },
  });
  return { built: built.id, builtTool: builtTool.id, codeTool: codeTool.id, facts: facts.id };
}

type Make = (path: string, body: Json) => Promise<Json>;

/** Creates a suite with equal, diverged and failed cases, and one that was never run. */
async function seedSuite(
  make: Make,
  server: Runnel,
  runs: readonly string[],
): Promise<{ suite: string; suiteCase: string }> {
  const model = { model: "test/script", model_settings: { script: [{ text: "It left Frankfurt this morning." }] } };
  const agentOf = (name: string) => make("/v1/agents", { name, instructions: "Be brief.", ...model });
  const [changed, gone] = [await agentOf("Order status"), await agentOf("Returns of last year")];
  const run = (agent_id: string, input: string) => make("/v1/runs?wait=20", { agent_id, input });
  const [first, second, last] = [
    await run(changed.id, "Where is order 4711?"),
    await run(changed.id, "And 4712?"),
    await run(gone.id, "May I return it?"),
  ];
  const suite = await make("/v1/suites", {
    name: "smoke",
    description: "What customers ask most, answered as it should be.",
    run_ids: [first.id, second.id, last.id, ...runs],
  });
  await make("/v1/suites", { name: "refunds-of-the-northern-region", run_ids: [first.id] });
  await make(`/v1/suites/${suite.id}/runs?wait=30`, {});
  const changes = { method: "PATCH", body: JSON.stringify({ instructions: "Be kind, and name the next step." }) };
  await server.fetch(`/v1/agents/${changed.id}`, changes);
  await server.fetch(`/v1/agents/${gone.id}`, { method: "DELETE" });
  await make(`/v1/suites/${suite.id}/runs?wait=30`, { live: { max_cost_usd: 0.5 } });
  return { suite: suite.id, suiteCase: first.id };
}
