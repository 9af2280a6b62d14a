import { createHmac } from "node:crypto";
import type { Json, Runnel } from "../../e2e/harness.ts";
import { skillText, zipOf } from "../../server/testing/archives.ts";

type Make = (path: string, body: Json) => Promise<Json>;

/** Ids of runs that people steer and pause, and of agents with handoffs, skills, variables and many tools. */
export interface TeamworkIds {
  /** Completed: with a message of the user, and an answer that it interrupted. */
  steered: string;
  /** Waits for an output, and has a message for the next model call. */
  steering: string;
  paused: string;
  /** Waits for an output, and is to pause afterwards. */
  pausing: string;
  /** Completed by the third agent of a conversation. */
  handedOver: string;
  /** Thread of that run, with another one. */
  team: string;
  /** The first agent of that conversation. */
  frontDesk: string;
  /** Has found some of its forty tools. */
  searched: string;
  manyTools: string;
  /** Has loaded a skill and read its files. */
  skilled: string;
  /** With values for each type of variable. */
  filled: string;
  /** Agent with variables and a snippet. */
  letters: string;
  /** Trigger with events of each outcome. */
  events: string;
  largeSkill: string;
}

/** Waits for events of a run, and returns its newest state. */
type Until = (run: string, isWanted: (run: Json) => boolean) => Promise<Json>;

const story = "Once the leaves are plucked they wither on racks, are rolled, and oxidise until they are dark. ";

export async function seedTeamwork(make: Make, server: Runnel): Promise<TeamworkIds> {
  const until: Until = async (run, isWanted) => {
    for (let n = 0; n < 400; n++) {
      const { body } = await server.get(`/v1/runs/${run}`);
      if (isWanted(body)) return body;
      await Bun.sleep(25);
    }
    throw new Error(`The run ${run} did not come as far.`);
  };
  const agentOf = (name: string, script: Json[], more: Json = {}) =>
    make("/v1/agents", {
      name,
      instructions: `You are the ${name.toLowerCase()} of Acme Teas.`,
      model: "test/script",
      model_settings: { script },
      ...more,
    });
  return {
    ...(await seedSteered(make, agentOf, until, server)),
    ...(await seedHandoffs(make, agentOf)),
    ...(await seedManyTools(make, agentOf)),
    ...(await seedSkills(make, agentOf)),
    ...(await seedVariables(make, agentOf, server)),
    ...(await seedEvents(make, agentOf, server)),
  };
}

type AgentOf = (name: string, script: Json[], more?: Json) => Promise<Json>;

/** Runs with messages of the user and pauses. */
async function seedSteered(make: Make, agentOf: AgentOf, until: Until, server: Runnel) {
  const stock = await make("/v1/tools", {
    name: "count_stock",
    type: "client",
    description: "Asks the warehouse.",
    parameters: { type: "object", properties: { sku: { type: "string" } } },
  });
  const counting = [
    { text: "I ask the warehouse.", tool_calls: [{ name: "count_stock", arguments: { sku: "ASSAM-500" } }] },
    { text: "There are **14** packets, in kilograms: 7." },
  ];
  const writer = await agentOf("Tea writer", [
    { text: story.repeat(40), delta_ms: 100 },
    { text: "Leaves wither, are rolled, and oxidise.", delta_ms: 100 },
    { text: "Sie welken, werden gerollt und oxidieren." },
  ]);
  const clerk = await agentOf("Stock clerk", counting, { tools: [stock.id] });
  const say = (run: string, content: string, more: Json = {}) =>
    make(`/v1/runs/${run}/messages`, { role: "user", content, ...more });
  const count = () => make("/v1/runs?wait=20", { agent_id: clerk.id, input: "How much Assam is there?" });

  const steered = await make("/v1/runs", { agent_id: writer.id, input: "How is black tea made? Be thorough." });
  await firstWords(server, steered.id);
  await say(steered.id, "Stop. One sentence is enough.", { interrupt: true });
  await say(steered.id, "And then the same in German.");
  await until(steered.id, ({ status }) => status === "completed");

  const steering = await count();
  await say(steering.id, "In kilograms, please.");
  const paused = await count();
  await make(`/v1/runs/${paused.id}/pause`, { reason: "Mara checks the number of the warehouse first." });
  const [{ tool_call_id }] = paused.required_action.submit_tool_outputs.tool_calls;
  const output = { packets: 14 };
  await make(`/v1/runs/${paused.id}/submit_tool_outputs`, { tool_outputs: [{ tool_call_id, output }] });
  await say(paused.id, "In kilograms, please.");
  const pausing = await count();
  await make(`/v1/runs/${pausing.id}/pause`, {});
  return { steered: steered.id, steering: steering.id, paused: paused.id, pausing: pausing.id };
}

