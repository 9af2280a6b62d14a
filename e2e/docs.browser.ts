import { type BrowserContext, expect, type Page, test } from "@playwright/test";
import { type Runnel, startRunnel } from "./harness.ts";
import { expectAccessible, expectToFit, recordFaults, setUpAccount } from "./page-checks.ts";

// The documentation's site as the compiled executable serves it.
let server: Runnel;
test.beforeAll(async () => {
  server = await startRunnel();
});
test.afterAll(() => server[Symbol.asyncDispose]());

const open = (page: Page, path: string) => page.goto(`${server.url}/docs${path}`);
const sideBar = (page: Page) => page.getByRole("navigation", { name: "Pages" });
const groupIn = (page: Page, name: string) => sideBar(page).locator("details").filter({ hasText: name });
/** Opens a group of the side bar, and follows one of its links. */
async function choose(page: Page, group: string, link: string): Promise<void> {
  await sideBar(page).locator("summary", { hasText: group }).click();
  await sideBar(page).getByRole("link", { name: link, exact: true }).click();
}
const title = (page: Page) => page.getByRole("heading", { level: 1 });

test("the side bar marks the current page, and links to the others", async ({ page }) => {
  const complaints = recordFaults(page);
  await open(page, "");
  await choose(page, "Build agents", "Streaming");
  await expect(title(page)).toHaveText("Streaming");
  const marked = sideBar(page).locator("[aria-current=page]");
  await expect(marked).toHaveText(["Streaming"]);
  const [bar, link] = [await sideBar(page).boundingBox(), await marked.boundingBox()];
  expect(link!.x, "the mark is whole").toBeGreaterThanOrEqual(bar!.x);
  await open(page, "/reference/errors/rate_limit_error");
  await expect(marked).toHaveText(["Errors"]);
  expect(complaints).toEqual([]);
});

test("the side bar has the group of the page open, and the others fold open and shut by keyboard alone", async ({
  page,
}) => {
  await open(page, "/guides/slack");
  const groups = sideBar(page).locator("details");
  await expect(groups).toHaveCount(6);
  await expect(sideBar(page).locator("details[open] > summary")).toHaveText(["Connect clients and channels"]);
  await expect(sideBar(page).getByRole("link", { name: "Slack", exact: true })).toBeInViewport();
  await expect(sideBar(page).getByRole("list", { name: "Chat platforms" }).getByRole("link")).not.toHaveCount(0);

  const operate = sideBar(page).locator("summary", { hasText: "Operate" });
  const backup = sideBar(page).getByRole("link", { name: "Backup and restore" });
  await expect(backup).toBeHidden();
  await operate.focus();
  await page.keyboard.press("Enter");
  await expect(backup).toBeVisible();
  await page.keyboard.press("Tab");
  await expect(groupIn(page, "Backup and restore").getByRole("link").first()).toBeFocused();
  await expectAccessible(page, "two open groups");
  await operate.focus();
  await page.keyboard.press("Space");
  await expect(backup).toBeHidden();

  await open(page, "/reference/objects/Run");
  await expect(sideBar(page).locator("details[open] > summary")).toHaveText(["Reference and background"]);
});

test("of a table of fields the description has most of the width, and no name breaks within a word", async ({
  page,
}) => {
  await page.setViewportSize({ width: 1280, height: 800 });
  await open(page, "/reference/api/runs.create");
  const row = page.getByRole("row").filter({ hasText: "Idempotency-Key" });
  const [whole, about] = [await row.boundingBox(), await row.getByRole("cell").last().boundingBox()];
  expect(about!.width / whole!.width).toBeGreaterThan(0.6);
  // A part of a name that is one word of letters has one box; a broken one would have several.
  const broken = await page.getByRole("row").evaluateAll((rows) =>
    rows.flatMap((row) => {
      const code = row.querySelector("td:first-child code");
      if (!code) return [];
      return [...code.childNodes].flatMap((part) => {
        const range = document.createRange();
        return [...(part.textContent ?? "").matchAll(/[A-Za-z]+/g)].flatMap(({ 0: word, index }) => {
          range.setStart(part, index);
          range.setEnd(part, index + word.length);
          return range.getClientRects().length > 1 ? [word] : [];
        });
      });
    }),
  );
  expect(broken).toEqual([]);
});

