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

/** Makes the first account by the one-time link; ends on the page that everybody sees first. */
export async function setUpAccount(page: Page, server: Runnel): Promise<void> {
  await page.goto(server.setupUrl);
  await page.getByLabel("Email").fill(account.email);
  await page.getByLabel("Password", { exact: true }).fill(account.password);
  await page.getByLabel("Repeat the password").fill(account.password);
  await page.getByRole("button", { name: "Create account" }).click();
  await page.waitForURL((url) => !url.pathname.endsWith("/setup"));
}

/** Makes an account for somebody else by the owner's invitation, and signs in by it. */
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

/** What a page should not do: complain in its console, fail, or ask any other machine for anything. */
export function watch(page: Page): string[] {
  const complaints: string[] = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type()) && !isForeseen(message)) complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("request", (request) => {
    if (isForeign(request)) complaints.push(`asks another machine: ${request.url()}`);
  });
  return complaints;
}

/** Each story of a suite begins as somebody who is signed in, by the account that the first one makes, and ends without complaints. */
export function signedIn(server: () => Runnel): void {
  let complaints: string[] = [];
  let storage: Awaited<ReturnType<BrowserContext["storageState"]>> | null = null;
  test.beforeEach(async ({ page }) => {
    complaints = watch(page);
    if (storage) return page.context().addCookies(storage.cookies);
    await setUpAccount(page, server());
    await page.goto("about:blank");
    storage = await page.context().storageState();
  });
  test.afterEach(() => expect(complaints).toEqual([]));
}

/** The lines that a browser writes by itself of each refusal, and of each request while a story has taken the network away. */
const isForeseen = (message: ConsoleMessage): boolean =>
  /the server responded with a status of (400|401|403|404|405|409|415)|net::ERR_INTERNET_DISCONNECTED/.test(
    message.text(),
  );

/** A page asks only the server that it came from; the stories themselves go to servers of this machine. */
function isForeign(request: Request): boolean {
  const { protocol, origin, hostname } = new URL(request.url());
  if (["data:", "blob:", "about:"].includes(protocol)) return false;
  if (request.isNavigationRequest()) return !["127.0.0.1", "localhost", "[::1]"].includes(hostname);
  return origin !== new URL(request.frame().url()).origin;
}

/** Turns a field that can be rows into its JSON; those that are opened later are JSON, too. */
export const asJson = (page: Page, label: string): Promise<void> =>
  page
    .getByRole("radiogroup", { name: `${label} as` })
    .getByText("JSON", { exact: true })
    .click();

/** What stands in a field, be it a plain one or an editor of code. */
export const written = (field: Locator): Promise<string> =>
  field.evaluate((element) => {
    if (element instanceof HTMLTextAreaElement) return element.value;
    const lines = [...element.querySelectorAll(".cm-line")].map(({ textContent }) => textContent);
    return element.querySelector(".cm-placeholder") ? "" : lines.join("\n");
  });

const themes = ["light", "dark"] as const;
type Theme = (typeof themes)[number];

/** Looks at a page in both themes. What enters or changes is let come to rest first: half-faded text has no colour to judge. */
export async function inBothThemes(page: Page, look: (theme: Theme) => Promise<void>): Promise<void> {
  const html = page.locator("html");
  const before = await html.getAttribute("data-theme");
  const paint = (theme: string) => html.evaluate((element, value) => element.setAttribute("data-theme", value), theme);
  for (const theme of themes) {
    await paint(theme);
    await settle(page);
    await look(theme);
  }
  await paint(before ?? "light");
}

/** No violation that axe knows of, in both themes. */
export const expectAccessible = (page: Page, place: string): Promise<void> =>
  inBothThemes(page, async (theme) => {
    expect(await violations(page, theme), `${place}, ${theme}`).toEqual([]);
  });

/** What axe has against a page, or a part of it, as it stands. What no theme changes is judged in the light one alone. */
export async function violations(page: Page, theme: Theme, within = "html"): Promise<string[]> {
  // Once for each document: to hand over and read a million characters takes longer than to judge a page.
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(axe.source);
  const options: RunOptions = {
    resultTypes: ["violations"],
    ...(theme === "dark" && {
      runOnly: ["cat.color"],
      // The stricter contrast is no goal of ours, and comes with the others of its kind.
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

/**
 * Waits for all that moves and ends: a transition from one theme to the other, say. What was stopped half-way never ends,
 * and nothing here takes as long as two seconds.
 */
const settle = (page: Page): Promise<unknown> =>
  page.evaluate(() => {
    const ends = document
      .getAnimations()
      .filter((each) => each.effect?.getComputedTiming().iterations !== Number.POSITIVE_INFINITY)
      .map((each) => each.finished);
    return Promise.race([Promise.allSettled(ends), new Promise((resolve) => setTimeout(resolve, 2000))]);
  });

/** At the widths that the design names, no page scrolls sideways. */
export async function expectToFit(page: Page, place: string): Promise<void> {
  const size = page.viewportSize();
  for (const width of [1440, 900, 390]) {
    await page.setViewportSize({ width, height: 900 });
    await settle(page);
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect(overflow, `${place} at ${width} scrolls sideways`).toBeLessThanOrEqual(0);
  }
  if (size) await page.setViewportSize(size);
}
