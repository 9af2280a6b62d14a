import { expect, type Page, test } from "@playwright/test";
import { type Runnel, startRunnel } from "./harness.ts";
import { setUpAccount, watch } from "./page-checks.ts";

// Several tabs of one browser, and the end of the session, with the compiled executable's dashboard.
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

test("a tab keeps its mode over reloads, whatever another one chooses, and signing out asks for nothing more", async ({
  page,
  context,
}) => {
  const complaints = watch(page);
  await setUpAccount(page, server);
  await page.goto(`${server.url}/dashboard/runs`);
  await expectMode(page, "test");

  const other = await context.newPage();
  await test.step("a tab that nothing was chosen in stays in Test while another goes to Live", async () => {
    await other.goto(`${server.url}/dashboard/runs`);
    await choose(other, "Live");
    await expectMode(other, "live");
    await expectMode(page, "test");
    await page.reload();
    await expectMode(page, "test");
    await page.getByRole("link", { name: "Agents", exact: true }).click();
    await expectMode(page, "test");
  });

  await test.step("a new tab begins where the last choice was, and stays there too", async () => {
    const third = await context.newPage();
    await third.goto(`${server.url}/dashboard/runs`);
    await expectMode(third, "live");
    await choose(other, "Test");
    await expectMode(other, "test");
    await third.reload();
    await expectMode(third, "live");
    await third.close();
  });

  await test.step("signing out asks for nothing of the project any more", async () => {
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
      if (isOut && request.url().includes("/console/api/")) asked.push(request.url());
    });
    await page.getByRole("button", { name: "owner@example.com" }).click();
    await page.getByRole("menuitem", { name: "Sign out" }).click();
    await expect(page.getByRole("heading", { name: "Sign in" })).toBeVisible();
    await page.waitForLoadState("networkidle");
    expect(asked).toEqual([]);
  });

  expect(complaints).toEqual([]);
});
