import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Role, roles } from "../domain/api-types/enums.ts";
import { skillText, zipOf } from "../testing/archives.ts";
import { asPage, type ConsoleVisitor, visitorOf, visitorPassword } from "../testing/console-visitor.ts";
import { type OAuthServer, oauthClientId, oauthClientSecret, startOAuthServer } from "../testing/oauth-server.ts";
import { testApp } from "../testing/test-app.ts";
import { startWebhookReceiver } from "../testing/webhook-receiver.ts";

// Everything that people read at the dashboard: every GET route, for a project with every kind of credential. A new
// route fails until the test requests it.

const server = testApp({ dashboard: true });
const receiver = startWebhookReceiver(
  ({ body }) => new Response(null, { status: body.includes("callback_url") ? 202 : 200 }),
);
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await receiver[Symbol.asyncDispose]();
});

let issuer: OAuthServer;
afterAll(() => issuer[Symbol.asyncDispose]());

const visitors = {} as Record<Role, ConsoleVisitor>;
/** Credentials by name. */
const secrets: Record<string, string> = {};
/** Ids by the resource and the parameter, such as `agents :id`. */
const ids: Record<string, string> = {};
let base: string;

beforeAll(async () => {
  issuer = await startOAuthServer();
  for (const role of roles) visitors[role] = await visitorOf(server, role);
  const projectId = (await server.projects.create("default")).id;
  base = `/${projectId}/test`;
  const must = async (role: Role, method: string, path: string, body?: unknown) => {
    const answer = await visitors[role].send(method, path, body);
    expect([path, answer.status, answer.body.error ?? null]).toEqual([path, expect.any(Number), null]);
    return answer.body;
  };
  const make = (path: string, body: unknown = {}) => must("member", "POST", `${base}${path}`, body);
  const put = (path: string, body: unknown) => must("member", "PUT", `${base}${path}`, body);

  secrets.connection = "sk-canary-of-the-connection";
  await must("owner", "POST", "/connections", { name: "openai", api_key: secrets.connection });
  secrets.invitation = (
    await must("owner", "POST", "/invitations", { email: "new@example.com", role: "viewer" })
  ).token;
  secrets.authenticator = (await must("member", "POST", "/account/totp", { password: visitorPassword })).secret;
  for (const role of roles) secrets[`session of a ${role}`] = visitors[role].cookie.split("=")[1]!;
  const stored = server.db.sqlite.query<{ password_hash: string }, []>("SELECT password_hash FROM users").all();
  for (const [index, { password_hash }] of stored.entries()) secrets[`password ${index}`] = password_hash;

  secrets.named = "canary-of-the-named-secret";
  await put("/secrets/TOKEN", { value: secrets.named });
  const key = await make("/api_keys", { name: "backend", scopes: ["admin"] });
  secrets.key = key.secret;
  secrets["rotated key"] = (await make(`/api_keys/${key.id}/rotate`)).secret;
  const webhook = await make("/webhooks", { url: receiver.url, events: ["run.completed"] });
  secrets.webhook = webhook.secret;
  secrets["rotated webhook"] = (await make(`/webhooks/${webhook.id}/rotate_secret`)).secret;
  const headers = { authorization: "Bearer {{secret.TOKEN}}" };
  const http = await make("/tools", { name: "look", type: "http", url: `${receiver.url}/look`, headers });
  const hook = await make("/tools", { name: "book", type: "webhook", url: `${receiver.url}/book` });
  secrets["webhook tool"] = hook.signing_secret;

  const model = { model: "test/script", instructions: "" };
  const model_settings = { script: [{ tool_calls: [{ name: "look", arguments: {} }] }, { text: "Done." }] };
  const agent = await make("/agents", { ...model, name: "Clerk", model_settings, tools: [http.id, hook.id] });
  const calls = { script: [{ tool_calls: [{ name: "book", arguments: {} }] }, { text: "Done." }] };
  const waiting = await make("/agents", { ...model, name: "Waits", model_settings: calls, tools: [hook.id] });
  secrets["chat page"] = (await put(`/agents/${agent.id}/chat_page`, { access: "link" })).url.split("#")[1];
  const thread = await make("/threads", { title: "t", user_id: "ada" });
  const run = await make("/runs?wait=60", { agent_id: agent.id, input: "Go.", thread_id: thread.id });
  const other = await make("/runs?wait=60", { agent_id: agent.id, input: "Go." });
  expect([run.status, other.status]).toEqual(["completed", "completed"]);
  await make("/runs", { agent_id: waiting.id, input: "Go." });
  await server.deliverWebhooks();
  const isCall = ({ body }: { body: string }) => body.includes("callback_url");
  for (let count = 1; !receiver.received.some(isCall); count++) await receiver.heard(count);
  const call = JSON.parse(receiver.received.find(isCall)!.body);
  secrets.callback = new URL(call.callback_url).pathname.split("/")[2]!;

  const memory = await make("/memory", { name: "m", kind: "vector" });
  const entry = await make(`/memory/${memory.id}/entries`, { text: "Oslo" });
  const kv = await make("/memory", { name: "kv", kind: "kv" });
  await put(`/memory/${kv.id}/keys/city`, { value: "Oslo" });
  const file = await make("/files", { filename: "a.txt", text: "Oslo", purpose: "code_interpreter" });
  const suite = await make("/suites", { name: "s", run_ids: [run.id] });
  const suiteRun = await make(`/suites/${suite.id}/runs`);
  const daily = { name: "s", input: "Go.", cron: "0 9 * * *", timezone: "Europe/Berlin" };
  const schedule = await make("/schedules", { ...daily, agent_id: agent.id });
  const trigger = await make("/triggers", { name: "t", agent_id: agent.id, verification: "github" });
  secrets.trigger = trigger.secret;
  const registered = {
    name: "o",
    grant: "client_credentials",
    client_id: oauthClientId,
    client_secret: oauthClientSecret,
  };
  const oauthClient = await make("/oauth_clients", { ...registered, issuer: issuer.url });
  secrets["OAuth client"] = oauthClientSecret;
  await server.oauth.get({ project_id: projectId, environment: "test" }, oauthClient.id, null);
  secrets["OAuth token"] = issuer.issued()[0]!;
  const [oauthGrant] = (await must("member", "GET", `${base}/oauth_grants`)).data;
  const snippet = await make("/snippets", { name: "policy", text: "Within 14 days." });
  const archive = zipOf([{ path: "letters/SKILL.md", content: skillText("letters", "Says how.") }]);
  const skill = await make("/skills", { content_base64: archive.toBase64() });
  await put(`/agents/${agent.id}/labels/production`, { version: 1 });
  await put(`/runs/${run.id}/scores/right`, { value: 1 });
  const erasure = await must("member", "DELETE", `${base}/users/grace/data?wait=60`);
  const [delivery] = (await must("member", "GET", `${base}/webhooks/${webhook.id}/deliveries`)).data;
  Object.assign(ids, {
    "agents :id": agent.id,
    "agents :version": "1",
    "agents :label": "production",
    "snippets :id": snippet.id,
    "snippets :version": "1",
    "skills :id": skill.id,
    "skills :version": "1",
    "tools :id": hook.id,
    "secrets :name": "TOKEN",
    "files :id": file.id,
    "runs :id": run.id,
    "runs :other_id": other.id,
    "traces :run_id": run.id,
    "threads :id": thread.id,
    "memory :id": memory.id,
    "memory :entry_id": entry.id,
    "memory :key": "city",
    "schedules :id": schedule.id,
    "triggers :id": trigger.id,
    "oauth_clients :id": oauthClient.id,
    "oauth_grants :id": oauthGrant.id,
    "suites :id": suite.id,
    "suites :suite_run_id": suiteRun.id,
    "api_keys :id": key.id,
    "webhooks :id": webhook.id,
    "webhooks :delivery_id": delivery.id,
    call: call.id,
    "kv :id": kv.id,
    "users :id": "ada",
    "erasures :id": erasure.id,
    "projects :id": projectId,
  });
  for (const [name, secret] of Object.entries(secrets)) expect([name, secret.length > 15]).toEqual([name, true]);
});

