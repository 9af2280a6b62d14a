import {
  type BrowserContext,
  type ConsoleMessage,
  expect,
  type Locator,
  type Page,
  type Request,
  test,
} from "@playwright/test";
import axe, { type RunOptions } from "axe-core";
import type { Runnel } from "./harness.ts";

export const account = { email: "owner@example.com", password: "a rather long password" };

/** Creates the first account by the one-time link; ends on the start page. */
export async function setUpAccount(page: Page, server: Runnel): Promise<void> {
  await page.goto(server.setupUrl);
  await page.getByLabel("Email").fill(account.email);
  await page.getByLabel("Password", { exact: true }).fill(account.password);
  await page.getByLabel("Repeat the password").fill(account.password);
  await page.getByRole("button", { name: "Create account" }).click();
  await page.waitForURL((url) => !url.pathname.endsWith("/setup"));
}

/** Creates a guest's account by the owner's invitation, and signs in. */
export async function joinAs(role: string, { owner, guest }: { owner: Page; guest: Page }): Promise<void> {
  const { origin, token } = await owner.evaluate(async (role) => {
    const headers = { "x-runnel-console": "1", "content-type": "application/json" };
    const body = JSON.stringify({ email: `${role}@example.com`, role });
    const answer = await fetch("/console/api/invitations", { method: "POST", headers, body });
    return { origin: location.origin, token: (await answer.json()).token as string };
  }, role);
  await guest.goto(`${origin}/dashboard/invite#${token}`);
  await guest.getByLabel("Password", { exact: true }).fill(account.password);
  await guest.getByLabel("Repeat the password").fill(account.password);
  await guest.getByRole("button", { name: "Create account" }).click();
  await guest.waitForURL((url) => !url.pathname.endsWith("/invite"));
}

/** Records a page's faults: console errors, failures, and requests to other machines. */
export function recordFaults(page: Page): string[] {
  const complaints: string[] = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type()) && !isExpectedMessage(message)) complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("request", (request) => {
    if (isForeign(request)) complaints.push(`asks another machine: ${request.url()}`);
  });
  return complaints;
}

/** Each test of a suite begins signed in, as the first account, and ends without faults. */
export function signInBeforeEach(server: () => Runnel): void {
  let complaints: string[] = [];
  let storage: Awaited<ReturnType<BrowserContext["storageState"]>> | null = null;
  test.beforeEach(async ({ page }) => {
    complaints = recordFaults(page);
    if (storage) return page.context().addCookies(storage.cookies);
    await setUpAccount(page, server());
    await page.goto("about:blank");
    storage = await page.context().storageState();
  });
  test.afterEach(() => expect(complaints).toEqual([]));
}

/** Matches the browser's own console lines for refused requests, and for requests while a test has cut the network. */
const isExpectedMessage = (message: ConsoleMessage): boolean =>
  /the server responded with a status of (400|401|403|404|405|409|415)|net::ERR_INTERNET_DISCONNECTED/.test(
    message.text(),
  );

/** True unless the request goes to the page's own server; tests themselves may call servers of this machine. */
function isForeign(request: Request): boolean {
  const { protocol, origin, hostname } = new URL(request.url());
  if (["data:", "blob:", "about:"].includes(protocol)) return false;
  if (request.isNavigationRequest()) return !["127.0.0.1", "localhost", "[::1]"].includes(hostname);
  return origin !== new URL(request.frame().url()).origin;
}

/** Switches a field from rows to JSON; fields opened later are JSON, too. */
export const switchToJson = (page: Page, label: string): Promise<void> =>
  page
    .getByRole("radiogroup", { name: `${label} as` })
    .getByText("JSON", { exact: true })
    .click();

/** Returns the content of a field, plain or code editor. */
export const fieldContent = (field: Locator): Promise<string> =>
  field.evaluate((element) => {
    if (element instanceof HTMLTextAreaElement) return element.value;
    const lines = [...element.querySelectorAll(".cm-line")].map(({ textContent }) => textContent);
    return element.querySelector(".cm-placeholder") ? "" : lines.join("\n");
  });

// A story checks its states in one theme and at one width. `every-page.browser.ts` checks every page and dialog in both
// themes and in narrow windows; `npm run nightly` does so in each story too.
const isNightly = process.env.RUNNEL_NIGHTLY === "1";

type Theme = "light" | "dark";
export const themes: readonly Theme[] = ["light", "dark"];

/** Looks at a page in themes. Waits for transitions first, because half-faded text has no contrast to check. */
export async function inThemes(
  page: Page,
  wanted: readonly Theme[],
  look: (theme: Theme) => Promise<void>,
): Promise<void> {
  const html = page.locator("html");
  const before = (await html.getAttribute("data-theme")) ?? "light";
  let painted = before;
  const paint = async (theme: string) => {
    if (theme !== painted) await html.evaluate((element, value) => element.setAttribute("data-theme", value), theme);
    painted = theme;
  };
  for (const theme of wanted) {
    await paint(theme);
    await waitForAnimations(page);
    await look(theme);
  }
  await paint(before);
}

/** Expects no axe violation. */
export const expectAccessible = (page: Page, place: string): Promise<void> =>
  inThemes(page, isNightly ? themes : ["light"], async (theme) => {
    expect(await violations(page, theme), `${place}, ${theme}`).toEqual([]);
  });

/**
 * Returns axe's violations of a page, or of a part of it. Rules that do not depend on the theme run in the light one
 * only.
 */
export async function violations(page: Page, theme: Theme, within = "html"): Promise<string[]> {
  // Once per document, because transferring and parsing a million characters takes longer than the check.
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(axe.source);
  const options: RunOptions = {
    resultTypes: ["violations"],
    ...(theme === "dark" && {
      runOnly: ["cat.color"],
      // AAA contrast is not a goal, but belongs to the same tag.
      rules: { "color-contrast-enhanced": { enabled: false } },
    }),
  };
  return await page.evaluate(
    async ([within, options]) => {
      const { violations: found } = await (window as unknown as { axe: typeof axe }).axe.run(within, options);
      return found.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" | ")}`);
    },
    [within, options] as const,
  );
}

/** Waits for all finite animations and transitions. A paused one never ends, so the wait is limited to two seconds. */
const waitForAnimations = (page: Page): Promise<unknown> =>
  page.evaluate(() => {
    const ends = document
      .getAnimations()
      .filter((each) => each.effect?.getComputedTiming().iterations !== Number.POSITIVE_INFINITY)
      .map((each) => each.finished);
    return Promise.race([Promise.allSettled(ends), new Promise((resolve) => setTimeout(resolve, 2000))]);
  });

/** Expects no page to scroll sideways at the widths of the design: the narrowest, and nightly all. */
export async function expectToFit(page: Page, place: string): Promise<void> {
  const size = page.viewportSize();
  for (const width of isNightly ? [1440, 900, 390] : [390]) {
    await page.setViewportSize({ width, height: 900 });
    await waitForAnimations(page);
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect(overflow, `${place} at ${width} scrolls sideways`).toBeLessThanOrEqual(0);
  }
  if (size) await page.setViewportSize(size);
}
