import AxeBuilder from "@axe-core/playwright";
import { type ConsoleMessage, expect, type Page, type TestInfo } from "@playwright/test";
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

/** What the page complained of, but for the lines that a browser writes by itself of each refusal and of no network. */
export function watch(page: Page): string[] {
  const complaints: string[] = [];
  const foreseen = (message: ConsoleMessage) =>
    /the server responded with a status of (400|401|403|404|409|415)|net::ERR_/.test(message.text());
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type()) && !foreseen(message)) complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(error.message));
  return complaints;
}

const themes = ["light", "dark"] as const;

/**
 * No violation that axe knows of, in both themes; a screenshot of each beside the test's other output. What enters is let
 * come to its place first: half-faded text has no colour to judge.
 */
export async function expectAccessible(page: Page, info: TestInfo, place: string): Promise<void> {
  const before = await page.locator("html").getAttribute("data-theme");
  for (const theme of themes) {
    await page.locator("html").evaluate((html, value) => html.setAttribute("data-theme", value), theme);
    await settle(page);
    await page.screenshot({ path: info.outputPath(`${place.replaceAll(" ", "-")}-${theme}.png`) });
    const { violations } = await new AxeBuilder({ page }).analyze();
    const found = violations.map(
      ({ id, nodes }) => `${place}, ${theme}: ${id}: ${nodes.map((n) => n.html).join(" | ")}`,
    );
    expect(found).toEqual([]);
  }
  await page.locator("html").evaluate((html, value) => html.setAttribute("data-theme", value ?? "light"), before);
}

/** Waits for all that moves and ends: a transition from one theme to the other, say. */
const settle = (page: Page): Promise<unknown> =>
  page.evaluate(() =>
    Promise.allSettled(
      document
        .getAnimations()
        .filter((each) => each.effect?.getComputedTiming().iterations !== Number.POSITIVE_INFINITY)
        .map((each) => each.finished),
    ),
  );

/** Screenshots of a page at the widths that the design names. */
export async function shootWidths(page: Page, info: TestInfo, place: string): Promise<void> {
  const size = page.viewportSize();
  for (const width of [1440, 900, 390]) {
    await page.setViewportSize({ width, height: 900 });
    await settle(page);
    await page.screenshot({ path: info.outputPath(`${place.replaceAll(" ", "-")}-${width}.png`) });
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect(overflow, `${place} at ${width} scrolls sideways`).toBeLessThanOrEqual(0);
  }
  if (size) await page.setViewportSize(size);
}
