import { expect, test } from "bun:test";
import { createConsentBrowser } from "../server/testing/consent-browser.ts";
import {
  type OAuthServer,
  oauthClientId,
  oauthClientSecret,
  startOAuthServer,
} from "../server/testing/oauth-server.ts";
import { startTokenGateway } from "../server/testing/token-gateway.ts";
import { createAgent, runToEnd, stubConnection } from "./fixtures.ts";
import { executable, firstLine, type Json, type Runnel, startRunnel } from "./harness.ts";
import { startModelServer } from "./model-server.ts";

// Model connections to which an operator consents, on the executable, with the death of the process around it.

const environment = { RUNNEL_EGRESS_ALLOW: "127.0.0.1" };
const model = "openai_compatible/gw/m";

/** Adds a connection whose operator consents, with the command line beside the running server. */
async function addConnection(server: Runnel, issuer: OAuthServer, url: string, ...more: string[]): Promise<void> {
  const client = ["--client-id", oauthClientId, "--client-secret", oauthClientSecret, "--issuer", issuer.url];
  const grant = ["--grant", "authorization_code"];
  const added = await server.command("models", "add", "gw", "--base-url", url, ...grant, ...client, ...more);
  expect(added).toMatchObject({ code: 0, stderr: "" });
}

/** Runs `connections connect`, and lets a person's browser go where `decide` says. */
async function connect(server: Runnel, decide: (url: string) => Promise<unknown>, ...more: string[]) {
  const args = ["connections", "connect", "gw", "--json", "--data-dir", server.dataDir, ...more];
  const env = { ...process.env, RUNNEL_PUBLIC_URL: "" };
  const child = Bun.spawn([executable, ...args], { cwd: server.cwd, env, stdout: "pipe", stderr: "pipe" });
  const [shown, rest] = child.stdout.tee();
  const { url } = JSON.parse(await firstLine(shown));
  await decide(url);
  const [stdout, stderr, code] = await Promise.all([
    new Response(rest).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { stdout, stderr, code };
}

/** Consents, and comes back to the process that listens on loopback. */
const consentOf =
  (issuer: OAuthServer) =>
  async (url: string): Promise<void> => {
    const redirect = new URL(new URL(url).searchParams.get("redirect_uri") ?? "");
    const page = await fetch(redirect.origin + issuer.consent(url, "ada"));
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining("gw is connected")]);
  };

const consentIn = async (server: Runnel): Promise<Json> => {
  const { stdout } = await server.command("connections", "list", "--json");
  return JSON.parse(stdout).data.find(({ name }: Json) => name === "gw").consent;
};

/** Reads the stream of a run until its end. */
async function ended(server: Runnel, id: string): Promise<Json> {
  const stream = await server.stream(`/v1/runs/${id}/events`);
  await stream.rest();
  return (await server.get(`/v1/runs/${id}`)).body;
}

test("a command beside the server connects a model connection, its runs use it, and its removal revokes the tokens", async () => {
  await using issuer = await startOAuthServer();
  await using gateway = startTokenGateway(issuer);
  await using server = await startRunnel({ environment });
  await addConnection(server, issuer, gateway.url);
  const agent = await createAgent(server, model);
  expect(await runToEnd(server, agent)).toMatchObject({
    status: "failed",
    error: { code: "model_not_available", message: expect.stringContaining("runnel connections connect gw") },
  });
  const { code, stdout } = await connect(server, consentOf(issuer));
  expect([code, JSON.parse(stdout.trim().split("\n")[1]!)]).toEqual([
    0,
    { object: "connection", name: "gw", connected: true },
  ]);
  expect(await runToEnd(server, agent)).toMatchObject({ status: "completed", output: "hello" });
  expect(await consentIn(server)).toMatchObject({ status: "active", error: null });
  // A refusal leaves the consent as it is.
  const refusal = await connect(server, async (url) => {
    const query = new URL(url).searchParams;
    const answer = { error: "access_denied", state: query.get("state") ?? "", iss: issuer.url };
    await fetch(`${query.get("redirect_uri")}?${new URLSearchParams(answer)}`);
  });
  expect([refusal.code, refusal.stderr]).toEqual([1, expect.stringContaining("access_denied")]);
  expect(await runToEnd(server, agent)).toMatchObject({ status: "completed" });
  for (const secret of [...issuer.issued(), oauthClientSecret]) expect(server.log()).not.toContain(secret);
  expect(await server.command("connections", "remove", "gw")).toMatchObject({ code: 0 });
  expect(new Set(issuer.revoked)).toEqual(new Set(issuer.issued()));
}, 180_000);