test("a search by keyboard alone finds a page and opens it", async ({ page }) => {
  await open(page, "");
  const box = page.getByRole("combobox", { name: "Search" });
  await page.keyboard.press("/");
  await expect(box).toBeFocused();
  await page.keyboard.type("stream");
  const found = page.getByRole("option");
  await expect(found.first()).toContainText("Streaming");
  await expect(found.first()).toHaveAttribute("aria-selected", "true");
  await page.keyboard.press("ArrowDown");
  await expect(found.nth(1)).toHaveAttribute("aria-selected", "true");
  await page.keyboard.press("ArrowUp");
  await expectAccessible(page, "search");
  await page.keyboard.press("Enter");
  await expect(title(page)).toHaveText("Streaming");

  await expect(box).toBeVisible(); // Visible once the page's script has run.
  await page.keyboard.press("/");
  await page.keyboard.type("quetzalcoatl");
  await expect(page.getByText("No page has")).toBeVisible();
  await expectAccessible(page, "a search that finds nothing");
  await page.keyboard.press("Escape");
  await expect(page.getByText("No page has")).toBeHidden();
});

test("the language of the examples is chosen once for all pages", async ({ page }) => {
  await open(page, "/guides/streaming");
  const panels = page.getByRole("tabpanel");
  await expect(panels.first()).toContainText("curl");
  await page.getByRole("tab", { name: "curl" }).first().focus();
  await page.keyboard.press("ArrowRight");
  await expect(page.getByRole("tab", { name: "TypeScript" }).first()).toBeFocused();
  await page.keyboard.press("ArrowRight");
  for (const panel of await panels.all()) await expect(panel).toHaveAccessibleName("Python");
  await open(page, "/start/quickstart");
  await open(page, "/guides/streaming");
  await expect(panels.first()).toContainText("from runnel_sdk import Runnel");
});

test("a button copies the code beside it", async ({ page, context }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await open(page, "/guides/streaming");
  const panel = page.getByRole("tabpanel").first();
  await panel.getByRole("button", { name: "Copy" }).click();
  await expect(panel.getByRole("button", { name: "Copied" })).toBeVisible();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  expect(copied.replace(/\r/g, "")).toBe(await panel.locator("code").textContent());
});

test("light and dark follow the dashboard's choice, and can be switched here", async ({ page, context }) => {
  const themeOf = (each: Page) => each.locator("html").getAttribute("data-theme");
  await page.emulateMedia({ colorScheme: "dark" });
  await open(page, "");
  expect(await themeOf(page), "nobody has chosen").toBe("dark");
  await page.getByRole("button", { name: "Switch to light" }).click();
  expect(await themeOf(page)).toBe("light");
  await expect(page.getByRole("button", { name: "Switch to dark" })).toBeVisible();
  const dashboard = await context.newPage();
  await dashboard.goto(`${server.url}/dashboard`);
  expect(await themeOf(dashboard)).toBe("light");
  await dashboard.evaluate(() => localStorage.setItem("runnel.theme", "dark"));
  await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
  await page.reload();
  expect(await themeOf(page)).toBe("dark");
});

for (const path of [
  "",
  "/guides/streaming",
  "/reference/api/runs.create",
  "/reference/objects/Run",
  "/reference/errors/invalid_request_error",
  "/licenses/server",
  "/nothing",
])
  test(`/docs${path} is accessible and fits every width`, async ({ page }) => {
    const complaints = recordFaults(page);
    await open(page, path);
    await expect(title(page)).toBeVisible();
    await expectAccessible(page, path);
    await expectToFit(page, path);
    await page.setViewportSize({ width: 320, height: 700 });
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect(overflow, "scrolls sideways at 320").toBeLessThanOrEqual(0);
    await expectAccessible(page, `${path}, narrow`);
    expect(complaints).toEqual([]);
  });

