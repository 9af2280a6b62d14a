import { expect, test } from "@playwright/test";
import { startWebhookReceiver } from "../server/testing/webhook-receiver.ts";
import { createScripted, runToEnd } from "./fixtures.ts";
import { type Runnel, startRunnel } from "./harness.ts";
import { expectAccessible, signInBeforeEach } from "./page-checks.ts";

// A webhook whose endpoint refuses everything, while its events are still retried: no page shows it as idle.
let server: Runnel;
test.beforeAll(async () => {
  server = await startRunnel();
});
test.afterAll(() => server[Symbol.asyncDispose]());
test.use({ viewport: { width: 1440, height: 900 } });
signInBeforeEach(() => server);

test("a failing webhook is shown as failing on the overview, in its list and in its filter, long before it is disabled", async ({
  page,
}) => {
  await using receiver = startWebhookReceiver(() => new Response("No.", { status: 500 }));
  const { host } = new URL(receiver.url);
  const made = await server.post("/v1/webhooks", { url: receiver.url, events: ["run.completed"] });
  expect(made).toMatchObject({ status: 201 });
  const webhook = made.body;
  const agent = await createScripted(server, [{ text: "Done." }]);
  for (const _ of [1, 2]) await runToEnd(server, agent);
  const deliveries = `/v1/webhooks/${webhook.id}/deliveries`;
  await expect.poll(async () => (await server.get(`${deliveries}?status=retrying`)).body.data.length).toBe(2);
  expect((await server.get(`${deliveries}?status=failed`)).body.data).toEqual([]);

  await test.step("the overview names it, and its chart shows the undelivered events", async () => {
    await page.goto(`${server.url}/dashboard/overview`);
    await expect(page.getByText(`Webhook ${host} fails`)).toBeVisible();
    const chart = page.locator("section", { has: page.getByRole("heading", { name: "Webhook deliveries" }) }).last();
    await expect(chart.getByText("Failed or retrying")).toBeVisible();
    await expect(chart.getByRole("img", { name: /0% of 2 succeeded/ })).toBeVisible();
    await chart.getByRole("button", { name: "Show as table: Webhook deliveries" }).click();
    await expect(chart.getByRole("row").nth(1)).toContainText("2");
    await chart.getByRole("button", { name: "Show as chart: Webhook deliveries" }).click();
    await chart.scrollIntoViewIfNeeded();
    for (const theme of ["light", "dark"])
      for (const width of [1440, 390]) {
        await page.setViewportSize({ width, height: 900 });
        await page.locator("html").evaluate((html, value) => html.setAttribute("data-theme", value), theme);
        await chart.scrollIntoViewIfNeeded();
        await page.screenshot({ path: `dist/shots/webhooks/overview-${theme}-${width}.png` });
      }
    await page.setViewportSize({ width: 1440, height: 900 });
    await expectAccessible(page, "failing webhook");
  });

  await test.step("its filter finds retried deliveries, and links to the permanently failed ones", async () => {
    await page.goto(`${server.url}/dashboard/webhooks/${webhook.id}?status=failed`);
    await expect(page.getByText("Each is retried for three days before it has failed.")).toBeVisible();
    await expectAccessible(page, "nothing has failed for good");
    await page.screenshot({ path: "dist/shots/webhooks/failed-filter.png" });
    await page.getByRole("button", { name: "Show retrying" }).click();
    await expect(page).toHaveURL(/status=retrying/);
    await expect(page.getByRole("list", { name: "Deliveries" }).getByText("Retrying")).toHaveCount(2);
    await page
      .getByRole("button", { name: /^Status/ })
      .first()
      .click();
    await page.getByRole("menuitemradio", { name: "Pending" }).click();
    await expect(page.getByText("No results")).toBeVisible();
  });
});
