import { expect, test } from "@playwright/test";
import { freePort } from "../server/testing/free-port.ts";
import { type Runnel, startRunnel } from "./harness.ts";
import { expectAccessible, setUpAccount } from "./page-checks.ts";

// Dashboard pages whose code is not loaded when the server becomes unreachable: the frame stays, and they load later.
let server: Runnel;
test.beforeAll(async () => {
  server = await startRunnel({ flags: ["--http-port", "0", "--port", String(freePort())] });
});
test.afterAll(() => server[Symbol.asyncDispose]());
test.use({ viewport: { width: 1440, height: 900 } });

test("a page that is not loaded when the server is unreachable keeps the frame, and loads once the server is back", async ({
  page,
}) => {
  test.setTimeout(120_000);
  await setUpAccount(page, server);
  await page.goto(`${server.url}/dashboard/approvals`);
  await expect(page.getByRole("heading", { name: "Nothing is waiting for you" })).toBeVisible();
  await page.evaluate(() => Object.assign(window, { isSame: true }));
  await server.kill9();

  await test.step("the frame and the banner stay, and say that the page will load", async () => {
    await page.getByRole("link", { name: "Agents", exact: true }).click();
    await expect(page.getByRole("heading", { name: "This page is not loaded yet" })).toBeVisible();
    await expect(page.getByRole("alert").filter({ hasText: "The server does not respond." })).toBeVisible();
    await expect(page.getByRole("navigation").getByRole("link", { name: "Agents", exact: true })).toBeVisible();
    await expectAccessible(page, "not loaded yet");
    for (const theme of ["light", "dark"])
      for (const width of [1440, 390]) {
        await page.setViewportSize({ width, height: 900 });
        await page.locator("html").evaluate((html, value) => html.setAttribute("data-theme", value), theme);
        await page.screenshot({ path: `dist/shots/late/page-${theme}-${width}.png` });
      }
    await page.setViewportSize({ width: 1440, height: 900 });
  });

  await test.step("another one, and back to one that is loaded", async () => {
    await page.getByRole("link", { name: "Runs", exact: true }).click();
    await expect(page).toHaveURL(/\/runs$/);
    await expect(page.getByRole("heading", { name: "This page is not loaded yet" })).toBeVisible();
    await page.getByRole("link", { name: "Approvals", exact: true }).click();
    await expect(page.getByRole("heading", { name: "Approvals", exact: true })).toBeVisible();
    await page.getByRole("link", { name: "Webhooks", exact: true }).click();
    await expect(page.getByRole("heading", { name: "This page is not loaded yet" })).toBeVisible();
  });

  await test.step("the page loads by itself, without a reload, and so do the others", async () => {
    await server.restart();
    await expect(page.getByRole("heading", { name: "No test webhooks yet" })).toBeVisible();
    await expect(page.getByRole("alert").filter({ hasText: "does not respond" })).toBeHidden();
    for (const [name, heading] of [
      ["Agents", "No agents yet"],
      ["Runs", "No runs yet"],
    ] as const) {
      await page.getByRole("link", { name, exact: true }).click();
      await expect(page.getByRole("heading", { name: heading })).toBeVisible();
    }
    expect(await page.evaluate(() => "isSame" in window)).toBe(true);
  });
});

test("charts that are not loaded when the server is unreachable load by themselves too", async ({ page }) => {
  await using own = await startRunnel();
  await setUpAccount(page, own);
  const agent = await own.post("/v1/agents", { name: "Echo", instructions: "Say it.", model: "test/echo" });
  await own.post("/v1/runs?wait=30", { agent_id: agent.body.id, input: "Hello" });
  // The page loses the server when it requests the charts.
  let isAway = true;
  await page.route(/more-charts|healthz/, (route) => (isAway ? route.abort() : route.continue()));
  await page.goto(`${own.url}/dashboard/overview`);
  await expect(page.getByRole("alert").filter({ hasText: "The server does not respond." })).toBeVisible();
  await expect(page.getByRole("status", { name: "Loading charts" })).toBeVisible();
  isAway = false;
  await expect(page.getByRole("heading", { name: "Cost by model" })).toBeVisible();
});