test("on a phone the pages are behind a button, and each row of a table becomes an entry", async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await open(page, "/reference/api/runs.list");
  await expect(sideBar(page)).toBeHidden();
  const row = page.getByRole("row").filter({ hasText: "starting_after" });
  const cells = await row.getByRole("cell").all();
  const tops = await Promise.all(cells.map(async (cell) => (await cell.boundingBox())!.y));
  expect(tops, "one below the other").toEqual([...tops].sort((one, other) => one - other));
  expect(new Set(tops).size).toBe(cells.length);
  const menu = page.getByRole("button", { name: "Menu" });
  await page.getByRole("heading", { name: "Errors" }).scrollIntoViewIfNeeded();
  await menu.click();
  await expect(menu).toHaveAttribute("aria-expanded", "true");
  await expect(sideBar(page).getByRole("link", { name: "API", exact: true })).toBeInViewport();
  await expectAccessible(page, "the open menu");
  await page.keyboard.press("Escape");
  await expect(sideBar(page)).toBeHidden();
  await expect(menu).toBeFocused();
  await menu.click();
  await choose(page, "Build agents", "Streaming");
  await expect(title(page)).toHaveText("Streaming");
  await expect(sideBar(page)).toBeHidden();
});

test.describe("without JavaScript", () => {
  let context: BrowserContext;
  test.beforeAll(async ({ browser }) => {
    context = await browser.newContext({ javaScriptEnabled: false, ignoreHTTPSErrors: true });
  });
  test.afterAll(() => context.close());

  test("pages are readable, with the code of every language and links to the others", async () => {
    const page = await context.newPage();
    await open(page, "/guides/streaming");
    await expect(page.getByText("from runnel_sdk import Runnel").first()).toBeVisible();
    await expect(page.getByText('import { Runnel } from "runnel-sdk"').first()).toBeVisible();
    await expect(page.getByRole("button")).toHaveCount(0);
    await expect(page.getByRole("combobox")).toHaveCount(0);
    await choose(page, "Reference and background", "Errors");
    await expect(title(page)).toHaveText("Errors");
    await page.setViewportSize({ width: 390, height: 844 });
    await sideBar(page).getByRole("link", { name: "Events" }).click();
    await expect(title(page)).toHaveText("Events");
  });
});

test("an error's doc_url opens the documentation at its code", async ({ page }) => {
  const { body } = await server.get("/v1/agents/agt_none");
  await page.goto(body.error.doc_url);
  await expect(page.locator(":target")).toHaveText(body.error.code);
});

test("the dashboard leads to each page's guide and to the API reference of this server", async ({ page, context }) => {
  const complaints = recordFaults(page);
  await setUpAccount(page, server);
  await page.goto(`${server.url}/dashboard/webhooks`);
  const guide = page.getByRole("link", { name: "Guide to this page" });
  await expect(guide).toHaveAttribute("href", "/docs/guides/webhooks");
  expect((await server.fetch("/docs/guides/webhooks", { key: null })).status).toBe(200);

  const opened = context.waitForEvent("page");
  await page.getByRole("link", { name: "API reference" }).click();
  const reference = await opened;
  await expect(reference).toHaveURL(`${server.url}/docs/reference/api`);
  await open(reference, "/reference/api/runs.create");
  await expect(title(reference)).toHaveText("Start a run");
  const row = (name: string) => reference.getByRole("row").filter({ hasText: name }).first();
  await expect(row("agent_id")).toContainText("required");
  await expect(row("max_cost_usd")).toContainText("Above 0");
  await expect(row("Idempotency-Key")).toBeVisible();
  const errors = reference.getByRole("table").filter({ hasText: "Status" });
  await expect(errors.getByRole("row").filter({ hasText: /^409/ })).toContainText("thread_busy");
  expect(complaints).toEqual([]);
});
