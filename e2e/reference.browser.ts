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
    await expect(page).toHaveURL(/op=runs\.create/);
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
    await page.goto(`${server.url}/dashboard/reference?op=agents.create`);
    const code = page.getByRole("region", { name: "curl code" });
    await expect(code).toContainText(`${server.url}/v1/agents`);
    const shown = (await code.locator("pre").textContent()) ?? "";
    const body: unknown = JSON.parse(/--json '([\s\S]*)'$/.exec(shown)![1]!);
    expect((await server.post("/v1/agents", body)).status).toBe(201);
    await page.getByRole("button", { name: "Live", exact: true }).click();
    await expect(code).toContainText("openai/gpt-5");
    await page.getByRole("button", { name: "Test", exact: true }).click();
  });

  await test.step("it is tried with the person's own session, and shows what came back", async () => {
    const body = page.getByRole("textbox", { name: "Body to send" });
    await body.fill('{"name": "tried", "instructions": "", "model": "test/echo"}');
    await page.getByRole("button", { name: "Send request" }).click();
    await expect(page.getByText("Status 201")).toBeVisible();
    await expect(page.getByRole("region", { name: "Response", exact: true })).toContainText('"name": "tried"');
    await body.fill("{");
    await page.getByRole("button", { name: "Send request" }).click();
    await expect(page.getByText("The body is not JSON.")).toBeVisible();
    await page.goto(`${server.url}/dashboard/reference?op=agents.retrieve`);
    await page.getByRole("button", { name: "Send request" }).click();
    await expect(page.getByText("Fill in id.")).toBeVisible();
    await page.getByRole("textbox", { name: "id (required)" }).fill("agt_01k6w3v5r8d2f9h1j4m7n0p3qs");
    await page.getByRole("button", { name: "Send request" }).click();
    await expect(page.getByText("Status 404")).toBeVisible();
  });

  await test.step("every page leads to its guide", async () => {
    await page.goto(`${server.url}/dashboard/webhooks`);
    const guide = page.getByRole("link", { name: "Guide to this page" });
    await expect(guide).toHaveAttribute("href", "/docs/guides/webhooks");
    expect((await server.fetch("/docs/guides/webhooks", { key: null })).status).toBe(200);
    await page.goto(`${server.url}/dashboard/reference?op=agents.retrieve`);
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
