import { readFileSync } from "node:fs";
import { type Download, expect, type Locator, type Page, test } from "@playwright/test";
import { type Json, type Runnel, startRunnel } from "./harness.ts";
import { expectAccessible, expectToFit, signInBeforeEach } from "./page-checks.ts";
import { startToolServer, type ToolServer } from "./tool-server.ts";

// The trace of a run in the compiled executable: read, answered and exported in a real browser.
let server: Runnel;
let tools: ToolServer;
let agents: Awaited<ReturnType<typeof createAgents>>;

test.beforeAll(async () => {
  test.setTimeout(120_000);
  [tools, server] = [startToolServer(), await startRunnel()];
  agents = await createAgents();
});
test.afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await tools[Symbol.asyncDispose]();
});
test.use({ viewport: { width: 1440, height: 900 }, permissions: ["clipboard-read", "clipboard-write"] });

test.beforeEach(() => test.setTimeout(240_000)); // axe checks many states in two themes.
signInBeforeEach(() => server);

test("a failed run opens on the failed step, with the reason", async ({ page }) => {
  const run = await start(agents.report, "Write the report of last night.");
  await open(page, run.id);
  await expect(row(page, /Model call test\/script Failed/)).toHaveAttribute("aria-selected", "true");
  const detail = page.getByRole("region", { name: "Selected step" });
  await expect(detail).toContainText("The model server hung up.");
  await expect(detail).toContainText("This error ended the run. Retrying would fail again.");
  await expect(page).toHaveTitle(/Failed · Nightly report/);
  await expectAccessible(page, "failed");
  await expectToFit(page, "failed");
  // Shows the id of the request that began the run, which the log and the palette find, and not of the page's own.
  await page.getByRole("treeitem").first().click();
  const [begun] = (await server.get(`/v1/runs/${run.id}/events`)).body.data;
  await expect(detail).toContainText(begun.data.request_id);
});