/** Waits until a part of a run's answer is written. */
function firstWords(server: Runnel, run: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const onFrame = ({ event }: { event: string }) => event === "token" && resolve();
    server.stream(`/v1/runs/${run}/events`, { onFrame }).catch(reject);
  });
}

/** A conversation that three agents have. */
async function seedHandoffs(make: Make, agentOf: AgentOf) {
  const look = await make("/v1/tools", {
    name: "look_up_payment",
    type: "code",
    language: "javascript",
    description: "Looks up a payment.",
    source: "() => ({ paid: 84.9, card: '…4711' })",
    parameters: { type: "object", properties: { order_id: { type: "string" } } },
  });
  const money = await agentOf(
    "Payments",
    [
      { text: "I look up your payment.", tool_calls: [{ name: "look_up_payment", arguments: { order_id: "4711" } }] },
      { text: "Your **€84.90** are on their way to the card that ends in 4711." },
    ],
    { tools: [look.id], description: "Pays money back." },
  );
  const care = await agentOf(
    "Complaints of the northern region and its islands",
    [{ text: "I am sorry about the mugs.", tool_calls: [{ name: "transfer_to_payments", arguments: {} }] }],
    { handoffs: [{ agent_id: money.id, filter: "no_tool_calls" }], description: "Takes complaints." },
  );
  const frontDesk = await agentOf(
    "Front desk",
    [
      {
        text: "A colleague takes over.",
        tool_calls: [
          {
            name: "transfer_to_complaints_of_the_northern_region_and_its_island",
            arguments: { reason: "Both mugs of order 4711 came broken, and the customer is upset." },
          },
        ],
      },
    ],
    { handoffs: [care.id, { agent_id: money.id, description: "Only for money.", filter: { messages: 20 } }] },
  );
  const thread = await make("/v1/threads", { title: "Broken mugs", user_id: "user_4711" });
  const input = "Both mugs of order 4711 are broken.";
  const run = await make("/v1/runs?wait=20", { agent_id: frontDesk.id, thread_id: thread.id, input });
  await make("/v1/runs?wait=20", { agent_id: money.id, thread_id: thread.id, input: "When does it arrive?" });
  return { handedOver: run.id, team: thread.id, frontDesk: frontDesk.id };
}

/** An agent that searches for its tools. */
async function seedManyTools(make: Make, agentOf: AgentOf) {
  const tools: string[] = [];
  for (const verb of ["create", "find", "list", "print"])
    for (const noun of [
      "invoice",
      "refund",
      "parcel",
      "customer",
      "voucher",
      "supplier",
      "room",
      "report",
      "label",
      "email",
    ]) {
      const parameters = { type: "object", properties: { id: { type: "string" } } };
      const source = "() => ({ done: true })";
      const description = `${verb[0]!.toUpperCase()}${verb.slice(1)}s a ${noun}.`;
      const own = { type: "code", language: "javascript", source, parameters, description };
      tools.push((await make("/v1/tools", { name: `${verb}_${noun}`, ...own })).id);
    }
  const agent = await agentOf(
    "Back office",
    [
      { tool_calls: [{ name: "search_tools", arguments: { query: "pay money back" } }] },
      { tool_calls: [{ name: "search_tools", arguments: { query: "create a refund" } }] },
      { tool_calls: [{ name: "create_refund", arguments: { id: "4711" } }] },
      { text: "The refund is made." },
    ],
    { tools },
  );
  const run = await make("/v1/runs?wait=20", { agent_id: agent.id, input: "Pay order 4711 back." });
  return { searched: run.id, manyTools: agent.id };
}

