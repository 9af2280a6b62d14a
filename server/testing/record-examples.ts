import { testEvent, webhookEvents } from "../domain/api-types/enums.ts";
import { prefixes } from "../domain/ids.ts";
import { skillText, zipOf } from "./archives.ts";
import { browserAt } from "./consent-browser.ts";
import type { Answer } from "./expect-declared.ts";
import { startMcpServer } from "./mcp-server.ts";
import { type OAuthServer, oauthClientId, oauthClientSecret, startOAuthServer } from "./oauth-server.ts";
import { archiveBody } from "./skills.ts";
import { testActor } from "./test-actor.ts";
import { type TestApp, testApp } from "./test-app.ts";
import { startWebhookReceiver, type WebhookReceiver } from "./webhook-receiver.ts";

/** Answers of a server by operation and status, and its webhook deliveries by event. */
export interface Recorded {
  responses: Record<string, Record<string, unknown>>;
  webhooks: Record<string, unknown>;
}

type Method = "get" | "post" | "put" | "patch" | "delete";
type Json = Answer["body"];
interface Ask {
  /** Sends a request, records the answer and returns it. */
  (method: Method, id: string, path: string, body?: unknown): Promise<Json>;
  /** Resolves once the resource at this path is no longer being processed. */
  ended(path: string): Promise<void>;
}

/**
 * Uses everything in a server's API. Returns the first answer to each operation with each status, and the first webhook
 * delivery of each event. They are complete, but values that differ each time are replaced: ids, secrets, addresses and
 * durations. The clock is the recording's own.
 */
export async function recordExamples(): Promise<Recorded> {
  let time = Date.parse("2026-11-21T09:00:00.000Z");
  const responses: Recorded["responses"] = {};
  await using receiver = startWebhookReceiver();
  await using mcp = startMcpServer();
  await using issuer = await startOAuthServer();
  const failover = {
    cell: "main",
    epoch: 7,
    leader: "runnel-1-5f2c9a01",
    previous_leader: "runnel-2-b81d44e7",
    lease_ended_ms: time - 150,
    led_ms: time,
  };
  await using server = testApp({
    now: () => time,
    publicUrl: "https://runnel.example.com",
    failover,
    egress: ["127.0.0.1"],
  });
  const client = await server.client({ project: "acme" });

  const send = async (method: Method, id: string, path: string, body?: unknown): Promise<Json> => {
    await server.deliverWebhooks(); // Finish the deliveries now, so that they have the time of their cause.
    time += 1000;
    const { status, body: answered } = await client[method](`/v1${path}`, body);
    if (![200, 201, 202].includes(status)) throw new Error(`${id} answered ${status}: ${JSON.stringify(answered)}`);
    responses[id] ??= {};
    responses[id][status] ??= id === "models.list" ? withFewModels(answered) : answered;
    return answered;
  };
  const ask: Ask = Object.assign(send, {
    async ended(path: string) {
      const unfinished = ["queued", "in_progress", "processing", "uploaded"];
      // Poll ever less often: the clock stands still, and with it the window of the rate limit.
      for (let pause_ms = 10; unfinished.includes((await client.get(`/v1${path}`)).body.status); pause_ms *= 1.3)
        await Bun.sleep(pause_ms);
    },
  });

  await ask("post", "webhooks.create", "/webhooks", { url: receiver.url, events: ["*"] });
  const agent = await agents(ask);
  const run = await runs(ask, agent);
  await tools(ask, mcp.url);
  await webhookTool(ask, receiver.url);
  await handoff(ask);
  await threads(ask);
  await memories(ask);
  await schedules(ask, agent.id);
  await triggers(ask, server, agent.id);
  await oauth(ask, server, issuer);
  await scores(ask, run.id);
  await suites(ask, run.id);
  await server.search.catchUp(); // Search shows the newest indexed first, and the import below is the newest.
  await traces(ask, run.id, agent.id);
  await webhooks(ask, receiver.url);
  await users(ask, agent.id); // After the webhooks: a delivery in between would appear in their examples.
  await server.search.catchUp();
  await account(ask, agent.id);
  const chatPage = `/agents/${agent.id}/chat_page`;
  await ask("put", "agents.chat_page.set", chatPage, { access: "link", title: "Ask about the weather" });
  await ask("get", "agents.chat_page.retrieve", chatPage);
  await ask("post", "agents.chat_page.rotate", `${chatPage}/rotate`, {});
  await ask("delete", "agents.chat_page.delete", chatPage);
  await labels(ask, agent.id);
  await ask("delete", "agents.delete", `/agents/${agent.id}`);
  const live = await server.client({ project: "acme", environment: "live" });
  await live.post("/v1/webhooks", { url: "https://127.0.0.1:1/", events: ["cell.failover"] });
  for (const max_total_tokens of [1, null]) {
    await server.projects.update(client.scope.project_id, { budget_per_day: { max_total_tokens } }, testActor);
    time += 1000;
    await server.checkAlerts();
    await server.deliverWebhooks();
  }
  // Webhooks of `live` require HTTPS, which the receiver does not support: take the queued body, which is what it would
  // receive.
  const toLive = server.db.sqlite.query<{ body: string }, []>(
    "SELECT body FROM webhook_deliveries WHERE environment = 'live'",
  );
  return lasting({
    responses,
    webhooks: await heardBy(
      receiver,
      toLive.all().map(({ body }) => JSON.parse(body)),
    ),
  });
}

