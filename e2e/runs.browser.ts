import { readFileSync } from "node:fs";
import { expect, type Page, test } from "@playwright/test";
import { type Json, type Runnel, startRunnel } from "./harness.ts";
import { expectAccessible, expectToFit, recordFaults, setUpAccount } from "./page-checks.ts";

// The list of runs in the compiled executable, as an operator uses it in a real browser.
let server: Runnel;
test.beforeAll(async () => {
  server = await startRunnel();
});
test.afterAll(() => server[Symbol.asyncDispose]());
test.use({ viewport: { width: 1440, height: 900 } });

const longName =
  "Translate a very long agent name that somebody gave without thinking about lists or about widths of columns";
const longInput = "Pneumonoultramicroscopicsilicovolcanoconiosis_and_other_words_without_any_break_point_".repeat(4);

test("an operator finds the cause of a failed run, and acts on many runs as on one", async ({ page }) => {
  test.setTimeout(420_000); // axe checks many states in two themes.
  const complaints = recordFaults(page);
  await setUpAccount(page, server);
  const digest = await agent("Nightly digest", { model: "test/context-overflow" });

  await test.step("an empty list explains runs, and how to create one", async () => {
    await page.goto(`${server.url}/dashboard/runs`);
    await expect(page.getByText("No runs yet")).toBeVisible();
    await expectAccessible(page, "empty");
  });

  const failed = await run(digest, "Summarise yesterday’s tickets", { user_id: "ops" });
  await seed();

  await test.step("a failed run shows its error in the list, and the address can be saved", async () => {
    await page.goto(`${server.url}/dashboard/runs`);
    await expect(rows(page)).toHaveCount(9);
    await chip(page, "Status", "Failed");
    await chip(page, "Time", "Last 24 hours");
    await expect(page).toHaveURL(/status=failed&since=24h/);
    await expect(rows(page)).toHaveCount(2);
    await expect(row(page, "Nightly digest")).toContainText(/context_length_exceeded: .+ Step 0\./);
    await expect(row(page, "Refund desk")).toContainText("guardrail_blocked");
    await page.reload();
    await expect(rows(page)).toHaveCount(2);
    await expectToFit(page, "failed");
  });

  await test.step("runs outside the filters stay out while the list follows; matching ones appear", async () => {
    const following = page.waitForResponse(/\/runs\/live$/);
    await page.reload();
    await following;
    await run(await agent("Fine", { model: "test/echo" }), "Nothing to see");
    await run(digest, "Once more");
    await expect(rows(page)).toHaveCount(3);
    await expect(page.getByText("Nothing to see")).toBeHidden();
  });

  await test.step("filters by agent and user combine, and an empty list names them", async () => {
    await chip(page, "Agent", "Nightly digest");
    await expect(rows(page)).toHaveCount(2);
    await page.getByRole("button", { name: "More filters" }).click();
    await filters(page).getByLabel("User").fill("ops");
    await page.keyboard.press("Enter");
    await expect(rows(page)).toHaveCount(1);
    await expect(page).toHaveURL(/user=ops/);
    await page.getByRole("button", { name: "More filters" }).click();
    await filters(page).getByLabel("Origin").selectOption("Fork");
    await filters(page).getByRole("button", { name: "Show runs" }).click();
    await expect(page.getByRole("heading", { name: "No run matches these filters" })).toBeVisible();
    await expect(
      page.getByText("with status “Failed” and agent “Nightly digest” and user “ops” and origin “Fork”"),
    ).toBeVisible();
    await page.getByRole("button", { name: "Clear filters" }).click();
    await expect(rows(page)).toHaveCount(11);
    await expect(page).toHaveURL(/\/runs$/);
  });

  await test.step("a custom range is checked, and stands in the address in UTC", async () => {
    await page.getByRole("button", { name: "Time", exact: true }).click();
    await page.getByRole("menuitemradio", { name: "Custom range" }).click();
    const dialog = page.getByRole("dialog", { name: "Custom range" });
    await dialog.getByLabel("From").fill("2026-01-02T02:00");
    await dialog.getByLabel("To").fill("2026-01-01T06:00");
    await expect(dialog.getByLabel("To")).toHaveAccessibleDescription("The end is before the start.");
    await dialog.getByLabel("To").fill("2026-01-02T06:00");
    await dialog.getByRole("button", { name: "Show runs" }).click();
    await expect(page).toHaveURL(/since=2026-01-0\dT\d\d%3A00%3A00.000Z&until=2026-01-0/);
    await expect(page.getByText("from 2 Jan 02:00 to 06:00")).toBeVisible();
    await page.getByRole("button", { name: "Clear the time filter" }).click();
  });

  await test.step("an invalid thread id is refused at its field", async () => {
    await page.getByRole("button", { name: "More filters" }).click();
    await filters(page).getByLabel("Thread").fill("thr_1");
    await filters(page).getByLabel("Cost, USD: max").fill("much");
    await page.keyboard.press("Enter");
    await expect(filters(page).getByLabel("Thread")).toHaveAccessibleDescription(/begins with thr_/);
    await expect(filters(page).getByLabel("Cost, USD: max")).toHaveAccessibleDescription("Must be a number.");
    await expectAccessible(page, "filters");
    await expectToFit(page, "filters");
    await page.keyboard.press("Escape");
    await expect(page.getByRole("button", { name: "More filters" })).toBeFocused();
  });

  await test.step("the server finds runs by code, duration and metadata, and shows the total", async () => {
    await page.goto(`${server.url}/dashboard/runs?error=guardrail_blocked`);
    await expect(rows(page)).toHaveCount(1);
    await expect(page.getByText("1 run", { exact: true })).toBeVisible();
    await page.getByRole("button", { name: "Clear the error code filter" }).click();
    await expect(rows(page)).toHaveCount(11);
    await expect(page.getByText("11 runs", { exact: true })).toBeVisible();
    await page.getByRole("button", { name: "More filters" }).click();
    await filters(page).getByLabel("Metadata").fill("order=4650");
    await filters(page).getByLabel("Duration, seconds: max").fill("60");
    await filters(page).getByRole("button", { name: "Show runs" }).click();
    await expect(rows(page)).toHaveCount(1);
    await expect(row(page, "Refund desk")).toContainText("order 4650");
    await expect(page.getByText("Duration: up to 60.0 s")).toBeVisible();
    await expectAccessible(page, "narrowed");
  });

  await test.step("a filtered and sorted list is saved under a name, and is there after a reload", async () => {
    await page.goto(`${server.url}/dashboard/runs?status=completed`);
    await page.getByRole("button", { name: "Duration", exact: true }).click();
    await expect(page).toHaveURL(/sort=duration/);
    await expect(page.getByRole("columnheader", { name: "Duration" })).toHaveAttribute("aria-sort", "descending");
    await page.getByRole("button", { name: "Duration", exact: true }).click();
    await expect(page).toHaveURL(/order=asc/);
    await page.getByRole("button", { name: "Views" }).click();
    await page.getByRole("menuitem", { name: "Save this view" }).click();
    await page.getByRole("dialog", { name: "Save view" }).getByLabel("Name").fill("Quick ones");
    await page.keyboard.press("Enter");
    await expect(page.getByRole("button", { name: "Quick ones" })).toBeVisible();
    await page.goto(`${server.url}/dashboard/runs`);
    await expect(rows(page)).toHaveCount(11);
    await page.getByRole("button", { name: "Views" }).click();
    await expectAccessible(page, "views");
    await page.getByRole("menuitemradio", { name: "Quick ones" }).click();
    await expect(page).toHaveURL(/status=completed&sort=duration&order=asc/);
    await page.getByRole("button", { name: "Quick ones" }).click();
    await page.getByRole("menuitem", { name: "Delete “Quick ones”" }).click();
    await expect(page.getByRole("button", { name: "Views" })).toBeVisible();
  });

  await test.step("columns are chosen, and the list is exported as filtered", async () => {
    await page.goto(`${server.url}/dashboard/runs?user=ada`);
    await page.getByRole("button", { name: "Columns" }).click();
    await page.getByRole("menuitemcheckbox", { name: "User" }).click();
    await page.keyboard.press("Escape");
    await expect(rows(page).getByRole("cell", { name: "ada", exact: true })).toBeVisible();
    await expectAccessible(page, "columns");
    // Chosen columns stay in a smaller window: the table scrolls within its frame.
    for (const width of [1240, 700]) {
      await page.setViewportSize({ width, height: 900 });
      for (const name of ["User", "Tokens", "Started"])
        await expect(page.getByRole("columnheader", { name }), `${name} at ${width}`).toBeVisible();
      await expect(rows(page).getByRole("cell", { name: "ada", exact: true })).toBeVisible();
    }
    await expectToFit(page, "columns");
    const saving = page.waitForEvent("download");
    await page.getByRole("button", { name: "Export" }).click();
    await page.getByRole("menuitem", { name: "JSON lines" }).click();
    const saved = readFileSync(await (await saving).path(), "utf8")
      .trim()
      .split("\n");
    expect(saved.map((line) => JSON.parse(line).user_id)).toEqual(["ada"]);
  });

  await test.step("text is searched on the server; a run's id opens the run", async () => {
    await page.goto(`${server.url}/dashboard/runs`);
    await expect(rows(page)).toHaveCount(11);
    await page.keyboard.press("/");
    await expect(page.getByLabel("Search runs")).toBeFocused();
    await page.keyboard.type("SECRET tell");
    await expect(rows(page)).toHaveCount(1);
    await expect(page).toHaveURL(/q=SECRET/);
    await page.getByLabel("Search runs").fill("not to be found");
    await expect(page.getByText("Nothing with the text “not to be found”.")).toBeVisible();
    await page.getByLabel("Search runs").fill(failed.id);
    await expect(page).toHaveURL(new RegExp(`/runs/${failed.id}`));
    await page.goBack();
  });

  await test.step("j and x select; two can be compared, and any number exported as JSON", async () => {
    await page.goto(`${server.url}/dashboard/runs`);
    await expect(rows(page)).toHaveCount(11);
    await page.keyboard.press("j");
    await page.keyboard.press("x");
    await page.keyboard.press("j");
    await page.keyboard.press("x");
    const bar = page.getByRole("toolbar", { name: "Selected runs" });
    await expect(bar).toContainText("2 selected");
    await expect(bar.getByRole("button", { name: "Compare" })).toBeEnabled();
    await expectAccessible(page, "bulk");
    await expectToFit(page, "bulk");
    const saving = page.waitForEvent("download");
    await bar.getByRole("button", { name: "Download" }).click();
    const saved: Json = JSON.parse(readFileSync(await (await saving).path(), "utf8"));
    expect(saved).toHaveLength(2);
    expect(saved[0]).toMatchObject({ object: "run", messages: expect.any(Array) });
    await page.keyboard.press("Escape");
    await expect(bar).toBeHidden();
  });

  await test.step("several runs are rerun, and several cancelled, each after a dialog that explains the effect", async () => {
    await page.getByLabel("Select all runs of this page").check();
    await expect(page.getByRole("toolbar")).toContainText("11 selected");
    await page.getByLabel("Select all runs of this page").uncheck();
    await row(page, "Fine").getByRole("checkbox").check();
    await page.getByRole("toolbar").getByRole("button", { name: "Run again" }).click();
    const again = page.getByRole("alertdialog", { name: "Run again" });
    await expectAccessible(page, "again");
    await again.getByRole("button", { name: "Run again" }).click();
    await expect(rows(page)).toHaveCount(12);
    await chip(page, "Status", "Running");
    await expect(rows(page)).toHaveCount(1);
    await rows(page).first().getByRole("checkbox").check();
    await page.getByRole("toolbar").getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("alertdialog").getByRole("button", { name: "Cancel run" }).click();
    await expect(page.getByRole("heading", { name: "No run matches these filters" })).toBeVisible();
  });

  await test.step("every row shows all its content, at every width", async () => {
    await page.goto(`${server.url}/dashboard/runs`);
    await expect(rows(page)).toHaveCount(12);
    await expectAccessible(page, "runs");
    await expectToFit(page, "runs");
    await page.setViewportSize({ width: 390, height: 844 });
    await expectAccessible(page, "runs narrow");
  });

  await test.step("a search covers more than the page, including a run that ends meanwhile", async () => {
    await page.setViewportSize({ width: 1440, height: 900 });
    const echo = await agent("Echo", { model: "test/echo" });
    await Promise.all(Array.from({ length: 55 }, (_, n) => run(echo, `Number ${n}`)));
    const following = page.waitForResponse(/\/runs\/live$/);
    await page.goto(`${server.url}/dashboard/runs?q=${encodeURIComponent("Summarise yesterday")}`);
    await following;
    await expect(rows(page)).toHaveCount(1);
    await run(echo, "Summarise yesterday again");
    await expect(rows(page)).toHaveCount(2, { timeout: 15_000 });
  });

  await test.step("a user is erased from the list of their runs, once their name is typed", async () => {
    await page.goto(`${server.url}/dashboard/runs?user=ada`);
    await page.getByRole("button", { name: "Erase user" }).click();
    const dialog = page.getByRole("alertdialog", { name: "Erase ada" });
    await expect(dialog.getByRole("button", { name: "Erase user" })).toBeDisabled();
    await expectAccessible(page, "erase user");
    await expectToFit(page, "erase user");
    await dialog.getByRole("textbox").fill("ada");
    await dialog.getByRole("button", { name: "Erase user" }).click();
    await expect(dialog).toBeHidden();
    await expect.poll(async () => (await server.get("/v1/runs?user_id=ada")).body.data).toEqual([]);
    await expect(rows(page)).toHaveCount(0);
  });

  expect(complaints).toEqual([]);
});

