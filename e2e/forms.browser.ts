import { type Cookie, type Page, expect as plain, test } from "@playwright/test";
import { type Runnel, startRunnel } from "./harness.ts";
import { expectAccessible, fieldContent, recordFaults, setUpAccount } from "./page-checks.ts";

/** A busy machine responds late. */
const expect = plain.configure({ timeout: 30_000 });

// Behaviour that forms and lists of all pages share, in the compiled executable and a real browser.
let server: Runnel;
let cookies: Cookie[];
test.beforeAll(async ({ browser }) => {
  server = await startRunnel();
  const context = await browser.newContext();
  await setUpAccount(await context.newPage(), server);
  cookies = await context.cookies();
  await context.close();
});
test.beforeEach(({ context }) => context.addCookies(cookies));
test.afterAll(() => server[Symbol.asyncDispose]());
test.use({ viewport: { width: 1440, height: 900 } });
test.setTimeout(300_000);

test("unsaved changes are never lost without a confirmation", async ({ page }) => {
  const complaints = recordFaults(page);
  await server.command("projects", "create", "other");
  await page.goto(`${server.url}/dashboard`);
  await server.post("/v1/agents", { name: "Refund desk", instructions: "Be kind.", model: "test/echo" });
  const tool = await server.post("/v1/tools", { name: "ask_customer", type: "client", description: "Asks." });
  const question = page.getByRole("alertdialog", { name: "Leave without saving?" });
  const keep = () => question.getByRole("button", { name: "Keep editing" }).click();
  const leave = () => question.getByRole("button", { name: "Leave", exact: true }).click();
  const go = (name: string) => page.getByRole("link", { name, exact: true }).click();

  await test.step("a link asks for confirmation, and staying returns to the field; another tab of the page asks, too", async () => {
    await go("Agents");
    await page.getByRole("link", { name: "Refund desk", exact: true }).click();
    const instructions = page.getByLabel("Instructions");
    await instructions.fill("Be kind and short.");
    await go("Runs");
    await expect(question.getByRole("button", { name: "Keep editing" })).toBeFocused();
    await expectAccessible(page, "leave question");
    await keep();
    await expect(question).toBeHidden();
    await expect(page).toHaveURL(/\/agents\/agt_/);
    await expect.poll(() => fieldContent(instructions)).toBe("Be kind and short.");
    await page.getByRole("tab", { name: "Versions" }).click();
    await page.keyboard.press("Escape");
    await expect(question).toBeHidden();
    await expect.poll(() => fieldContent(instructions)).toBe("Be kind and short.");
  });

  await test.step("Back and the other mode ask for confirmation; leaving leaves", async () => {
    await page.goBack();
    await keep();
    await expect(page).toHaveURL(/\/agents\/agt_/);
    await page.getByRole("button", { name: "Live", exact: true }).click();
    await keep();
    await expect(page.getByRole("button", { name: "Test", exact: true })).toHaveAttribute("aria-pressed", "true");
    await expect.poll(() => fieldContent(page.getByLabel("Instructions"))).toBe("Be kind and short.");
    await page.getByRole("button", { name: "Live", exact: true }).click();
    await leave();
    await expect(page).toHaveURL(/\/agents$/);
    await expect(page.getByRole("button", { name: "Live", exact: true })).toHaveAttribute("aria-pressed", "true");
    await page.getByRole("button", { name: "Test", exact: true }).click();
  });

  await test.step("a new item can be left for another mode or project", async () => {
    const name = page.getByLabel("Name", { exact: true });
    await page.keyboard.press("c");
    await name.fill("Night desk");
    await page.getByRole("button", { name: "Live", exact: true }).click();
    await keep();
    await expect(name).toHaveValue("Night desk");
    await page.getByRole("button", { name: "Live", exact: true }).click();
    await leave();
    await expect(name).toHaveValue("");
    await page.getByRole("button", { name: "Test", exact: true }).click();
    for (const [from, to] of [
      ["default", "other"],
      ["other", "default"],
    ] as const) {
      await name.fill(`Desk of ${from}`);
      await page.getByRole("button", { name: `Project ${from}` }).click();
      await page.getByRole("menuitemradio", { name: to }).click();
      await leave();
      await expect(name).toHaveValue("");
      await expect(page.getByRole("button", { name: `Project ${to}` })).toBeVisible();
    }
    await page.getByRole("link", { name: "Discard" }).click();
  });

  await test.step("a saved, discarded or unchanged form asks nothing; closing the tab asks the browser's way", async () => {
    await page.getByRole("link", { name: "Refund desk", exact: true }).click();
    await page.getByLabel("Instructions").fill("Be brief.");
    await page.keyboard.press("Control+Enter");
    await expect(page.getByText("Refund desk is at version 2")).toBeVisible();
    await go("Tools");
    // The agent has a tab of that name, too.
    await expect(page.getByRole("heading", { name: "Tools", level: 1 })).toBeVisible();
    await page.keyboard.press("c");
    await page.getByLabel("Name", { exact: true }).fill("lookup_order");
    const asked = page.waitForEvent("dialog");
    void page.reload().catch(() => {}); // The dialog prevents the reload.
    const dialog = await asked;
    expect(dialog.type()).toBe("beforeunload");
    await dialog.dismiss();
    await expect(page.getByLabel("Name", { exact: true })).toHaveValue("lookup_order");
    await page.getByRole("link", { name: "Discard" }).click();
    await expect(page).toHaveURL(/\/tools$/);
    await expect(question).toBeHidden();
  });

  await test.step("a tool's change by another person is shown before it is overwritten", async () => {
    await page.getByRole("link", { name: "ask_customer" }).click();
    await page.getByLabel("Name", { exact: true }).fill("ask_buyer");
    const path = `/v1/tools/${tool.body.id}`;
    await server.fetch(path, { method: "PATCH", body: JSON.stringify({ description: "Asks the buyer." }) });
    await page.getByRole("button", { name: "Save tool" }).click();
    const alert = page.getByRole("alert").filter({ hasText: "Someone saved ask_customer meanwhile" });
    await expect(alert).toContainText("They changed: description. You changed: name. Both can be saved");
    await expectAccessible(page, "tool conflict");
    await alert.getByRole("button", { name: "Save mine" }).click();
    await expect(page.getByText("Tool saved")).toBeVisible();
    expect((await server.get(path)).body).toMatchObject({ name: "ask_buyer", description: "Asks the buyer." });
    await expect(page.getByLabel("Description", { exact: true })).toHaveValue("Asks the buyer.");
  });

  await test.step("Escape in a dialog with input asks for confirmation above it; the dialog's own button does not", async () => {
    await go("Webhooks");
    await page.getByRole("heading", { name: "Webhooks", exact: true }).waitFor();
    await page.keyboard.press("c");
    const form = page.getByRole("dialog", { name: "Create webhook" });
    await form.getByLabel("URL").fill("https://example.com/hooks");
    await page.keyboard.press("Escape");
    await expect(question).toBeVisible();
    await keep();
    await expect(form.getByLabel("URL")).toHaveValue("https://example.com/hooks");
    await page.keyboard.press("Escape");
    await leave();
    await expect(form).toBeHidden();
    await expect(page).toHaveURL(/\/webhooks$/);
    await page.keyboard.press("c");
    await page.keyboard.press("Escape"); // The form is still empty.
    await expect(form).toBeHidden();
    await page.keyboard.press("c");
    await form.getByLabel("URL").fill("https://example.com/hooks");
    await form.getByRole("button", { name: "Cancel" }).click();
    await expect(form).toBeHidden();
    await expect(question).toBeHidden();
  });

  await test.step("runs chosen for a suite count as unsaved changes", async () => {
    await go("Suites");
    await page.getByRole("heading", { name: "No test suites yet" }).waitFor();
    await page.keyboard.press("c");
    const form = page.getByRole("dialog", { name: "Create suite" });
    await form.getByLabel("Or any runs, by their ids").fill("run_1");
    await page.keyboard.press("Escape");
    await leave();
    await expect(form).toBeHidden();
  });

  await test.step("settings ask before another tab of them, and signing out asks as well, each time anew", async () => {
    await go("Settings");
    await page.getByLabel("Name", { exact: true }).fill("shop");
    await page.getByRole("tab", { name: "Retention" }).click();
    await keep();
    await page.getByRole("button", { name: /owner@example.com/ }).click();
    await page.getByRole("menuitem", { name: "Sign out" }).click();
    await keep();
    await page.route("**/console/api/logout", (route) => route.fulfill({ status: 409, json: {} }));
    await page.getByRole("button", { name: /owner@example.com/ }).click();
    await page.getByRole("menuitem", { name: "Sign out" }).click();
    await leave();
    await expect(page.getByText("Not signed out. Try again.")).toBeVisible();
    await go("Runs"); // After staying, the changes are still there.
    await keep();
    await expect(page.getByLabel("Name", { exact: true })).toHaveValue("shop");
    await page.getByRole("button", { name: "Discard" }).click();
    await page.getByRole("tab", { name: "Retention" }).click();
    await expect(page).toHaveURL(/tab=retention/);
  });
  expect(complaints).toEqual([]);
});

