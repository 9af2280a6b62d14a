import { expect, type Page, test } from "@playwright/test";
import { freePort } from "../server/testing/free-port.ts";
import { createAgent } from "./fixtures.ts";
import { type Json, type Runnel, startRunnel } from "./harness.ts";
import { expectAccessible, expectToFit, recordFaults, setUpAccount } from "./page-checks.ts";

// First use of runnel and the daily overview, on the compiled executable.
let server: Runnel;
test.beforeAll(async () => {
  server = await startRunnel();
});
test.afterAll(() => server[Symbol.asyncDispose]());

test("from the one-time link over the guide to a first streamed run, and to an overview that shows it", async ({
  page,
}) => {
  test.setTimeout(300_000);
  const complaints = recordFaults(page);
  const guide = page.getByRole("navigation", { name: "First steps" });

  await test.step("the set-up leads to the guide, and so does the overview without runs", async () => {
    await setUpAccount(page, server);
    await expect(page.getByRole("heading", { name: "First steps" })).toBeVisible();
    await page.goto(`${server.url}/dashboard`);
    await expect(page).toHaveURL(/\/overview$/);
    await expect(page.getByRole("heading", { name: "No runs yet" })).toBeVisible();
    await expectAccessible(page, "overview empty");
    await page.getByRole("link", { name: "Start the first run" }).click();
    await expect(guide.getByRole("button", { name: /A test key/ })).toHaveAttribute("aria-current", "step");
    await expectAccessible(page, "guide key");
  });

  await test.step("the key is shown only once, and its request works as printed", async () => {
    await page.getByRole("button", { name: "Create test key" }).click();
    // The focus moves to the new step.
    await expect(page.getByRole("heading", { name: "Save your test key" })).toBeFocused();
    const secret = (await page.locator("[data-secret]").textContent()) ?? "";
    expect(secret).toMatch(/^sk_test_/);
    await expect(page.getByRole("region", { name: "curl code" })).toContainText(`${server.url}/v1/me`);
    await expect(page.getByRole("region", { name: "curl code" })).not.toContainText(secret);
    expect((await server.get("/v1/me", secret)).body).toMatchObject({ environment: "test", scopes: ["read", "run"] });
    await expectAccessible(page, "guide secret");
    await page.getByRole("link", { name: "Agents", exact: true }).click();
    await page.getByRole("alertdialog").getByRole("button", { name: "Keep editing" }).click();
    await expect(page.locator("[data-secret]")).toHaveText(secret);
    await page.getByRole("button", { name: "I've saved it" }).click();
    await expect(page.locator("[data-secret]")).toHaveCount(0);
  });

  await test.step("an agent of the built-in model needs no provider", async () => {
    await expect(page.getByRole("heading", { name: "Create an agent" })).toBeFocused();
    await expectAccessible(page, "guide agent");
    await expectToFit(page, "guide agent");
    await page.getByRole("button", { name: "Create agent" }).click();
  });

  await test.step("the run streams, waits for the reader's code, and is shown event by event", async () => {
    await expect(page.getByText("This request is sent with your key “First steps”")).toBeVisible();
    await expect(guide.getByRole("button", { name: /The first run .*done/ })).toHaveCount(0);
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.getByRole("button", { name: "Send output" }).click();
    await expect(page.getByRole("region", { name: "Output" })).toContainText("looked it up with your code.");
    const streamed = page.getByRole("region", { name: "Streamed events" });
    for (const event of ["run.created", "tool.requested", "tool.completed", "token", "run.completed"])
      await expect(streamed.getByText(event, { exact: true }).first()).toBeVisible();
    await expect(guide.getByRole("button", { name: /The first run .*done/ })).toBeVisible();
    await expectAccessible(page, "guide run");
    await expectToFit(page, "guide run");
    await page.getByRole("link", { name: "Open trace" }).click();
    await expect(page).toHaveURL(/\/runs\/run_/);
  });

  await test.step("the overview shows waiting and failed runs, with links to them", async () => {
    await makeTrouble();
    await page.goto(`${server.url}/dashboard/overview`);
    const needs = page.getByRole("region", { name: /^Needs you/ });
    await expect(needs.getByText("Approve refund_payment?")).toBeVisible();
    const failures = page.getByRole("region", { name: "Failed runs" });
    await expect(failures.getByText("model_error").first()).toBeVisible();
    await expect(failures.getByText("3×")).toBeVisible();
    await expect(page.getByRole("img", { name: /^Runs per day\. Most: Today/ })).toBeVisible();
    await expect(page.getByRole("img", { name: /^Time per run\. Today: half of the runs within \d/ })).toBeVisible();
    const agents = page.getByRole("table", { name: "By agent" });
    await expect(agents.getByRole("columnheader")).toHaveText([
      "Agent",
      "Runs",
      "Failed",
      "Median",
      "95th percentile",
      "Tokens",
      "Cost",
    ]);
    await expect(agents.getByRole("row", { name: /^Order desk 1 0% .*m?s .*m?s/ })).toBeVisible();
    await expectWholeLabels(page);
    await expect(page.getByRole("link", { name: /Approvals\s*, 1 waiting/ }).first()).toBeVisible();
    await expectAccessible(page, "overview");
    await expectToFit(page, "overview");
    const errors = page.getByRole("region", { name: "Errors by code" });
    await expect(errors.getByText("model_error")).toBeVisible({ timeout: 20_000 });
    await failures.getByRole("link", { name: /model_error/ }).click();
    await expect(page).toHaveURL(/status=failed/);
    await expect(page.getByRole("row", { name: /Failed/ })).toHaveCount(3);
  });

  await test.step("charts are used by keyboard, turn into tables, and lead to their runs", async () => {
    await page.goto(`${server.url}/dashboard/overview`);
    const errors = page.getByRole("region", { name: "Errors by code" });
    const points = errors.getByRole("slider");
    await points.focus();
    await page.keyboard.press("End");
    await expect(points).toHaveAttribute("aria-valuetext", /: model_error 3$/);
    await page.keyboard.press("ArrowLeft");
    await expect(points).toHaveAttribute("aria-valuetext", /: model_error 0$/);
    await expect(errors.locator("[data-tip]")).toBeVisible();
    await page.keyboard.press("Escape");
    await expect(errors.locator("[data-tip]")).toBeHidden();
    await errors.getByRole("button", { name: "Show as table: Errors by code" }).click();
    await expect(errors.getByRole("row").nth(1)).toContainText(/\d+ [A-Z][a-z]{2}3$/);
    await errors.getByRole("button", { name: "Show as chart: Errors by code" }).click();
    await page.getByRole("button", { name: "Custom range" }).click();
    await page.getByRole("dialog", { name: "Custom range" }).getByRole("button", { name: "Show range" }).click();
    await expect(page).toHaveURL(/from=\d{4}-\d\d-\d\d&to=/);
    await expectAccessible(page, "overview custom range");
    await points.focus();
    await page.keyboard.press("End");
    await page.keyboard.press("Enter");
    await expect(page).toHaveURL(/\/runs\?.*status=failed/);
    await expect(page.getByRole("row", { name: /Failed/ })).toHaveCount(3);
    await page.goBack();
  });

  await test.step("period and tables stand in the address", async () => {
    await page.goto(`${server.url}/dashboard/overview`);
    await page.getByRole("radio", { name: "Tables" }).check();
    await page.getByRole("radio", { name: "30 days" }).check();
    await expect(page).toHaveURL(/period=30d&v=table|v=table&period=30d/);
    await page.reload();
    const table = page.getByRole("table", { name: "Runs per day" });
    await expect(table.getByRole("row")).toHaveCount(31);
    await expect(table.getByRole("row", { name: /^Today 1 3 0$/ })).toBeVisible();
    const times = page.getByRole("table", { name: "Time per run" });
    await expect(times.getByRole("row").nth(1)).toHaveText(/^Today4\d.*s\d.*s$/);
    await expect(times.getByRole("row").nth(2)).toHaveText(/^[A-Z][a-z]{2} \d+0––$/);
    await expect(page.getByRole("table", { name: "Latency of runs" })).toBeVisible();
    await expectAccessible(page, "overview tables");
    await expectToFit(page, "overview tables");
  });

  expect(complaints).toEqual([]);
});

