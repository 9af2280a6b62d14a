import { Database } from "bun:sqlite";
import { expect, type Locator, type Page, test } from "@playwright/test";
import { type Runnel, startRunnel } from "./harness.ts";
import { startModelServer } from "./model-server.ts";
import { account, expectAccessible, recordFaults, setUpAccount } from "./page-checks.ts";

// Settings of projects in the compiled executable, changed in a real browser.
let server: Runnel;
test.beforeAll(async () => {
  server = await startRunnel({ keepLimits: true });
});
test.afterAll(() => server[Symbol.asyncDispose]());

test("a project is renamed, limited, archived, restored and deleted, by mouse and keyboard", async ({ page }) => {
  test.setTimeout(300_000); // axe checks many states.
  const complaints = recordFaults(page);
  const looksWell = (place: string) => expectAccessible(page, place);
  const section = (name: string) => page.getByRole("region", { name, exact: true });
  const saved = (name: string) => expect(section(name).getByRole("status")).toHaveText("Saved");
  const signOutElsewhere = () =>
    page.evaluate(() =>
      fetch("/console/api/logout", {
        method: "POST",
        headers: { "x-runnel-console": "1", "content-type": "application/json" },
        body: "{}",
      }),
    );

  await test.step("the page shows the settings, and the defaults of the others", async () => {
    await setUpAccount(page, server);
    await page.getByRole("link", { name: "Settings" }).click();
    await expect(page).toHaveURL(/\/settings$/);
    await expect(page.getByRole("link", { name: "Settings" })).toHaveAttribute("aria-current", "page");
    await expect(section("Project").getByLabel("Name")).toHaveValue("default");
    await openTab(page, "Limits & budgets");
    for (const [label, number] of [
      ["Reads, per minute", "600"],
      ["Run creations, per minute", "120"],
      ["Other writes, per minute", "300"],
      ["Runs in progress, at once", "20"],
    ] as const)
      await expect(section("Limits").getByLabel(label)).toHaveValue(number);
    for (const radio of await section("Limits")
      .getByRole("radio", { name: /Default/ })
      .all())
      await expect(radio).toBeChecked();
    await openTab(page, "Server");
    await expect(section("Sandbox")).toContainText(/Strict|Process only/);
    await page.goBack();
    await expect(page).toHaveURL(/tab=limits$/);
    await openTab(page, "Project");
  });

  await test.step("an invalid name is refused at the field, and a valid one appears everywhere", async () => {
    const name = section("Project").getByLabel("Name");
    await name.fill("a b");
    await name.press("Enter");
    await expect(name).toHaveAccessibleDescription(/1 to 64 letters/);
    await expect(name).toHaveAttribute("aria-invalid", "true");
    await expect(name).toBeFocused();
    await name.fill("shop");
    await name.press("Enter");
    await saved("Project");
    await expect(switcher(page, "shop")).toBeVisible();
    await expect(page).toHaveTitle(/Settings · shop/);
  });

  await test.step("invalid origins are refused at the field, and saved ones apply from the next request on", async () => {
    const origins = section("Web pages").getByLabel("Origins");
    await origins.fill("https://shop.example/");
    await section("Web pages").getByRole("button", { name: "Save origins" }).click();
    await expect(origins).toHaveAccessibleDescription(/Browsers write this origin https:\/\/shop\.example\./);
    await origins.fill("https://shop.example\nhttp://localhost:5173");
    await section("Web pages").getByRole("button", { name: "Save origins" }).click();
    await saved("Web pages");
    const { headers } = await server.fetch("/v1/me", { headers: { origin: "https://shop.example" } });
    expect(headers.get("access-control-allow-origin")).toBe("https://shop.example");
    const { stdout } = await server.command("projects", "origins", "shop", "--json");
    expect(JSON.parse(stdout).origins).toEqual(["https://shop.example", "http://localhost:5173"]);
    await origins.fill("");
    await section("Web pages").getByRole("button", { name: "Save origins" }).click();
    await saved("Web pages");
  });

  await test.step("a saved limit applies from the next request on", async () => {
    await openTab(page, "Limits & budgets");
    const reads = section("Limits").getByLabel("Reads, per minute");
    await reads.fill("many");
    await section("Limits").getByRole("button", { name: "Save limits" }).click();
    await expect(reads).toHaveAccessibleDescription(/whole number/);
    await expect(reads).toBeFocused();
    await reads.fill("-3");
    await reads.press("Enter");
    await expect(reads).toHaveAttribute("aria-invalid", "true");
    await expect(reads).toHaveAccessibleDescription(/at least 0/);
    await looksWell("refused limit");
    await reads.fill("5");
    await reads.press("Enter");
    await saved("Limits");
    expect((await server.get("/v1/agents")).headers.get("x-ratelimit-limit")).toBe("5");
    await choose(row(page, "Reads"), "No limit");
    await choose(row(page, "Runs in progress"), "Number");
    await section("Limits").getByLabel("Runs in progress, at once").fill("7");
    await section("Limits").getByRole("button", { name: "Save limits" }).click();
    await saved("Limits");
    await page.reload();
    await expect(row(page, "Reads").getByRole("radio", { name: "No limit" })).toBeChecked();
    await expect(section("Limits").getByLabel("Runs in progress, at once")).toHaveValue("7");
    const { stdout } = await server.command("projects", "limits", "shop", "--json");
    expect(JSON.parse(stdout).limits).toMatchObject({
      reads_per_minute: 0,
      runs_in_progress: 7,
      writes_per_minute: null,
    });
  });

  await test.step("a save keeps a change that another person made meanwhile", async () => {
    await section("Limits").getByLabel("Run creations, per minute").fill("99");
    await server.command("projects", "limits", "shop", "--writes-per-minute", "88");
    await section("Limits").getByRole("button", { name: "Save limits" }).click();
    await saved("Limits");
    await expect(section("Limits").getByLabel("Other writes, per minute")).toHaveValue("88");
    await expect(section("Limits").getByLabel("Run creations, per minute")).toHaveValue("99");
  });

  await test.step("an option can be selected and discarded by keyboard alone", async () => {
    const reads = row(page, "Reads");
    await reads.getByRole("radio", { name: "No limit" }).focus();
    await page.keyboard.press("ArrowLeft");
    await expect(reads.getByRole("radio", { name: /Default/ })).toBeChecked();
    await expect(section("Limits").getByLabel("Reads, per minute")).toHaveValue("600");
    const discard = section("Limits").getByRole("button", { name: "Discard" });
    await discard.focus();
    await page.keyboard.press("Enter");
    await expect(reads.getByRole("radio", { name: "No limit" })).toBeChecked();
    await expect(discard).toBeHidden();
  });

  await test.step("a shorter retention needs a confirmation that says what is deleted", async () => {
    await openTab(page, "Retention");
    await section("Retention").getByLabel("Live runs, days", { exact: true }).fill("30");
    await section("Retention").getByRole("button", { name: "Save retention" }).click();
    const dialog = page.getByRole("alertdialog");
    await expect(dialog).toContainText("Live runs that ended more than 30 days ago are deleted.");
    await looksWell("retention asks");
    await dialog.getByRole("button", { name: "Cancel" }).click();
    expect(await retention("shop")).toEqual({ runs_days: null, traces_days: null });
    await section("Retention").getByRole("button", { name: "Save retention" }).click();
    await dialog.getByRole("button", { name: "Save and delete" }).click();
    await saved("Retention");
    expect(await retention("shop")).toEqual({ runs_days: 30, traces_days: null });
    await choose(row(page, "Live runs"), "Keep indefinitely");
    await section("Retention").getByRole("button", { name: "Save retention" }).click();
    await saved("Retention");
    expect(await retention("shop")).toEqual({ runs_days: null, traces_days: null });
  });

  await test.step("a server that does not respond leaves the form filled in, to be sent again", async () => {
    await openTab(page, "Limits & budgets");
    const writes = section("Limits").getByLabel("Other writes, per minute");
    await page.context().setOffline(true);
    await writes.fill("77");
    await section("Limits").getByRole("button", { name: "Save limits" }).click();
    await expect(section("Limits").getByRole("alert")).toContainText("The server does not respond");
    await expect(writes).toHaveValue("77");
    await page.context().setOffline(false);
    await section("Limits").getByRole("button", { name: "Save limits" }).click();
    await saved("Limits");
    await expect(section("Limits").getByRole("alert")).toBeHidden();
  });

  await test.step("a new project is created from the switcher, shown at once, and two have two names", async () => {
    await openNewProject(page, "shop");
    const dialog = page.getByRole("dialog", { name: "New project" });
    await expect(dialog.getByLabel("Name")).toBeFocused();
    await dialog.getByLabel("Name").fill("shop");
    await page.keyboard.press("Enter");
    await expect(dialog.getByLabel("Name")).toHaveAccessibleDescription(/already a project/);
    await looksWell("new project");
    await dialog.getByLabel("Name").fill("lab");
    await page.keyboard.press("Enter");
    await expect(dialog).toBeHidden();
    await expect(switcher(page, "lab")).toBeVisible();
    await openTab(page, "Project");
    await expect(section("Project").getByLabel("Name")).toHaveValue("lab");
    await switcher(page, "lab").click();
    await expect(page.getByRole("menuitemradio", { name: "lab" })).toBeChecked();
    await page.getByRole("menuitemradio", { name: "shop" }).click();
    await openTab(page, "Limits & budgets");
    await expect(section("Limits").getByLabel("Other writes, per minute")).toHaveValue("77");
  });

  for (const width of [1280, 900, 360])
    await test.step(`it is accessible and fits, ${width} wide`, async () => {
      await page.setViewportSize({ width, height: width < 500 ? 780 : 1400 });
      await page.reload();
      await expect(section("Limits").getByLabel("Other writes, per minute")).toHaveValue("77");
      await looksWell(`settings ${width}`);
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
      const { across, down } = await page.locator("#main").evaluate((frame) => {
        const body = frame.querySelector("[role=tabpanel] > div")!;
        return { across: body.scrollWidth - body.clientWidth, down: frame.scrollHeight - frame.clientHeight };
      });
      expect([across, down]).toEqual([0, 0]); // The page scrolls vertically within its frame, and the header stays.
    });
  await page.setViewportSize({ width: 1280, height: 900 });
  await openTab(page, "Project");

  await test.step("archiving refuses the project's keys at once, and restoring accepts them again", async () => {
    expect((await server.get("/v1/agents")).status).toBe(200);
    await section("Archive or delete").getByRole("button", { name: "Archive project" }).click();
    const dialog = page.getByRole("alertdialog", { name: "Archive shop" });
    await expect(dialog.getByRole("button", { name: "Cancel" })).toBeFocused();
    await looksWell("archive asks");
    await dialog.getByRole("button", { name: "Archive project" }).click();
    await expect(page.getByText(/shop is archived/)).toBeVisible();
    await expect(switcher(page, "lab")).toBeVisible();
    expect((await server.get("/v1/agents")).status).toBe(401);
    await looksWell("one archived");
    await page.getByRole("button", { name: "Unarchive project shop" }).click();
    await expect(page.getByText(/shop is active again/)).toBeVisible();
    expect((await server.get("/v1/agents")).status).toBe(200);
  });

  await test.step("a project is deleted only by its typed name, and without any project a link leads to creating one", async () => {
    await switcher(page, "lab").or(switcher(page, "shop")).click();
    await page.getByRole("menuitemradio", { name: "lab" }).click();
    await deleteShown(page, "lab", () => looksWell("delete asks"));
    await expect(page.getByText("lab is deleted.")).toBeVisible();
    await deleteShown(page, "shop");
    await expect(page.getByText("No active project")).toBeVisible();
    expect((await server.get("/v1/agents")).status).toBe(401);
    await looksWell("no project");
    await page.getByRole("button", { name: "New project" }).click();
    await page.getByRole("dialog").getByLabel("Name").fill("again");
    await page.keyboard.press("Enter");
    await expect(switcher(page, "again")).toBeVisible();
    await expect(section("Project").getByLabel("Name")).toHaveValue("again");
  });

  await test.step("a project archived elsewhere is not shown as active", async () => {
    await server.command("projects", "create", "other");
    await server.command("projects", "archive", "again");
    await section("Project").getByLabel("Name").fill("later");
    await page.evaluate(() => window.dispatchEvent(new Event("visibilitychange")));
    await expect(page.getByText("This project is no longer active").or(switcher(page, "other"))).toBeVisible();
  });

  await test.step("a session that ended elsewhere loses no draft, and saves none either", async () => {
    await page.goto(`${server.url}/dashboard/settings`);
    await section("Project").getByLabel("Name").fill("nobody");
    await signOutElsewhere();
    await section("Project").getByRole("button", { name: "Save name" }).click();
    const told = page.getByRole("alert").filter({ hasText: "You are signed out." });
    await expect(told).toBeVisible();
    await expect(section("Project").getByLabel("Name")).toHaveValue("nobody");
    expect((await server.command("projects", "list")).stdout).not.toContain("nobody");
    await looksWell("signed out");
    const opened = page.waitForEvent("popup");
    await told.getByRole("link", { name: "Sign in in another tab" }).click();
    const tab = await opened;
    await tab.getByLabel("Email").fill(account.email);
    await tab.getByLabel("Password").fill(account.password);
    await tab.getByRole("button", { name: "Sign in", exact: true }).click();
    await tab.waitForURL(/overview/);
    await tab.close();
    await page.evaluate(() => window.dispatchEvent(new Event("visibilitychange")));
    await expect(told).toBeHidden();
    await section("Project").getByRole("button", { name: "Save name" }).click();
    await saved("Project");
    expect((await server.command("projects", "list")).stdout).toContain("nobody");
  });

  await test.step("without a draft it leads to the sign-in page", async () => {
    await signOutElsewhere();
    await page.evaluate(() => window.dispatchEvent(new Event("visibilitychange")));
    await expect(page.getByRole("heading", { name: "Sign in" })).toBeVisible();
  });

  expect(complaints).toEqual([]);
});

