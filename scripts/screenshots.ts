import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type Browser, chromium, type Page } from "playwright";
import { followRequests } from "../e2e/at-rest.ts";
import { type Runnel, startRunnel } from "../e2e/harness.ts";
import { browserPath } from "./browser-path.ts";
import { inProject } from "./root.ts";
import { modelStates } from "./screenshots/model-states.ts";
import { lists, pagesOf } from "./screenshots/pages.ts";
import { seed } from "./screenshots/seed.ts";
import { seedModels } from "./screenshots/seed-models.ts";
import { type State, statesOf } from "./screenshots/states.ts";
import { teamworkStates } from "./screenshots/teamwork-states.ts";
import { isFresh } from "./stamp.ts";

// Takes screenshots of every page of the executable's dashboard into dist/shots: `npm run shots`, or `npm run shots --
// runs` for those whose names contain a word (`runs-dark`, `-390`).

if (!process.env.RUNNEL_EXECUTABLE && !isFresh()) {
  const { build } = await import("./build.ts");
  await build();
}

const wanted = process.argv.slice(2);
const patience_ms = 5_000;
const folder = process.env.RUNNEL_SHOTS ?? inProject("dist/shots");
const looks = [
  { name: "light", theme: "light", width: 1440, height: 900 },
  { name: "dark", theme: "dark", width: 1440, height: 900 },
  { name: "1240", theme: "light", width: 1240, height: 900 },
  { name: "1240-dark", theme: "dark", width: 1240, height: 900 },
  { name: "900", theme: "light", width: 900, height: 900 },
  { name: "390", theme: "light", width: 390, height: 844 },
  { name: "390-dark", theme: "dark", width: 390, height: 844 },
] as const;

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
await using server = await startRunnel();
const browser = await chromium.launch({
  executablePath: browserPath,
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
  const atRest = followRequests(page);
  await setUp(page, server);
  const asStates = (pages: Record<string, string>) =>
    Object.fromEntries(Object.entries(pages).map(([name, path]): [string, State] => [name, { path }]));
  const empty = Object.fromEntries(lists.map((list) => [`${list}-empty`, `/${list}`]));
  const count = await shoot(page, server, asStates(empty), atRest);
  const ids = await seed(server);
  const models = modelStates(await seedModels(server));
  const more = await shoot(
    page,
    server,
    { ...asStates(pagesOf(ids)), ...statesOf(ids), ...teamworkStates(ids), ...models },
    atRest,
  );
  console.info(`${count + more} screenshots in ${folder}`);
}

/** Takes each page in each look. A state that cannot be reached is reported, and taken as it is. */
async function shoot(
  page: Page,
  server: Runnel,
  states: Record<string, State>,
  atRest: () => Promise<void>,
): Promise<number> {
  const isWanted = (name: string) => !wanted.length || wanted.some((word) => name.includes(word));
  let count = 0;
  page.setDefaultTimeout(patience_ms);
  for (const { name: look, theme, width, height } of looks) {
    await page.setViewportSize({ width, height });
    await page.evaluate((value) => localStorage.setItem("runnel.theme", value), theme);
    for (const [name, { path, act }] of Object.entries(states)) {
      if (!isWanted(`${name}-${look}`)) continue;
      count += 1;
      const tell = (cause: unknown) => console.warn(`${name}, ${look}: ${String(cause).split("\n")[0]}`);
      // An earlier state may have selected editing as JSON.
      await page.evaluate(() => localStorage.removeItem("runnel.edit-as"));
      await page.goto(`${server.url}/dashboard${path}`);
      await atRest()
        .then(() => act?.(page))
        .then(atRest)
        .then(() => isStill(page))
        .catch(tell);
      await page.screenshot({ path: join(folder, `${name}-${look}.png`), animations: "disabled" });
      await page.unrouteAll({ behavior: "ignoreErrors" });
    }
  }
  return count;
}

/** Waits until the page has not changed for a moment, because a lazy part is drawn after its last request. */
function isStill(page: Page): Promise<void> {
  return page.evaluate(
    ([quiet_ms, patience_ms]) =>
      new Promise<void>((resolve) => {
        let timer = setTimeout(resolve, quiet_ms);
        const observer = new MutationObserver(() => {
          clearTimeout(timer);
          timer = setTimeout(resolve, quiet_ms);
        });
        observer.observe(document.body, { childList: true, subtree: true });
        setTimeout(resolve, patience_ms);
      }),
    [400, 3_000] as const,
  );
}

async function setUp(page: Page, server: Runnel): Promise<void> {
  await page.goto(server.setupUrl);
  await page.getByLabel("Email").fill("mara@acme.example");
  await page.getByLabel("Password", { exact: true }).fill("correct horse battery");
  await page.getByLabel("Repeat the password").fill("correct horse battery");
  await page.getByRole("button", { name: "Create account" }).click();
  await page.getByRole("heading", { name: "First steps" }).waitFor();
}
