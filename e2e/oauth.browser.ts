import { type Page, expect as plain, test } from "@playwright/test";
import {
  type OAuthServer,
  oauthClientId,
  oauthClientSecret,
  startOAuthServer,
} from "../server/testing/oauth-server.ts";
import { createScripted, createTool } from "./fixtures.ts";
import { type Json, type Runnel, startRunnel } from "./harness.ts";
import { expectAccessible, expectToFit, recordFaults, signInBeforeEach } from "./page-checks.ts";

const expect = plain.configure({ timeout: 60_000 });

// OAuth in a real browser: clients and grants in the dashboard, and runs that wait for the consent of their user.
let server: Runnel;
let issuer: OAuthServer;
test.beforeAll(async () => {
  issuer = await startOAuthServer();
  server = await startRunnel();
});
test.afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await issuer[Symbol.asyncDispose]();
});
test.beforeEach(() => {
  issuer.callers = [];
  issuer.faults = {};
});
test.setTimeout(300_000);
signInBeforeEach(() => server);

async function makeClient(name: string, more: object = {}): Promise<Json> {
  const made = await server.post("/v1/oauth_clients", {
    name,
    grant: "authorization_code",
    per_user: true,
    issuer: issuer.url,
    client_id: oauthClientId,
    client_secret: oauthClientSecret,
    ...more,
  });
  expect(made.status).toBe(201);
  return made.body;
}

/** Creates an agent that calls a tool with this client, once. */
async function makeAgent(client: Json, more: object = {}): Promise<string> {
  const auth = { type: "oauth", oauth_client_id: client.id };
  const tool = await createTool(server, { url: `${issuer.url}/api`, method: "GET", auth });
  const call = { name: tool.name, arguments: { city: "Oslo" } };
  return createScripted(server, [{ tool_calls: [call] }, { text: "It is done." }], { tools: [tool.id], ...more });
}

/** Goes on from the page that says what is connected for whom. */
const goOn = (page: Page) => page.getByRole("button", { name: `Continue to ${new URL(issuer.url).host}` }).click();

/** Follows a link that opens another tab, and consents or refuses there. */
async function decideElsewhere(page: Page, link: string, decision: "Allow" | "Refuse"): Promise<string> {
  const [other] = await Promise.all([page.waitForEvent("popup"), page.getByRole("link", { name: link }).click()]);
  await goOn(other);
  await other.getByRole("link", { name: decision }).click();
  await expect(other.getByRole("heading", { level: 1 })).toContainText("connected");
  const heading = await other.getByRole("heading", { level: 1 }).textContent();
  await other.close();
  return heading ?? "";
}

