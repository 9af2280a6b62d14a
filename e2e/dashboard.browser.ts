import { expect, type Page, test } from "@playwright/test";
import { type Json, type Runnel, startRunnel } from "./harness.ts";
import { account, expectAccessible, recordFaults } from "./page-checks.ts";

// A person's way through the dashboard of the compiled executable, in a real browser, while a client uses the API.
let server: Runnel;
test.beforeAll(async () => {
  server = await startRunnel();
});
test.afterAll(() => server[Symbol.asyncDispose]());

const text = "The stream carries every leaf that it is given, slowly, down to the sea.";

test("from the one-time link to watching a run live, in both modes and both themes", async ({ page }) => {
  const complaints = recordFaults(page);

  await test.step("the one-time link creates the first account, also where its page is open already", async () => {
    await page.goto(`${server.url}/dashboard`);
    await expect(page.getByLabel("Set-up code")).toBeVisible();
    await page.goto(server.setupUrl);
    await expect(page.getByLabel("Set-up code")).toBeHidden();
    await page.getByLabel("Email").fill(account.email);
    await page.getByLabel("Password", { exact: true }).fill(account.password);
    await page.getByLabel("Repeat the password").fill(account.password);
    await expectAccessible(page, "set-up");
    await page.getByRole("button", { name: "Create account" }).click();
    await expect(page.getByRole("heading", { name: "First steps" })).toBeVisible();
    await page.getByRole("link", { name: "Runs", exact: true }).first().click();
    await expect(page.getByRole("heading", { name: "Runs", exact: true })).toBeVisible();
    await expect(page.getByText("No runs yet")).toBeVisible();
  });

  await test.step("a second use of the link creates nothing", async () => {
    await page.goto("about:blank"); // Otherwise only the part after # would change.
    await page.goto(server.setupUrl);
    await expect(page.getByText("runnel is already set up")).toBeVisible();
    const following = page.waitForResponse(/\/runs\/live$/);
    await page.goto(`${server.url}/dashboard/runs`);
    await following;
    await expect(page.getByText("No runs yet")).toBeVisible();
  });

  const agent_id = await createAgent("Storyteller");
  const run = await test.step("runs of an API client appear while they run, without a reload", async () => {
    await using stream = await server.stream("/v1/runs", { body: { agent_id, input: "Tell me.", stream: true } });
    const { data } = await stream.until("token");
    const row = page.getByRole("row", { name: /Storyteller/ });
    await expect(row.getByText("Running")).toBeVisible();
    await stream.rest();
    await expect(row.getByText("Completed")).toBeVisible();
    return data.run_id as string;
  });

  await test.step("an opened run shows its text and its events", async () => {
    await page.getByRole("link", { name: /Storyteller/ }).click();
    await expect(page).toHaveURL(new RegExp(`/runs/${run}`));
    await expect(page.getByRole("region", { name: "Output" })).toContainText(text);
    await page.getByRole("tab", { name: "Events" }).click();
    const events = page.getByRole("list", { name: "Events" });
    for (const name of ["run.created", "step.started", "step.completed", "run.completed"])
      await expect(events.getByRole("button", { name: new RegExp(name.replace(".", "\\.")) }).first()).toBeVisible();
    await events.getByRole("button", { name: /run\.completed/ }).click();
    await expect(events).toContainText("output_json");
  });

  await test.step("an open run grows while its model writes", async () => {
    await using stream = await server.stream("/v1/runs", { body: { agent_id, input: "Again.", stream: true } });
    const { data } = await stream.until("token");
    await page.goto(`${server.url}/dashboard/runs/${data.run_id}`);
    await expect(page.getByRole("main").getByText("Auto-refresh", { exact: true })).toBeVisible();
    await expect(page.getByRole("region", { name: "Output" })).toContainText(text);
    await expect(page.getByText("Completed", { exact: true }).first()).toBeVisible();
  });

  await test.step("live mode shows no test data, and says that it is live", async () => {
    await page.goto(`${server.url}/dashboard/runs`);
    await expect(page.getByRole("row", { name: /Storyteller/ })).toHaveCount(2);
    await page.getByRole("button", { name: "Live", exact: true }).first().click();
    await expect(page.locator("html")).toHaveAttribute("data-mode", "live");
    await expect(page.getByText("No runs yet")).toBeVisible();
    await page.getByRole("button", { name: "Test", exact: true }).first().click();
    await expect(page.getByRole("row", { name: /Storyteller/ })).toHaveCount(2);
  });

  await test.step("the theme is chosen in the account's menu, and both are accessible", async () => {
    for (const theme of ["Dark", "Light"]) {
      await openAccountMenu(page);
      await page.getByRole("menuitemradio", { name: theme }).click();
      await page.keyboard.press("Escape");
      await expect(page.locator("html")).toHaveAttribute("data-theme", theme.toLowerCase());
    }
    await expectAccessible(page, "runs");
    await page.goto(`${server.url}/dashboard/runs/${run}`);
    await expect(page.getByRole("region", { name: "Output" })).toContainText(text);
    await expectAccessible(page, "run");
  });

  await test.step("signing out ends the session on the server as well as in the browser", async () => {
    const cookies = await page.context().cookies();
    expect(cookies).toEqual([expect.objectContaining({ httpOnly: true, secure: true, sameSite: "Lax", path: "/" })]);
    const cookie = cookies.map(({ name, value }) => `${name}=${value}`).join("; ");
    expect((await session(cookie)).status).toBe(200);
    await openAccountMenu(page);
    await page.getByRole("menuitem", { name: "Sign out" }).click();
    await expect(page.getByRole("heading", { name: "Sign in" })).toBeVisible();
    expect((await session(cookie)).status).toBe(401);
    expect(await page.context().cookies()).toEqual([]);
  });

  await test.step("a wrong password gets a message; the right one leads back to the requested page", async () => {
    await page.goto(`${server.url}/dashboard/runs/${run}`);
    await expectAccessible(page, "sign-in");
    await signIn(page, "not the password");
    await expect(page.getByRole("alert")).toContainText("wrong");
    await signIn(page, account.password);
    await expect(page).toHaveURL(new RegExp(`/runs/${run}`));
    await expect(page.getByRole("region", { name: "Output" })).toContainText(text);
  });

  expect(complaints).toEqual([]);
});

