import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { runForVisitor } from "../../domain/api-types/redact-for-visitors.ts";
import { silentLog } from "../../lib/log.ts";
import type { AccessTokens } from "../../resources/oauth/access-tokens.ts";
import type { Journal } from "../../storage/journal/journal.ts";
import { callsOnce, createConsentWorld, pathOf } from "../../testing/consents.ts";
import { type OAuthServer, startOAuthServer } from "../../testing/oauth-server.ts";
import { type Client, testApp } from "../../testing/test-app.ts";

import type { ConsentLinks } from "./consent-links.ts";
import { createConsents } from "./consents.ts";

// biome-ignore lint/suspicious/noExplicitAny: as the API's answers are read in all tests.
type Json = any;

let issuer: OAuthServer;
beforeAll(async () => {
  issuer = await startOAuthServer();
});
afterAll(() => issuer[Symbol.asyncDispose]());
beforeEach(() => {
  issuer.callers = [];
});

const masterKey = crypto.getRandomValues(new Uint8Array(32));

async function startWorld(options: Parameters<typeof testApp>[0] = {}) {
  const app = testApp({ masterKey, ...options });
  const client = await app.client();
  const world = createConsentWorld(app, client, issuer);
  const github = await world.oauthClient("GitHub");
  const who = await world.whoTool("who", github.id);
  const asker = await world.agent(callsOnce("who"), [who.id]);
  return {
    ...world,
    app,
    client,
    github,
    who,
    asker,
    /** Starts a run that waits for this user. */
    async waiting(user_id: string | null = "ada", more: object = {}): Promise<Json> {
      return world.settled((await world.run(asker, user_id, more)).id);
    },
    [Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
  };
}

test("a run without its user's token waits, is not called, and goes on by itself after the consent", async () => {
  await using world = await startWorld();
  const run = await world.waiting();
  expect(run).toMatchObject({
    status: "requires_action",
    required_action: {
      type: "authorization",
      oauth_client_id: world.github.id,
      name: "GitHub",
      user_id: "ada",
      tool_calls: [{ name: "who", needs: "authorization" }],
      authorizations: [{ oauth_client_id: world.github.id }],
      submit_tool_outputs: { tool_calls: [] },
    },
    tool_calls: [{ status: "awaiting_authorization", output: null }],
  });
  expect(issuer.callers).toEqual([]);
  await world.consent(run.required_action.url, "ada@github");
  expect(await world.ended(run.id)).toMatchObject({
    status: "completed",
    tool_calls: [{ status: "completed", output: { subject: "ada@github" }, attempts: 1 }],
    usage: { tool_calls: 1 },
  });
  expect(issuer.callers).toEqual(["ada@github"]);
});

test("one consent lets all runs of this user and client go on, and none of another user", async () => {
  await using world = await startWorld();
  const [first, second, bobs] = [await world.waiting(), await world.waiting(), await world.waiting("bob")];
  await world.consent(first.required_action.url, "ada");
  for (const { id } of [first, second])
    expect((await world.ended(id)).tool_calls).toMatchObject([{ output: { subject: "ada" } }]);
  expect(await world.settled(bobs.id)).toMatchObject({ status: "requires_action" });
  const later = await world.run(world.asker, "ada");
  expect((await world.ended(later.id)).tool_calls).toMatchObject([{ output: { subject: "ada" } }]);
  expect(issuer.callers).toEqual(["ada", "ada", "ada"]);
});

test("the other calls of the turn are made, and outputs are asked for beside the consent", async () => {
  await using world = await startWorld();
  const { id: plain } = await world.make("/v1/tools", {
    name: "plain",
    type: "http",
    parameters: { type: "object" },
    url: `${issuer.url}/.well-known/oauth-authorization-server`,
    method: "GET",
  });
  const { id: ask } = await world.make("/v1/tools", { name: "ask", type: "client", parameters: { type: "object" } });
  const agent = await world.agent(callsOnce("who", "plain", "ask"), [world.who.id, plain, ask]);
  const run = await world.settled((await world.run(agent, "ada")).id);
  const { type, submit_tool_outputs, authorizations } = run.required_action;
  expect(type).toBe("submit_tool_outputs");
  expect(submit_tool_outputs.tool_calls).toMatchObject([{ name: "ask", needs: "output" }]);
  expect(authorizations).toMatchObject([{ name: "GitHub", tool_calls: [{ name: "who" }] }]);
  expect(run.tool_calls.map(({ status }: Json) => status)).toEqual([
    "awaiting_authorization",
    "completed",
    "awaiting_output",
  ]);
  const tool_outputs = [{ tool_call_id: submit_tool_outputs.tool_calls[0].tool_call_id, output: 1 }];
  const answered = await world.client.post(`/v1/runs/${run.id}/submit_tool_outputs`, { tool_outputs });
  expect(answered.body.required_action).toMatchObject({ type: "authorization", name: "GitHub" });
  await world.consent(answered.body.required_action.url, "ada");
  expect(await world.ended(run.id)).toMatchObject({ status: "completed" });
});

test("a user who refuses fails the calls of this run only: the model reads why", async () => {
  await using world = await startWorld();
  const [run, other] = [await world.waiting(), await world.waiting()];
  await world.refuse(run.required_action.url);
  expect(await world.ended(run.id)).toMatchObject({
    status: "completed",
    tool_calls: [{ status: "rejected", error: { code: "authorization_denied" } }],
    usage: { tool_calls: 0 },
  });
  expect(await world.settled(other.id)).toMatchObject({ status: "requires_action" });
  expect(issuer.callers).toEqual([]);
});

test("a client can reject the call, and can neither approve nor answer it", async () => {
  await using world = await startWorld();
  const run = await world.waiting();
  const [{ id: tool_call_id }] = run.tool_calls;
  const submit = (answer: object) =>
    world.client.post(`/v1/runs/${run.id}/submit_tool_outputs`, { tool_outputs: [{ tool_call_id, ...answer }] });
  for (const [answer, param] of [
    [{ decision: "approve" }, "tool_outputs[0].decision"],
    [{ output: { subject: "eve" } }, "tool_outputs[0].output"],
  ] as const)
    expect(await submit(answer)).toMatchObject({ status: 400, body: { error: { param } } });
  expect(await submit({ decision: "reject", reason: "Not now." })).toMatchObject({ status: 200 });
  const [call] = (await world.ended(run.id)).tool_calls;
  expect(call).toMatchObject({ status: "rejected", error: { code: "authorization_denied" } });
  expect(call.error.message).toContain("Not now.");
  expect(await submit({ decision: "reject", reason: "Not now." })).toMatchObject({ status: 200 });
});

test("a call that was approved and then authorized is made, and asks for no second approval", async () => {
  await using world = await startWorld();
  const who = await world.whoTool("whoami", world.github.id, { approval: "always" });
  const agent = await world.agent(callsOnce("whoami"), [who.id]);
  const asked = await world.settled((await world.run(agent, "ada")).id);
  expect(asked.required_action.submit_tool_outputs.tool_calls).toMatchObject([{ needs: "approval" }]);
  const [{ id: tool_call_id }] = asked.tool_calls;
  const approval = { tool_outputs: [{ tool_call_id, decision: "approve" }] };
  await world.client.post(`/v1/runs/${asked.id}/submit_tool_outputs`, approval);
  const run = await world.settled(asked.id);
  expect(run.required_action).toMatchObject({ type: "authorization" });
  // A retry after a lost response.
  const again = await world.client.post(`/v1/runs/${asked.id}/submit_tool_outputs`, approval);
  expect(again).toMatchObject({ status: 200, body: { status: "requires_action" } });
  await world.consent(run.required_action.url, "ada");
  expect(await world.ended(run.id)).toMatchObject({
    status: "completed",
    tool_calls: [{ output: { subject: "ada" } }],
  });
});

test("a run whose time is up fails, and a late consent changes nothing about it", async () => {
  await using world = await startWorld();
  const run = await world.waiting("ada", { action_timeout_ms: 1000 });
  const url = run.required_action.url;
  const location = await world.browser.open(url);
  const ended = await world.ended(run.id);
  expect(ended).toMatchObject({ status: "failed", error: { code: "action_expired" } });
  await world.browser.visit(issuer.consent(location, "ada"));
  const { request_id: _, ...now } = await world.ended(run.id);
  expect(ended).toMatchObject(now);
  expect(await world.app.send("GET", pathOf(url))).toMatchObject({ status: 409 });
  expect(issuer.callers).toEqual([]);
});

test("a cancelled run does not wait any more", async () => {
  await using world = await startWorld();
  const run = await world.waiting();
  await world.client.post(`/v1/runs/${run.id}/cancel`);
  expect(await world.app.send("GET", pathOf(run.required_action.url))).toMatchObject({ status: 409 });
});

test("a pause that is requested while the run waits begins after the consent", async () => {
  await using world = await startWorld();
  const run = await world.waiting();
  await world.client.post(`/v1/runs/${run.id}/pause`);
  await world.consent(run.required_action.url, "ada");
  expect(await world.settled(run.id)).toMatchObject({ status: expect.stringMatching(/paused|requires_action/) });
  const watch = world.app.watches.join(run.id);
  while ((await world.client.get(`/v1/runs/${run.id}`)).body.status !== "paused") await watch.next(5000);
  watch.leave();
  expect(issuer.callers).toEqual([]);
  await world.client.post(`/v1/runs/${run.id}/resume`);
  expect(await world.ended(run.id)).toMatchObject({ status: "completed" });
  expect(issuer.callers).toEqual(["ada"]);
});

test("a message to a run that waits is read after the consent", async () => {
  await using world = await startWorld();
  const run = await world.waiting();
  const said = await world.client.post(`/v1/runs/${run.id}/messages`, { role: "user", content: "Hurry." });
  expect(said.status).toBe(200);
  await world.consent(run.required_action.url, "ada");
  const { status, messages } = await world.ended(run.id);
  expect(status).toBe("completed");
  expect(messages.map(({ content }: Json) => content)).toContain("Hurry.");
});

test("a child run's consent is shown at the run above it, and both go on", async () => {
  await using world = await startWorld();
  const parent = await world.agent(
    [{ tool_calls: [{ name: "helper", arguments: { input: "Who?" } }] }, { text: "Done." }],
    [
      (
        await world.make("/v1/tools", {
          name: "helper",
          type: "agent",
          description: "Helps.",
          agent_id: world.asker.id,
        })
      ).id,
    ],
  );
  const run = await world.settled((await world.run(parent, "ada")).id);
  const [one] = run.required_action.authorizations;
  expect(run.required_action).toMatchObject({ type: "authorization", user_id: "ada" });
  expect(one.tool_calls).toMatchObject([{ name: "who", run_id: expect.stringMatching(/^run_/) }]);
  await world.consent(run.required_action.url, "ada");
  expect(await world.ended(run.id)).toMatchObject({ status: "completed" });
  expect(issuer.callers).toEqual(["ada"]);
});

test("a replay needs no token, and a fork of the whole run neither", async () => {
  await using world = await startWorld();
  const run = await world.waiting();
  await world.consent(run.required_action.url, "ada");
  await world.ended(run.id);
  const [{ id: grant }] = (await world.client.get(`/v1/oauth_grants?user_id=ada`)).body.data;
  await world.client.delete(`/v1/oauth_grants/${grant}`);
  issuer.callers = [];
  const replay = await world.client.post(`/v1/runs/${run.id}/replay`, { mode: "verify" });
  expect(replay).toMatchObject({ status: 201, body: { status: "completed", replay: { divergences: [] } } });
  const fork = await world.client.post(`/v1/runs/${run.id}/fork`, { step_index: 1 });
  expect(fork.status).toBe(201);
  expect(await world.ended(fork.body.id)).toMatchObject({ status: "completed", output: "Done." });
  expect(issuer.callers).toEqual([]);
});

test("the address is shown to those who may answer only, and is in no journal", async () => {
  await using world = await startWorld();
  const run = await world.waiting();
  const urlAt = async ({ get }: Client) => (await get(`/v1/runs/${run.id}`)).body.required_action.url;
  expect(await urlAt(world.client)).toBe(run.required_action.url);
  expect(await urlAt(await world.app.client({ scopes: ["run", "read"] }))).toBe(run.required_action.url);
  expect(await urlAt(await world.app.client({ scopes: ["read"] }))).toBeNull();
  const waits = ({ event }: Json) => event === "run.requires_action";
  expect((await world.events(run.id)).find(waits).data.required_action.url).toBe(run.required_action.url);
  const proof = pathOf(run.required_action.url).split(".").at(-1)!;
  const rows = world.app.db.sqlite.query<{ data: string }, []>("SELECT data FROM run_events").all();
  expect(rows.some(({ data }) => data.includes(proof) || data.includes("/oauth/consent/"))).toBe(false);
});

test("a browser gets the address of its own user only", async () => {
  await using world = await startWorld();
  const shared = await world.oauthClient("Team account", { per_user: false });
  const team = await world.whoTool("team", shared.id);
  const agent = await world.agent(callsOnce("who", "team"), [world.who.id, team.id]);
  const run = await world.settled((await world.run(agent, "ada")).id);
  const { body: token } = await world.client.post("/v1/client_tokens", {
    agent_id: agent.id,
    user_id: "ada",
    scopes: ["run", "read", "submit"],
    expires_in_seconds: 600,
  });
  const shown = await world.app.send("GET", `/v1/runs/${run.id}`, undefined, {
    authorization: `Bearer ${token.token}`,
  });
  const urls = Object.fromEntries(shown.body.required_action.authorizations.map(({ name, url }: Json) => [name, url]));
  expect(urls).toEqual({ GitHub: expect.stringContaining("/oauth/consent/"), "Team account": null });
});

test.each([
  ["another run's proof", (path: string, other: string) => path.replace(/[^.]+$/, other.split(".").at(-1)!)],
  ["another client", (path: string) => path.replace(/oac_[^.]+/, "oac_01m8n9eeywd48vsyywe2a7qs16")],
  ["no proof", (path: string) => path.replace(/\.[^.]+$/, "")],
  ["a changed proof", (path: string) => `${path.slice(0, -1)}${path.endsWith("A") ? "B" : "A"}`],
])("an address with %s leads nowhere", async (_, change) => {
  await using world = await startWorld();
  const [run, other] = [await world.waiting(), await world.waiting("bob")];
  const path = change(pathOf(run.required_action.url), pathOf(other.required_action.url));
  await expectPage(world, path, 404, "This link is not valid");
});

/** Expects a plain page for a person, which has nothing of the address and no script. */
async function expectPage(world: Awaited<ReturnType<typeof startWorld>>, path: string, status: number, title: string) {
  const page = await world.app.send("GET", path);
  expect([page.status, page.headers.get("content-type")]).toEqual([status, "text/html; charset=utf-8"]);
  expect(page.headers.get("content-security-policy")).toStartWith("default-src 'none'");
  expect(page.headers.get("cache-control")).toBe("no-store");
  expect(page.body).toContain(`<h1>${title}</h1>`);
  expect(page.body).not.toContain(path.split(".").at(-1)!);
  expect(page.body).not.toContain('{"');
  return page;
}

test("a person whose authorization server does not answer reads a page, and the same link works once it does", async () => {
  await using world = await startWorld();
  issuer.faults.metadata = (said) => delete said.token_endpoint;
  const run = await world.waiting();
  const path = pathOf(run.required_action.url);
  const refused = await world.browser.press(run.required_action.url);
  expect([refused.status, await refused.text()]).toEqual([502, expect.stringContaining("cannot be connected now")]);
  issuer.faults = {};
  await world.consent(run.required_action.url, "ada@github");
  expect(await world.ended(run.id)).toMatchObject({ status: "completed" });
  await expectPage(world, path, 409, "Nothing waits for this link any more");
});

test("a person who opens too many wrong links reads a page that says when to come back", async () => {
  await using world = await startWorld();
  const path = "/oauth/consent/run_1.oac_1.guessed";
  let page = await world.app.send("GET", path);
  for (let n = 0; page.status === 404 && n < 1000; n++) page = await world.app.send("GET", path);
  const limited = await expectPage(world, path, 429, "Too many requests");
  expect(Number(limited.headers.get("retry-after"))).toBeGreaterThan(0);
});

test("a person who opens a link again and again after its run has ended is told so, and not to wait", async () => {
  await using world = await startWorld();
  const run = await world.waiting();
  await world.client.post(`/v1/runs/${run.id}/cancel`);
  const path = pathOf(run.required_action.url);
  for (let n = 0; n < 70; n++) expect((await world.app.send("GET", path)).status).toBe(409);
});

test("a run without a user fails the call with a reason, instead of waiting for nobody", async () => {
  await using world = await startWorld();
  const run = await world.run(world.asker, null);
  expect((await world.ended(run.id)).tool_calls).toMatchObject([
    { status: "failed", error: { code: "user_id_required" } },
  ]);
});

test("a consent that comes while the missing one is being recorded is not lost", async () => {
  await using world = await startWorld();
  const first = await world.waiting();
  // The second run asks while the grant of the first is stored.
  const [, second] = await Promise.all([
    world.consent(first.required_action.url, "ada"),
    world.run(world.asker, "ada"),
  ]);
  expect(await world.ended(first.id)).toMatchObject({ status: "completed" });
  expect(await world.ended(second.id)).toMatchObject({ status: "completed" });
});

test("a run whose way on met a storage that took no write goes on at the next look, also after a consent", async () => {
  await using world = await startWorld();
  const run = await world.waiting();
  const { db, watches } = world.app;
  // Only the server's own consents hear of new waits.
  let status = "requires_action";
  const journal = { head: () => ({ status }) } as unknown as Journal;
  let tell: Parameters<AccessTokens["onGranted"]>[0] = () => {};
  const accessTokens: AccessTokens = {
    get: async () => ({ status: "ready", token: "t", expiresAt: null }),
    authorize: () => Promise.reject(new Error("It asks nobody.")),
    requested: () => null,
    shown: async () => null,
    send: () => Promise.reject(new Error("This test sends no user away.")),
    onGranted: (listener) => {
      tell = listener;
    },
    onDenied: () => {},
  };
  const asked: string[] = [];
  let isFull = true;
  const allow = async (id: string) => {
    asked.push(id);
    if (isFull) throw new Error("The disk is full.");
  };
  const links = { proof: () => "" } as unknown as ConsentLinks;
  const deny = async () => {};
  const consents = createConsents({ db, journal, watches, accessTokens, links, allow, deny, log: silentLog });
  await consents.look();
  isFull = false;
  await consents.look();
  expect(asked).toEqual([run.id, run.id]);
  // It is let go on without a new consent once only.
  await consents.look();
  expect(asked).toHaveLength(2);
  isFull = true;
  tell({ scope: world.client.scope, oauthClientId: world.github.id, userId: "ada" });
  isFull = false;
  await consents.look();
  expect(asked).toHaveLength(4);
  // It is remembered until the run is over, and no longer.
  expect(consents.tried.size).toBe(1);
  status = "completed";
  world.app.db.sqlite.run("DELETE FROM pending_calls");
  await consents.look();
  expect(consents.tried.size).toBe(0);
  consents.stop();
});

test("approvals and their count leave out what nobody but the user can settle", async () => {
  await using world = await startWorld();
  await world.waiting();
  expect((await world.client.get("/v1/approvals")).body.data).toEqual([]);
});

test("a visitor of a chat page sees what to connect, and no call", async () => {
  await using world = await startWorld();
  const { authorizations, ...action } = runForVisitor(await world.waiting()).required_action!;
  expect(action).toMatchObject({ type: "authorization", name: "GitHub", url: expect.any(String), tool_calls: [] });
  expect(authorizations).toMatchObject([{ name: "GitHub", tool_calls: [] }]);
});