test("a client is created, connected, used by a tool, revoked and deleted in the dashboard", async ({ page }) => {
  await test.step("without clients the page says what they are for", async () => {
    await page.goto(`${server.url}/dashboard/oauth_clients`);
    await expect(page.getByRole("heading", { name: "No test OAuth clients yet" })).toBeVisible();
    await expectAccessible(page, "no OAuth clients");
  });

  await test.step("missing values are named at their fields, and the redirect address is there to copy", async () => {
    await page.keyboard.press("c");
    const dialog = page.getByRole("dialog", { name: "Create OAuth client" });
    await expect(dialog).toContainText(`${server.url}/oauth/callback`);
    await dialog.getByRole("button", { name: "Create OAuth client" }).click();
    await expect(dialog.getByLabel("Name", { exact: true })).toHaveAccessibleDescription("Enter a name.");
    await expect(dialog.getByLabel("Issuer", { exact: true }).last()).toHaveAccessibleDescription(/Enter the issuer/);
    await expectAccessible(page, "new OAuth client");
    await expectToFit(page, "new OAuth client");
  });

  await test.step("the server's faults are shown at the fields, and then the client is there", async () => {
    const dialog = page.getByRole("dialog", { name: "Create OAuth client" });
    await dialog.getByLabel("Name", { exact: true }).fill("Calendar");
    await dialog.getByText("The project, after a consent").click();
    await dialog.getByRole("textbox", { name: "Issuer" }).fill(`${issuer.url}?tenant=1`);
    await dialog.getByLabel("Client ID").fill(oauthClientId);
    await dialog.getByLabel("Client secret (optional)").fill(oauthClientSecret);
    await dialog.getByLabel("Scopes (optional)").fill("calendar.read");
    await dialog.getByRole("button", { name: "Create OAuth client" }).click();
    await expect(dialog.getByRole("textbox", { name: "Issuer" })).toHaveAccessibleDescription(/no query/);
    await dialog.getByRole("textbox", { name: "Issuer" }).fill(issuer.url);
    await dialog.getByRole("button", { name: "Create OAuth client" }).click();
    await expect(page).toHaveURL(/\/oauth_clients\/oac_\w+$/);
    await expect(page.getByRole("heading", { name: "Calendar" })).toBeVisible();
    await expect(page.getByRole("heading", { name: "No grants yet" })).toBeVisible();
    await expect(page.getByText(oauthClientSecret)).toHaveCount(0);
    await expectAccessible(page, "OAuth client without grants");
  });

  await test.step("a refused consent comes back here, and says so", async () => {
    await page.getByRole("button", { name: "Connect", exact: true }).click();
    await goOn(page);
    await page.getByRole("link", { name: "Refuse" }).click();
    await expect(page.getByRole("status").filter({ hasText: "Calendar was not connected" })).toContainText("refused");
    await expectAccessible(page, "refused consent");
    await page.getByRole("button", { name: "OK", exact: true }).click();
    await expect(page).toHaveURL(/\/oauth_clients\/oac_\w+$/);
  });

  await test.step("an address that claims a success shows none", async () => {
    await page.goto(`${page.url()}?oauth=granted`);
    await expect(page.getByRole("heading", { name: "No grants yet" })).toBeVisible();
    await expect(page.getByText("Calendar is connected")).toHaveCount(0);
  });

  await test.step("a consent comes back here, and the grant is there", async () => {
    await page.getByRole("button", { name: "Connect", exact: true }).click();
    await goOn(page);
    await page.getByRole("link", { name: "Allow" }).click();
    await expect(page.getByText("Calendar is connected")).toBeVisible();
    const row = page.getByRole("row").filter({ hasText: "The project" });
    await expect(row).toContainText("Active");
    await expect(row).toContainText("calendar.read");
    await expect(page.getByRole("button", { name: "Connect again" })).toBeVisible();
    await expectAccessible(page, "connected OAuth client");
    await expectToFit(page, "connected OAuth client");
    await page.getByRole("button", { name: "OK", exact: true }).click();
  });
  const clientUrl = page.url();

  await test.step("a tool uses the client", async () => {
    await page.goto(`${server.url}/dashboard/tools/new?type=http`);
    await page.getByLabel("Name", { exact: true }).fill("events");
    await page.getByLabel("URL", { exact: true }).fill(`${issuer.url}/api`);
    await page.getByLabel("Method").selectOption("GET");
    await page.getByLabel("OAuth", { exact: true }).selectOption({ label: "Calendar" });
    await expectAccessible(page, "tool with OAuth");
    await page.getByRole("button", { name: "Create tool" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "I've saved it" }).click();
    await expect(page.getByLabel("OAuth", { exact: true })).toHaveValue(/^oac_/);
    await page.getByRole("tab", { name: "Test" }).click();
    await page.getByRole("button", { name: "Call tool" }).click();
    await expect(page.getByRole("region", { name: "Result of the call" })).toContainText('"ada"');
    expect(issuer.callers).toEqual(["ada"]);
  });

  await test.step("an edit keeps the secret, and another client ID asks for it again", async () => {
    await page.goto(clientUrl);
    await page.getByRole("button", { name: "More actions" }).click();
    await page.getByRole("menuitem", { name: "Edit OAuth client" }).click();
    const dialog = page.getByRole("dialog", { name: "Edit OAuth client" });
    await dialog.getByLabel("Client ID").fill("another");
    await dialog.getByRole("button", { name: "Save OAuth client" }).click();
    await expect(dialog.getByLabel("Client secret (optional)")).toHaveAttribute("aria-invalid", "true");
    await dialog.getByLabel("Client ID").fill(oauthClientId);
    await dialog.getByLabel("Name", { exact: true }).fill("Team calendar");
    await dialog.getByRole("button", { name: "Save OAuth client" }).click();
    await expect(page.getByRole("heading", { name: "Team calendar" })).toBeVisible();
    await expect(page.getByRole("row").filter({ hasText: "The project" })).toContainText("Active");
  });

  await test.step("a grant is revoked, also at the issuer", async () => {
    await page.getByRole("button", { name: "Revoke the grant of The project" }).click();
    const dialog = page.getByRole("alertdialog");
    await expect(dialog).toContainText("revoked at Team calendar");
    await expectAccessible(page, "revoke a grant");
    await dialog.getByRole("button", { name: "Revoke grant" }).click();
    await expect(page.getByRole("heading", { name: "No grants yet" })).toBeVisible();
    await expect.poll(() => issuer.revoked.length).toBeGreaterThan(0);
  });

  await test.step("the deletion names the tools whose calls fail", async () => {
    await page.getByRole("button", { name: "More actions" }).click();
    await page.getByRole("menuitem", { name: "Delete OAuth client" }).click();
    const dialog = page.getByRole("alertdialog");
    await expect(dialog).toContainText("Calls of 1 tool fail: events.");
    await dialog.getByRole("button", { name: "Delete OAuth client" }).click();
    await expect(page).toHaveURL(/\/oauth_clients$/);
  });
});