test("the guide reports a lost connection, and continues the stream where it broke", async ({ page }) => {
  test.setTimeout(300_000);
  await using own = await startRunnel({ flags: ["--http-port", "0", "--port", String(freePort())] });
  const text = Array.from({ length: 60 }, (_, n) => `stone ${n}`).join(", ");
  const { body: agent } = await own.post("/v1/agents", {
    name: "Mason",
    instructions: "x",
    model: "test/script",
    model_settings: { script: [{ text, delta_ms: 60 }] },
  });
  await setUpAccount(page, own);
  await page.goto(`${own.url}/dashboard/start?step=run&agent=${agent.id}`);
  await page.getByRole("button", { name: "Run", exact: true }).click();
  const output = page.getByRole("region", { name: "Output" });
  await expect(output).toContainText("stone 3");
  await own.kill9();
  await expect(page.getByRole("alert").filter({ hasText: /Connection lost. Resuming from \d+/ })).toBeVisible();
  await expectAccessible(page, "guide lost");
  await own.restart();
  await expect(output).toContainText(text, { timeout: 45_000 });
  await expect(page.getByText("Completed", { exact: true })).toBeVisible();
  await expect(page.getByRole("alert").filter({ hasText: "Connection lost" })).toBeHidden();
});

test("alerts are listed with a remedy, in their own mode only", async ({ page }) => {
  await using own = await startRunnel();
  const agent_id = await createAgent(own, "test/echo");
  await own.post("/v1/runs?wait=60", { agent_id, input: "Hello" });
  expect((await own.command("projects", "limits", "default", "--tokens-per-day", "1")).code).toBe(0);
  await setUpAccount(page, own);
  await own.stop();
  await own.restart(); // The checks run at the start, and then once a minute.
  await page.goto(`${own.url}/dashboard`);
  await expect(page).toHaveURL(/\/test\/overview$/);
  const alerts = page.getByRole("list", { name: "Alerts" });
  await expect(alerts.getByRole("listitem")).toHaveCount(1); // And none for half of it.
  await expect(alerts).toContainText("A day's budget is spent: runs fail with budget_exceeded until midnight UTC.");
  await expect(alerts).toContainText("Raise the day's budget in the settings of the project");
  for (const rest of ["No failed runs.", "Nothing needs your attention."])
    await expect(page.getByText(rest)).toBeVisible(); // Later content would move the layout.
  await expectAccessible(page, "overview alerts");
  await expectToFit(page, "overview alerts");
  await page.goto(page.url().replace("/test/", "/live/"));
  await expect(page.getByRole("heading", { name: "No runs yet" })).toBeVisible();
  await expect(alerts).toBeHidden();
});