test("each step appears once, in tree and waterfall, with its input, output and time", async ({ page }) => {
  const run = await finish(await start(agents.desk, "My parcel came broken. Write to ann@example.com."));
  await open(page, run.id);
  const detail = page.getByRole("region", { name: "Selected step" });

  await test.step("a completed run opens on its output, with its sources", async () => {
    await expect(row(page, /^Run Refund desk/)).toHaveAttribute("aria-selected", "true");
    await expect(detail.getByRole("region", { name: "Input" })).toContainText("Write to [email].");
    await expect(detail.getByRole("region", { name: "Output" })).toContainText("I refunded the mugs.");
    await expect(detail.getByRole("region", { name: "Sources" })).toContainText("policy.md, part 1");
    await expect(page.getByRole("banner").or(page.locator("header")).getByText("Worked")).toBeVisible();
    await expectAccessible(page, "completed");
    await expectToFit(page, "completed");
  });

  await test.step("concurrent calls stand beneath each other, at the same time position", async () => {
    const bars = await Promise.all(["lookup_order", "check_stock", "fraud_check"].map((name) => barOf(page, name)));
    expect(new Set(bars.map(({ left }) => left)).size).toBe(1);
    expect((await barOf(page, "test/script")).left).not.toBe(bars[0]!.left);
  });

  await test.step("the waterfall is zoomed, moved and reset, by buttons, keys and wheel", async () => {
    const left = async () => Number.parseFloat((await barOf(page, "check_stock")).left);
    const whole = await left();
    await page.getByRole("button", { name: "Zoom in" }).click();
    await expect.poll(left).not.toBe(whole);
    const near = await left();
    await page.keyboard.press("l");
    await expect.poll(left).toBeLessThan(near);
    await expectAccessible(page, "zoomed");
    await page.getByRole("button", { name: "Show the whole run" }).click();
    await expect.poll(left).toBe(whole);
    await page.keyboard.press("+");
    await expect.poll(left).toBe(near);
    await page.keyboard.press("0");
    await expect.poll(left).toBe(whole);
    await row(page, /check_stock/).hover();
    await page.keyboard.down("Control");
    await page.mouse.wheel(0, -300);
    await page.keyboard.up("Control");
    await expect.poll(left).not.toBe(whole);
    await page.keyboard.press("0");
    await expect.poll(left).toBe(whole);
  });

  await test.step("arrows move through the tree, open and close an agent's run, and the address follows", async () => {
    await row(page, /^Run Refund desk/).focus();
    await page.keyboard.press("End");
    await expect(page).toHaveURL(/step=10/);
    await page.keyboard.press("Home");
    for (let i = 0; i < 6; i++) await page.keyboard.press("ArrowDown");
    const call = row(page, /^Agent call fraud_check/);
    await expect(call).toBeFocused();
    await expect(call).toHaveAttribute("aria-expanded", "false");
    await page.keyboard.press("ArrowRight");
    await expect(call).toHaveAttribute("aria-expanded", "true");
    await expect(row(page, /Tool call risk_score/)).toHaveAttribute("aria-level", "3");
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowDown");
    await expect(row(page, /Tool call risk_score/)).toBeFocused();
    await expect(page).toHaveURL(/step=5-1/);
    await expect(detail).toContainText('sky: "clear"');
    await page.reload();
    await expect(row(page, /Tool call risk_score/)).toHaveAttribute("aria-selected", "true");
    await row(page, /Tool call risk_score/).focus();
    await page.keyboard.press("ArrowLeft");
    await expect(call).toBeFocused();
    await page.keyboard.press("ArrowLeft");
    await expect(row(page, /Tool call risk_score/)).toHaveCount(0);
  });

  await test.step("a failed call is marked, found by n, and shows its error first", async () => {
    await page.keyboard.press("n");
    await expect(row(page, /Tool call check_stock Failed/)).toHaveAttribute("aria-selected", "true");
    await expect(detail).toContainText("The tool returned status 500");
    await expect(detail).toContainText("The model received this error.");
  });

  await test.step("brackets switch the tabs; Raw has the journal, and a call its arguments", async () => {
    await page.keyboard.press("]");
    await expect(detail.getByRole("tab", { name: "Raw" })).toHaveAttribute("aria-selected", "true");
    await expect(page).toHaveURL(/tab=raw/);
    await expect(detail.getByRole("region", { name: "As recorded in the journal" })).toContainText("tool.completed");
    await expectAccessible(page, "raw");
    await page.keyboard.press("[");
    await page.keyboard.press("[");
    await expect(detail.getByRole("region", { name: "Arguments" })).toContainText('city: "Oslo"');
  });

  await test.step("a model call shows the new messages, and the complete prompt", async () => {
    await row(page, /Model call test\/script/)
      .first()
      .click();
    await expect(detail.getByRole("article", { name: "user" })).toContainText("My parcel came broken.");
    await expect(detail.getByRole("article", { name: "assistant" })).toContainText("Let me look.");
    await detail.getByRole("tab", { name: "Request" }).click();
    await expect(detail.getByRole("article", { name: "system" })).toContainText("Be kind.");
    await expect(detail).toContainText("Verified by the hash recorded when it was sent.");
    await detail.getByRole("region", { name: "Tools" }).getByText("lookup_order", { exact: true }).click();
    await expect(detail.getByRole("region", { name: "Tools" })).toContainText("required");
    await expect(detail.getByRole("region", { name: "Settings" })).toContainText("script");
    await expectAccessible(page, "request");
  });

  await test.step("a retrieval shows each passage with its file", async () => {
    await row(page, /^Retrieval/).click();
    await detail.getByRole("tab", { name: "Output" }).click();
    await expect(detail.getByRole("region", { name: /\d source/ })).toContainText("Damaged on arrival: full refund");
    await expect(detail.getByRole("button", { name: "policy.md" }).first()).toBeVisible();
    await expectAccessible(page, "sources");
  });

  await test.step("waiting for a person is shown apart from work, and collapsed by default", async () => {
    await expect(row(page, /refund_payment/)).toContainText("approved");
    await row(page, /Tool call refund_payment/).click();
    await expect(detail).toContainText("Approved with the API key “");
    await page.getByLabel("Fold waiting").uncheck();
    await expect(page).toHaveURL(/fold=off/);
    await page.getByLabel("Fold waiting").check();
  });

  await test.step("steps are found by their text", async () => {
    await page.keyboard.press("/");
    await page.keyboard.type("damaged");
    await expect(page.getByText("1 found")).toBeVisible();
    await expect(page.getByRole("treeitem")).toHaveCount(1);
    await expect(page).toHaveURL(/q=damaged/);
    await page.keyboard.type("xyz");
    await expect(page.getByText("No results")).toBeVisible();
    await expectAccessible(page, "nothing found");
    await page.getByRole("button", { name: "Show all steps" }).click();
    await expect(page.getByRole("treeitem")).toHaveCount(12);
  });

  await test.step("the graph shows the calls between agents and tools, and links to their steps; by pointer, keys and as a table", async () => {
    await page.getByRole("button", { name: "Graph", exact: true }).click();
    const graph = page.getByRole("region", { name: "Agents and tools" });
    await expect(graph.getByRole("button", { name: /^Agent Refund desk/ })).toBeVisible();
    await expect(graph.getByRole("button", { name: /^Tool check_stock 1 failed/ })).toBeVisible();
    // Calls of an agent's run belong to that agent.
    await expect(graph.getByRole("button", { name: /^Tool risk_score/ })).toBeVisible();
    await expectAccessible(page, "graph");
    await expectToFit(page, "graph");
    await graph.getByRole("button", { name: /^Tool check_stock/ }).click();
    await expect(page.getByRole("treeitem")).toHaveCount(1);
    await expect(row(page, /check_stock/)).toBeVisible();
    await expect(page).toHaveURL(/node=tool/);
    await page.keyboard.press("ArrowLeft");
    await expect(graph.getByRole("button", { name: /^Agent Refund desk/ })).toBeFocused();
    await page.keyboard.press("Escape");
    await expect(page.getByRole("treeitem")).toHaveCount(15);
    await graph.getByRole("button", { name: "Show as table" }).click();
    const table = graph.getByRole("table", { name: "Agents and tools" });
    await expect(table.getByRole("row", { name: /risk_score Tool fraud_check ×1 1 0/ })).toBeVisible();
    await expectAccessible(page, "graph as table");
    await table.getByRole("button", { name: "risk_score" }).press("Enter");
    await expect(row(page, /Tool call risk_score/)).toBeVisible();
    await page.reload();
    await expect(page.getByRole("treeitem")).toHaveCount(1);
    await graph.getByRole("button", { name: /Steps of risk_score/ }).press("Enter");
    await expect(table.getByRole("button", { name: "risk_score" })).toBeFocused();
    await page.getByRole("button", { name: "Graph", exact: true }).click();
    await expect(graph).toHaveCount(0);
  });

  await test.step("the whole run is shown as messages, and as its events", async () => {
    await row(page, /^Run Refund desk/).click();
    await detail.getByRole("tab", { name: "Messages" }).click();
    await expect(detail.getByRole("article", { name: "assistant" }).last()).toContainText("I refunded the mugs.");
    await detail.getByRole("tab", { name: "Events" }).click();
    const events = detail.getByRole("list", { name: "Events" });
    await events.getByRole("button", { name: /run\.completed/ }).click();
    await expect(events).toContainText("output_json");
    await expectAccessible(page, "events");
  });
});