/** Creates an agent that asks a client tool for the weather and reports it. */
async function agents(ask: Ask): Promise<Json> {
  const parameters = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
  const tool = await ask("post", "tools.create", "/tools", {
    name: "get_weather",
    type: "client",
    description: "The weather in a city.",
    parameters,
  });
  const script = [
    { tool_calls: [{ name: "get_weather", arguments: { city: "Oslo" } }] },
    { text: "It is 21 degrees in Oslo." },
  ];
  const agent = await ask("post", "agents.create", "/agents", {
    name: "weather",
    instructions: "Answer in one sentence.",
    model: "test/script",
    model_settings: { script },
    tools: [tool.id],
  });
  await ask("get", "agents.list", "/agents");
  await ask("get", "agents.retrieve", `/agents/${agent.id}`);
  await ask("patch", "agents.update", `/agents/${agent.id}`, { description: "Knows the weather." });
  await ask("get", "agents.versions.list", `/agents/${agent.id}/versions`);
  await ask("get", "agents.versions.retrieve", `/agents/${agent.id}/versions/1`);
  const greeter = { instructions: "Greet.", model: "test/echo" };
  await ask("put", "agents.sync", "/agents/by-name/greeter?dry_run=true", greeter);
  return agent;
}

/** Releases a version to a tenth of the users, and takes it back; another one is taken back by its failed run. */
async function labels(ask: Ask, agent_id: string): Promise<void> {
  const label = `/agents/${agent_id}/labels/production`;
  await ask("put", "agents.labels.set", label, { version: 1 });
  const split = [
    { version: 1, percent: 90 },
    { version: 2, percent: 10 },
  ];
  await ask("put", "agents.labels.set", label, { split, rollback_on: { failure_rate: 0.2 } });
  await ask("get", "agents.labels.retrieve", label);
  await ask("get", "agents.labels.list", `/agents/${agent_id}/labels`);
  await ask("get", "agents.labels.report.retrieve", `${label}/report`);
  await ask("post", "agents.labels.rollback", `${label}/rollback`, { expected_revision: 2 });
  const script = [{ error: "The model is out of order." }];
  const { version } = await ask("patch", "agents.update", `/agents/${agent_id}`, { model_settings: { script } });
  await ask("put", "agents.labels.set", label, { version, rollback_on: { failure_rate: 0.2, min_runs: 1 } });
  await ask("post", "runs.create", "/runs?wait=30", { agent_id, label: "production", input: "Hi." });
  await ask("get", "agents.labels.revisions.list", `${label}/revisions`);
  await ask("delete", "agents.labels.delete", label);
}