test("an operator connects a model, tests it, sets its price, reads the audit log, and downloads a backup", async ({
  page,
}, info) => {
  test.setTimeout(360_000); // axe checks many states.
  const complaints = recordFaults(page);
  const looksWell = (place: string) => expectAccessible(page, place);
  await using model = startModelServer();
  await signIn(page);
  await page.goto(`${server.url}/dashboard/settings?tab=connections`);
  const table = (name: string) => page.getByRole("table", { name });

  await test.step("an invalid connection is refused at its field, a valid one is added, and its test succeeds", async () => {
    await page.getByRole("button", { name: "Add connection" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: "Add connection" }).click();
    await expect(dialog.getByLabel("Key")).toHaveAccessibleDescription(/openai needs a key/);
    await dialog.getByLabel("Provider").selectOption("openai_compatible");
    await dialog.getByLabel("Name").fill("gpu");
    await dialog.getByLabel("URL").fill(model.url);
    await looksWell("connection add");
    await dialog.getByRole("button", { name: "Add connection" }).click();
    const tests = page.getByRole("dialog", { name: "Test gpu" });
    await tests.getByLabel(/Model/).fill("words-1-0");
    await page.keyboard.press("Enter");
    await expect(tests.getByText("The connection works.")).toBeVisible();
    expect(model.count("words-1-0")).toBe(6); // One for each feature but images, and two for the cache.
    await tests.getByLabel(/Model/).fill("fails-401");
    await page.keyboard.press("Enter");
    await expect(tests.getByText(/refused the credentials/)).toBeVisible();
    await looksWell("connection test");
    await page.keyboard.press("Escape");
    await expect(table("Model connections").getByRole("row", { name: /gpu/ })).toContainText("openai_compatible/gpu/…");
    await looksWell("connections");
  });

  await test.step("a second connection of the same name announces that it replaces the first", async () => {
    await page.getByRole("button", { name: "Add connection" }).click();
    const dialog = page.getByRole("dialog").filter({ has: page.getByLabel("Provider") });
    await dialog.getByLabel("Provider").selectOption("openai_compatible");
    await dialog.getByLabel("Name").fill("gpu");
    await dialog.getByLabel("URL").fill(model.url);
    await expect(dialog).toHaveAccessibleName("Replace connection gpu");
    await expect(dialog.getByText(/There is a connection gpu already/)).toBeVisible();
    await looksWell("connection replace");
    await dialog.getByRole("button", { name: "Replace connection" }).click();
    await expect(page.getByRole("dialog", { name: "Test gpu" })).toBeVisible();
    await page.keyboard.press("Escape");
    await expect(table("Model connections").getByRole("row", { name: /gpu/ })).toHaveCount(1);
  });

  await test.step("a set price applies until it is removed", async () => {
    await openTab(page, "Prices");
    await page.getByRole("searchbox", { name: "Search prices" }).fill("gpt-5-nano");
    await expect(page).toHaveURL(/tab=prices&q=gpt-5-nano/);
    await page.getByRole("button", { name: "Set the price of openai/gpt-5-nano" }).click();
    const dialog = page.getByRole("dialog", { name: "Set price" });
    await dialog.getByLabel("Output").fill("nothing");
    await page.keyboard.press("Enter");
    await expect(dialog.getByLabel("Output")).toHaveAccessibleDescription(/A number/);
    await looksWell("price set");
    await dialog.getByLabel("Output").fill("7.25");
    await page.keyboard.press("Enter");
    await expect(table("Prices")).toContainText("$7.25");
    await expect(table("Prices")).toContainText("custom price");
    await looksWell("prices");
    await page.getByRole("button", { name: "Remove custom price of openai/gpt-5-nano" }).click();
    await expect(table("Prices")).not.toContainText("custom price");
  });

  await test.step("the list prices are replaced by a file, refused with its faults, and restored", async () => {
    await page.getByRole("searchbox", { name: "Search prices" }).fill("gpt-");
    await page.getByRole("button", { name: "Update prices…" }).click();
    const dialog = page.getByRole("dialog", { name: "Update prices" });
    const load = async (input: unknown) => {
      const table = { as_of: "2026-01-15", models: [{ id: "openai/gpt-9", input, output: 70 }] };
      const buffer = Buffer.from(JSON.stringify(table));
      await dialog
        .getByLabel("Price table")
        .setInputFiles({ name: "prices.json", mimeType: "application/json", buffer });
      await dialog.getByRole("button", { name: "Update prices" }).click();
    };
    await load("7.5");
    await expect(dialog).toContainText("models[0].input must be a number");
    await looksWell("prices refused");
    await load(7.5);
    await expect(table("Prices")).toContainText("$7.50");
    await expect(table("Prices")).toContainText("Listed 2026-01-15, prices.json");
    await page.getByRole("button", { name: "Update prices…" }).click();
    await expect(dialog).toContainText("1 model of 2026-01-15, from prices.json");
    await looksWell("prices updated");
    await dialog.getByRole("button", { name: "Restore built-in prices" }).click();
    await expect(dialog).toContainText("built in");
    await page.keyboard.press("Escape");
    await expect(table("Prices")).toContainText("developers.openai.com");
  });

  await test.step("the audit log names the actor, and is filtered by action, actor and target", async () => {
    await openTab(page, "Audit log");
    await expect(table("Audit log")).toContainText(`${account.email} saved the model connection gpu`);
    await expect(table("Audit log")).toContainText(account.email);
    await looksWell("audit");
    await table("Audit log").getByRole("button", { name: "gpu" }).first().click();
    await expect(page).toHaveURL(/target=gpu/);
    await expect(table("Audit log")).not.toContainText("set the price of");
    await page.getByRole("button", { name: "Action" }).click();
    await page.getByRole("menuitemradio", { name: "Removed model connection" }).click();
    await expect(page.getByText("No results")).toBeVisible();
    await page.getByRole("button", { name: "Clear filters" }).click();
    await expect(table("Audit log")).toContainText("set the price of");
  });

  await test.step("a connection is removed after a dialog that says what stops working", async () => {
    await openTab(page, "Model connections");
    await page.getByRole("button", { name: "Remove gpu" }).click();
    const dialog = page.getByRole("alertdialog", { name: "Remove gpu" });
    await expect(dialog.getByRole("button", { name: "Cancel" })).toBeFocused();
    await looksWell("remove connection");
    await dialog.getByRole("button", { name: "Remove connection" }).click();
    await expect(table("Model connections").getByRole("row", { name: /gpu/ })).toHaveCount(0);
  });

  await test.step("a backup is downloaded as one database that opens", async () => {
    await openTab(page, "Server");
    const begun = page.waitForEvent("download");
    await page.getByRole("button", { name: "Back up now" }).click();
    const download = await begun;
    expect(download.suggestedFilename()).toMatch(/^runnel-.*\.db$/);
    const path = info.outputPath("backup.db");
    await download.saveAs(path);
    const copy = new Database(path, { readonly: true });
    expect(copy.query("SELECT email FROM users").all()).toEqual([{ email: account.email }]);
    copy.close();
    await expect(page.getByText("Backup made.")).toBeVisible();
    await looksWell("server");
  });

  await test.step("on a phone each tab fits", async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    for (const tab of ["connections", "prices", "people", "audit", "server", "retention"]) {
      await page.goto(`${server.url}/dashboard/settings?tab=${tab}`);
      await expect(page.getByRole("tabpanel").locator("table, dl, form").first()).toBeVisible();
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
      await looksWell(`${tab} narrow`);
    }
  });

  expect(complaints).toEqual([]);
});