test("a waiting call is answered in place, and the run continues", async ({ page }) => {
  const detail = page.getByRole("region", { name: "Selected step" });

  await test.step("an approval, with changed arguments", async () => {
    const run = await start(agents.desk, "Once more.");
    await open(page, run.id);
    await expect(detail.getByRole("heading", { name: "Approve refund_payment?" })).toBeVisible();
    await expect(row(page, /refund_payment Waiting/)).toHaveAttribute("aria-selected", "true");
    await expectAccessible(page, "approval");
    await expectToFit(page, "approval");
    for (const act of ["Edit arguments", "Reject…"]) {
      await detail.getByRole("button", { name: act }).click();
      await detail.getByRole("button", { name: "Back" }).click();
      await expect(detail.getByRole("button", { name: act })).toBeFocused();
    }
    await detail.getByRole("button", { name: "Edit arguments" }).click();
    await detail.getByRole("textbox", { name: "Arguments" }).fill('{"city": ');
    await expect(detail.getByText(/Invalid JSON/)).toBeVisible();
    await detail.getByRole("textbox", { name: "Arguments" }).fill('{"city": "Bergen"}');
    await page.keyboard.press("Control+Enter");
    await expect(row(page, /take_photo Waiting/)).toBeVisible();
    await expect(detail).toContainText("with other arguments");
  });

  await test.step("an output of a client tool", async () => {
    await row(page, /take_photo/).click();
    await detail.getByRole("button", { name: "Send output" }).waitFor();
    await expectAccessible(page, "output wanted");
    await detail.getByRole("textbox", { name: "Output" }).fill('{"url": "https://example.com/1.jpg"}');
    await detail.getByRole("button", { name: "Send output" }).click();
    await expect(status(page, "Completed")).toBeVisible();
    await expect(detail).toContainText("https://example.com/1.jpg");
  });

  await test.step("an Enter that is held approves one call, and no key approves the next before it is gone to", async () => {
    const run = await start(agents.twice, "Both.");
    await page.goto(`${server.url}/dashboard/runs/${run.id}?step=run`);
    const approve = detail.getByRole("button", { name: "Approve" });
    await expect(approve).toHaveCount(2);
    await approve.first().focus();
    await page.keyboard.down("Enter");
    await expect(approve).toHaveCount(1);
    await expect(detail.getByRole("heading", { name: /^Approve/ })).toBeFocused();
    for (let held = 0; held < 5; held++) await page.keyboard.down("Enter");
    await page.keyboard.up("Enter");
    for (const key of ["Enter", " "]) await page.keyboard.press(key);
    const { required_action } = (await server.get(`/v1/runs/${run.id}`)).body;
    expect(required_action.submit_tool_outputs.tool_calls).toHaveLength(1);
    // The page moves on to the waiting call, and the focus to its title. Until then two lines have this name.
    await expect(row(page, /ship_parcel Waiting/)).toHaveCount(1);
    await expect(row(page, /ship_parcel Waiting/)).toHaveAttribute("aria-selected", "true");
    await expect(detail.getByRole("heading", { name: /^Approve/ })).toBeFocused();
    await page.keyboard.press("Tab");
    await expect(approve).toBeFocused();
    await page.keyboard.press("Enter");
    await expect(status(page, "Completed")).toBeVisible();
  });

  await test.step("a rejection", async () => {
    const run = await start(agents.desk, "And again.");
    await open(page, run.id);
    await detail.getByRole("button", { name: "Reject…" }).click();
    await detail.getByLabel("Reason").fill("Not without a photo.");
    await expectAccessible(page, "reject");
    await detail.getByRole("button", { name: "Reject call" }).click();
    await expect(row(page, /refund_payment Rejected/)).toBeVisible();
    await expect(detail).toContainText("Not without a photo.");
    // The focused element is gone: the focus stays near, not at the page's start.
    await expect(detail.locator(":focus")).toHaveCount(1);
    await page.getByRole("button", { name: "Cancel run" }).click();
    await page.getByRole("alertdialog").getByRole("button", { name: "Cancel run" }).click();
    await expect(status(page, "Cancelled")).toBeVisible();
    await expect(page.getByRole("button", { name: "More actions" })).toBeFocused();
  });
});

