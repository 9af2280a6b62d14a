import { expect, type Page, test } from "@playwright/test";
import { createAgent, createScripted, runToEnd, stubConnection } from "./fixtures.ts";
import { type Runnel, startRunnel } from "./harness.ts";
import { type ModelServer, startModelServer } from "./model-server.ts";
import { expectAccessible, signInBeforeEach } from "./page-checks.ts";

// Unknown costs and tokens: a page says so, and shows no zero.
let model: ModelServer;
let server: Runnel;
test.beforeAll(async () => {
  model = startModelServer();
  server = await startRunnel({ environment: stubConnection(model.url) });
});
test.afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await model[Symbol.asyncDispose]();
});
test.use({ viewport: { width: 1440, height: 900 } });
signInBeforeEach(() => server);

test("a run in its first model call has no tokens and no cost yet, on every page", async ({ page }) => {
  const agent = await createScripted(server, [{ text: "One word after the other, slowly.", delta_ms: 60_000 }]);
  const { body: run } = await server.post("/v1/runs", { agent_id: agent, input: "Tell." });
  await expect.poll(async () => (await server.get(`/v1/runs/${run.id}`)).body.status).toBe("in_progress");
  const cellOf = (name: string) => column(page, `tr[data-run=${run.id}]`, name);

  await page.goto(`${server.url}/dashboard/runs`);
  await expect(await cellOf("Tokens")).toHaveText("–");
  await expect(await cellOf("Cost")).toHaveText("–");
  await page.goto(`${server.url}/dashboard/runs/${run.id}`);
  for (const name of ["Tokens", "Cost"])
    await expect(page.getByText(name, { exact: true }).locator("xpath=following-sibling::*")).toHaveText("–");
  await page.goto(`${server.url}/dashboard/agents/${agent}?tab=runs`);
  await expect(page.getByRole("row", { name: /Tell\./ })).toContainText("–");
  await expect(page.getByRole("row", { name: /Tell\./ })).not.toContainText("$0.00");
  const { body: csv } = await server.get("/v1/runs/export?format=csv");
  expect(csv.split("\r\n")[1]).toMatch(/,,,"?\{\}"?$/);
  await server.post(`/v1/runs/${run.id}/cancel`, {});
  await expect.poll(async () => (await server.get(`/v1/runs/${run.id}`)).body.status).toBe("cancelled");
});

test("a model without a known price has an unknown cost on the overview, and a known part is shown as a part", async ({
  page,
}) => {
  const unpriced = await createAgent(server, "words-3-0", { name: "Unpriced" });
  await runToEnd(server, unpriced);
  const spent = (await server.get("/v1/usage?group_by=agent")).body.data;
  expect(spent.find(({ agent_id }: { agent_id: string }) => agent_id === unpriced)).toMatchObject({
    cost_usd: 0,
    unknown_cost_calls: 1,
  });
  const cost = page
    .getByRole("region", { name: "Cost", exact: true })
    .or(page.locator("section:has(> h2:text-is('Cost'))"));
  const spend = page.locator("section", { has: page.getByRole("heading", { name: "Cost by model" }) });

  await test.step("no unknown value is shown as zero", async () => {
    await page.goto(`${server.url}/dashboard/overview`);
    await expect(cost.first()).toContainText("–");
    await expect(cost.first()).toContainText("1 call without a known price");
    await expect(cost.first()).not.toContainText("$0.00");
    await expect(spend.last()).toContainText("The cost of 1 call is not known.");
    await expect(page.getByRole("row", { name: /Unpriced/ })).not.toContainText("$0.00");
    await expectAccessible(page, "unknown costs");
    await shoot(page, "overview-unknown");
    await page.goto(`${server.url}/dashboard/agents/${unpriced}?tab=analytics`);
    await expect(page.getByText("The cost of 1 call is not known.")).toBeVisible();
  });

  await test.step("a sum with an unknown part is shown as a minimum", async () => {
    const priced = await createAgent(server, "words-4-0", { name: "Priced" });
    const set = ["models", "prices", "set", "openai_compatible/stub/words-4-0", "--input", "1000", "--output", "1000"];
    expect((await server.command(...set)).code).toBe(0);
    const { usage } = await runToEnd(server, priced);
    expect(usage.cost_usd).toBeGreaterThan(0);
    await page.goto(`${server.url}/dashboard/overview`);
    await expect(cost.first()).toContainText("≥ $");
    // The server updates its totals every 15 seconds.
    await expect(async () => {
      await page.reload();
      await expect(spend.last()).toContainText("1 call without a known price not included", { timeout: 2000 });
    }).toPass({ timeout: 60_000 });
    await expect(page.getByRole("row", { name: /^Priced/ })).not.toContainText("≥");
    await shoot(page, "overview-part");
  });
});

/** Returns the cell of a row below a column's header. */
async function column(page: Page, row: string, name: string) {
  const heads = page.locator("table thead th");
  await expect(heads.filter({ hasText: name })).toBeVisible();
  const names = await heads.allInnerTexts();
  return page
    .locator(row)
    .locator("td")
    .nth(names.findIndex((text) => text.trim() === name));
}

async function shoot(page: Page, name: string): Promise<void> {
  for (const theme of ["light", "dark"])
    for (const width of [1440, 390]) {
      await page.setViewportSize({ width, height: 900 });
      await page.locator("html").evaluate((html, value) => html.setAttribute("data-theme", value), theme);
      await page.screenshot({ path: `dist/shots/costs/${name}-${theme}-${width}.png` });
    }
  await page.setViewportSize({ width: 1440, height: 900 });
}