const inProject = "/:project_id/:environment";
const routes = server.routes().flatMap(({ method, path }) => (method === "GET" ? [path.replace(/\/$/, "")] : []));
const prefix = "/console/api";
/** A redirect, a file, a picture, and the status of a cluster that does not exist here. */
const others = new Set(["/oidc/callback", "/backups/:id", `${inProject}/files/:id/pages/:number`, "/cluster"]);
const shown = routes.flatMap((path) => {
  const address = path.slice(prefix.length);
  return path.startsWith(prefix) && !others.has(address) ? [address] : [];
});

const queries: Record<string, string> = {
  [`${inProject}/search`]: "?q=Oslo",
  [`${inProject}/skills/:id/versions/:version/content`]: "?path=SKILL.md",
};
const keyRoutes = /\/memory\/:id\/keys/;

function addressOf(route: string): string {
  const path = route.replace(inProject, base);
  const [, resource = ""] = /^\/([a-z_]+)/.exec(route.replace(inProject, "")) ?? [];
  if (route.endsWith("/runs/of/:id")) return path.replace(":id", ids.call!);
  const filled = path.replaceAll(/:\w+/g, (parameter) => {
    if (parameter === ":id" && keyRoutes.test(route)) return ids["kv :id"]!;
    return ids[`${resource} ${parameter}`] ?? "none";
  });
  return `${filled}${queries[route] ?? ""}`;
}

/** Reads the available part of a response: the stream of all runs never ends. */
async function read(role: Role, route: string): Promise<{ status: number; text: string }> {
  const { cookie } = visitors[role];
  const headers = { host: "localhost", cookie, "x-runnel-console": "1", "sec-fetch-site": "same-origin" };
  const response = await server.app.handle(new Request(`http://localhost${prefix}${addressOf(route)}`, { headers }));
  if (!route.endsWith("/runs/live")) return { status: response.status, text: await response.text() };
  const reader = response.body!.getReader();
  const { value } = await reader.read();
  await reader.cancel();
  return { status: response.status, text: new TextDecoder().decode(value) };
}

/** Secrets that a role may read, by route: only those that give it no further rights. */
const readable: Record<string, { secret: string; least: Role }> = {
  [`${inProject}/agents/:id/chat_page`]: { secret: "chat page", least: "member" },
};

test.each(shown)("GET %s shows no secret to a role that may not act with it", async (route) => {
  const found: string[] = [];
  let seen = 0;
  for (const role of roles) {
    const { status, text } = await read(role, route);
    expect([role, [200, 403].includes(status)]).toEqual([role, true]);
    if (status === 200) seen++;
    for (const [name, secret] of Object.entries(secrets)) if (text.includes(secret)) found.push(`${role}: ${name}`);
  }
  expect(seen).toBeGreaterThan(0);
  const expected = readable[route];
  const may = roles.slice(roles.indexOf(expected?.least ?? "owner"));
  expect(found).toEqual(expected ? may.map((role) => `${role}: ${expected.secret}`) : []);
});

test("a stranger reads nothing of a project", async () => {
  for (const route of shown.filter((one) => one.startsWith(inProject)))
    expect([route, (await asPage(server)("GET", addressOf(route))).status]).toEqual([route, 401]);
});
