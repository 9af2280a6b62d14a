import { expect, type Page, test } from "@playwright/test";
import { type Runnel, startRunnel } from "./harness.ts";
import { expectAccessible, recordFaults, setUpAccount } from "./page-checks.ts";

// Several tabs of one browser, and the end of the session, in the compiled executable's dashboard.
let server: Runnel;
test.beforeAll(async () => {
  server = await startRunnel();
});
test.afterAll(() => server[Symbol.asyncDispose]());

const expectMode = async (page: Page, mode: "test" | "live") => {
  await expect(page.locator("html")).toHaveAttribute("data-mode", mode);
  const name = mode === "test" ? "Test" : "Live";
  await expect(page.getByRole("button", { name, exact: true }).first()).toHaveAttribute("aria-pressed", "true");
};

const choose = (page: Page, name: "Test" | "Live") => page.getByRole("button", { name, exact: true }).first().click();

test("each tab has the project and mode of its address, and signing out stops its requests", async ({
  page,
  context,
}) => {
  const complaints = recordFaults(page);
  await setUpAccount(page, server);
  await page.goto(`${server.url}/dashboard/runs`);
  await expectMode(page, "test");

  const other = await context.newPage();
  await test.step("two new tabs are independent: a choice in one leaves the other unchanged", async () => {
    await other.goto(`${server.url}/dashboard/runs`);
    await choose(other, "Live");
    await expectMode(other, "live");
    await expect(other).toHaveURL(/\/dashboard\/proj_\w+\/live\/runs$/);
    await expectMode(page, "test");
    await page.reload();
    await expectMode(page, "test");
    await page.getByRole("link", { name: "API keys", exact: true }).click();
    await expect(page).toHaveURL(/\/dashboard\/proj_\w+\/test\/keys$/);
    await page.getByRole("heading", { name: "API keys", level: 1 }).waitFor(); // The address changes before the page.
    await page.keyboard.press("c");
    const dialog = page.getByRole("dialog", { name: "Create key" });
    await dialog.getByLabel("Name").fill("made in the first tab");
    await dialog.getByRole("button", { name: "Create key" }).click();
    await expect(page.getByText(/sk_test_/).first()).toBeVisible();
    await page.goto("about:blank");
  });

  await test.step("Back leads to the previous mode, and Forward to the other", async () => {
    await other.goBack();
    await expectMode(other, "test");
    await other.goForward();
    await expectMode(other, "live");
    await other.reload();
    await expectMode(other, "live");
  });

  await test.step("an address without project and mode leads to the last visited ones, with its query and its hash", async () => {
    const third = await context.newPage();
    await third.goto(`${server.url}/dashboard`);
    await expect(third).toHaveURL(/\/dashboard\/proj_\w+\/live\/overview$/);
    await third.goto(`${server.url}/dashboard/runs?status=failed#end`);
    await expect(third).toHaveURL(/\/dashboard\/proj_\w+\/live\/runs\?status=failed#end$/);
    await third.close();
  });

  await test.step("a link opens its target, whatever this browser visited before", async () => {
    const created = await server.command("projects", "create", "shop");
    const project = /proj_\w+/.exec(created.stdout)![0];
    await other.goto(`${server.url}/dashboard/${project}/test/runs?status=failed`);
    await expect(other.getByRole("button", { name: "Project shop" })).toBeVisible();
    await expectMode(other, "test");
    await expect(other.getByRole("button", { name: /^Status.*Failed/ })).toBeVisible();
    await other.getByRole("link", { name: "Agents", exact: true }).click();
    await expect(other).toHaveURL(new RegExp(`/${project}/test/agents$`));
  });

  await test.step("a link to an inaccessible project says so, and links to one that is accessible", async () => {
    await other.goto(`${server.url}/dashboard/proj_01kahz0c3e4f5g6h7j8k9m0n1p/live/runs`);
    await expect(other.getByRole("heading", { name: "No such project" })).toBeVisible();
    await expectAccessible(other, "no such project");
    await other.getByRole("button", { name: "Go to default" }).click();
    await expect(other.getByRole("heading", { name: "Runs", level: 1 })).toBeVisible();
  });

  await test.step("signing out stops all requests for the project", async () => {
    await other.close();
    await page.goto(`${server.url}/dashboard/runs`);
    await expect(page.getByRole("heading", { name: "Runs", level: 1 })).toBeVisible();
    await page.waitForLoadState("networkidle");
    let isOut = false;
    const asked: string[] = [];
    page.on("response", (response) => {
      if (response.url().endsWith("/console/api/logout")) isOut = true;
    });
    page.on("request", (request) => {
      // Except the routes of signing in.
      if (isOut && /\/console\/api\/(?!sign_in$)/.test(request.url())) asked.push(request.url());
    });
    await page.getByRole("button", { name: "owner@example.com" }).click();
    await page.getByRole("menuitem", { name: "Sign out" }).click();
    await expect(page.getByRole("heading", { name: "Sign in" })).toBeVisible();
    await page.waitForLoadState("networkidle");
    expect(asked).toEqual([]);
  });

  expect(complaints).toEqual([]);
});
