import { expect, type Page, test } from "@playwright/test";
import { type Runnel, startRunnel } from "./harness.ts";
import { expectAccessible, setUpAccount, watch } from "./page-checks.ts";

// What is round every page of the compiled executable's dashboard: keys, palette, mode, lost connection.
let server: Runnel;
test.beforeAll(async () => {
  server = await startRunnel();
});
test.afterAll(() => server[Symbol.asyncDispose]());

test("by keyboard alone one goes everywhere, finds and opens anything, and switches what one looks at", async ({
  page,
}, info) => {
  test.setTimeout(300_000);
  const complaints = watch(page);
  const palette = page.getByRole("dialog", { name: "Search or jump to" });
  const agent = await makeAgent("Refund desk");
  const run = await makeRun(agent);
  await setUpAccount(page, server);
  await expect(page.getByRole("heading", { name: "First steps" })).toBeVisible();

  await test.step("g and a letter go to a page, and the focus goes along", async () => {
    for (const [key, title] of [
      ["o", "Overview"],
      ["r", "Runs"],
      ["k", "API keys"],
      ["p", "Playground"],
      ["a", "Approvals"],
    ]) {
      const heading = page.getByRole("heading", { name: title!, level: 1 });
      // Both keys count as one within a second, which a busy machine may miss.
      await expect(async () => {
        await page.keyboard.press("g");
        await page.keyboard.press(key!);
        await expect(heading).toBeVisible({ timeout: 2000 });
      }).toPass({ timeout: 30_000 });
      if (key !== "p") await expect(heading).toBeFocused();
      await blur(page);
    }
  });

  await test.step("? shows the keys, and Escape gives the focus back", async () => {
    await page.keyboard.press("?");
    const map = page.getByRole("dialog", { name: "Keys" });
    await expect(map.getByText("Fork from the selected step")).toBeVisible();
    await expectAccessible(page, info, "key map");
    await page.keyboard.press("Escape");
    await expect(map).toBeHidden();
  });

  await test.step("the palette goes, does, and remembers", async () => {
    await page.keyboard.press("Control+k");
    await expect(palette.getByRole("combobox")).toBeFocused();
    await expectAccessible(page, info, "palette");
    await page.keyboard.type("refund");
    await page.keyboard.press("Enter");
    await expect(page).toHaveURL(new RegExp(`/agents/${agent}`));
    await expect(page).toHaveTitle(/Refund desk/);

    await page.keyboard.press("Control+k");
    await page.keyboard.type("create key");
    await page.keyboard.press("Enter");
    await expect(page.getByRole("dialog", { name: "Create key" })).toBeVisible();
    await page.keyboard.press("Escape");

    await page.keyboard.press("Control+k");
    await expect(
      palette.getByRole("group", { name: "Recent" }).getByRole("option", { name: /Refund desk/ }),
    ).toBeVisible();
    await page.screenshot({ path: info.outputPath("palette-recent.png") });
    await page.keyboard.press("Escape");
    await expect(palette).toBeHidden();
  });

  await test.step("a pasted id opens what it names, and nonsense is told so", async () => {
    await page.getByRole("button", { name: "Search or jump to" }).first().click();
    await page.keyboard.type("zzzz");
    await expect(palette.getByText("Nothing is called that")).toBeVisible();
    await palette.getByRole("combobox").fill(run);
    await page.keyboard.press("Enter");
    await expect(page).toHaveURL(new RegExp(`/runs/${run}`));
  });

  await test.step("the other mode keeps the page, but not an id", async () => {
    await page.keyboard.press("Control+k");
    await page.keyboard.type("live data");
    await page.keyboard.press("Enter");
    await expect(page.locator("html")).toHaveAttribute("data-mode", "live");
    await expect(page).toHaveURL(/\/dashboard\/runs$/);
    await page.goto(`${server.url}/dashboard/runs?agent=${agent}&status=failed`);
    await page.getByRole("button", { name: "Test", exact: true }).first().click();
    await expect(page).toHaveURL(/\/dashboard\/runs\?status=failed$/);
  });

  await test.step("single keys can be switched off; the palette stays", async () => {
    await page.evaluate(() => localStorage.setItem("runnel.keys", "off"));
    await blur(page);
    await page.keyboard.press("g");
    await page.keyboard.press("o");
    await page.keyboard.press("?");
    await page.keyboard.press("Control+k");
    await expect(palette).toBeVisible();
    await expect(page).toHaveURL(/\/dashboard\/runs/);
    await page.keyboard.press("Escape");
  });

  await test.step("a lost connection is announced, and goes by itself when the server answers again", async () => {
    await page.goto(`${server.url}/dashboard/overview`);
    await expect(page.getByRole("heading", { name: "Overview" })).toBeVisible();
    await page.context().setOffline(true);
    const banner = page.getByRole("alert").filter({ hasText: "The server does not answer." });
    await expect(banner).toBeVisible({ timeout: 40_000 });
    await expectAccessible(page, info, "offline");
    await page.context().setOffline(false);
    await expect(banner).toBeHidden({ timeout: 20_000 });
  });

  expect(complaints).toEqual([]);
});

const blur = (page: Page) => page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());

async function makeAgent(name: string): Promise<string> {
  const { body } = await server.post("/v1/agents", { name, instructions: "x", model: "test/echo" });
  return body.id;
}

async function makeRun(agent_id: string): Promise<string> {
  const { body } = await server.post("/v1/runs?wait=30", { agent_id, input: "Hello." });
  return body.id;
}