test("a command that names the public URL prints a page of the server, and the browser that presses its button comes back there", async () => {
  await using issuer = await startOAuthServer();
  await using gateway = startTokenGateway(issuer);
  await using server = await startRunnel({ environment });
  await addConnection(server, issuer, gateway.url);
  const newBrowser = () => createConsentBrowser((path, init) => server.fetch(path, { key: null, ...init }));
  const decide = async (url: string) => {
    expect(url).toStartWith(`${server.url}/oauth/consent/`);
    const browser = newBrowser();
    const address = await browser.open(url);
    expect(new URL(address).searchParams.get("redirect_uri")).toBe(`${server.url}/oauth/callback`);
    const back = issuer.consent(address, "ada");
    expect(await newBrowser().visit(back)).toMatchObject({ status: 400 });
    expect(await browser.visit(back)).toMatchObject({ status: 200 });
  };
  expect(await connect(server, decide, "--public-url", server.url)).toMatchObject({ code: 0, stderr: "" });
  expect(await runToEnd(server, await createAgent(server, model))).toMatchObject({ status: "completed" });
}, 180_000);

test("kill -9 between the token and the call, and while a token is refreshed: the runs go on after the restart", async () => {
  await using issuer = await startOAuthServer();
  await using gateway = startTokenGateway(issuer);
  await using server = await startRunnel({ environment });
  await addConnection(server, issuer, gateway.url);
  // The token of the consent has ended when the first run asks for one.
  issuer.faults.body = (body) => {
    body.expires_in = 0.5;
  };
  expect(await connect(server, consentOf(issuer))).toMatchObject({ code: 0 });
  issuer.faults = {};
  const agent_id = await createAgent(server, model);
  const start = async (): Promise<string> => (await server.post("/v1/runs", { agent_id, input: "Go" })).body.id;
  /** Kills the process when it waits for an answer, which never comes. */
  const dies = (): [Promise<void>, () => Promise<void>] => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const die = async (): Promise<void> => {
      await server.kill9();
      resolve();
      await new Promise(() => {});
    };
    return [promise, die];
  };
  const [diedRefreshing, dieRefreshing] = dies();
  issuer.before = dieRefreshing;
  const first = await start();
  await diedRefreshing;
  issuer.before = async () => {};
  await server.restart();
  expect(await ended(server, first)).toMatchObject({ status: "completed", output: "hello" });
  const refreshes = issuer.requests("refresh_token");
  const [diedCalling, dieCalling] = dies();
  gateway.before = dieCalling;
  const second = await start();
  await diedCalling;
  gateway.before = async () => {};
  await server.restart();
  expect(await ended(server, second)).toMatchObject({ status: "completed", output: "hello" });
  // The stored token is used: no restart asks for another one.
  expect(issuer.requests("refresh_token")).toBe(refreshes);
  expect(await consentIn(server)).toMatchObject({ status: "active" });
}, 180_000);

test.each(["taken back", "away"])(
  "a run whose consent or issuer is %s goes on with its other model",
  async (kind) => {
    await using issuer = await startOAuthServer();
    await using gateway = startTokenGateway(issuer);
    await using spare = startModelServer();
    await using server = await startRunnel({ environment: { ...environment, ...stubConnection(spare.url) } });
    await addConnection(server, issuer, gateway.url);
    issuer.faults.body = (body) => {
      body.expires_in = 0.5;
    };
    expect(await connect(server, consentOf(issuer))).toMatchObject({ code: 0 });
    issuer.faults = {};
    if (kind === "taken back") issuer.takeBack("ada");
    else issuer.faults.token = () => new Response("busy", { status: 503 });
    const models = [model, "openai_compatible/stub/words-3-0"];
    const { body: agent } = await server.post("/v1/agents", { name: "Clerk", instructions: "Be brief.", models });
    expect(await runToEnd(server, agent.id)).toMatchObject({ status: "completed" });
    expect(gateway.headers).toEqual([]);
    const consent = await consentIn(server);
    expect(consent.status).toBe(kind === "taken back" ? "failed" : "active");
  },
  120_000,
);