test("a call with an unknown outcome asks a person, and the restart is shown at its place", async ({ page }) => {
  const run = (await server.post("/v1/runs", { agent_id: agents.charge, input: "Charge it." })).body;
  await tools.called("/silent");
  await server.kill9();
  await server.restart();
  await expect.poll(async () => (await server.get(`/v1/runs/${run.id}`)).body.status).toBe("requires_action");
  await open(page, run.id);
  const detail = page.getByRole("region", { name: "Selected step" });
  await expect(row(page, /Tool call charge_card Unknown/)).toHaveAttribute("aria-selected", "true");
  await expect(row(page, /Restart Server restarted/)).toBeVisible();
  await expect(detail.getByRole("heading", { name: "Did charge_card take effect?" })).toBeVisible();
  await expect(detail.getByRole("button", { name: "Continue the run" })).toBeDisabled();
  await detail.getByRole("radio", { name: /It took effect/ }).check();
  await expectAccessible(page, "unknown outcome");
  await expectToFit(page, "unknown outcome");
  await detail.getByLabel("Result of the call").fill('{"charged": true}');
  await detail.getByRole("button", { name: "Continue the run" }).click();
  await expect(status(page, "Completed")).toBeVisible();
  await expect(detail).toContainText("charged: true");
});

test("a run opened while in progress grows before the reader's eyes", async ({ page }) => {
  const { id } = (await server.post("/v1/runs", { agent_id: agents.writer, input: "Tell me." })).body;
  await open(page, id);
  await expect(page.getByText("Auto-refresh", { exact: true }).last()).toBeVisible();
  const output = page.getByRole("region", { name: "Output so far" });
  await expect(output).toContainText("carries");
  const bar = row(page, /Model call/)
    .locator(".bar")
    .first();
  await expect(bar).toHaveClass(/bar-now/);
  await expectAccessible(page, "running");
  await expect(status(page, "Completed")).toBeVisible({ timeout: 30_000 });
  await expect(bar).not.toHaveClass(/bar-now/);
  await expect(page.getByRole("region", { name: "Output", exact: true })).toContainText("down to the sea.");
});

