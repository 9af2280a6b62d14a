import { expect, test } from "bun:test";
import { type ConsentBrowser, createConsentBrowser } from "../server/testing/consent-browser.ts";
import {
  type OAuthServer,
  oauthClientId,
  oauthClientSecret,
  startOAuthServer,
} from "../server/testing/oauth-server.ts";
import { createScripted, createTool } from "./fixtures.ts";
import { type Json, type Runnel, startRunnel } from "./harness.ts";

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