/** Expects every label of a chart's axis to begin inside the chart. */
async function expectWholeLabels(page: Page): Promise<void> {
  const lefts = await page
    .locator("svg [data-axis]")
    .evaluateAll((labels) => labels.map((label) => (label as SVGTextElement).getBBox().x));
  expect(lefts.length).toBeGreaterThan(0);
  expect(Math.min(...lefts)).toBeGreaterThanOrEqual(0);
}

/** Creates three runs that fail, and one that waits for an approval; the agent has a long name. */
async function makeTrouble(): Promise<void> {
  const make = async (path: string, body: Json): Promise<Json> => {
    const answer = await server.post(path, body);
    expect(answer.status, JSON.stringify(answer.body)).toBe(201);
    return answer.body;
  };
  const name = `Nightly digest of everything that ${"anybody ever ".repeat(6)}asked for`;
  const script = (entry: Json) => ({ instructions: "x", model: "test/script", model_settings: { script: [entry] } });
  const failing = await make("/v1/agents", {
    name,
    ...script({ error: "model_error" }),
  });
  for (let n = 0; n < 3; n++) await make("/v1/runs?wait=60", { agent_id: failing.id, input: "Digest." });
  const tool = await make("/v1/tools", {
    name: "refund_payment",
    type: "client",
    description: "Pays back.",
    approval: "always",
    parameters: { type: "object", properties: {} },
  });
  const asking = await make("/v1/agents", {
    ...script({ tool_calls: [{ name: "refund_payment", arguments: {} }] }),
    name: "Refund desk",
    tools: [tool.id],
  });
  await make("/v1/runs?wait=60", { agent_id: asking.id, input: "Pay back." });
}