test("a link connects one user, and a link that was used or is wrong leads to a page in plain words", async ({
  page,
}) => {
  const client = await makeClient("Mail");
  await page.goto(`${server.url}/dashboard/oauth_clients/${client.id}`);
  await page.getByRole("button", { name: "Connect a user" }).click();
  const dialog = page.getByRole("dialog", { name: "Connect a user to Mail" });
  await dialog.getByRole("button", { name: "Make link" }).click();
  await expect(dialog.getByLabel("User")).toHaveAccessibleDescription("Enter the id of the user.");
  await dialog.getByLabel("User").fill("ada");
  await dialog.getByRole("button", { name: "Make link" }).click();
  const link = (await dialog.getByRole("status").locator("code").textContent()) ?? "";
  await expectAccessible(page, "link for a user");
  const other = await page.context().newPage();
  await other.goto(link);
  await expect(other.getByRole("heading", { name: "Connect Mail?" })).toBeVisible();
  await expect(other.getByRole("definition").filter({ hasText: "ada" })).toBeVisible();
  await expectAccessible(other, "page of a consent");
  await expectToFit(other, "page of a consent");
  await goOn(other);
  const allow = (await other.getByRole("link", { name: "Allow" }).getAttribute("href")) ?? "";
  const stranger = await (await page.context().browser()!.newContext()).newPage();
  await stranger.goto(allow);
  await expect(stranger.getByRole("heading", { name: "Open the link again in this browser" })).toBeVisible();
  await expectAccessible(stranger, "a way back in another browser");
  await stranger.context().close();
  await other.goto(allow);
  await expect(other.getByRole("heading", { name: "Mail is connected" })).toBeVisible();
  await dialog.getByRole("button", { name: "Close" }).click();
  await expect(page.getByRole("row").filter({ hasText: "ada" })).toContainText("Active");
  await other.goto(allow);
  await expect(other.getByRole("heading", { name: "This link does not work any more" })).toBeVisible();
  await other.goto(`${server.url}/oauth/consent/run_1.oac_1.guessed`);
  await expect(other.getByRole("heading", { name: "This link is not valid" })).toBeVisible();
  await expectAccessible(other, "page of a wrong link");
});

test("the server of an MCP tool is discovered and registered at, and its tool leads to where to connect", async ({
  page,
}) => {
  const before = issuer.registrations.length;
  await page.goto(`${server.url}/dashboard/tools/new?type=mcp`);
  await page.getByLabel("OAuth", { exact: true }).selectOption("discovered");
  await expect(page.getByLabel("Each user connects an own account")).not.toBeChecked();
  await page.getByLabel("Name", { exact: true }).fill("files");
  await page.getByLabel("URL", { exact: true }).fill(`${issuer.url}/api`);
  await expectAccessible(page, "MCP tool by discovery");
  await page.getByRole("button", { name: "Create tool" }).click();
  await expect(page.getByText("No account is connected yet")).toBeVisible();
  expect(issuer.registrations.length).toBe(before + 1);
  await expect(page.getByLabel("OAuth", { exact: true })).toHaveValue(/^oac_/);
  await expect(page.getByLabel("OAuth", { exact: true }).locator("option:checked")).not.toContainText("deleted");
  await expectAccessible(page, "MCP tool without an account");
  await page.getByRole("link", { name: "Connect an account" }).click();
  await page.getByRole("button", { name: "Connect", exact: true }).click();
  await goOn(page);
  await page.getByRole("link", { name: "Allow" }).click();
  await expect(page.getByText("is connected")).toBeVisible();
  await expect(page.getByRole("row").filter({ hasText: "The project" })).toContainText("Active");
});

