import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type Browser, chromium, type Page } from "playwright";
import { type Runnel, startRunnel } from "../e2e/harness.ts";
import { inProject } from "./root.ts";
import { lists, pagesOf } from "./shots/pages.ts";
import { seed } from "./shots/seed.ts";
import { isFresh } from "./stamp.ts";

// Screenshots of every page of the executable's dashboard, to be looked at: `npm run shots`, or `npm run shots -- runs`
// for those whose names hold a word. They go into dist/shots.

if (!process.env.RUNNEL_EXECUTABLE && !isFresh()) {
  const { build } = await import("./build.ts");
  await build();
}

const wanted = process.argv.slice(2);
const folder = process.env.RUNNEL_SHOTS ?? inProject("dist/shots");
const looks = [
  { name: "light", theme: "light", width: 1440, height: 900 },
  { name: "dark", theme: "dark", width: 1440, height: 900 },
  { name: "390", theme: "light", width: 390, height: 844 },
] as const;

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
await using server = await startRunnel();
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu"],
});
try {
  await shootAll(browser, server);
} finally {
  await browser.close();
}

async function shootAll(browser: Browser, server: Runnel): Promise<void> {
  const context = await browser.newContext({ ignoreHTTPSErrors: true });
  const page = await context.newPage();
  await setUp(page, server);
  const empty = Object.fromEntries(lists.map((list) => [`${list}-empty`, `/${list}`]));
  const count = (await shoot(page, server, empty)) + (await shoot(page, server, pagesOf(await seed(server))));
  console.info(`${count} screenshots in ${folder}`);
}

/** Each page in each look. */
async function shoot(page: Page, server: Runnel, pages: Record<string, string>): Promise<number> {
  const chosen = Object.entries(pages).filter(([name]) => !wanted.length || wanted.some((word) => name.includes(word)));
  for (const { name: look, theme, width, height } of looks) {
    await page.setViewportSize({ width, height });
    await page.evaluate((value) => localStorage.setItem("runnel.theme", value), theme);
    for (const [name, path] of chosen) {
      await page.goto(`${server.url}/dashboard${path}`);
      await page.locator("h1, h2").first().waitFor();
      // Nothing is on its way any more; live streams stay open, so the network is never idle.
      await page.waitForFunction(
        () => document.querySelector(".skeleton, [role=status][aria-label^=Loading]") === null,
      );
      await page.screenshot({ path: join(folder, `${name}-${look}.png`), animations: "disabled" });
    }
  }
  return chosen.length * looks.length;
}

async function setUp(page: Page, server: Runnel): Promise<void> {
  await page.goto(server.setupUrl);
  await page.getByLabel("Email").fill("mara@acme.example");
  await page.getByLabel("Password", { exact: true }).fill("correct horse battery");
  await page.getByLabel("Repeat the password").fill("correct horse battery");
  await page.getByRole("button", { name: "Create account" }).click();
  await page.getByRole("heading", { name: "First steps" }).waitFor();
}
