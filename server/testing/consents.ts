import { browserAt } from "./consent-browser.ts";
import { type OAuthServer, oauthClientId, oauthClientSecret } from "./oauth-server.ts";
import { settledRun } from "./settled-run.ts";
import type { Client, TestApp } from "./test-app.ts";

// biome-ignore lint/suspicious/noExplicitAny: as the API's answers are read in all tests.
type Json = any;

/** Script of a model that makes these calls at once, then says "Done.". */
export const callsOnce = (...names: string[]) => [
  { tool_calls: names.map((name) => ({ name, arguments: {} })) },
  { text: "Done." },
];

/** Creates OAuth clients, tools that use them, and runs that wait for their users. */
export function createConsentWorld(app: TestApp, client: Client, issuer: OAuthServer) {
  const browser = browserAt(app);

  async function make(path: string, body: object): Promise<Json> {
    const { status, body: made } = await client.post(path, body);
    if (status !== 201) throw new Error(`${path}: ${status} ${JSON.stringify(made)}`);
    return made;
  }

  return {
    make,
    oauthClient: (name: string, more: object = {}): Promise<Json> =>
      make("/v1/oauth_clients", {
        name,
        grant: "authorization_code",
        per_user: true,
        issuer: issuer.url,
        client_id: oauthClientId,
        client_secret: oauthClientSecret,
        ...more,
      }),
    /** Creates a tool that returns the subject of its token. */
    whoTool: (name: string, oauth_client_id: string, more: object = {}): Promise<Json> =>
      make("/v1/tools", {
        name,
        type: "http",
        parameters: { type: "object" },
        url: `${issuer.url}/api`,
        method: "GET",
        auth: { type: "oauth", oauth_client_id },
        ...more,
      }),
    agent: (script: readonly object[], tools: readonly string[], more: object = {}): Promise<Json> =>
      make("/v1/agents", {
        name: `agent ${crypto.randomUUID()}`,
        model: "test/script",
        instructions: "",
        tools,
        model_settings: { script },
        ...more,
      }),
    run: (agent: Json, user_id: string | null, more: object = {}): Promise<Json> =>
      make("/v1/runs", { agent_id: agent.id, input: "Who am I?", ...(user_id !== null && { user_id }), ...more }),
    settled: (id: string): Promise<Json> => settledRun(app, client, id),
    /** Waits until a run has ended. */
    async ended(id: string): Promise<Json> {
      const watch = app.watches.join(id);
      try {
        for (;;) {
          const { body } = await client.get(`/v1/runs/${id}`);
          if (body.completed_at !== null) return body;
          await watch.next(10_000);
        }
      } finally {
        watch.leave();
      }
    },
    browser,
    /** Consents as this subject at the address that a run shows. */
    async consent(url: string, subject: string): Promise<void> {
      const back = await browser.visit(issuer.consent(await browser.open(url), subject));
      if (back.status !== 200) throw new Error(`${back.status} ${await back.text()}`);
    },
    /** Refuses at the address that a run shows. */
    async refuse(url: string): Promise<void> {
      const state = new URL(await browser.open(url)).searchParams.get("state") ?? "";
      const query = new URLSearchParams({ error: "access_denied", state, iss: issuer.url });
      await browser.visit(`/oauth/callback?${query}`);
    },
    events: async (id: string): Promise<Json[]> => (await client.get(`/v1/runs/${id}/events?limit=100`)).body.data,
  };
}

export const pathOf = (url: string): string => new URL(url).pathname;
