import { Database } from "bun:sqlite";
import { join } from "node:path";
import { expect, type Locator, type Page, test } from "@playwright/test";
import { type Runnel, startRunnel } from "./harness.ts";
import { expectAccessible, expectToFit, recordFaults, setUpAccount } from "./page-checks.ts";

// API keys in the compiled executable: created, rotated and revoked in a real browser.
let server: Runnel;
test.beforeAll(async () => {
  server = await startRunnel({ flags: ["--http-port", "0"] });
});
test.afterAll(() => server[Symbol.asyncDispose]());
test.use({ viewport: { width: 1440, height: 900 }, permissions: ["clipboard-read", "clipboard-write"] });

test("a key is created, seen once, used, rotated without a gap, and revoked", async ({ page }) => {
  test.setTimeout(600_000); // axe checks many states in two themes.
  const complaints = recordFaults(page);
  await setUpAccount(page, server);
  const desk = { name: "Refund desk", instructions: "Be brief.", model: "test/echo" };
  const { id: agent_id } = (await server.post("/v1/agents", desk)).body;
  let secret = "";

  await test.step("the page shows the first key, which is the only one that can create keys", async () => {
    await page.getByRole("link", { name: "API keys" }).click();
    await expect(page).toHaveURL(/\/keys$/);
    await expect(page.getByRole("row")).toHaveCount(2);
    await expect(rows(page).first()).toContainText("Only admin key, cannot be revoked");
    await rows(page)
      .first()
      .getByRole("button", { name: /More for/ })
      .click();
    await expect(page.getByText("The only admin key.")).toBeVisible();
    await expect(page.getByRole("menuitem", { name: "Revoke key" })).toBeHidden();
    await page.keyboard.press("Escape");
    await expectAccessible(page, "first key");
  });

  await test.step("a key has a page: its requests over time, also by keyboard, and each bar leads to its runs", async () => {
    for (const input of ["One", "Two"]) await server.post("/v1/runs?wait=60", { agent_id, input });
    // Runs are counted soon after they end.
    await expect
      .poll(async () => (await server.get("/v1/analytics?group_by=key")).body.totals?.count, { timeout: 30_000 })
      .toBe(2);
    await rows(page).first().getByRole("button", { name: "first start", exact: true }).click();
    await page.getByRole("link", { name: "Analytics of this key" }).click();
    await expect(page).toHaveURL(/\/keys\/key_/);
    await expect(page.getByRole("heading", { name: "first start" })).toBeVisible();
    await expect(page.getByRole("region", { name: "Details" })).toContainText("admin");
    const chart = page.getByRole("slider", { name: "Runs over time: points, Enter shows runs" });
    await expect(chart).toBeVisible({ timeout: 60_000 });
    await expectAccessible(page, "key page");
    await expectToFit(page, "key page");
    await chart.focus();
    await page.keyboard.press("End");
    await expect(page.locator("[data-tip]")).toContainText(/Completed\s*2/);
    await page.keyboard.press("ArrowLeft");
    await expect(chart).toHaveAttribute("aria-valuetext", /Completed 0/);
    await page.keyboard.press("End");
    await page.keyboard.press("Enter");
    await expect(page).toHaveURL(/\/runs\?.*key=key_/);
    await expect(page.getByText("API key:")).toBeVisible();
    await expect(page.getByRole("row", { name: /Refund desk/ })).toHaveCount(2);
    await page.getByRole("button", { name: "Clear the API key filter" }).click();
    await expect(page).not.toHaveURL(/key=/);
    await expect(page.getByText("API key:")).toBeHidden();
  });

  await test.step("a bar of the time to first token leads, by mouse, to the runs in that range", async () => {
    // For one run, because bars between two may be empty.
    const { id: quick_id } = (await server.post("/v1/agents", { ...desk, name: "Quick desk" })).body;
    await server.post("/v1/runs?wait=60", { agent_id: quick_id, input: "One" });
    await expect.poll(async () => (await server.get("/v1/analytics")).body.totals?.count, { timeout: 30_000 }).toBe(3);
    await page.goto(`${server.url}/dashboard/agents/${quick_id}?tab=analytics`);
    const bars = page.getByRole("slider", { name: /^Time to first token/ });
    await expect(bars).toBeVisible({ timeout: 60_000 });
    await bars.scrollIntoViewIfNeeded();
    await bars.click();
    await expect(page).toHaveURL(/\/runs\?.*first=/);
    await expect(page.getByText("Time to first token:")).toBeVisible();
    await expect(page.getByRole("row", { name: /Quick desk/ })).toHaveCount(1);
    await expectAccessible(page, "runs by first token");
    await page.getByRole("button", { name: "Clear the Time to first token filter" }).click();
    await expect(page).not.toHaveURL(/first=/);
    await page.getByRole("link", { name: "API keys" }).click();
  });

  await test.step("c opens the create dialog; an invalid value is reported at its field", async () => {
    // The page listens for keys once it is shown.
    await expect(page.getByRole("button", { name: "Create key" }).last()).toBeVisible();
    await page.keyboard.press("c");
    const dialog = page.getByRole("dialog", { name: "Create key" });
    await expect(dialog.getByLabel("Name")).toBeFocused();
    await page.keyboard.press("Enter");
    await expect(dialog.getByLabel("Name")).toHaveAccessibleDescription("Enter a name.");
    await dialog.getByLabel("Name").fill("Checkout server");
    await expect(dialog.getByLabel("Expires").locator("option:checked")).toHaveText(/In 90 days, on \d+ \w+ 20\d\d/);
    await dialog.getByText("Restrictions (optional)").click();
    await dialog.getByRole("checkbox", { name: "Refund desk" }).check();
    const networks = dialog.getByLabel("Only from these networks");
    await networks.fill("10.4.0.0/33");
    await networks.blur();
    await expect(networks).toHaveAccessibleDescription("10.4.0.0/33 is not a network. An IPv4 mask ends at /32.");
    await expectAccessible(page, "create");
    await networks.fill("127.0.0.0/8\n::1/128");
    await dialog.getByText("Show code").click();
    await expect(dialog.getByRole("region", { name: "curl code" })).toContainText('"name": "Checkout server"');
    await page.keyboard.press("Control+Enter");
  });

  await test.step("the secret is shown once, and the dialog waits for it to be stored and used", async () => {
    const dialog = page.getByRole("dialog", { name: "Save this key now" });
    await expect(dialog.getByRole("button", { name: "Copy", exact: true })).toBeFocused();
    secret = (await dialog.locator("[data-secret]").textContent()) ?? "";
    expect(secret).toMatch(/^sk_test_\w{39}$/);
    await page.keyboard.press("Enter");
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(secret);
    await dialog.getByRole("button", { name: "Copy as .env line" }).click();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(`RUNNEL_API_KEY=${secret}`);
    await expect(dialog.getByRole("region", { name: "curl code" })).not.toContainText(secret);
    await dialog.getByLabel("Include secret").check();
    await expect(dialog.getByRole("region", { name: "curl code" })).toContainText(secret);
    await page.keyboard.press("Escape");
    await expect(dialog.getByRole("alert")).toContainText("Did you save it?");
    await expect(dialog.getByRole("status")).toContainText("Waiting for the first request");
    await expectAccessible(page, "reveal");
    expect((await server.get("/v1/me", secret)).status).toBe(200);
    await expect(dialog.getByRole("status")).toContainText("The first request arrived");
    await dialog.getByRole("button", { name: "I've saved it" }).click();
    await expect(dialog).toBeHidden();
    await expect(page.getByText("Key created")).toBeVisible();
    await expect(row(page, "Checkout server")).toContainText("1 agent · 2 networks");
    await expect(row(page, "Checkout server")).toContainText("127.0.0.1");
    await expect(page.locator("body")).not.toContainText(secret);
  });

  await test.step("a rotation is drawn and explained before it is done; both keys are accepted until it ends", async () => {
    await row(page, "Checkout server").getByRole("button", { name: "Rotate Checkout server" }).click();
    const dialog = page.getByRole("dialog", { name: "Rotate “Checkout server”" });
    await expect(dialog).toContainText(/The old key works until tomorrow \d\d:\d\d/);
    await expect(dialog).toContainText(/Last used .* from 127\.0\.0\.1/);
    await expectAccessible(page, "rotate");
    await dialog.getByText("Now", { exact: true }).click();
    await expect(dialog.getByRole("button", { name: "Rotate, stop the old key" })).toBeVisible();
    await expectAccessible(page, "rotate now");
    await dialog.getByText("Custom", { exact: true }).click();
    await dialog.getByLabel("After").fill("31");
    await dialog.getByLabel("Unit").selectOption("days");
    await expect(dialog.getByLabel("After")).toHaveAccessibleDescription(/up to 30 days/);
    await expect(dialog.getByRole("button", { name: "Rotate key" })).toBeDisabled();
    await dialog.getByText("3 days", { exact: true }).click();
    await dialog.getByRole("button", { name: "Rotate key" }).click();
    const reveal = page.getByRole("dialog", { name: "Save this key now" });
    const next = (await reveal.locator("[data-secret]").textContent()) ?? "";
    await reveal.getByRole("button", { name: "I've saved it" }).click();
    expect((await server.get("/v1/me", secret)).status).toBe(200);
    expect((await server.get("/v1/me", next)).status).toBe(200);
    const [old, made] = [row(page, "Checkout server").nth(0), row(page, "Checkout server").nth(1)];
    await expect(old).toContainText(/Works for 2 d 23:59:\d\d/);
    await expect(made).toContainText(`Replaces …${secret.slice(-4)}`);
    await expectAccessible(page, "pair");
    await expectToFit(page, "pair");
  });

  await test.step("the overlap is extended, and then ended early, by a person who sees who still uses the old key", async () => {
    await row(page, "Checkout server")
      .nth(0)
      .getByRole("button", { name: /More for/ })
      .click();
    await page.getByRole("menuitem", { name: "Change overlap" }).click();
    const change = page.getByRole("dialog", { name: /Change the overlap/ });
    await change.getByText("7 days", { exact: true }).click();
    await change.getByRole("button", { name: "Change overlap" }).click();
    await expect(row(page, "Checkout server").nth(0)).toContainText("Works for 6 d 23:59:");
    await row(page, "Checkout server").nth(0).getByRole("button", { name: "End now" }).click();
    const dialog = page.getByRole("alertdialog", { name: "End the overlap now?" });
    await expect(dialog.getByRole("button", { name: "Cancel" })).toBeFocused();
    await expect(dialog).toContainText(/Last used .* from 127\.0\.0\.1/);
    await expectAccessible(page, "end early");
    await dialog.getByRole("button", { name: "End overlap" }).click();
    await expect(dialog).toBeHidden();
    expect((await server.get("/v1/me", secret)).status).toBe(401);
    await expect(row(page, "Checkout server").filter({ hasText: "Expired" })).toBeVisible();
  });

  await test.step("name and expiry are changed by keyboard; the focus returns to the row", async () => {
    const list = page.getByRole("button", { name: "Checkout server", exact: true }).first();
    await page.keyboard.press("Escape");
    await page.getByRole("searchbox", { name: "Search keys" }).focus();
    await page.keyboard.press("Shift+Tab");
    await page.keyboard.press("j");
    await expect(list).toBeFocused();
    await page.keyboard.press("Enter");
    const dialog = page.getByRole("dialog", { name: "Checkout server" });
    await expectAccessible(page, "details");
    await dialog.getByLabel("Name").fill("CI smoke tests");
    await dialog.getByLabel("Expires").selectOption({ label: "On a date…" });
    const soon = new Date(Date.now() + 3 * 86_400_000);
    const day = `${soon.getFullYear()}-${String(soon.getMonth() + 1).padStart(2, "0")}-${String(soon.getDate()).padStart(2, "0")}`;
    await dialog.getByLabel("Last day").fill(day);
    await page.keyboard.press("Control+Enter");
    await expect(dialog).toBeHidden();
    await expect(row(page, "CI smoke tests")).toContainText(/in [34] days/);
    await expect(page.getByRole("button", { name: "CI smoke tests", exact: true })).toBeFocused();
  });

  await test.step("filters and search stand in the address, and hidden keys can be brought back", async () => {
    await page.keyboard.press("/");
    await page.keyboard.type("smoke");
    await expect(page).toHaveURL(/\?q=smoke$/);
    await expect(rows(page)).toHaveCount(1);
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Status" }).click();
    await page.getByRole("menuitemradio", { name: "Revoked and expired" }).click();
    await expect(page).toHaveURL(/status=ended/);
    await expect(rows(page)).toHaveCount(1);
    await page.reload();
    await expect(rows(page)).toHaveCount(1);
    await page.getByRole("searchbox", { name: "Search keys" }).fill("nothing of this name");
    await expect(page.getByText("No key matches these filters")).toBeVisible();
    await expectAccessible(page, "no match");
    await page.getByRole("button", { name: "Clear filters" }).click();
    await expect(page).toHaveURL(/\/keys$/);
  });

  await test.step("a key is revoked after its effect was shown, and the next key takes the focus", async () => {
    await server.post("/v1/api_keys", { name: longName, scopes: ["read", "run"] });
    await page.reload();
    await row(page, longName)
      .getByRole("button", { name: /More for/ })
      .click();
    await page.getByRole("menuitem", { name: "Revoke key" }).click();
    const dialog = page.getByRole("alertdialog", { name: /^Revoke/ });
    await expect(dialog).toContainText("It was never used.");
    await expectAccessible(page, "revoke");
    await dialog.getByRole("button", { name: "Revoke key" }).click();
    await expect(dialog).toBeHidden();
    await expect(row(page, longName)).toContainText("Revoked");
    await expect(page.locator(":focus")).toHaveCount(1);
    await expect(row(page, longName).locator(":focus")).toHaveCount(1);
    await expectToFit(page, "long names");
  });

  await test.step("a key that was sent in clear text is listed first", async () => {
    const { body } = await server.post("/v1/api_keys", { name: "Staging load tests", scopes: ["run"] });
    await sendInClear(body.secret);
    await page.reload();
    const note = page.getByRole("alert").filter({ hasText: "Staging load tests" });
    await expect(note).toContainText("was sent in clear text");
    await expect(row(page, "Staging load tests")).toContainText("Exposed");
    await expectAccessible(page, "exposed");
    await expectToFit(page, "exposed");
    await note.getByRole("button", { name: "Rotate now" }).click();
    const dialog = page.getByRole("dialog", { name: "Rotate “Staging load tests”" });
    // By default the old key stops at once.
    await dialog.getByRole("button", { name: "Rotate, stop the old key" }).click();
    await page.getByRole("button", { name: "I've saved it" }).click();
    await expect(note).toBeHidden();
  });

  await test.step("a server that does not respond leaves the list unchanged", async () => {
    await page.context().setOffline(true);
    await page.keyboard.press("c");
    const dialog = page.getByRole("dialog", { name: "Create key" });
    await dialog.getByLabel("Name").fill("Never made");
    await dialog.getByRole("button", { name: "Create key" }).click();
    await expect(dialog.getByRole("alert")).toContainText("The server does not respond");
    await expectAccessible(page, "offline");
    await page.context().setOffline(false);
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await expect(row(page, "CI smoke tests")).toBeVisible();
  });

  await test.step("in live the name is typed before a key is revoked", async () => {
    await server.post("/v1/api_keys", { name: "Order service", scopes: ["run"] }, server.keys.live);
    await page
      .getByRole("radio", { name: "Live" })
      .or(page.getByRole("button", { name: "Live" }))
      .first()
      .click();
    await row(page, "Order service")
      .getByRole("button", { name: /More for/ })
      .click();
    await page.getByRole("menuitem", { name: "Revoke key" }).click();
    const dialog = page.getByRole("alertdialog", { name: "Revoke “Order service”?" });
    await expect(dialog.getByRole("button", { name: "Revoke key" })).toBeDisabled();
    await dialog.getByLabel("Type Order service to continue").fill("Order service");
    await expectAccessible(page, "revoke live");
    await dialog.getByRole("button", { name: "Revoke key" }).click();
    await expect(row(page, "Order service")).toContainText("Revoked");
  });

  await test.step("a project without keys explains them", async () => {
    await server.command("projects", "create", "empty");
    await page.reload();
    await page.getByRole("button", { name: "Project default" }).click();
    await page.getByRole("menuitemradio", { name: "empty" }).click();
    await expect(page.getByRole("heading", { name: /No (test|live) keys yet/ })).toBeVisible();
    await expectAccessible(page, "empty");
    await page.getByRole("button", { name: "Create key" }).last().click();
    await page.keyboard.press("Escape");
    await expect(page.getByRole("button", { name: "Create key" }).last()).toBeFocused();
  });

  await test.step("a viewer sees keys, reads why nothing can be changed, and changes nothing", async () => {
    makeViewer();
    await page.reload();
    await expect(page.getByText("View only")).toBeVisible();
    await expect(page.getByRole("button", { name: "Create key" })).toHaveCount(0);
    await page.keyboard.press("c");
    await expect(page.getByRole("dialog")).toHaveCount(0);
    await page.getByRole("button", { name: "Project empty" }).click();
    await page.getByRole("menuitemradio", { name: "default" }).click();
    await expect(rows(page).first()).toBeVisible();
    await expect(page.getByRole("button", { name: /^Rotate/ })).toHaveCount(0);
    await rows(page)
      .first()
      .getByRole("button", { name: /More for/ })
      .click();
    await expect(page.getByRole("menuitem")).toHaveText(["Show details", "Copy key id"]);
    await expectAccessible(page, "viewer");
  });

  expect(complaints).toEqual([]);
});

const longName = "Deploy pipeline of the customer-facing refund assistant, Frankfurt and Dublin, second shift";

const rows = (page: Page): Locator => page.locator("tr[data-key]");

const row = (page: Page, name: string): Locator =>
  rows(page).filter({ has: page.getByRole("button", { name, exact: true }) });

/** By the database, because the only person may not demote themselves in the dashboard. */
function makeViewer(): void {
  const db = new Database(join(server.dataDir, "runnel.db"));
  db.run("PRAGMA busy_timeout = 5000");
  db.run("UPDATE users SET role = 'viewer'");
  db.close();
}

/** Sends a key over plain HTTP, as a program does that was given http:// for https://. */
async function sendInClear(secret: string): Promise<void> {
  const address = `http://127.0.0.1:${server.greeting.http_port}/v1/me`;
  const response = await fetch(address, { headers: { authorization: `Bearer ${secret}` } });
  expect(response.status).toBe(403);
}
