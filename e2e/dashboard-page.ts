import AxeBuilder from "@axe-core/playwright";
import { type ConsoleMessage, expect, type Page } from "@playwright/test";
import type { Runnel } from "./harness.ts";

export const account = { email: "owner@example.com", password: "a rather long password" };

/** Makes the first account by the one-time link: the page is signed in then. */
export async function setUpAccount(page: Page, server: Runnel): Promise<void> {
  await page.goto(server.setupUrl);
  await page.getByLabel("Email").fill(account.email);
  await page.getByLabel("Password", { exact: true }).fill(account.password);
  await page.getByLabel("Repeat the password").fill(account.password);
  await page.getByRole("button", { name: "Create account" }).click();
  await expect(page).not.toHaveURL(/\/setup/);
}

/** Signs in a page that has no session. */
export async function signIn(page: Page, server: Runnel): Promise<void> {
  await page.goto(`${server.url}/dashboard/login`);
  await page.getByLabel("Email").fill(account.email);
  await page.getByLabel("Password").fill(account.password);
  await page.getByRole("button", { name: "Sign in" }).click();
  await expect(page).not.toHaveURL(/\/login/);
}

/** Looks for barriers in both themes, as the page stands. */
export async function expectAccessible(page: Page, place: string): Promise<void> {
  for (const colorScheme of ["dark", "light"] as const) {
    await page.emulateMedia({ colorScheme });
    await expect(page.locator("html")).toHaveAttribute("data-theme", colorScheme);
    // What fades in is looked at once it is there.
    await page.evaluate(async () => {
      const ends = document.getAnimations().filter((each) => each.effect?.getComputedTiming().iterations === 1);
      await Promise.allSettled(ends.map(({ finished }) => finished));
    });
    const { violations } = await new AxeBuilder({ page }).analyze();
    const found = violations.map(({ id, nodes }) => `${place}: ${id}: ${nodes.map(({ html }) => html).join(" | ")}`);
    expect(found).toEqual([]);
  }
}

/** Collects what a page should not do: complain in its console, fail, or ask any other machine for anything. */
export function watch(page: Page, server: Runnel, foreseen = /the server responded with a status of 401/) {
  const complaints: string[] = [];
  const external: string[] = [];
  const isComplaint = (message: ConsoleMessage) =>
    ["error", "warning"].includes(message.type()) && !foreseen.test(message.text());
  page.on("console", (message) => {
    if (isComplaint(message)) complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("request", (request) => {
    if (!new RegExp(`^(${server.url}/|data:|about:|blob:)`).test(request.url())) external.push(request.url());
  });
  return { complaints, external };
}