test("j and k move through rows without opening them, and after a deletion the next row has the focus", async ({
  page,
}) => {
  const complaints = recordFaults(page);
  const memory = await server.post("/v1/memory", { name: "Manuals", kind: "vector" });
  for (const text of ["First text", "Second text", "Third text"])
    await server.post(`/v1/memory/${memory.body.id}/entries`, { text });
  await page.goto(`${server.url}/dashboard/memory/${memory.body.id}`);
  const row = (text: string) => page.getByRole("row").filter({ hasText: text });
  await expect(row("First text")).toBeVisible();
  await page.keyboard.press("j");
  await expect(row("Third text")).toBeFocused(); // The newest is first.
  await page.keyboard.press("j");
  await expect(row("Second text")).toBeFocused();
  for (const button of [/Edit/, /Delete/]) {
    await page.keyboard.press("Tab");
    await expect(row("Second text").getByRole("button", { name: button })).toBeFocused();
  }
  await page.keyboard.press("Enter");
  await page.getByRole("alertdialog").getByRole("button", { name: "Delete entry" }).click();
  await expect(row("Second text")).toHaveCount(0);
  await expect(row("First text")).toBeFocused();
  await page.keyboard.press("k");
  await expect(row("Third text")).toBeFocused();
  await page.goto(`${server.url}/dashboard/settings?tab=prices`);
  await expect(page.getByRole("row").nth(2)).toBeVisible();
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await expect(page.getByRole("row").nth(2)).toBeFocused();
  expect(complaints).toEqual([]);
});

