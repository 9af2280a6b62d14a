import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, type Page, test } from "@playwright/test";
import Provider from "oidc-provider";
import { type Runnel, startRunnel } from "./harness.ts";
import { expectAccessible } from "./page-checks.ts";

// Sign-in to the compiled executable through a real OpenID Connect issuer, in a browser.
const client = { client_id: "runnel", client_secret: "a secret of the client" };
/** Accounts at the issuer, with their claims. */
const people = new Map<string, Record<string, unknown>>();

let answer: ReturnType<Provider["callback"]> = (_, response) => void response.end();
const issuer = createServer((request, response) => answer(request, response));
let server: Runnel;

test.beforeAll(async () => {
  await new Promise<void>((resolve) => issuer.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(issuer.address() as AddressInfo).port}`;
  server = await startRunnel({
    environment: {
      RUNNEL_OIDC_ISSUER: url,
      RUNNEL_OIDC_CLIENT_ID: client.client_id,
      RUNNEL_OIDC_CLIENT_SECRET: client.client_secret,
      RUNNEL_OIDC_NAME: "Example",
      RUNNEL_OIDC_ROLE_CLAIM: "access.roles",
      RUNNEL_OIDC_ALLOWED_DOMAINS: "example.com",
      RUNNEL_LOCAL_ACCOUNTS: "off",
    },
  });
  const provider = new Provider(url, {
    clients: [{ ...client, redirect_uris: [`${server.url}/console/api/oidc/callback`] }],
    claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["access"] },
    findAccount: (_: unknown, id: string) =>
      people.has(id) ? { accountId: id, claims: () => ({ sub: id, ...people.get(id) }) } : undefined,
    features: { devInteractions: { enabled: true } },
    pkce: { required: () => true },
    cookies: { keys: ["a key of the test"] },
  });
  answer = provider.callback();
});
test.afterAll(async () => {
  await server[Symbol.asyncDispose]();
  issuer.closeAllConnections();
  issuer.close();
});

const person = (email: string, roles: string[], more = {}) => ({
  email,
  email_verified: true,
  access: { roles },
  ...more,
});

/** Starts at the dashboard, and signs in at the issuer. */
async function signIn(page: Page, name: string): Promise<void> {
  await page.getByRole("button", { name: "Sign in with Example" }).click();
  await page.getByPlaceholder("Enter any login").fill(name);
  await page.getByPlaceholder("and password").fill("anything");
  await page.getByRole("button", { name: "Sign-in" }).click();
}
const allow = (page: Page): Promise<void> => page.getByRole("button", { name: "Continue" }).click();
const session = (page: Page) =>
  page.evaluate(async () => {
    const answer = await fetch("/console/api/session");
    return { status: answer.status, user: (await answer.json()).user };
  });

test.beforeEach(async ({ context }) => {
  // The issuer's own pages load fonts from elsewhere.
  await context.route(
    ({ hostname }) => hostname !== "127.0.0.1",
    (route) => route.abort(),
  );
});

test("a person signs in at the issuer, lands on the requested page, and is signed out once the issuer has removed the account", async ({
  page,
}) => {
  people.set("ada", person("ada@example.com", ["owner"]));
  await page.goto(`${server.url}/dashboard/account`);
  await expect(page.getByRole("button", { name: "Sign in with Example" })).toBeVisible();
  await expect(page.getByLabel("Password")).toHaveCount(0);
  await expectAccessible(page, "sign in at an issuer");
  await signIn(page, "ada");
  await allow(page);
  await page.waitForURL(/\/dashboard\/.*account$/);
  await expect(page.getByRole("heading", { name: "Account" })).toBeVisible();
  expect(await session(page)).toMatchObject({ status: 200, user: { email: "ada@example.com", role: "owner" } });

  people.set("ada", person("ada@example.com", ["viewer"]));
  await page.context().clearCookies({ name: "__Host-runnel" });
  await page.goto(`${server.url}/dashboard/login`);
  await page.getByRole("button", { name: "Sign in with Example" }).click(); // The issuer's session is still valid.
  await page.waitForURL(/\/dashboard\/(?!login)/);
  expect((await session(page)).user.role).toBe("viewer");

  people.delete("ada");
  await page.context().clearCookies({ name: "__Host-runnel" });
  await page.goto(`${server.url}/dashboard/login`);
  const refused = page.waitForResponse(
    (response) => response.status() >= 400 && !response.url().startsWith(server.url),
  );
  await page.getByRole("button", { name: "Sign in with Example" }).click();
  await refused;
  // Until then the navigation there would abort the one back.
  await page.waitForURL(({ origin }) => origin !== server.url);
  await page.goto(`${server.url}/dashboard/login`);
  expect((await session(page)).status).toBe(401);
});

test("a refused person reads why", async ({ page }) => {
  people.set("eve", person("eve@example.org", ["owner"]));
  people.set("bob", person("bob@example.com", ["owner"], { email_verified: false }));
  people.set("kim", person("kim@example.com", []));
  for (const [name, told] of [
    ["eve", "Email addresses of your domain are not allowed to sign in"],
    ["bob", "is not verified at the identity provider"],
    ["kim", "You have no role"],
  ] as const) {
    await page.context().clearCookies();
    await page.goto(`${server.url}/dashboard/login`);
    await signIn(page, name);
    await allow(page);
    await expect(page.getByRole("alert")).toContainText(told);
    expect((await session(page)).status).toBe(401);
  }
  await expectAccessible(page, "refused at an issuer");
});