/** An agent that reads a skill, and a skill with many files and versions. */
async function seedSkills(make: Make, agentOf: AgentOf) {
  const body = "# Letters\n\n1. Say what was decided.\n2. Say why.\n\nThe tone: `references/tone.md`.\n";
  const files = (count: number) =>
    Array.from({ length: count }, (_, index) => ({
      path: `letters/references/${String(index).padStart(3, "0")}-templates-of-the-northern-region.md`,
      content: `# Template ${index}\n\n${story.repeat(5)}\n`,
    }));
  const archive = (count: number, description: string) =>
    zipOf([
      { path: "letters/SKILL.md", content: skillText("letters", description, body) },
      { path: "letters/references/tone.md", content: "# Tone\n\nKind, short, and never in the passive.\n" },
      { path: "letters/scripts/address.py", content: "def address(name: str) -> str:\n    return f'Dear {name},'\n" },
      ...files(count),
    ]).toBase64();
  const skill = await make("/v1/skills", { content_base64: archive(2, "Writes letters to customers.") });
  await make("/v1/skills", {
    content_base64: archive(60, `Writes letters to customers. ${story.repeat(10)}`.slice(0, 1000)),
  });
  const read = (path: string) => ({ name: "read_skill_file", arguments: { name: "letters", path } });
  const agent = await agentOf(
    "Letter writer",
    [
      { tool_calls: [{ name: "load_skill", arguments: { name: "letters" } }] },
      { tool_calls: [read("references/tone.md"), read("references/gone.md")] },
      { text: "Dear Ann,\n\nyou get your money back, because the mugs came broken." },
    ],
    { skills: ["letters"] },
  );
  const run = await make("/v1/runs?wait=20", { agent_id: agent.id, input: "Write to Ann." });
  return { skilled: run.id, largeSkill: skill.id };
}

/** An agent with variables of each type, and a snippet with several versions. */
async function seedVariables(make: Make, agentOf: AgentOf, server: Runnel) {
  const snippet = await make("/v1/snippets", {
    name: "closing_words",
    description: "Ends each letter.",
    text: "End with the name of {{customer}}.",
  });
  for (const text of ["End with {{customer}} and a wish.", `End with {{customer}}. ${story.repeat(20)}`])
    await server.patch(`/v1/snippets/${snippet.id}`, { text });
  const agent = await agentOf("Letters with variables", [{ text: "Dear Ann, it is done." }], {
    instructions: "Write to customers, within {{days}} days. {{> closing_words}}\n\nIs a member: {{member}}.",
    snippets: ["closing_words"],
    variables: [
      { name: "customer", type: "string", required: true, description: "As it is written on the letter." },
      { name: "days", type: "integer", default: 14 },
      { name: "member", type: "boolean", default: false },
      { name: "discount", type: "number" },
      { name: "tone", type: "string", enum: ["kind", "formal"], default: "kind" },
    ],
  });
  const run = await make("/v1/runs?wait=20", {
    agent_id: agent.id,
    input: "Write that the parcel is late.",
    variables: { customer: `Ann ${story.repeat(20)}`.trim(), discount: 0.15, member: true },
  });
  return { filled: run.id, letters: agent.id };
}

/** A trigger with an event of each outcome. */
async function seedEvents(make: Make, agentOf: AgentOf, server: Runnel) {
  const agent = await agentOf("Triage", [{ text: "It is a duplicate of #4." }]);
  const trigger = await make("/v1/triggers", {
    name: "Issues of the shop",
    agent_id: agent.id,
    verification: "github",
    input: "Issue #{{body.issue.number}} by {{body.sender.login}}: {{body.issue.title}}",
    filter: [
      { path: "headers.x-github-event", in: ["issues"] },
      { path: "body.action", in: ["opened", "reopened"] },
    ],
    thread: "body.issue.node_id",
    user: "body.sender.login",
  });
  const send = async (id: string, action: string, more: Json = {}, secret = trigger.secret) => {
    const issue = { number: 7, node_id: "I_7", title: "The teal mug breaks", ...more };
    const body = JSON.stringify({ action, issue, sender: { login: "octocat" } });
    const signature = createHmac("sha256", secret).update(body).digest("hex");
    const headers = {
      "content-type": "application/json",
      "x-github-event": "issues",
      "x-github-delivery": id,
      "x-hub-signature-256": `sha256=${signature}`,
    };
    await server.fetch(new URL(trigger.url).pathname, { method: "POST", headers, body });
  };
  await send("1", "opened");
  await send("1", "opened");
  await send("2", "closed");
  await send("3", "opened", { node_id: "I_8", title: "It came late" });
  await send("4", "opened", {}, "another secret");
  await send("5", "reopened");
  return { events: trigger.id };
}