/** Creates a run that is answered, one that is cancelled and one that is forked. */
async function runs(ask: Ask, agent: Json): Promise<Json> {
  const asked = { agent_id: agent.id, input: "How is the weather in Oslo?" };
  const run = await ask("post", "runs.create", "/runs?wait=30", asked);
  await ask("get", "approvals.list", "/approvals");
  await ask("post", "runs.steer", `/runs/${run.id}/messages`, { role: "user", content: "In Fahrenheit, please." });
  const tool_outputs = [{ tool_call_id: run.tool_calls[0].id, output: { celsius: 21 } }];
  await ask("post", "runs.submit_tool_outputs", `/runs/${run.id}/submit_tool_outputs`, { tool_outputs });
  await ask.ended(`/runs/${run.id}`);
  await ask("get", "runs.retrieve", `/runs/${run.id}`);
  await ask("get", "runs.list", "/runs");
  await ask("get", "runs.events.list", `/runs/${run.id}/events`);
  const other = await ask("post", "runs.create", "/runs?wait=30", asked);
  await ask("post", "runs.cancel", `/runs/${other.id}/cancel`, { reason: "No longer needed." });
  const third = await ask("post", "runs.create", "/runs?wait=30", asked);
  await ask("post", "runs.pause", `/runs/${third.id}/pause`, { reason: "The address is checked first." });
  const third_outputs = [{ tool_call_id: third.tool_calls[0].id, output: { celsius: 20 } }];
  await ask("post", "runs.submit_tool_outputs", `/runs/${third.id}/submit_tool_outputs`, {
    tool_outputs: third_outputs,
  });
  await ask("post", "runs.resume", `/runs/${third.id}/resume`, {});
  await ask.ended(`/runs/${third.id}`);
  const fork = await ask("post", "runs.fork", `/runs/${run.id}/fork?wait=30`, { step_index: 2 });
  await ask.ended(`/runs/${fork.id}`);
  await ask("get", "runs.diff", `/runs/${run.id}/diff/${fork.id}`);
  await ask("post", "runs.replay", `/runs/${run.id}/replay`, { mode: "strict" });
  await ask("delete", "runs.delete", `/runs/${other.id}`);
  return run;
}

async function tools(ask: Ask, server_url: string): Promise<void> {
  const source = "(args) => args.a + args.b";
  const tool = await ask("post", "tools.create", "/tools", { name: "add", type: "code", source });
  await ask("put", "tools.sync", "/tools/by-name/add", { type: "code", source });
  await ask("post", "tools.import", "/tools/import", { document: petDocument, dry_run: true });
  await ask("get", "tools.list", "/tools");
  await ask("get", "tools.retrieve", `/tools/${tool.id}`);
  await ask("patch", "tools.update", `/tools/${tool.id}`, { description: "Adds two numbers." });
  await ask("post", "tools.test", `/tools/${tool.id}/test`, { arguments: { a: 1, b: 2 } });
  const mcp = await ask("post", "tools.create", "/tools", {
    name: "files",
    type: "mcp",
    server_url,
    allowed_tools: ["add"],
  });
  await ask("post", "tools.refresh", `/tools/${mcp.id}/refresh`, {});
  await ask("get", "tools.catalog.list", "/tools/catalog");
  await ask("post", "tools.catalog.add", "/tools/catalog/fetch_page", {
    settings: { allowed_hosts: "docs.example.com, *.example.org" },
  });
  await ask("delete", "tools.delete", `/tools/${tool.id}`);
  await snippets(ask);
  const archive = zipOf([{ path: "forecasts/SKILL.md", content: skillText("forecasts", "Explains forecasts.") }]);
  const skill = await ask("post", "skills.create", "/skills", archiveBody(archive));
  await ask("post", "skills.create", "/skills", archiveBody(archive));
  await ask("get", "skills.list", "/skills");
  await ask("get", "skills.retrieve", `/skills/${skill.id}`);
  await ask("get", "skills.versions.list", `/skills/${skill.id}/versions`);
  await ask("get", "skills.versions.retrieve", `/skills/${skill.id}/versions/1`);
  await ask("delete", "skills.delete", `/skills/${skill.id}`);
  await ask("put", "secrets.set", "/secrets/WEATHER_KEY", { value: "s3cret" });
  await ask("get", "secrets.list", "/secrets");
  await ask("get", "secrets.retrieve", "/secrets/WEATHER_KEY");
  await ask("delete", "secrets.delete", "/secrets/WEATHER_KEY");
}

const petDocument = `openapi: 3.1.0
info: {title: Pets, version: "1"}
servers: [{url: "https://api.example.com/v1"}]
paths:
  /pets/{id}:
    get:
      operationId: getPet
      summary: Returns a pet
      parameters: [{name: id, in: path, required: true, schema: {type: integer}}]
`;

