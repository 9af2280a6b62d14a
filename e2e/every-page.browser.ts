import { type Browser, expect, type Locator, type Page, test } from "@playwright/test";
import { lists, pagesOf, signedOutPages } from "../scripts/screenshots/pages.ts";
import { type SeededIds, seed } from "../scripts/screenshots/seed.ts";
import { statesOf } from "../scripts/screenshots/states.ts";
import { followRequests } from "./at-rest.ts";
import { type Runnel, startRunnel } from "./harness.ts";
import { inThemes, joinAs, recordFaults, setUpAccount, themes, violations } from "./page-checks.ts";
import { findActions, findCutOffElements, findElementsWithoutOutline, findMovingElements } from "./page-probes.ts";

// Every page of the compiled executable's dashboard, with data of all kinds, for each kind of visitor.
let server: Runnel;
let owner: Visitor;
let seeded: SeededIds;
let pages: [name: string, path: string][];
test.beforeAll(async ({ browser }) => {
  test.setTimeout(240_000);
  server = await startRunnel();
  owner = await newVisitor(browser);
  await setUpAccount(owner.page, server);
  seeded = await seed(server);
  pages = Object.entries(pagesOf(seeded));
});
test.afterAll(async () => {
  await owner.leave();
  await server[Symbol.asyncDispose]();
});
const wide = { width: 1440, height: 900 };

test("every page works without motion, colours, good sight or a wide window", async () => {
  test.setTimeout(480_000);
  const { page, open } = owner;
  const faults = watchClosely(page);
  await page.emulateMedia({ reducedMotion: "reduce" });
  for (const [name, path] of pages)
    await test.step(name, async () => {
      await open(path);
      await inThemes(page, themes, async (theme) => {
        faults.push(...at(`${name}, ${theme}`, await violations(page, theme)));
      });
      faults.push(...at(name, await demands(page)));
    });
  expect(faults).toEqual([]);
});

test("so does every dialog, and every page whose data cannot be loaded, which says so and offers to retry", async () => {
  test.setTimeout(480_000);
  const { page, open, atRest } = owner;
  const faults: string[] = [];
  await page.emulateMedia({ reducedMotion: "reduce" });
  const states = Object.entries(statesOf(seeded)).filter(([name]) => /^(dialog|palette|fails)/.test(name));
  for (const [name, { path, act }] of states)
    await test.step(name, async () => {
      await open(path);
      await act?.(page);
      await atRest();
      // The tests of their pages check the dialogs in the light theme.
      await inThemes(page, name.startsWith("fails") ? ["light"] : ["dark"], async (theme) => {
        faults.push(...at(`${name}, ${theme}`, await violations(page, theme)));
      });
      faults.push(...at(name, await demands(page)));
      await page.unrouteAll({ behavior: "ignoreErrors" });
    });
  expect(faults).toEqual([]);
});

test("in a small window and on a phone, actions are visible and nothing overflows its row", async () => {
  const { page, open, atRest } = owner;
  const at = async (width: number, path: string) => {
    await open(path);
    await page.setViewportSize({ width, height: 844 });
    await atRest();
  };
  const main = page.getByRole("main");
  await at(390, `/memory/${seeded.facts}?of=ada`);
  await expect(main.getByRole("button", { name: "Add entry" })).toBeInViewport({ ratio: 1 });
  await at(390, `/suites/${seeded.suite}`);
  await expect(main.getByText(/^Forks cost /)).toBeInViewport({ ratio: 1 });
  for (const width of [390, 1240]) {
    await at(width, `/runs/${seeded.full}`);
    const [find, fold] = [page.getByLabel("Find in steps"), page.getByText("Fold waiting")];
    expect(Math.abs((await middleOf(find)) - (await middleOf(fold))), `Fold waiting at ${width}`).toBeLessThan(4);
  }
  // The last visible column ends where the page's header does.
  const endOf = (part: Locator) =>
    part.evaluate(
      (element) => element.getBoundingClientRect().right - Number.parseFloat(getComputedStyle(element).paddingRight),
    );
  for (const path of ["/runs", "/threads"]) {
    await at(1240, path);
    const heads = main.getByRole("columnheader").filter({ visible: true });
    expect(await endOf(heads.last()), path).toBeCloseTo(await endOf(main.locator("header").first()), 0);
    const cells = main.locator("tbody tr").first().locator("td").filter({ visible: true });
    expect(await endOf(cells.last()), path).toBeCloseTo(await endOf(heads.last()), 0);
  }
});

const middleOf = async (part: Locator): Promise<number> => {
  const { y, height } = (await part.boundingBox())!;
  return y + height / 2;
};

