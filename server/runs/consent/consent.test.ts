import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { oauthClientId, oauthClientSecret, type OAuthServer, startOAuthServer } from "../../testing/oauth-server.ts";
import { settledRun } from "../../testing/settled-run.ts";
import { type Client, type TestApp, testApp } from "../../testing/test-app.ts";

// biome-ignore lint/suspicious/noExplicitAny: as the API's answers are read in all tests.
type Json = any;

let issuer: OAuthServer;
let app: TestApp;
let client: Client;

beforeAll(async () => {
  issuer = await startOAuthServer();
});
afterAll(() => issuer[Symbol.asyncDispose]());
beforeEach(async () => {
  issuer.callers = [];
  app = testApp({ log: { ...console, warn: console.log, error: (m: string, f: Json) => console.log(m, f?.error?.stack ?? f) } as never });
  client = await app.client();
});

async function post(path: string, body: object): Promise<Json> {
  const { status, body: made } = await client.post(path, body);
  expect({ path, status, made }).toMatchObject({ status: 201 });
  return made;
}

test("x", async () => {
  const oac = await post("/v1/oauth_clients", { name: "GitHub", grant: "authorization_code", per_user: true, issuer: issuer.url, client_id: oauthClientId, client_secret: oauthClientSecret });
  const tool = await post("/v1/tools", { name: "who", type: "http", parameters: { type: "object" }, url: `${issuer.url}/api`, method: "GET", auth: { type: "oauth", oauth_client_id: oac.id } });
  const agent = await post("/v1/agents", { name: "a", model: "test/script", instructions: "", tools: [tool.id], model_settings: { script: [{ tool_calls: [{ name: "who", arguments: {} }] }, { text: "Done." }] } });
  const { body: run } = await client.post("/v1/runs", { agent_id: agent.id, input: "x", user_id: "ada" });
  const waiting = await settledRun(app, client, run.id);
  console.log(JSON.stringify(waiting.required_action, null, 1), waiting.error, waiting.tool_calls);
  const at = new URL(waiting.required_action.url);
  const opened = await app.send("GET", at.pathname);
  console.log(opened.status, opened.headers.get("location"), opened.body);
  const back = await app.send("GET", issuer.consent(opened.headers.get("location")!, "ada"));
  console.log(back.status);
  for (;;) { const r = await settledRun(app, client, run.id); if (r.status !== "requires_action") { console.log(r.status, r.tool_calls, r.output); break; } await Bun.sleep(10); }
  console.log(JSON.stringify((await client.get(`/v1/runs/${run.id}/events?limit=100`)).body.data.map((e: Json) => [e.event, e.data.needs])));
  await app[Symbol.asyncDispose]();
});