test("the dashboard's headers block foreign code and frames", async ({ request }) => {
  const { url } = server;
  const response = await request.get(`${url}/dashboard`);
  expect(response.status()).toBe(200);
  const headers = response.headers();
  expect(headers["content-security-policy"]).toMatch(/default-src 'none'.*frame-ancestors 'none'/);
  expect(headers["content-security-policy"]).not.toMatch(/unsafe|https?:|\*/);
  expect(headers).toMatchObject({ "x-content-type-options": "nosniff", "referrer-policy": "no-referrer" });
  const asset = /\/dashboard\/assets\/[^"]+\.js/.exec(await response.text())![0];
  expect((await request.get(`${url}${asset}`)).headers()["cache-control"]).toContain("immutable");
  expect((await request.get(`${url}/dashboard/assets/none.js`)).status()).toBe(404);
  expect((await request.get(`${url}/`, { maxRedirects: 0 })).headers().location).toBe("/dashboard");
});

test("an API key is no session, and a foreign page cannot act for a signed-in person", async () => {
  const key = { authorization: `Bearer ${server.keys.test}` };
  expect((await server.fetch("/console/api/session", { headers: key })).status).toBe(401);
  const body = JSON.stringify(account);
  const origin = { origin: "https://evil.example", "sec-fetch-site": "cross-site" };
  const foreign = await server.fetch("/console/api/login", { method: "POST", body, headers: origin, key: null });
  expect(foreign.status).toBe(403);
  expect(foreign.headers.get("access-control-allow-origin")).toBeNull();
});

async function createAgent(name: string): Promise<string> {
  const model_settings = { script: [{ text, delta_ms: 250 }] };
  const agent = await server.post("/v1/agents", { name, instructions: "Tell.", model: "test/script", model_settings });
  return agent.body.id;
}

async function session(cookie: string): Promise<{ status: number; body: Json }> {
  const response = await server.fetch("/console/api/session", { headers: { cookie }, key: null });
  return { status: response.status, body: await response.json() };
}

async function signIn(page: Page, password: string): Promise<void> {
  await page.getByLabel("Email").fill(account.email);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
}

const openAccountMenu = (page: Page): Promise<void> =>
  page.getByRole("button", { name: new RegExp(account.email) }).click();