test("where the browser forbids copying, the text is shown, selected", async ({ page }) => {
  const complaints = recordFaults(page);
  await page.addInitScript(() => {
    Object.defineProperty(navigator, "clipboard", { value: undefined }); // As over http from another machine.
    document.execCommand = () => false;
  });
  await page.goto(`${server.url}/dashboard/settings`);
  await page.getByRole("button", { name: "Copy project id" }).click();
  const dialog = page.getByRole("dialog", { name: "Copy project id by hand" });
  const text = dialog.getByRole("textbox", { name: "project id" });
  await expect(text).toBeFocused();
  await expect(text).toHaveValue(/^proj_/);
  expect(
    await text.evaluate((field: HTMLTextAreaElement) => field.selectionEnd - field.selectionStart),
  ).toBeGreaterThan(10);
  await expectAccessible(page, "copy by hand");
  await page.keyboard.press("Escape");
  await expect(page.getByRole("button", { name: "Copy project id" })).toBeFocused();
  expect(complaints).toEqual([]);
});

test("without the newer clipboard API, the older one copies", async ({ page, context }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.goto(`${server.url}/dashboard/settings`);
  await page.evaluate(() => {
    Object.assign(window, { read: navigator.clipboard.readText.bind(navigator.clipboard) });
    Object.defineProperty(navigator, "clipboard", { value: undefined });
  });
  await page.getByRole("button", { name: "Copy project id" }).click();
  await expect(page.getByText("Project id copied")).toBeVisible();
  expect(await page.evaluate(() => (window as unknown as { read: () => Promise<string> }).read())).toMatch(/^proj_/);
});

test("a toast covers no control, at any width, also when the page changes below it", async ({ page }) => {
  const agent = await server.post("/v1/agents", { name: "Echo", instructions: "Echo.", model: "test/echo" });
  const run = await server.post("/v1/runs?wait=20", { agent_id: agent.body.id, input: "Hello." });
  for (const width of [1440, 1240, 390])
    await test.step(`the replay, ${width} px wide`, async () => {
      await page.setViewportSize({ width, height: 844 });
      await page.goto(`${server.url}/dashboard/runs/${run.body.id}`);
      await expect(page.getByRole("slider", { name: "Position of the replay" })).toBeVisible();
      await page.getByRole("button", { name: "Copy run id" }).click();
      await expect(page.getByText("Run id copied")).toBeVisible();
      expect(await findCoveredControls(page)).toEqual([]);
    });
  await test.step("the page of the created item", async () => {
    await page.goto(`${server.url}/dashboard/memory`);
    await page.getByRole("button", { name: "Create store" }).click();
    const dialog = page.getByRole("dialog", { name: "Create store" });
    await dialog.getByLabel("Name").fill("Policies");
    await dialog.getByRole("button", { name: "Create store" }).click();
    await expect(page.getByRole("heading", { name: "Policies", level: 1 })).toBeVisible();
    await expect(page.getByText("Store created")).toBeVisible();
    await expect.poll(() => findCoveredControls(page)).toEqual([]);
  });
});

/** Returns the controls that a toast covers. A list's rows do not count, because they can be scrolled. */
const findCoveredControls = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const told = document.querySelector("[aria-label=Notifications]");
    const isBelow = (x: number, y: number) => Boolean(told?.contains(document.elementFromPoint(x, y)));
    return [...document.querySelectorAll("button, a[href]:not([data-row]), input, select, textarea")]
      .filter((control) => {
        const { left, top, width, height } = control.getBoundingClientRect();
        const parts = [0.1, 0.5, 0.9];
        return parts.some((x) => parts.some((y) => isBelow(left + x * width, top + y * height)));
      })
      .filter((control) => !told?.contains(control))
      .map(({ outerHTML }) => outerHTML.slice(0, 200));
  });
