import { expect, test } from "@playwright/test";
import { type Runnel, startRunnel } from "./harness.ts";
import { expectAccessible, joinAs, recordFaults, setUpAccount } from "./page-checks.ts";

// The API reference of the compiled executable: offline, and for the server that shows it.
let server: Runnel;
test.beforeEach(async () => {
  server = await startRunnel();
});
test.afterEach(() => server[Symbol.asyncDispose]());

test("the reference finds an operation, shows its fields, and its code runs against this server", async ({ page }) => {
  test.setTimeout(120_000);
  const complaints = recordFaults(page);

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

  await test.step("an operation shows its parameters and responses", async () => {
    const body = page.getByRole("table", { name: "Body" });
    await expect(body.getByRole("row", { name: /agent_id/ })).toContainText("required");
    await expect(body.getByRole("row", { name: /max_cost_usd/ })).toContainText("above 0");
    await expect(page.getByRole("table", { name: "Parameters" })).toContainText("Idempotency-Key");
    await expect(body.getByRole("row", { name: /^stream/ })).toContainText("Whether the response is");
    await expect(page.getByRole("group").filter({ hasText: "409" })).toContainText("thread_busy");
    await expect(page.getByText("Run", { exact: true }).first()).toBeVisible();
    await expectAccessible(page, "operation");
  });

  await test.step("its code names this server and runs as printed", async () => {
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

  await test.step("it is called with the person's own session, and shows the response", async () => {
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

test("a viewer sends read requests, reads why no others are sent, and in Live every person sees where a request goes", async ({
  page,
  browser,
}) => {
  await setUpAccount(page, server);
  const context = await browser.newContext({ ignoreHTTPSErrors: true });
  const guest = await context.newPage();
  await joinAs("viewer", { owner: page, guest });

  await test.step("a viewer lists agents", async () => {
    await guest.goto(`${server.url}/dashboard/reference?op=agents.list`);
    await guest.getByRole("button", { name: "Send request" }).click();
    await expect(guest.getByText("Status 200")).toBeVisible();
  });

  await test.step("a viewer cannot create agents, and reads why", async () => {
    for (const operation of ["agents.create", "agents.delete"]) {
      await guest.goto(`${server.url}/dashboard/reference?op=${operation}`);
      await expect(
        guest.getByText("Your role is viewer: you can send requests that read, and no others."),
      ).toBeVisible();
      await expect(guest.getByRole("button", { name: "Send request" })).toHaveCount(0);
    }
    await expectAccessible(guest, "operation of a viewer");
    const status = await guest.evaluate(async () => {
      const projects = await (await fetch("/console/api/projects")).json();
      const headers = { "x-runnel-console": "1", "content-type": "application/json" };
      const body = JSON.stringify({ name: "sneaked", instructions: "", model: "test/echo" });
      const path = `/console/api/${projects.data[0].id}/test/agents`;
      return (await fetch(path, { method: "POST", headers, body })).status;
    });
    expect(status).toBe(403);
  });

  await test.step("in Live a warning precedes the request", async () => {
    await page.goto(`${server.url}/dashboard/reference?op=threads.create`);
    await page.getByRole("button", { name: "Live", exact: true }).click();
    await expect(
      page.getByText("It is sent with your session, to this project in Live, and takes effect."),
    ).toBeVisible();
    await page.getByRole("textbox", { name: "Body to send" }).fill('{"title": "tried in live"}');
    await page.getByRole("button", { name: "Send request" }).click();
    await expect(page.getByText("Status 201")).toBeVisible();
    const titles = async (key: string) =>
      (await server.get("/v1/threads", key)).body.data.map(({ title }: { title: string }) => title);
    expect(await titles(server.keys.live)).toEqual(["tried in live"]);
    expect(await titles(server.keys.test)).toEqual([]);
  });
  await context.close();
});