/** Creates, reads, changes and deletes a snippet. */
async function snippets(ask: Ask): Promise<void> {
  const text = "Refunds are possible within 14 days.";
  const { id } = await ask("post", "snippets.create", "/snippets", { name: "refund_policy", text });
  const path = `/snippets/${id}`;
  await ask("get", "snippets.list", "/snippets");
  await ask("get", "snippets.retrieve", path);
  await ask("patch", "snippets.update", path, { text: "Refunds are possible within 30 days." });
  await ask("get", "snippets.versions.list", `${path}/versions`);
  await ask("get", "snippets.versions.retrieve", `${path}/versions/1`);
  await ask("delete", "snippets.delete", path);
}

/** Creates a run that one agent hands over to another. */
async function handoff(ask: Ask): Promise<void> {
  const refunds = { name: "Refund desk", instructions: "Handle refunds.", model: "test/echo" };
  const { id } = await ask("post", "agents.create", "/agents", refunds);
  const script = [{ tool_calls: [{ name: "transfer_to_refund_desk", arguments: { reason: "A refund." } }] }];
  const desk = { name: "Front desk", instructions: "Hand over.", model: "test/script", model_settings: { script } };
  const { id: agent_id } = await ask("post", "agents.create", "/agents", { ...desk, handoffs: [id] });
  await ask("post", "runs.create", "/runs?wait=60", { agent_id, input: "I want my money back." });
}

/** Creates a run whose webhook tool answers immediately. */
async function webhookTool(ask: Ask, url: string): Promise<void> {
  const tool = await ask("post", "tools.create", "/tools", { name: "book_visit", type: "webhook", url });
  const script = [{ tool_calls: [{ name: "book_visit", arguments: { day: "2026-11-23" } }] }, { text: "Booked." }];
  const agent = await ask("post", "agents.create", "/agents", {
    name: "booking",
    instructions: "Book visits.",
    model: "test/script",
    model_settings: { script },
    tools: [tool.id],
  });
  await ask("post", "runs.create", "/runs?wait=30", { agent_id: agent.id, input: "Monday, please." });
}

async function threads(ask: Ask): Promise<void> {
  const thread = await ask("post", "threads.create", "/threads", { title: "Opening hours", user_id: "user-42" });
  const path = `/threads/${thread.id}`;
  await ask("post", "threads.messages.create", `${path}/messages`, { role: "user", content: "When are you open?" });
  await ask("get", "threads.messages.list", `${path}/messages`);
  await ask("get", "threads.list", "/threads");
  await ask("get", "threads.retrieve", path);
  await ask("patch", "threads.update", path, { title: "Opening hours of the shop" });
  await ask("delete", "threads.delete", path);
}

async function memories(ask: Ask): Promise<void> {
  const text = "We are open from nine to five, and closed on Sundays.";
  const embedding = { model: "builtin/use-lite-512" }; // Every build has this model.
  const memory = await ask("post", "memory.create", "/memory", { name: "handbook", kind: "vector", embedding });
  const path = `/memory/${memory.id}`;
  const upload = { filename: "hours.txt", text, purpose: "retrieval", memory_id: memory.id };
  const file = await ask("post", "files.create", "/files", upload);
  await ask.ended(`/files/${file.id}`);
  await ask("get", "files.list", "/files");
  await ask("get", "files.retrieve", `/files/${file.id}`);
  await ask("get", "files.chunks.list", `/files/${file.id}/chunks`);
  const broken = await ask("post", "files.create", "/files", {
    filename: "broken.pdf",
    purpose: "retrieval",
    content_base64: Buffer.from("%PDF-1.7\n").toString("base64"),
  });
  await ask.ended(`/files/${broken.id}`);
  await ask("post", "files.retry", `/files/${broken.id}/retry`, {});
  // Wait for the end: unfinished work would be delivered to webhooks at the time of a later request.
  await ask.ended(`/files/${broken.id}`);
  const entry = await ask("post", "memory.entries.create", `${path}/entries`, { text: "Oslo has a shop, too." });
  await ask.ended(`${path}/entries/${entry.id}`); // Wait for the entry: all indexed entries affect each score.
  await ask("post", "memory.search", `${path}/search`, { query: "open on Sundays" });
  await ask("get", "memory.entries.list", `${path}/entries`);
  await ask("get", "memory.entries.retrieve", `${path}/entries/${entry.id}`);
  await ask("patch", "memory.entries.update", `${path}/entries/${entry.id}`, { text: "Bergen has a shop, too." });
  await ask.ended(`${path}/entries/${entry.id}`);
  await ask("delete", "memory.entries.delete", `${path}/entries/${entry.id}`);
  const notes = await ask("post", "memory.create", "/memory", { name: "notes", kind: "kv" });
  await ask("put", "memory.keys.set", `/memory/${notes.id}/keys/language`, { value: { spoken: "en" } });
  await ask("get", "memory.keys.list", `/memory/${notes.id}/keys`);
  await ask("get", "memory.keys.retrieve", `/memory/${notes.id}/keys/language`);
  await ask("delete", "memory.keys.delete", `/memory/${notes.id}/keys/language`);
  await ask("get", "memory.list", "/memory");
  await ask("get", "memory.retrieve", path);
  await ask("patch", "memory.update", path, { name: "handbook of the shop" });
  await ask("delete", "files.delete", `/files/${file.id}`);
  await ask("delete", "memory.delete", path);
}

