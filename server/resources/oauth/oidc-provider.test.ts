import { expect, test } from "bun:test";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import Provider from "oidc-provider";
import { browserAt } from "../../testing/consent-browser.ts";
import { testApp } from "../../testing/test-app.ts";

// A real authorization server, whose pages a test clicks through as a browser would.

const registered = { client_id: "runnel", client_secret: "a secret of the client: with a colon" };

async function startProvider() {
  let answer: ReturnType<Provider["callback"]> = (_, response) => void response.end();
  const listener = createServer((request, response) => answer(request, response));
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`;
  const provider = new Provider(url, {
    clients: [
      {
        ...registered,
        redirect_uris: ["https://localhost/oauth/callback"],
        grant_types: ["authorization_code", "refresh_token", "client_credentials"],
      },
    ],
    scopes: ["openid", "offline_access", "calendar"],
    findAccount: (_: unknown, id: string) => ({ accountId: id, claims: () => ({ sub: id }) }),
    features: {
      devInteractions: { enabled: true },
      clientCredentials: { enabled: true },
      revocation: { enabled: true },
      registration: { enabled: true },
    },
    pkce: { required: () => true },
    rotateRefreshToken: true,
    ttl: { AccessToken: 60, ClientCredentials: 60 },
    cookies: { keys: ["a key of the test"] },
  });
  answer = provider.callback();
  return {
    url,
    async [Symbol.asyncDispose]() {
      listener.closeAllConnections();
      await new Promise((resolve) => listener.close(resolve));
    },
  };
}

/** Signs in and consents as a browser does, and returns the address of the way back. */
async function consent(start: string, login: string, jar = new Map<string, string>()): Promise<URL> {
  const visit = async (url: URL, form?: Record<string, string>): Promise<Response> => {
    const response = await fetch(url, {
      method: form ? "POST" : "GET",
      redirect: "manual",
      headers: { cookie: [...jar].map(([name, value]) => `${name}=${value}`).join("; ") },
      ...(form && { body: new URLSearchParams(form) }),
    });
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      jar.set(name, value);
    }
    return response;
  };
  let url = new URL(start);
  for (let step = 0; step < 20; step++) {
    if (url.pathname === "/oauth/callback") return url;
    let response = await visit(url);
    if (response.status === 200) {
      const page = await response.text();
      const action = /action="([^"]+)"/.exec(page)?.[1] ?? "";
      const prompt = /name="prompt" value="([^"]+)"/.exec(page)?.[1] ?? "";
      response = await visit(new URL(action, url), { prompt, login, password: "any" });
    }
    const location = response.headers.get("location");
    if (location === null) throw new Error(`${url} answered ${response.status}: ${await response.text()}`);
    url = new URL(location, url);
  }
  throw new Error("The way does not come to an end.");
}

test("a real authorization server: consent, refresh by rotation, client credentials, and revocation", async () => {
  let at = Date.now();
  await using provider = await startProvider();
  await using server = testApp({ now: () => at });
  const client = await server.client();
  const create = async (more: object) =>
    (await client.post("/v1/oauth_clients", { name: "real", issuer: provider.url, ...registered, ...more })).body;

  const own = await create({ grant: "client_credentials", scopes: ["calendar"] });
  expect(await server.oauth.get(client.scope, own.id, null)).toMatchObject({ status: "ready" });

  const scopes = ["openid", "offline_access", "calendar"];
  const more = { authorization_params: { prompt: "consent" } };
  const forUsers = await create({ grant: "authorization_code", per_user: true, scopes, ...more });
  const { body } = await client.post(`/v1/oauth_clients/${forUsers.id}/authorize`, { user_id: "ada" });
  const browser = browserAt(server);
  const back = await consent(await browser.open(body.url), "ada");
  const page = await browser.visit(back.pathname + back.search);
  expect([page.status, await page.text()]).toEqual([200, expect.stringContaining("real is connected")]);

  const tokens = new Set<string>();
  for (let round = 0; round < 3; round++) {
    const found = await server.oauth.get(client.scope, forUsers.id, "ada");
    if (found.status !== "ready") throw new Error(JSON.stringify(found));
    tokens.add(found.token);
    at += 60_000;
  }
  expect(tokens.size).toBe(3);
  const { data } = (await client.get("/v1/oauth_grants?user_id=ada")).body;
  expect(data).toMatchObject([{ status: "active", scopes: expect.arrayContaining(["calendar"]) }]);
  expect((await client.delete(`/v1/oauth_grants/${data[0].id}`)).status).toBe(200);
  await server.oauthRevocations.idle();
  expect(server.db.sqlite.query("SELECT count(*) AS n FROM oauth_revocations").get()).toEqual({ n: 0 });
  expect(await server.oauth.get(client.scope, forUsers.id, "ada")).toMatchObject({ status: "authorization_required" });
});

test("a real authorization server: a user who consents again in the same browser keeps the new tokens", async () => {
  let at = Date.now();
  await using provider = await startProvider();
  await using server = testApp({ now: () => at });
  const client = await server.client();
  const { body } = await client.post("/v1/oauth_clients", {
    name: "real",
    issuer: provider.url,
    ...registered,
    grant: "authorization_code",
    per_user: true,
    scopes: ["openid", "offline_access", "calendar"],
    authorization_params: { prompt: "consent" },
  });
  const jar = new Map<string, string>();
  const tokens: string[] = [];
  for (let round = 0; round < 2; round++) {
    const { url } = (await client.post(`/v1/oauth_clients/${body.id}/authorize`, { user_id: "ada" })).body;
    const back = await consent(await browserAt(server).open(url), "ada", jar);
    await browserAt(server).visit(back.pathname + back.search);
    await server.oauthRevocations.idle();
    const found = await server.oauth.get(client.scope, body.id, "ada");
    tokens.push(found.status === "ready" ? found.token : JSON.stringify(found));
  }
  expect(new Set(tokens).size).toBe(2);
  // The provider revokes a grant as a whole: both consents may be one.
  at += 60_000;
  expect(await server.oauth.get(client.scope, body.id, "ada")).toMatchObject({ status: "ready" });
});