test("every list of named items is searched by name, and says when nothing matches", async () => {
  const { page, open } = owner;
  const rows = page.getByRole("main").locator("tbody tr");
  const search = page.getByRole("main").getByRole("searchbox");
  for (const [list, sought] of Object.entries(named))
    await test.step(list, async () => {
      await open(`/${list}`);
      await expect(rows).not.toHaveCount(0);
      await page.keyboard.press("/");
      await page.keyboard.type(sought);
      await expect(rows).toHaveCount(1);
      await expect(page).toHaveURL(/[?&]q=/);
      await search.fill("zeppelin");
      await expect(page.getByRole("heading", { name: "No results" })).toBeVisible();
      await page.getByRole("button", { name: "Clear search" }).click();
      await expect(search).toHaveValue("");
      await expect(rows).not.toHaveCount(0);
      await expect(page).not.toHaveURL(/[?&]q=/);
    });
  await test.step("secrets, if there are many", async () => {
    for (const name of "abcdefgh")
      await server.fetch(`/v1/secrets/KEY_${name}`, { method: "PUT", body: JSON.stringify({ value: "1" }) });
    await open("/tools");
    await page.getByRole("button", { name: "Secrets" }).click();
    const dialog = page.getByRole("dialog", { name: "Secrets" });
    await dialog.getByRole("searchbox", { name: "Search secrets by name" }).fill("key_c");
    await expect(dialog.getByRole("listitem")).toHaveText(/^KEY_c/);
    await page.keyboard.press("Enter"); // Enter sets no secret.
    await page.keyboard.press("Escape"); // Escape closes nothing here.
    await expect(dialog.getByRole("listitem")).not.toHaveCount(1);
    await page.keyboard.press("Escape");
    await expect(dialog).toBeHidden();
  });
});

/** Part of a name that one item of each kind has. */
const named = {
  agents: "invoice",
  tools: "PAY refund",
  snippets: "refund",
  skills: "wri",
  memory: "manu",
  files: "policy",
  suites: "smoke",
  oauth_clients: "team cal",
  webhooks: "59999",
  schedules: "digest",
  triggers: "issue rep",
  "settings?tab=people": "owner@",
};

test("a viewer sees every page, reads why nothing can be changed, and is offered no action that would be refused", async ({
  browser,
}) => {
  test.setTimeout(240_000);
  const { page, open, begins, leave } = await newVisitor(browser);
  const faults = watchClosely(page);
  await joinAs("viewer", { owner: owner.page, guest: page });
  for (const [name, path] of pages)
    await test.step(name, async () => {
      await open(path);
      // Every person may change their own account.
      if (name !== "account") faults.push(...(await findActions(page)).map((act) => `${name} offers “${act}”`));
      const why = page.getByRole("main").getByText(/^View only$|Your role is viewer|\b[Oo]wners\b/);
      if (!nothingToChange.test(name) && (await why.count()) === 0) faults.push(`${name} does not say why`);
      if (await begins("c")) faults.push(`${name}: c creates`);
    });
  expect(faults).toEqual([]);
  await leave();
});

test("a member starts creating by one key, which a viewer lacks", async ({ browser }) => {
  const { page, open, begins, leave } = await newVisitor(browser);
  const faults = watchClosely(page);
  await joinAs("member", { owner: owner.page, guest: page });
  const lists = [
    "threads",
    "agents",
    "tools",
    "snippets",
    "memory",
    "files",
    "suites",
    "oauth_clients",
    "webhooks",
    "schedules",
    "triggers",
  ];
  for (const list of lists)
    await test.step(list, async () => {
      await open(`/${list}`);
      expect(await begins("c"), list).toBe(true);
    });
  await test.step("skills begin with a file", async () => {
    await open("/skills");
    const chooser = page.waitForEvent("filechooser");
    await page.keyboard.press("c");
    await chooser;
  });
  expect(faults).toEqual([]);
  await leave();
});

/** Read-only pages, and the person's own account. */
const nothingToChange = /^(overview|diff|settings-audit|account|no-such)/;

test("live data is another place: it is named, has its own colour, and shows no test data", async () => {
  test.setTimeout(240_000);
  const { page, open } = owner;
  const faults = watchClosely(page);
  const frame = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  await open("/runs");
  const ofTest = await frame();
  await page.getByRole("button", { name: "Live", exact: true }).first().click();
  await expect(page.locator("html")).toHaveAttribute("data-mode", "live");
  await expect.poll(frame).not.toBe(ofTest);
  for (const list of lists)
    await test.step(list, async () => {
      await open(`/${list}`);
      await expect(page.locator("html")).toHaveAttribute("data-mode", "live");
      await expect(page.getByText("Live data", { exact: true }).first(), list).toBeVisible();
      const main = page.getByRole("main");
      // Only the key of the first start exists.
      if (list === "keys") await expect(main.locator("tbody tr")).toHaveCount(1);
      else await expect(main.getByRole("heading", { name: emptyLists[list], exact: true }), list).toBeVisible();
      faults.push(...at(`${list}, live`, await violations(page, "light")));
    });
  expect(faults).toEqual([]);
  for (const [noun, path] of Object.entries(objects(seeded)))
    await test.step(`the ${noun} of the test data`, async () => {
      await page.goto(`${server.url}/dashboard${path}`);
      await expect(page.getByText(`This ${noun} is test data`)).toBeVisible();
      await expect(page.getByRole("button", { name: "Check test data" })).toBeVisible();
    });
  await page.getByRole("button", { name: "Check test data" }).click();
  await expect(page.locator("html")).toHaveAttribute("data-mode", "test");
});