async function schedules(ask: Ask, agent_id: string): Promise<void> {
  const plan = {
    name: "morning",
    agent_id,
    input: "How is the weather in Oslo?",
    cron: "0 9 * * *",
    timezone: "Europe/Oslo",
  };
  const schedule = await ask("post", "schedules.create", "/schedules", plan);
  const path = `/schedules/${schedule.id}`;
  await ask("get", "schedules.list", "/schedules");
  await ask("get", "schedules.retrieve", path);
  const run = await ask("post", "schedules.trigger", `${path}/trigger`, {});
  await ask.ended(`/runs/${run.id}`);
  await ask("get", "schedules.runs.list", `${path}/runs`);
  await ask("patch", "schedules.update", path, { cron: "0 8 * * 1-5" });
  await ask("delete", "schedules.delete", path);
}

async function oauth(ask: Ask, { app }: Pick<TestApp, "app">, issuer: OAuthServer): Promise<void> {
  const client = await ask("post", "oauth_clients.create", "/oauth_clients", {
    name: "Calendar",
    grant: "authorization_code",
    per_user: true,
    issuer: issuer.url,
    client_id: oauthClientId,
    client_secret: oauthClientSecret,
    scopes: ["calendar.read"],
  });
  const path = `/oauth_clients/${client.id}`;
  await ask("get", "oauth_clients.list", "/oauth_clients");
  await ask("get", "oauth_clients.retrieve", path);
  await ask("patch", "oauth_clients.update", path, { scopes: ["calendar.read", "calendar.write"] });
  const { url } = await ask("post", "oauth_clients.authorize", `${path}/authorize`, { user_id: "ada" });
  const browser = browserAt({ app });
  await browser.visit(issuer.consent(await browser.open(url), "ada"));
  const { data } = await ask("get", "oauth_grants.list", "/oauth_grants");
  await ask("get", "oauth_grants.retrieve", `/oauth_grants/${data[0].id}`);
  await ask("delete", "oauth_grants.delete", `/oauth_grants/${data[0].id}`);
  await ask("delete", "oauth_clients.delete", path);
}

async function triggers(ask: Ask, { app }: Pick<TestApp, "app">, agent_id: string): Promise<void> {
  const trigger = await ask("post", "triggers.create", "/triggers", {
    name: "issues",
    agent_id,
    verification: "github",
    input: "Triage {{body.issue.title}}",
    filter: [{ path: "body.action", in: ["opened"] }],
    thread: "body.issue.number",
  });
  const path = `/triggers/${trigger.id}`;
  await ask("get", "triggers.list", "/triggers");
  await ask("get", "triggers.retrieve", path);
  const body = JSON.stringify({ action: "closed" });
  const signature = new Bun.CryptoHasher("sha256", trigger.secret).update(body).digest("hex");
  const headers = { "content-type": "application/json", "x-hub-signature-256": `sha256=${signature}` };
  await app.handle(new Request(trigger.url, { method: "POST", headers, body }));
  await ask("get", "triggers.deliveries.list", `${path}/deliveries`);
  await ask("patch", "triggers.update", path, { on_missing: "reject" });
  await ask("post", "triggers.rotate_secret", `${path}/rotate_secret`, { overlap_seconds: 3600 });
  await ask("delete", "triggers.delete", path);
}

