import { expect, test } from "@playwright/test";
import { type Runnel, startRunnel } from "./harness.ts";
import { expectAccessible, setUpAccount, watch } from "./page-checks.ts";

// The API reference of the compiled executable: offline, and about the server that shows it.
let server: Runnel;
test.beforeAll(async () => {
  server = await startRunnel();
});
test.afterAll(() => server[Symbol.asyncDispose]());

test("the reference finds an operation, tells its fields, and its code runs against this server", async ({ page }) => {
  test.setTimeout(120_000);
  const complaints = watch(page);

  await test.step("it is one click away, and found by words", async () => {
    await setUpAccount(page, server);
    await page.getByRole("link", { name: "API reference" }).click();
    await expect(page.getByRole("navigation", { name: "Operations" }).getByRole("link")).not.toHaveCount(0);
    await expectAccessible(page, "reference");
    await page.keyboard.press("/");
    await page.keyboard.type("post runs start");
    await expect(page).toHaveURL(/q=post/);
    await page.getByRole("link", { name: "Start a run" }).click();
    await expect(page).toHaveURL(/op=createRun/);
  });

  await test.step("an operation tells what it takes and answers", async () => {
    const body = page.getByRole("table", { name: "Body" });
    await expect(body.getByRole("row", { name: /agent_id/ })).toContainText("required");
    await expect(body.getByRole("row", { name: /max_cost_usd/ })).toContainText("above 0");
    await expect(page.getByRole("table", { name: "Parameters" })).toContainText("Idempotency-Key");
    await expect(body.getByRole("row", { name: /^stream/ })).toContainText("Whether the response is");
    await expect(page.getByRole("group").filter({ hasText: "409" })).toContainText("thread_busy");
    await expect(page.getByText("Run", { exact: true }).first()).toBeVisible();
    await expectAccessible(page, "operation");
  });

  await test.step("its code names this server and runs as it stands", async () => {
    await page.goto(`${server.url}/dashboard/reference?op=createAgent`);
    const code = page.getByRole("region", { name: "curl code" });
    await expect(code).toContainText(`${server.url}/v1/agents`);
    const shown = (await code.locator("pre").textContent()) ?? "";
    const body: unknown = JSON.parse(/--json '([\s\S]*)'$/.exec(shown)![1]!);
    expect((await server.post("/v1/agents", body)).status).toBe(201);
    await page.getByRole("button", { name: "Live", exact: true }).click();
    await expect(code).toContainText("openai/gpt-5");
    await page.getByRole("button", { name: "Test", exact: true }).click();
  });

  await test.step("on a phone there is the list or one operation, with a way back", async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    await expectAccessible(page, "operation narrow");
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
    await page.getByRole("button", { name: "All operations" }).click();
    await expect(page.getByRole("navigation", { name: "Operations" })).toBeVisible();
    await expectAccessible(page, "reference narrow");
  });

  expect(complaints).toEqual([]);
});