/** Waits for the agent's run to end and returns it. */
async function ended(agent: string) {
  let run = await start(agent, "Go.", 60);
  for (; run.status === "in_progress"; await Bun.sleep(500))
    run = (await server.get(`/v1/runs/${run.id}?exclude=messages,tool_calls`)).body;
  return run;
}

test("5,000 steps are loaded page by page, and only the visible ones are in the document", async ({ page }) => {
  test.setTimeout(180_000);
  const run = await ended(agents.many);
  expect(run).toMatchObject({ status: "completed", usage: { tool_calls: 4975 } });
  await open(page, run.id);
  await row(page, /^Run Five thousand/).focus();
  // `aria-setsize` is complete once all pages are loaded.
  // The calls of each of 199 turns are collapsed into one line.
  await expect(page.locator('[data-key="0"]')).toHaveAttribute("aria-setsize", "399", { timeout: 60_000 });
  await page.keyboard.press("End");
  await expect(page.locator('[data-key="5174"]')).toBeFocused();
  await expect(page.locator('[data-key="5174"]')).toHaveAttribute("aria-posinset", "399");
  expect(await page.getByRole("treeitem").count()).toBeLessThan(80);
  expect(await mostRows(page), "rows in the document while scrolling").toBeLessThan(80);
  await page.getByLabel("Find in steps").fill('"i":198,"k":24');
  await expect(page.getByText(/^[1-3] found/)).toBeVisible(); // The call, and its caller.
});

test("equal consecutive calls among 5,000 are one line, which is opened, walked through and closed by keyboard", async ({
  page,
}) => {
  test.setTimeout(180_000);
  const run = await ended(agents.equal);
  expect(run).toMatchObject({ status: "completed", usage: { tool_calls: 5000 } });
  await open(page, run.id);
  // 41 model calls, and 40 lines between them.
  const line = page.locator('[data-key="1~"]');
  await expect(line).toHaveAttribute("aria-setsize", "81", { timeout: 60_000 });
  await expect(line).toHaveAttribute("aria-posinset", "2");
  await expect(line).toHaveAccessibleName(/^Tool call noop ×125/);
  await expect(row(page, /^Tool call noop(?! ×125)/)).toHaveCount(0);
  await expectAccessible(page, "equal calls");

  await row(page, /^Run Five thousand equal/).focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  await expect(line).toBeFocused();
  await expect(line).toHaveAttribute("aria-expanded", "false");
  await page.keyboard.press("ArrowRight");
  await expect(line).toHaveAttribute("aria-expanded", "true");
  await page.keyboard.press("ArrowRight");
  const [first, last] = [page.locator('[data-key="1"]'), page.locator('[data-key="125"]')];
  await expect(first).toBeFocused();
  await expect(first).toHaveAttribute("aria-level", "3");
  await expect(first).toHaveAttribute("aria-setsize", "125");
  // Past the last call stands the next model call.
  for (let pages = 0; pages < 8; pages++) await page.keyboard.press("PageDown");
  await expect(page.locator('[data-key="121"]')).toBeFocused();
  for (let rows = 0; rows < 4; rows++) await page.keyboard.press("ArrowDown");
  await expect(last).toBeFocused();
  await expect(last).toHaveAttribute("aria-posinset", "125");
  await expect(page).toHaveURL(/step=125\b/);
  await page.keyboard.press("ArrowDown");
  await expect(page.locator('[data-key="126"]')).toHaveAttribute("aria-level", "2");
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("ArrowLeft");
  await expect(line).toBeFocused();
  await page.keyboard.press("ArrowLeft");
  await expect(line).toHaveAttribute("aria-expanded", "false");
  await expect(last).toHaveCount(0);

  await page.keyboard.press("End");
  await expect(page.locator('[data-key="5040"]')).toBeFocused();
  expect(await mostRows(page), "rows in the document while scrolling").toBeLessThan(80);
});