async function scores(ask: Ask, run_id: string): Promise<void> {
  const score = await ask("put", "runs.scores.set", `/runs/${run_id}/scores/correct`, {
    value: 1,
    comment: "Sourced.",
  });
  await ask("get", "scores.list", "/scores");
  await ask("delete", "scores.delete", `/scores/${score.id}`);
}

async function suites(ask: Ask, run_id: string): Promise<void> {
  const suite = await ask("post", "suites.create", "/suites", { name: "weather", run_ids: [run_id] });
  const path = `/suites/${suite.id}`;
  const done = await ask("post", "suites.runs.create", `${path}/runs?wait=30`, {});
  await ask("get", "suites.runs.list", `${path}/runs`);
  await ask("get", "suites.runs.retrieve", `${path}/runs/${done.id}`);
  await ask("post", "suites.runs.cancel", `${path}/runs/${done.id}/cancel`, {});
  await ask("get", "suites.list", "/suites");
  await ask("get", "suites.retrieve", path);
  await ask("patch", "suites.update", path, { description: "What the agent must go on to say." });
  await ask("delete", "suites.delete", path);
}

async function traces(ask: Ask, run_id: string, agent_id: string): Promise<void> {
  await ask("get", "traces.list", "/traces");
  await ask("get", "traces.retrieve", `/traces/${run_id}`);
  await ask("post", "traces.import", "/traces", await ask("get", "traces.retrieve", `/traces/${run_id}?include=raw`));
  const { id } = await ask("post", "runs.create", "/runs?wait=30", { agent_id, input: "And in Bergen?" });
  await ask("post", "runs.cancel", `/runs/${id}/cancel`, {});
  await ask("delete", "traces.delete", `/traces/${id}`);
}

async function users(ask: Ask, agent_id: string): Promise<void> {
  await ask("post", "runs.create", "/runs?wait=30", { agent_id, input: "And in Bergen?", user_id: "user-42" });
  const { id } = await ask("delete", "users.data.delete", "/users/user-42/data");
  await ask.ended(`/erasures/${id}`);
  await ask("get", "erasures.retrieve", `/erasures/${id}`);
  await ask("get", "erasures.list", "/erasures");
  await ask("delete", "users.data.delete", "/users/user-42/data?wait=30");
}

async function webhooks(ask: Ask, url: string): Promise<void> {
  const webhook = await ask("post", "webhooks.create", "/webhooks", { url, events: ["run.completed", "run.failed"] });
  const path = `/webhooks/${webhook.id}`;
  const delivery = await ask("post", "webhooks.test", `${path}/test`, {});
  await ask("get", "webhooks.deliveries.list", `${path}/deliveries`);
  await ask("get", "webhooks.deliveries.retrieve", `${path}/deliveries/${delivery.id}`);
  await ask("post", "webhooks.deliveries.redeliver", `${path}/deliveries/${delivery.id}/redeliver`, {});
  await ask("post", "webhooks.redeliver", `${path}/redeliver`, { since: "2026-11-21T00:00:00Z" });
  await ask("get", "webhooks.list", "/webhooks");
  await ask("get", "webhooks.retrieve", path);
  await ask("patch", "webhooks.update", path, { description: "Tells the shop." });
  await ask("post", "webhooks.rotate_secret", `${path}/rotate_secret`, { overlap_seconds: 3600 });
  await ask("delete", "webhooks.delete", path);
}

/** The list of models is long: these have all fields. */
const withFewModels = ({ data, ...list }: Json): Json => ({
  ...list,
  data: data.filter(({ id }: Json) => /^(anthropic\/claude-sonnet-4-5|openai\/gpt-5\.4|test\/echo)$/.test(id)),
});

