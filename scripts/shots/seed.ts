import type { Json, Runnel } from "../../e2e/harness.ts";
import { type DeskRuns, seedDesk } from "./seed-desk.ts";
import { seedSuite } from "./seed-suite.ts";

/** The things whose pages are looked at. */
export interface Seeded extends DeskRuns {
  agent: string;
  run: string;
  failed: string;
  waiting: string;
  /** Of a name and an output without end. */
  long: string;
  /** An agent whose runs fail. */
  failing: string;
  thread: string;
  tool: string;
  store: string;
  webhook: string;
  schedule: string;
  suite: string;
  suiteCase: string;
}

const long =
  "Quarterly reconciliation of everything that was ever ordered, returned, exchanged or forgotten in the northern warehouse";
const unbroken = "Donaudampfschifffahrtsgesellschaftskapitän".repeat(3).slice(0, 120);

/** Fills the test data of a server: what works, what fails, what waits, and names and texts of every length. */
export async function seed(server: Runnel): Promise<Seeded> {
  const make = async (path: string, body: Json): Promise<Json> => {
    const answer = await server.post(path, body);
    if (answer.status >= 300) throw new Error(`POST ${path}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const agentOf = (name: string, script: Json[], more: Json = {}) =>
    make("/v1/agents", {
      ...{ name, instructions: "You are the desk of Acme Teas. Be brief.", model: "test/script" },
      ...{ model_settings: { script } },
      ...more,
    });
  const run = (agent_id: string, input: string, more: Json = {}) =>
    make("/v1/runs?wait=20", { agent_id, input, ...more });
  const parameters = { type: "object", properties: { order_id: { type: "string" } } };
  const tool = await make("/v1/tools", {
    ...{ name: "refund_payment", type: "client", description: "Pays an order back.", approval: "always", parameters },
  });
  await make("/v1/tools", { name: "lookup_order", type: "client", description: long, parameters });

  const agent = await agentOf("Refund desk", [{ text: "Order 4711 left **Frankfurt** this morning.", delta_ms: 2 }]);
  const asking = await agentOf(
    "Order changes",
    [{ tool_calls: [{ name: "refund_payment", arguments: { order_id: "4711" } }] }, { text: "Done." }],
    { tools: [tool.id] },
  );
  const failing = await agentOf(long, [{ error: "The provider answered 503: the model is overloaded." }]);
  const talking = await agentOf(unbroken, [{ text: `${long}. ${unbroken} `.repeat(30) }]);
  const limited = await make("/v1/agents", { name: "Invoice reader", instructions: "Read.", model: "test/refusal" });

  // Nothing listens there: its deliveries fail, and are tried again.
  const webhook = await make("/v1/webhooks", { url: "http://127.0.0.1:59999/hooks/runnel", events: ["run.failed"] });
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
    ...{ name: "Nightly digest", agent_id: agent.id, input: "Write the digest." },
    ...{ cron: "0 2 * * *", timezone: "Europe/Berlin" },
  });
  return {
    ...(await seedDesk(make, server)),
    ...(await seedSuite(make, server, [first.id, failed.id])),
    agent: agent.id,
    run: first.id,
    failed: failed.id,
    waiting: waiting.id,
    long: endless.id,
    failing: failing.id,
    thread: thread.id,
    tool: tool.id,
    store: store.id,
    webhook: webhook.id,
    schedule: schedule.id,
  };
}