test("a run is rerun, exported in three formats, deleted, and imported from a file", async ({ page }) => {
  const run = await start(agents.report, "Write the report of last night.");
  await open(page, run.id);
  const act = async (name: string) => {
    await page.getByRole("button", { name: "More actions" }).click();
    await page.getByRole("menuitem", { name }).click();
  };
  await page.getByRole("button", { name: "More actions" }).click();
  await expect(page.getByRole("menuitem", { name: "Run again…" })).toBeVisible();
  await expectAccessible(page, "menu");
  await page.keyboard.press("Escape");

  const trace = JSON.parse(await contentOf(page, () => act("Download trace, JSON")));
  expect(trace).toMatchObject({ object: "trace", run_id: run.id, steps_has_more: false });
  expect((await server.post("/v1/traces", trace)).status).toBe(201);
  expect(JSON.parse(await contentOf(page, () => act("Download trace, OpenTelemetry")))).toHaveProperty("resourceSpans");
  expect(await contentOf(page, () => act("Download capsule, for another runnel"))).toMatch(/^SQLite format 3/);
  await act("Copy run id");
  await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe(run.id);

  await act("Run again…");
  const again = page.getByRole("alertdialog", { name: "Run again" });
  await expectAccessible(page, "run again");
  const runsOf = async () => (await server.get(`/v1/runs?agent_id=${agents.report}`)).body.data.length;
  const before = await runsOf();
  await loseAnswer(page, /\/runs$/);
  await again.getByRole("button", { name: "Run again" }).click();
  await expect(again).toContainText("The server does not respond.");
  await again.getByRole("button", { name: "Run again" }).click();
  await expect(page).not.toHaveURL(new RegExp(run.id));
  expect(await runsOf()).toBe(before + 1);
  await expect(status(page, "Failed")).toBeVisible();

  const capsule = Buffer.from(await (await server.fetch(`/v1/runs/${run.id}/capsule`)).arrayBuffer());
  await act("Delete run…");
  await page.getByRole("alertdialog").getByRole("button", { name: "Delete run" }).click();
  await expect(page).toHaveURL(/\/runs$/);

  await page.getByRole("button", { name: "Import" }).click();
  const dialog = page.getByRole("dialog", { name: "Import run" });
  await dialog.getByRole("button", { name: "Import run" }).click();
  await expect(dialog.getByRole("alert")).toHaveText("Choose a file.");
  const file = (name: string, buffer: Buffer) => ({ name, mimeType: "application/octet-stream", buffer });
  await dialog.getByLabel("Trace or capsule").setInputFiles(file("notes.json", Buffer.from("[]")));
  await dialog.getByRole("button", { name: "Import run" }).click();
  await expect(dialog.getByRole("alert")).not.toHaveText("Choose a file.");
  await expectAccessible(page, "import refused");
  await dialog.getByLabel("Trace or capsule").setInputFiles(file("run.sqlite3", capsule));
  await dialog.getByRole("button", { name: "Import run" }).click();
  await expect(page).toHaveURL(/\/runs\/run_/);
  await expect(page.getByText("from another trace")).toBeVisible();
});

test("a missing run says so, and one of the other mode says where it is", async ({ page }) => {
  const run = await start(agents.report, "Write the report of last night.");
  await test.step("a deleted trace leaves input, output and facts", async () => {
    await server.fetch(`/v1/traces/${run.id}`, { method: "DELETE" });
    await open(page, run.id, false);
    await expect(page.getByText("The trace of this run was deleted")).toBeVisible();
    await expect(page.getByText("Write the report of last night.")).toBeVisible();
    await expectAccessible(page, "deleted trace");
  });
  await test.step("a run of the test data is found from live", async () => {
    await page.goto(`${server.url}/dashboard/runs`);
    await page.getByRole("button", { name: "Live", exact: true }).first().click();
    await expect(page.locator("html")).toHaveAttribute("data-mode", "live");
    await open(page, run.id, false);
    await expect(page.getByRole("button", { name: "Check test data" })).toBeVisible();
    await expectAccessible(page, "other mode");
    await page.getByRole("button", { name: "Check test data" }).click();
    await expect(page.getByText("The trace of this run was deleted")).toBeVisible();
  });
  await test.step("a run that never existed is reported as missing", async () => {
    await open(page, "run_00000000000000000000000000", false);
    await expect(page.getByRole("heading", { name: "No such run" })).toBeVisible();
  });
});

