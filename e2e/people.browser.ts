import { type Browser, type BrowserContext, expect, type Page, test } from "@playwright/test";
import { type Runnel, startRunnel } from "./harness.ts";
import { account, expectAccessible, recordFaults, setUpAccount } from "./page-checks.ts";

// Accounts in the compiled executable's dashboard: an owner invites a viewer, each in their own browser.
let server: Runnel;
test.beforeAll(async () => {
  server = await startRunnel();
});
test.afterAll(() => server[Symbol.asyncDispose]());

const { email: owner, password } = account;
const viewer = "grace.hopper.with.a.rather.long.address@research.example.com";

test("an owner invites a viewer, who reads and sees why nothing else is allowed, becomes a member, and is removed", async ({
  browser,
  page,
}) => {
  test.setTimeout(180_000); // axe checks many states.
  const complaints = recordFaults(page);
  const other = await browser.newContext({ ignoreHTTPSErrors: true });
  const guest = await other.newPage();
  const guestComplaints = recordFaults(guest);
  const looksWell = (shown: Page, place: string) => expectAccessible(shown, place);
  const people = page.getByRole("table", { name: "People" });
  let link = "";

  await test.step("the last owner can neither be removed nor change role", async () => {
    await setUpAccount(page, server);
    await page.goto(`${server.url}/dashboard/settings?tab=people`);
    await expect(people.getByRole("row", { name: new RegExp(owner) })).toContainText("you");
    await expect(page.getByRole("combobox", { name: `Role of ${owner}` })).toBeDisabled();
    await expect(page.getByRole("button", { name: `Remove ${owner}` })).toBeDisabled();
  });

  await test.step("an invitation is a link that is shown once", async () => {
    await page.getByRole("button", { name: "Invite person" }).click();
    const dialog = page.getByRole("dialog", { name: "Invite person" });
    await dialog.getByLabel("Email").fill(owner);
    await page.keyboard.press("Enter");
    await expect(dialog.getByLabel("Email")).toHaveAccessibleDescription(/already an account/);
    await dialog.getByLabel("Email").fill(viewer);
    await dialog.getByRole("radio", { name: /^Viewer/ }).check();
    await looksWell(page, "invite");
    await page.keyboard.press("Enter");
    const shown = page.getByRole("dialog", { name: "Send this link" });
    link = (await shown.locator("[data-secret]").textContent()) ?? "";
    expect(link).toMatch(/\/dashboard\/invite#[\w-]{43}$/);
    await looksWell(page, "invitation link");
    await shown.getByRole("button", { name: "I've copied it" }).click();
    await expect(people.getByRole("row", { name: new RegExp(viewer) })).toContainText("invited");
    await looksWell(page, "people");
  });

  await test.step("the link creates the account, once", async () => {
    await guest.goto(link);
    await expect(guest.getByLabel("Email")).toHaveValue(viewer);
    await guest.getByLabel("Password", { exact: true }).fill("short");
    await guest.keyboard.press("Enter");
    await expect(guest.getByLabel("Password", { exact: true })).toHaveAccessibleDescription(/7 more characters/);
    await looksWell(guest, "join");
    await guest.getByLabel("Password", { exact: true }).fill(password);
    await guest.getByLabel("Repeat the password").fill(password);
    await guest.getByRole("button", { name: "Create account" }).click();
    await expect(guest).not.toHaveURL(/invite/);
    await onceMore(browser, link, async (stranger) => {
      await expect(stranger.getByText("This invitation does not work")).toBeVisible();
      await looksWell(stranger, "spent invitation");
    });
  });

  await test.step("a viewer reads the settings, and forbidden controls are disabled with a reason", async () => {
    await guest.goto(`${server.url}/dashboard/settings`);
    await expect(guest.getByText("are changed by owners")).toBeVisible();
    await expect(guest.getByLabel("Name")).toBeDisabled();
    await expect(guest.getByRole("button", { name: "Delete project" })).toBeDisabled();
    await looksWell(guest, "viewer project");
    await guest.getByRole("tab", { name: "Model connections" }).click();
    await expect(guest.getByRole("button", { name: "Add connection" })).toBeDisabled();
    await guest.getByRole("tab", { name: "People" }).click();
    await expect(guest.getByText("Only owners can invite people").filter({ visible: true })).toBeVisible();
    await guest.getByRole("tab", { name: "Server" }).click();
    await expect(guest.getByRole("button", { name: "Back up now" })).toBeDisabled();
    await looksWell(guest, "viewer server");
    const agent = { name: "Desk", instructions: "# Desk\n\n- Be **kind**.", model: "test/echo" };
    const { id } = (await server.post("/v1/agents", agent)).body;
    await guest.goto(`${server.url}/dashboard/agents/${id}`);
    const instructions = guest.getByRole("textbox", { name: "Instructions" });
    await expect(instructions).toHaveAttribute("aria-readonly", "true");
    await looksWell(guest, "viewer agent");
    const { status, code } = await ask(guest, "POST", "/console/api/backups");
    expect([status, code]).toEqual([403, "insufficient_role"]);
  });

  await test.step("another role applies at once", async () => {
    const project = await projectOf(guest);
    const tools = `/console/api/${project}/test/tools`;
    expect((await ask(guest, "POST", tools, { name: "first" })).code).toBe("insufficient_role");
    await page.reload();
    const role = page.getByRole("combobox", { name: `Role of ${viewer}` });
    const dialog = page.getByRole("alertdialog");
    await role.selectOption("Owner");
    await expect(dialog).toContainText("An owner can do everything");
    await expectAccessible(page, "change role");
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await expect(role).toHaveValue("viewer");
    await role.selectOption("Member");
    await dialog.getByRole("button", { name: "Change role" }).click();
    await expect(dialog).toBeHidden();
    await expect(role).toHaveValue("member");
    await expect.poll(async () => (await ask(guest, "GET", "/console/api/session")).body.user.role).toBe("member");
    expect((await ask(guest, "POST", tools, { name: "first" })).status).toBe(201);
    expect((await ask(guest, "DELETE", `/console/api/projects/${project}`)).status).toBe(405);
    expect((await ask(guest, "POST", `/console/api/projects/${project}/archive`)).code).toBe("insufficient_role");
  });

  await test.step("a person sees their sessions, ends the others, and changes the password by the old one", async () => {
    const phone = await signIn(browser, viewer, password);
    await guest.goto(`${server.url}/dashboard/account`);
    const sessions = guest.getByRole("list", { name: "Sessions" });
    await expect(sessions.getByRole("listitem")).toHaveCount(2);
    await expect(sessions.getByRole("listitem").filter({ hasText: "this one" })).toContainText("Chrome on Linux");
    await guest.getByLabel("Current password").fill("not the password");
    await guest.getByLabel("New password", { exact: true }).fill("another long password");
    await guest.getByLabel("Repeat the new password").fill("another long password");
    await guest.keyboard.press("Enter");
    await expect(guest.getByLabel("Current password")).toHaveAccessibleDescription(/not your password/);
    await looksWell(guest, "account");
    await guest.getByLabel("Current password").fill(password);
    await guest.keyboard.press("Enter");
    await expect(guest.getByText("All your other sessions have ended.")).toBeVisible();
    await expect(sessions.getByRole("listitem")).toHaveCount(1);
    expect((await ask(phone.pages()[0]!, "GET", "/console/api/session")).status).toBe(401);
    await phone.close();
    const tablet = await signIn(browser, viewer, "another long password");
    await guest.reload();
    await guest.getByRole("button", { name: "End all other sessions" }).click();
    await expect(sessions.getByRole("listitem")).toHaveCount(1);
    expect((await ask(tablet.pages()[0]!, "GET", "/console/api/session")).status).toBe(401);
    await tablet.close();
  });

  await test.step("the theme, the times and single keys are chosen here and remembered", async () => {
    await guest.getByText("Dark", { exact: true }).click();
    await expect(guest.locator("html")).toHaveAttribute("data-theme", "dark");
    await guest.getByRole("radio", { name: "UTC" }).focus();
    await guest.keyboard.press("Space");
    await guest.reload();
    await expect(guest.getByRole("radio", { name: "UTC" })).toBeChecked();
    await expect(guest.getByRole("list", { name: "Sessions" })).toContainText("UTC");
    await guest.setViewportSize({ width: 390, height: 844 });
    expect(await guest.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
    await looksWell(guest, "account narrow");
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
    await looksWell(page, "people narrow");
    await page.setViewportSize({ width: 1280, height: 800 });
  });

  await test.step("after wrong passwords a message says how long to wait", async () => {
    await onceMore(browser, `${server.url}/dashboard/login`, async (stranger) => {
      for (let attempt = 0; attempt < 6; attempt++) {
        await stranger.getByLabel("Email").fill("nobody@example.com");
        await stranger.getByLabel("Password", { exact: true }).fill("guess guess guess");
        const answered = stranger.waitForResponse(/\/console\/api\/login/);
        await stranger.keyboard.press("Enter");
        await answered;
        await expect(stranger.getByRole("button", { name: "Sign in", exact: true })).toBeEnabled();
      }
      await expect(stranger.getByRole("alert")).toContainText(/Too many attempts. Try again in 1\d min/);
      await looksWell(stranger, "throttled");
    });
  });

  await test.step("a removed person is signed out at once", async () => {
    await page.getByRole("button", { name: `Remove ${viewer}` }).click();
    const dialog = page.getByRole("alertdialog", { name: `Remove ${viewer}` });
    await expect(dialog.getByRole("button", { name: "Cancel" })).toBeFocused();
    await looksWell(page, "remove person");
    await dialog.getByRole("button", { name: "Remove person" }).click();
    await expect(people.getByRole("row", { name: new RegExp(viewer) })).toHaveCount(0);
    await guest.reload();
    await expect(guest.getByRole("heading", { name: "Sign in" })).toBeVisible();
  });

  expect([...complaints, ...guestComplaints]).toEqual([]);
});

async function signIn(browser: Browser, email: string, word: string): Promise<BrowserContext> {
  const context = await browser.newContext({ ignoreHTTPSErrors: true });
  const page = await context.newPage();
  await page.goto(`${server.url}/dashboard/login`);
  await page.getByLabel("Email").fill(email);
  await page.getByLabel("Password", { exact: true }).fill(word);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await expect(page).not.toHaveURL(/login/);
  return context;
}

/** Opens an address without a session. */
async function onceMore(browser: Browser, url: string, look: (page: Page) => Promise<void>): Promise<void> {
  const context = await browser.newContext({ ignoreHTTPSErrors: true });
  const page = await context.newPage();
  await page.goto(url);
  await look(page);
  await context.close();
}

/** Sends a request from within the page, with its session. */
const ask = (page: Page, method: string, path: string, body: object = {}) =>
  page.evaluate(
    async ([way, address, text]) => {
      const headers = { "x-runnel-console": "1", "content-type": "application/json" };
      const init = way === "GET" ? {} : { method: way, headers, body: text };
      const response = await fetch(address!, init);
      const answer = await response.json();
      return { status: response.status, code: answer.error?.code as string | undefined, body: answer };
    },
    [method, path, JSON.stringify(body)],
  );

const projectOf = async (page: Page): Promise<string> =>
  (await ask(page, "GET", "/console/api/projects")).body.data[0].id;