/** Text of each list that has no items. */
const emptyLists: Record<Exclude<(typeof lists)[number], "keys">, string> = {
  overview: "No runs yet",
  playground: "Create an agent to try",
  runs: "No runs yet",
  approvals: "Nothing is waiting for you",
  threads: "No threads yet",
  agents: "No agents yet",
  tools: "No tools yet",
  snippets: "No live snippets yet",
  skills: "No skills yet",
  memory: "No memory stores yet",
  files: "No files yet",
  suites: "No live suites yet",
  oauth_clients: "No live OAuth clients yet",
  webhooks: "No live webhooks yet",
  schedules: "No live schedules yet",
  triggers: "No live triggers yet",
};

const objects = (ids: SeededIds): Record<string, string> => ({
  run: `/runs/${ids.run}`,
  agent: `/agents/${ids.agent}`,
  tool: `/tools/${ids.tool}`,
  skill: `/skills/${ids.skill}`,
  thread: `/threads/${ids.thread}`,
  store: `/memory/${ids.store}`,
  "OAuth client": `/oauth_clients/${ids.oauthClient}`,
  webhook: `/webhooks/${ids.webhook}`,
  schedule: `/schedules/${ids.schedule}`,
  trigger: `/triggers/${ids.trigger}`,
  suite: `/suites/${ids.suite}`,
});

test("a visitor who is not signed in sees each sign-in page whole, and nothing behind it", async ({ browser }) => {
  const { page, open, leave } = await newVisitor(browser);
  const faults = recordFaults(page);
  await page.emulateMedia({ reducedMotion: "reduce" });
  for (const path of signedOutPages) {
    await open(path);
    await inThemes(page, themes, async (theme) => {
      faults.push(...at(`${path}, ${theme}`, await violations(page, theme)));
    });
    faults.push(...at(path, await demands(page)));
  }
  await open("/keys");
  await expect(page.getByRole("heading", { name: "Sign in" })).toBeVisible();
  await expect(page.getByRole("navigation")).toHaveCount(0);
  expect(faults).toEqual([]);
  await leave();
});

type Visitor = Awaited<ReturnType<typeof newVisitor>>;

/** Opens a new browser context whose pages are loaded before they are returned. */
async function newVisitor(browser: Browser) {
  const context = await browser.newContext({ ignoreHTTPSErrors: true, viewport: wide });
  const page = await context.newPage();
  const atRest = followRequests(page);
  const open = async (path: string) => {
    await page.setViewportSize(wide);
    await page.goto(`${server.url}/dashboard${path}`);
    await atRest();
  };
  const begins = async (key: string): Promise<boolean> => {
    const address = page.url();
    await page.keyboard.press(key);
    await atRest();
    return page.url() !== address || (await page.getByRole("dialog").count()) > 0;
  };
  return { page, open, begins, atRest, leave: () => context.close() };
}

/** Records page errors and error responses, except 404 of made-up ids and of a deleted agent. */
function watchClosely(page: Page): string[] {
  const faults = recordFaults(page);
  page.on("response", (response) => {
    const { pathname } = new URL(page.url());
    const isForeseen = response.status() === 404 && /_0{26}|\/agents\/agt_\w+$/.test(response.url());
    if (response.status() >= 400 && !isForeseen) faults.push(`${pathname}: ${response.status()} of ${response.url()}`);
  });
  return faults;
}

/** Returns the demands of a page on its visitor: motion, colours, a large window. */
async function demands(page: Page): Promise<string[]> {
  const faults = at("less motion", await findMovingElements(page));
  await page.emulateMedia({ forcedColors: "active" });
  faults.push(...at("forced colours", await findElementsWithoutOutline(page)));
  await page.emulateMedia({ forcedColors: "none" });
  await page.setViewportSize({ width: wide.width / 2, height: wide.height / 2 });
  faults.push(...at("twice as large", await findCutOffElements(page)));
  await page.setViewportSize({ width: 320, height: 640 });
  faults.push(...at("320 px wide", await findCutOffElements(page)));
  return faults;
}

/** Returns the first faults of a place; the others are mostly the same. */
const at = (place: string, faults: string[]): string[] => faults.slice(0, 5).map((fault) => `${place}: ${fault}`);