test("a phone shows the steps, then one step, with a way back", async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  const run = await start(agents.report, "Write the report of last night.");
  await open(page, run.id);
  const detail = page.getByRole("region", { name: "Selected step" });
  await expect(detail).toBeHidden();
  await row(page, /Tool call look_up/).click();
  await expect(detail).toContainText('sky: "clear"');
  await expect(page.getByRole("tree")).toBeHidden();
  await expectAccessible(page, "phone");
  await detail.getByRole("button", { name: "Back to the steps" }).click();
  await expect(page.getByRole("tree")).toBeVisible();
  await row(page, /Tool call look_up/).click();
  await page.goBack();
  await expect(page.getByRole("tree")).toBeVisible();
});

const row = (page: Page, name: RegExp): Locator => page.getByRole("treeitem", { name });
const status = (page: Page, word: string): Locator => page.locator("header").getByText(word, { exact: true }).first();

async function open(page: Page, id: string, hasTree = true): Promise<void> {
  await page.goto(`${server.url}/dashboard/runs/${id}`);
  if (hasTree) await expect(page.getByRole("tree", { name: "Steps" })).toBeAttached({ timeout: 30_000 });
}

/** Returns the position of the first bar of a row. */
async function barOf(page: Page, name: string): Promise<{ left: string }> {
  const bar = page
    .getByRole("treeitem", { name: new RegExp(name.replace("/", "\\/")) })
    .first()
    .locator(".bar")
    .first();
  return { left: await bar.evaluate((element: HTMLElement) => element.style.left) };
}

/** Scrolls the tree from its end to its start, and returns the maximum number of rows in the document. */
async function mostRows(page: Page): Promise<number> {
  return await page.getByRole("tree").evaluate(async (tree) => {
    const scroller = tree.parentElement!;
    let most = 0;
    for (let top = scroller.scrollHeight; top > 0; top -= 2500) {
      scroller.scrollTop = top;
      await new Promise(requestAnimationFrame);
      most = Math.max(most, tree.querySelectorAll("[role=treeitem]").length);
    }
    return most;
  });
}

async function contentOf(page: Page, act: () => Promise<void>): Promise<string> {
  const [download] = await Promise.all([page.waitForEvent("download") as Promise<Download>, act()]);
  return readFileSync(await download.path(), "latin1");
}

async function start(agent_id: string, input: string, wait = 60): Promise<Json> {
  const { status, body } = await server.post(`/v1/runs?wait=${wait}`, { agent_id, input });
  expect(status).toBe(201);
  return body;
}

/** Answers all calls of a run, as a client would. */
async function finish(run: Json): Promise<Json> {
  for (let now = run; ; now = (await server.get(`/v1/runs/${run.id}`)).body) {
    if (now.status === "completed") return now;
    const [call] = now.required_action?.submit_tool_outputs.tool_calls ?? [];
    if (!call) continue;
    const answer = call.needs === "approval" ? { decision: "approve" } : { output: { url: "1.jpg" } };
    await server.post(`/v1/runs/${run.id}/submit_tool_outputs`, {
      tool_outputs: [{ tool_call_id: call.tool_call_id, ...answer }],
    });
  }
}

