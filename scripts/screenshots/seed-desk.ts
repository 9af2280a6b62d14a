import type { Json, Runnel } from "../../e2e/harness.ts";

type Make = (path: string, body: Json) => Promise<Json>;

/** Runs of an agent with every feature. */
export interface DeskRuns {
  /** Completed: with every kind of step. */
  full: string;
  /** Forked from it with another output of a tool. */
  fork: string;
  /** Waits for a person to approve a call. */
  approving: string;
  /** Waits for an output of the client. */
  asking: string;
  /** The agent itself, and its store. */
  desk: string;
  policies: string;
  /** File from which the store was filled. */
  policy: string;
  /** Index of the failed tool's step. */
  failedStep: number;
}

const order = { type: "object", properties: { order_id: { type: "string" }, amount: { type: "number" } } };
const call = (name: string) => ({ name, arguments: { order_id: "4711", amount: 84.9 } });
const policy = [
  "# Refunds",
  "Damaged on arrival: full refund within 30 days, without sending the goods back.",
  "# Approvals",
  "A person approves every refund over 50 euros.",
].join("\n\n");
const answer = [
  "Your order **4711** was delivered on 12 November, so it is within the 30 days.",
  "| Item | Price |\n|---|---|\n| Teal mug, two | €49.80 |\n| Assam 500 g | €35.10 |",
  "- The money is back on your card on Tuesday.\n- You need not send anything back.",
  "I have refunded €84.90 with `refund_payment`.",
].join("\n\n");

/** Creates the agent with its tools, its memory and its sub-agent, and runs it to several ends. */
export async function seedDesk(make: Make, server: Runnel): Promise<DeskRuns> {
  const code = (name: string, source: string, more: Json = {}) =>
    make("/v1/tools", {
      name,
      type: "code",
      language: "javascript",
      source,
      parameters: order,
      description: `${name.replaceAll("_", " ")}, by the number of the order.`,
      ...more,
    });
  const agent = (name: string, script: Json[], tools: Json[], more: Json = {}) =>
    make("/v1/agents", {
      name,
      instructions: "You are the refund desk of Acme Teas. Quote the policies.",
      model: "test/script",
      model_settings: { script },
      tools: tools.map(({ id }) => id),
      ...more,
    });
  const fraud = await agent(
    "Fraud check",
    [{ tool_calls: [call("risk_score")] }, { text: "Low risk: 0.11.", delta_ms: 20 }],
    [await code("risk_score", "() => ({ risk: 'low', score: 0.11, seen: ['address', 'card', 'orders'] })")],
  );
  const tools = [
    await code("find_order", "(args) => ({ order_id: args.order_id, total: 84.9, delivered: true })"),
    await code("check_stock", "() => { throw new Error('The warehouse does not answer: 503.'); }"),
    await make("/v1/tools", { name: "fraud_check", type: "agent", agent_id: fraud.id, description: "Judges a buyer." }),
    await code("pay_back", "(args) => ({ refunded: args.amount })", { approval: "always" }),
    await make("/v1/tools", { name: "ask_photo", type: "client", description: "Asks for a photo.", parameters: order }),
  ];
  const { store, policy: file } = await storePolicies(make, server);
  const asks = [call("find_order"), call("check_stock"), { name: "fraud_check", arguments: { input: "Ann" } }];
  const desk = await agent(
    "Refunds for broken things",
    [
      { reasoning: "The policy first, then the order.", text: "Let me look that up.", tool_calls: asks, delta_ms: 30 },
      { text: "I ask for a photo.", tool_calls: [call("ask_photo")], delta_ms: 15 },
      { text: "A colleague must approve this.", tool_calls: [call("pay_back")], delta_ms: 15 },
      { text: answer, delta_ms: 4 },
    ],
    tools,
    {
      memory: { stores: [{ memory_id: store }] },
      guardrails: [{ type: "pii", on: ["input"], action: "redact", config: {} }],
    },
  );
  const start = (input: string) => make("/v1/runs?wait=60", { agent_id: desk.id, input });
  /** Answers this many waiting calls of a run, one after the other. */
  const answered = async (run: Json, count: number): Promise<Json> => {
    if (!count) return run;
    const [{ tool_call_id: id, needs }] = run.required_action.submit_tool_outputs.tool_calls;
    const outcome = needs === "approval" ? { decision: "approve" } : { output: { url: "https://example.com/1.jpg" } };
    await make(`/v1/runs/${run.id}/submit_tool_outputs`, { tool_outputs: [{ tool_call_id: id, ...outcome }] });
    const now = () => server.get(`/v1/runs/${run.id}`).then(({ body }) => body);
    const next = await until(now, (read) => !["queued", "in_progress"].includes(read.status) && waitsFor(read) !== id);
    return answered(next, count - 1);
  };
  const input = "My parcel 4711 came with both mugs broken. Write to ann@example.com.";
  const full = await answered(await start(input), 2);
  const { body: trace } = await server.get(`/v1/traces/${full.id}`);
  const failedStep = trace.steps.find((step: Json) => step.name === "check_stock").step_index;
  const fork = await make(`/v1/runs/${full.id}/fork`, {
    step_index: failedStep,
    tools: "recorded_then_live",
    edits: { tool_output: { sku: "MUG-TEAL-2", in_stock: 14 } },
  });
  return {
    full: full.id,
    fork: fork.id,
    desk: desk.id,
    policies: store,
    policy: file,
    failedStep,
    approving: (await answered(await start("And order 4712?"), 1)).id,
    asking: (await start("And what of order 4713?")).id,
  };
}

async function storePolicies(make: Make, server: Runnel): Promise<{ store: string; policy: string }> {
  const { id } = await make("/v1/memory", { name: "Policies", kind: "vector" });
  const file = await make("/v1/files", { filename: "policy.md", text: policy, purpose: "retrieval", memory_id: id });
  const entries = () => server.get(`/v1/memory/${id}/entries`).then(({ body }) => body.data);
  await until(entries, ([entry]) => entry?.status === "ready");
  return { store: id, policy: file.id };
}

/** Polls until the response matches. */
async function until(ask: () => Promise<Json>, isWanted: (answer: Json) => boolean): Promise<Json> {
  for (let n = 0; n < 400; n++) {
    const answer = await ask();
    if (isWanted(answer)) return answer;
    await Bun.sleep(25);
  }
  throw new Error("What was to come did not come.");
}

const waitsFor = (run: Json): string | undefined =>
  run.required_action?.submit_tool_outputs.tool_calls[0]?.tool_call_id;
