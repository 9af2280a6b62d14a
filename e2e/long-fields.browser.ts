import { expect, test } from "@playwright/test";
import { createAgent, createScripted, createTool, runToEnd } from "./fixtures.ts";
import { type Runnel, startRunnel } from "./harness.ts";
import { recordFaults, setUpAccount } from "./page-checks.ts";

// Lists return shortened texts. The dashboard of the compiled executable uses the whole text when it acts on an item.
let server: Runnel;
test.beforeAll(async () => {
  server = await startRunnel();
});
test.afterAll(() => server[Symbol.asyncDispose]());

const long = `${"A long story about an order. ".repeat(400)}The end`;

test.beforeEach(({ page }) => setUpAccount(page, server));
let complaints: string[];
test("a text shortened in a list is whole where it is rerun, edited, compared and restored", async ({ page }) => {
  complaints = recordFaults(page);
  const agent = await createAgent(server, "test/echo");
  const tool = await createTool(server, { name: "look", parameters: { type: "object" } });
  const caller = await createScripted(server, [{ tool_calls: [{ name: "look", arguments: {} }] }, { text: "Seen." }], {
    tools: [tool.id],
  });
  await server.post("/v1/runs?wait=60", { agent_id: caller, input: "Look." });
  await runToEnd(server, agent, { input: long });

  await test.step("a run is rerun with its whole input, and its row names the called tool", async () => {
    await page.goto(`${server.url}/dashboard/runs`);
    const row = page.getByRole("row", { name: /A long story/ });
    await expect(row.locator("[data-step=model_call]")).toHaveCount(1);
    await row.getByRole("checkbox").check();
    await page.getByRole("toolbar").getByRole("button", { name: "Run again" }).click();
    await page.getByRole("alertdialog", { name: "Run again" }).getByRole("button", { name: "Run again" }).click();
    await expect(page.getByRole("row", { name: /A long story/ })).toHaveCount(2);
    const { data } = (await server.get(`/v1/runs?agent_id=${agent}&include=messages`)).body;
    expect(data.map(({ input }: { input: string }) => input)).toEqual([long, long]);
  });

  await test.step("a schedule keeps its whole input when another field is changed from the list", async () => {
    const plan = { cron: "0 6 * * *", timezone: "UTC" };
    const { id } = (await server.post("/v1/schedules", { name: "Report", agent_id: agent, input: long, ...plan })).body;
    await page.goto(`${server.url}/dashboard/schedules`);
    await page.getByRole("button", { name: "More for Report" }).click();
    await page.getByRole("menuitem", { name: "Edit schedule" }).click();
    const dialog = page.getByRole("dialog", { name: "Edit schedule" });
    await dialog.getByLabel("Name").fill("Daily report");
    await dialog.getByRole("button", { name: "Save schedule" }).click();
    await expect(dialog).toBeHidden();
    expect((await server.get(`/v1/schedules/${id}`)).body).toMatchObject({ name: "Daily report", input: long });
  });

  await test.step("versions are compared and restored whole, with the script that a list omits", async () => {
    const script = [{ text: "One." }];
    const first = { instructions: `${long} 1`, model: "test/script", model_settings: { script } };
    const { id } = (await server.post("/v1/agents", { name: "Clerk", ...first })).body;
    const change = { instructions: `${long} 2`, model_settings: {} };
    await server.fetch(`/v1/agents/${id}`, { method: "PATCH", body: JSON.stringify(change) });
    await page.goto(`${server.url}/dashboard/agents/${id}?tab=versions&version=1`);
    const changed = page.getByRole("region", { name: "What changed" });
    await expect(changed).toContainText("The end 1");
    await changed.getByRole("button", { name: "Restore version 1" }).click();
    const dialog = page.getByRole("alertdialog", { name: "Restore version 1" });
    await dialog.getByRole("button", { name: "Restore version 1" }).click();
    await expect(page.getByRole("button", { name: /^Version 3/ })).toContainText("current");
    expect((await server.get(`/v1/agents/${id}`)).body).toMatchObject(first);
  });

  await test.step("a folded list within an open value shows its length and its end", async () => {
    const list = Array.from({ length: 12 }, (_, i) => `entry ${i}`);
    const calls = [{ name: "look", arguments: { at: { b: { c: { list } } } } }];
    const asker = await createScripted(server, [{ tool_calls: calls }], { tools: [tool.id] });
    const run = (await server.post("/v1/runs?wait=60", { agent_id: asker, input: "Look." })).body;
    await page.goto(`${server.url}/dashboard/runs/${run.id}`);
    await expect(page.getByText(/12 entries \]/).first()).toBeVisible();
  });

  expect(complaints).toEqual([]);
});