test("an MCP server that cannot be discovered leaves the form as it is, and says why", async ({ context }) => {
  issuer.faults.register = () => new Response("no", { status: 403 });
  const page = await context.newPage(); // The browser reports the server's 502 as a fault of the page.
  await page.goto(`${server.url}/dashboard/tools/new?type=mcp`);
  await page.getByLabel("OAuth", { exact: true }).selectOption("discovered");
  await page.getByLabel("Name", { exact: true }).fill("archive");
  await page.getByLabel("URL", { exact: true }).fill(`${issuer.url}/other`);
  await page.getByRole("button", { name: "Create tool" }).click();
  await expect(page.getByText("The tool was not created")).toBeVisible();
  await expect(page.getByLabel("URL", { exact: true })).toHaveValue(`${issuer.url}/other`);
});

/** Opens the playground with a conversation of this user, and starts a run that waits for the user's consent. */
async function waitInPlayground(page: Page, agent_id: string, user_id: string): Promise<string> {
  const thread = await server.post("/v1/threads", { user_id });
  await page.goto(`${server.url}/dashboard/playground?agent=${agent_id}&thread=${thread.body.id}`);
  await page.getByRole("textbox", { name: "Message to the agent" }).fill("Who am I?");
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await expect(page.locator("[data-consent]")).toBeVisible();
  return thread.body.id;
}

const lastRun = async (thread_id: string): Promise<Json> =>
  (await server.get(`/v1/runs?thread_id=${thread_id}&limit=1`)).body.data[0];

test("in the playground a run waits for its user, and goes on by itself after the consent", async ({ page }) => {
  const agent = await makeAgent(await makeClient("GitHub"));
  const thread = await waitInPlayground(page, agent, "ada");
  await expect(page.locator("[data-consent]")).toContainText("acts as the user ada");
  await expectAccessible(page, "consent in the playground");
  await expectToFit(page, "consent in the playground");
  expect(await decideElsewhere(page, "Connect GitHub", "Allow")).toBe("GitHub is connected");
  await expect(page.getByRole("article", { name: "Run" }).getByText("It is done.")).toBeVisible();
  await expect(page.locator("[data-consent]")).toHaveCount(0);
  expect(await lastRun(thread)).toMatchObject({ status: "completed" });
  expect(issuer.callers).toEqual(["ada"]);
});

test("in the playground a refused consent fails the call, and an expired request fails the run", async ({ page }) => {
  const client = await makeClient("Tickets");
  const agent = await makeAgent(client);
  await waitInPlayground(page, agent, "bob");
  expect(await decideElsewhere(page, "Connect Tickets", "Refuse")).toBe("Tickets is not connected");
  await expect(page.getByRole("article", { name: "Run" }).getByText("It is done.")).toBeVisible();
  expect(issuer.callers).toEqual([]);

  const { body: thread } = await server.post("/v1/threads", { user_id: "bob" });
  const order = { agent_id: agent, input: "Who am I?", thread_id: thread.id, action_timeout_ms: 15_000 };
  expect((await server.post("/v1/runs", order)).status).toBe(201);
  await page.goto(`${server.url}/dashboard/playground?agent=${agent}&thread=${thread.id}`);
  const url = (await page.getByRole("link", { name: "Connect Tickets" }).getAttribute("href")) ?? "";
  await expect(page.locator("[data-consent]")).toHaveCount(0);
  const other = await page.context().newPage();
  await other.goto(url);
  await expect(other.getByRole("heading", { name: "Nothing waits for this link any more" })).toBeVisible();
});

test("on a chat page a visitor connects the own account, and the answer comes by itself", async ({ page, browser }) => {
  const agent = await makeAgent(await makeClient("Notes"));
  const { body } = await server.put(`/v1/agents/${agent}/chat_page`, { access: "link", title: "Ask" });
  await page.goto("about:blank");
  const context = await browser.newContext();
  const visitor = await context.newPage();
  const complaints = recordFaults(visitor);
  const say = async () => {
    await visitor.getByLabel("Your message").fill("Who am I?");
    await visitor.getByLabel("Your message").press("Enter");
    await expect(visitor.getByRole("region", { name: "Connect Notes" })).toBeVisible();
  };
  await visitor.goto(body.url);
  await say();
  await expectAccessible(visitor, "consent on a chat page");
  await expectToFit(visitor, "consent on a chat page");
  expect(await decideElsewhere(visitor, "Connect Notes", "Refuse")).toBe("Notes is not connected");
  await expect(visitor.getByText("It is done.")).toHaveCount(1);
  await say();
  expect(await decideElsewhere(visitor, "Connect Notes", "Allow")).toBe("Notes is connected");
  await expect(visitor.getByText("It is done.")).toHaveCount(2);
  await expect(visitor.getByRole("region", { name: "Connect Notes" })).toHaveCount(0);
  expect(issuer.callers).toEqual(["ada"]);
  expect(complaints).toEqual([]);
  await context.close();
});