const filters = (page: Page) => page.getByRole("dialog", { name: "Filters" });
const rows = (page: Page) => page.getByRole("row").filter({ has: page.getByRole("cell") });
const row = (page: Page, text: string) => rows(page).filter({ hasText: text }).first();

async function chip(page: Page, name: string, choice: string): Promise<void> {
  await page.getByRole("button", { name, exact: true }).click();
  await page.getByRole("menuitemradio", { name: choice }).click();
}

async function agent(name: string, more: Record<string, unknown>): Promise<string> {
  const made = await server.post("/v1/agents", { name, instructions: "Be brief.", ...more });
  expect(made.status).toBe(201);
  return made.body.id;
}

async function run(agent_id: string, input: string, more: Record<string, unknown> = {}, wait = 60): Promise<Json> {
  const made = await server.post(`/v1/runs?wait=${wait}`, { agent_id, input, ...more });
  expect(made.status).toBe(201);
  return made.body;
}

/** Creates eight runs, one of each kind that a list can hold. */
async function seed(): Promise<void> {
  const parameters = { type: "object", properties: { address: { type: "string" } }, required: ["address"] };
  const tool = await server.post("/v1/tools", {
    name: "change_address",
    type: "client",
    description: "Changes the address of an order.",
    approval: "always",
    parameters,
  });
  const desk = await agent("Refund desk", {
    model: "test/echo",
    guardrails: [{ type: "blocked_terms", on: ["input"], action: "block", config: { terms: ["money"] } }],
  });
  const calls = [{ name: "change_address", arguments: { address: "Main Street 12" } }];
  const orders = await agent("Order changes", {
    model: "test/script",
    tools: [tool.body.id],
    model_settings: { script: [{ text: "I change it.", tool_calls: [...calls, ...calls] }, { text: "Done." }] },
  });
  await run(desk, "I want my money back");
  await run(desk, "Can I still return order 4650?", { user_id: "ada", metadata: { order: "4650" } });
  await run(await agent(longName, { model: "test/echo" }), longInput);
  await run(orders, "Please ship it to my office instead");
  const cancelled = await run(orders, "Please ship it to my office instead");
  await server.post(`/v1/runs/${cancelled.id}/cancel`, { reason: "The wrong order" });
  await run(await agent("Refusing", { model: "test/refusal" }), "Tell me a secret");
  await run(await agent("Silent", { model: "test/script", model_settings: { script: [{ text: "" }] } }), "Say nothing");
  await run(await agent("Invoice reader", { model: "test/timeout" }), "november-2026-hosting.pdf", {}, 0);
}