async function createAgents() {
  const city = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
  const make = async (path: string, body: object): Promise<string> => {
    const answer = await server.post(path, body);
    expect(answer.status, JSON.stringify(answer.body)).toBe(201);
    return answer.body.id;
  };
  const tool = (name: string, more: object) =>
    make("/v1/tools", {
      name,
      description: `Does ${name}.`,
      parameters: city,
      type: "http",
      idempotent: true,
      ...more,
    });
  const agent = (name: string, script: object[], tools: string[], more: object = {}) =>
    make("/v1/agents", {
      name,
      instructions: "Be kind.",
      model: "test/script",
      model_settings: { script },
      tools,
      ...more,
    });
  const call = (name: string) => ({ name, arguments: { city: "Oslo" } });

  const fraud = await agent(
    "Fraud check",
    [{ tool_calls: [call("risk_score")] }, { text: "Low risk.", delta_ms: 5 }],
    [await tool("risk_score", { url: `${tools.url}/slow/50` })],
  );
  const policies = await make("/v1/memory", { name: "Policies", kind: "vector" });
  const text =
    "# Refunds\n\nDamaged on arrival: full refund within 30 days.\n\n# Approvals\n\nA person approves refunds.\n";
  await make("/v1/files", { filename: "policy.md", text, purpose: "retrieval", memory_id: policies });
  await expect
    .poll(async () => (await server.get(`/v1/memory/${policies}/entries`)).body.data[0]?.status, { timeout: 60_000 })
    .toBe("ready");
  const desk = await agent(
    "Refund desk",
    [
      {
        text: "Let me look.",
        tool_calls: [call("lookup_order"), call("check_stock"), { name: "fraud_check", arguments: { input: "Ann" } }],
        delta_ms: 20,
      },
      { text: "All is well.", tool_calls: [call("refund_payment")] },
      { tool_calls: [call("take_photo")] },
      { text: "I refunded the mugs.", delta_ms: 20 },
    ],
    [
      await tool("lookup_order", { url: `${tools.url}/slow/200` }),
      await tool("check_stock", { url: `${tools.url}/fails` }),
      await tool("fraud_check", { type: "agent", agent_id: fraud, parameters: undefined, idempotent: undefined }),
      await tool("refund_payment", { url: `${tools.url}/slow/20`, approval: "always" }),
      await tool("take_photo", { type: "client", idempotent: undefined }),
    ],
    {
      memory: { stores: [{ memory_id: policies }] },
      guardrails: [{ type: "pii", on: ["input"], action: "redact", config: {} }],
    },
  );
  const report = await agent(
    "Nightly report",
    [{ text: "Beginning. ", tool_calls: [call("look_up")] }, { error: "The model server hung up." }],
    [await tool("look_up", { url: `${tools.url}/ok` })],
  );
  const charge = await agent(
    "Charger",
    [{ tool_calls: [call("charge_card")] }, { text: "Done." }],
    [await tool("charge_card", { url: `${tools.url}/silent`, idempotent: false })],
  );
  const writer = await agent(
    "Storyteller",
    [{ text: "The stream carries every leaf that it is given, slowly, down to the sea.", delta_ms: 1000 }],
    [],
  );
  const twice = await agent(
    "Parcels",
    [{ tool_calls: [call("ship_parcel"), call("ship_parcel")] }, { text: "Both are on their way." }],
    [await tool("ship_parcel", { url: `${tools.url}/slow/20`, approval: "always" })],
  );
  const turns = Array.from({ length: 200 }, (_, i) =>
    i === 199
      ? { text: "Finished." }
      : { tool_calls: Array.from({ length: 25 }, (_, k) => ({ name: "tiny", arguments: { city: "Oslo", i, k } })) },
  );
  const many = await agent("Five thousand", turns, [await tool("tiny", { url: `${tools.url}/ok` })], {
    max_turns: 200,
  });
  const equal = await agent(
    "Five thousand equal",
    Array.from({ length: 41 }, (_, i) =>
      i === 40
        ? { text: "Finished." }
        : { tool_calls: Array.from({ length: 125 }, () => ({ name: "noop", arguments: {} })) },
    ),
    [await tool("noop", { url: `${tools.url}/ok`, parameters: { type: "object" } })],
    { max_turns: 41 },
  );
  return { desk, twice, report, charge, writer, many, equal };
}

/** Executes the next POST to this address, and drops its response. */
async function loseAnswer(page: Page, address: RegExp): Promise<void> {
  let isLost = false;
  await page.route(address, async (route) => {
    if (isLost || route.request().method() !== "POST") return route.continue();
    isLost = true;
    await route.fetch();
    await route.abort("internetdisconnected");
  });
}
