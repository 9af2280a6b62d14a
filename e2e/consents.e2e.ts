import { describe, expect, test } from "bun:test";
import { type ConsentBrowser, createConsentBrowser } from "../server/testing/consent-browser.ts";
import {
  type OAuthServer,
  oauthClientId,
  oauthClientSecret,
  startOAuthServer,
} from "../server/testing/oauth-server.ts";
import { startPostgres } from "../server/testing/postgres.ts";
import { startCluster } from "./cluster/nodes.ts";
import { createScripted, createTool } from "./fixtures.ts";
import { type Json, type Runnel, startRunnel } from "./harness.ts";
import { waitUntil } from "./until.ts";

// Runs that wait for a user's consent, on the executable, with the death of the process around it.

async function newAgent(server: Runnel, issuer: OAuthServer): Promise<string> {
  const { body: client } = await server.post("/v1/oauth_clients", {
    name: "GitHub",
    grant: "authorization_code",
    per_user: true,
    issuer: issuer.url,
    client_id: oauthClientId,
    client_secret: oauthClientSecret,
  });
  const auth = { type: "oauth", oauth_client_id: client.id };
  const tool = await createTool(server, { url: `${issuer.url}/api`, method: "GET", idempotent: true, auth });
  const call = { name: tool.name, arguments: { city: "Oslo" } };
  return createScripted(server, [{ tool_calls: [call] }, { text: "Done." }], { tools: [tool.id] });
}

const waiting = async (server: Runnel, agent_id: string, user_id: string): Promise<Json> => {
  const { body } = await server.post("/v1/runs?wait=60", { agent_id, user_id, input: "Who am I?" });
  expect(body.required_action).toMatchObject({ type: "authorization", user_id });
  return body;
};

/** Sends the user to the authorization server, and returns the way back. */
const wayBack = async (browser: ConsentBrowser, issuer: OAuthServer, { required_action, user_id }: Json) =>
  issuer.consent(await browser.open(required_action.url), user_id);

/** Reads the stream of a run until its end. */
async function ended(server: Runnel, id: string): Promise<Json> {
  const stream = await server.stream(`/v1/runs/${id}/events`);
  await stream.rest();
  return (await server.get(`/v1/runs/${id}`)).body;
}

test.each(["after_consent", "before_tool.authorized", "after_tool.authorized"])(
  "a process that dies %s goes on with all runs of this user at its next start, and with no run of another",
  async (point) => {
    await using issuer = await startOAuthServer();
    await using server = await startRunnel({ environment: { RUNNEL_FAILPOINT: point } });
    const agent = await newAgent(server, issuer);
    const browser = createConsentBrowser((path, init) => server.fetch(path, { key: null, ...init }));
    const [first, second, other] = [
      await waiting(server, agent, "ada"),
      await waiting(server, agent, "ada"),
      await waiting(server, agent, "bob"),
    ];
    // The answer may come before the runs go on.
    await browser.visit(await wayBack(browser, issuer, first)).catch(() => {});
    expect(await server.died()).toBe("SIGKILL");
    expect(issuer.callers).toEqual([]);
    await server.restart({ RUNNEL_FAILPOINT: "" });
    for (const { id } of [first, second])
      expect(await ended(server, id)).toMatchObject({
        status: "completed",
        tool_calls: [{ status: "completed", output: { subject: "ada" } }],
      });
    expect((await server.get(`/v1/runs/${other.id}`)).body.status).toBe("requires_action");
    expect(issuer.callers).toEqual(["ada", "ada"]);
    // The address still works after the restart.
    await browser.visit(await wayBack(browser, issuer, other));
    expect(await ended(server, other.id)).toMatchObject({ tool_calls: [{ output: { subject: "bob" } }] });
  },
  60_000,
);

describe.if(startPostgres.orSkipped("the refresh of a grant by two nodes"))("in a cluster", () => {
  test("a leader that was replaced while it stood still does not refresh a grant that the new one has refreshed", async () => {
    await using issuer = await startOAuthServer();
    // A token that is over before the next call, so that each call refreshes it.
    issuer.lifetime_seconds = 1;
    await using cluster = await startCluster({ nodes: 2 });
    const leader = await cluster.leader();
    const spare = cluster.nodes.find((node) => node !== leader)!;
    const ask = async (url: string, path: string, body?: object): Promise<Json> => {
      const init = body ? { method: "POST", body: JSON.stringify(body) } : {};
      return (await cluster.request(url, path, init)).json();
    };
    const client = await ask(leader.url, "/v1/oauth_clients", {
      name: "GitHub",
      grant: "authorization_code",
      per_user: true,
      issuer: issuer.url,
      client_id: oauthClientId,
      client_secret: oauthClientSecret,
    });
    const tool = await ask(leader.url, "/v1/tools", {
      name: "who",
      type: "http",
      parameters: { type: "object" },
      url: `${issuer.url}/api`,
      method: "GET",
      auth: { type: "oauth", oauth_client_id: client.id },
    });
    // The spare forwards the user's browser with its cookie.
    const browser = createConsentBrowser((path, init) => fetch(`${spare.url}${path}`, { redirect: "manual", ...init }));
    const { url } = await ask(spare.url, `/v1/oauth_clients/${client.id}/authorize`, { user_id: "ada" });
    expect((await browser.visit(issuer.consent(await browser.open(url), "ada"))).status).toBe(200);
    const call = (at: string) => ask(at, `/v1/tools/${tool.id}/test`, { arguments: {}, user_id: "ada" });
    const serves = (at: string) =>
      waitUntil(async () => (await cluster.request(at, "/v1/me").catch(() => null))?.ok === true);
    const grants = async (at: string): Promise<Json[]> => (await ask(at, "/v1/oauth_grants")).data;
    const [grant] = await grants(leader.url);
    await waitUntil(() => Date.now() > Date.parse(grant.expires_at));

    leader.child.kill("SIGSTOP");
    // It reaches the former leader, which answers it once it is awake.
    const late = call(leader.url).catch(() => null);
    await waitUntil(async () => (await cluster.leader()) === spare);
    await serves(spare.url);
    expect(await call(spare.url)).toMatchObject({ output: { subject: "ada" } });
    expect(issuer.requests("refresh_token")).toBe(1);
    // The new token is usable from here on: a refresh could come from the former leader's copy only.
    leader.child.kill("SIGCONT");
    await late;
    await serves(leader.url);
    expect(issuer.spentTwice()).toBe(0);
    expect(await grants(leader.url)).toMatchObject([{ status: "active" }]);
    expect(await call(leader.url)).toMatchObject({ output: { subject: "ada" } });
  }, 180_000);
});