async function signIn(page: Page): Promise<void> {
  // Unless the previous test has.
  await server.command("admin", "create", account.email, "--password", account.password);
  await page.goto(`${server.url}/dashboard/login`);
  await page.getByLabel("Email").fill(account.email);
  await page.getByLabel("Password", { exact: true }).fill(account.password);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await expect(page).not.toHaveURL(/login/);
}

const openTab = (page: Page, name: string): Promise<void> => page.getByRole("tab", { name, exact: true }).click();

const switcher = (page: Page, project: string): Locator =>
  page.getByRole("button", { name: new RegExp(`^Project ${project}`) });

const row = (page: Page, label: string): Locator => page.getByRole("group", { name: label, exact: true });

const choose = (setting: Locator, choice: string): Promise<void> => setting.getByText(choice, { exact: true }).click();

async function openNewProject(page: Page, current: string): Promise<void> {
  await switcher(page, current).click();
  await page.getByRole("menuitem", { name: "New project" }).click();
}

async function deleteShown(page: Page, name: string, look?: () => Promise<void>): Promise<void> {
  await page.getByRole("button", { name: "Delete project", exact: true }).click();
  const dialog = page.getByRole("alertdialog", { name: `Delete ${name}` });
  const act = dialog.getByRole("button", { name: "Delete project" });
  await expect(dialog.getByRole("button", { name: "Cancel" })).toBeFocused();
  await expect(act).toBeDisabled();
  await dialog.getByLabel(`Type ${name} to continue`).fill(name.slice(1));
  await expect(act).toBeDisabled();
  await dialog.getByLabel(`Type ${name} to continue`).fill(name);
  await look?.();
  await act.click();
}

async function retention(project: string): Promise<unknown> {
  const { stdout } = await server.command("projects", "retention", project, "--env", "live", "--json");
  return JSON.parse(stdout).retention.live;
}