async function account(ask: Ask, agent_id: string): Promise<void> {
  const key = await ask("post", "api_keys.create", "/api_keys", { name: "shop", scopes: ["run"] });
  const path = `/api_keys/${key.id}`;
  await ask("get", "api_keys.list", "/api_keys");
  await ask("get", "api_keys.retrieve", path);
  await ask("patch", "api_keys.update", path, { name: "shop in Oslo" });
  const { id } = await ask("post", "api_keys.rotate", `${path}/rotate`, { overlap_seconds: 3600 });
  await ask("delete", "api_keys.revoke", `/api_keys/${id}`);
  await ask("post", "client_tokens.create", "/client_tokens", {
    agent_id,
    user_id: "user-42",
    scopes: ["run"],
    expires_in_seconds: 600,
  });
  await ask("get", "audit_log.list", "/audit_log?limit=2");
  await ask("get", "usage.retrieve", "/usage?group_by=agent");
  await ask("get", "search.list", "/search?q=weather&limit=2");
  await ask("get", "analytics.retrieve", "/analytics?group_by=tool");
  await ask("get", "runs.count", "/runs/count?status=completed");
  await ask("get", "models.list", "/models");
  await ask("get", "me.retrieve", "/me");
}

/** Returns the first delivery of each event, and of each call of a webhook tool. */
async function heardBy({ received, heard }: WebhookReceiver, more: Json[]): Promise<Recorded["webhooks"]> {
  const wanted = [...webhookEvents, testEvent, "tool_call"];
  const first = (): Map<string, Json> => {
    const bodies: Json[] = [...received.map(({ body }) => JSON.parse(body)), ...more].sort((a, b) =>
      a.id < b.id ? 1 : -1,
    );
    return new Map(bodies.map((body) => [body.type ?? body.object, body]));
  };
  while (wanted.some((event) => !first().has(event))) await heard(received.length + 1);
  return Object.fromEntries(wanted.map((event) => [event, first().get(event)]));
}

const idPattern = new RegExp(`\\b(${Object.values(prefixes).join("|")})_([0-9a-z]{26})\\b`, "g");

/** Fields whose values differ each time, and their replacements. */
const replaced: Record<string, unknown> = {
  average_ms: 40,
  date: "Sat, 21 Nov 2026 09:00:00 GMT",
  duration_ms: 40,
  input_hash: "255ba57a524ab0923ac69ce329f419654409dcdf1bb3d9221cb272f38a3d6ec8",
  last4: "x7q2",
  latency_ms: 40,
  recorded_ms: 2000,
  remaining: 117,
  reset: Date.parse("2026-11-21T09:01:00.000Z") / 1000,
  time_to_first_token_ms: 10,
  token: "<shown only once>",
  secret: "<shown only once>",
  "webhook-signature": "v1,s7WcKWXskhFfbfa26KLfDYHZBCqqU+i1PXlS7gVx4cs=",
};

/** Replaces the values that differ each time; ids are numbered in the order of their appearance. */
function lasting(recorded: Recorded): Recorded {
  const known = new Map<string, string>();
  const text = JSON.stringify(recorded)
    .replace(idPattern, (_, prefix: string, own: string) => {
      if (!known.has(own)) known.set(own, `01k6w3v5r8d2f9h1j4m7n0${String(known.size + 1).padStart(4, "0")}`);
      return `${prefix}_${known.get(own)}`;
    })
    .replace(/http:\/\/127\.0\.0\.1:\d+/g, "https://example.com")
    .replace(/(?<=\/callbacks\/[\w.]+\.)[\w-]{43}/g, "WEJ6LtG81Y1JxvpZlSZXNAhym0Q5oG45tAUtu-wSx6o")
    .replace(/(?<=\/oauth\/consent\/)[\w-]{43}/g, "oUJzKz1fD0yQm3bW7vTn5XcR2sLe8HpGi4kAaYwZtNE")
    .replace(/(?<=\/chat\/agt_\w+#)[\w-]{43}/g, "q0kQ5tYvXn3mE1rB8uJ2wLZ7cHs4dFgaKpOiRyTzUeM")
    .replace(/\b(sk_test|whsec)_[\w+/]{4}(?![\w+/])/g, "$1_x7q2");
  return JSON.parse(text, function (this: object, field: string, value: unknown) {
    // This field follows the worker's clock.
    if (field === "expires_at" && "arguments" in this) return "2026-11-24T09:00:00.000Z";
    if (!(field in replaced) || value === null) return value;
    const stands = replaced[field];
    return typeof value === "object" ? Object.fromEntries(Object.keys(value).map((key) => [key, stands])) : stands;
  });
}
