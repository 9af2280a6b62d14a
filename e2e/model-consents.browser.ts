import { mkdirSync } from "node:fs";
import { type Page, expect as plain, test } from "@playwright/test";
import {
  type OAuthServer,
  oauthClientId,
  oauthClientSecret,
  startOAuthServer,
} from "../server/testing/oauth-server.ts";
import { startTokenGateway } from "../server/testing/token-gateway.ts";
import { type Runnel, startRunnel } from "./harness.ts";
import { expectAccessible, expectToFit, inThemes, recordFaults, signInBeforeEach, themes } from "./page-checks.ts";

const expect = plain.configure({ timeout: 60_000 });

// Model connections with OAuth in a real browser: their form, the consent of a person, and its state in the list.
let server: Runnel;
let issuer: OAuthServer;
let gateway: ReturnType<typeof startTokenGateway>;
test.beforeAll(async () => {
  issuer = await startOAuthServer();
  gateway = startTokenGateway(issuer);
  server = await startRunnel({ environment: { RUNNEL_EGRESS_ALLOW: "127.0.0.1" } });
});
test.afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await gateway[Symbol.asyncDispose]();
  await issuer[Symbol.asyncDispose]();
});
test.setTimeout(300_000);
signInBeforeEach(() => server);

/** Takes pictures of a state in both themes, wide and narrow, if a folder for them is named. */
async function shoot(page: Page, name: string): Promise<void> {
  const folder = process.env.RUNNEL_SHOTS;
  if (!folder) return;
  mkdirSync(folder, { recursive: true });
  const size = page.viewportSize() ?? { width: 1440, height: 900 };
  for (const [width, kind] of [
    [1440, "wide"],
    [400, "narrow"],
  ] as const) {
    await page.setViewportSize({ width, height: 900 });
    await inThemes(page, themes, async (theme) => {
      await page.screenshot({ path: `${folder}/${name}-${kind}-${theme}.png` });
    });
  }
  await page.setViewportSize(size);
}

/** Opens the link of the dialog in another tab, and consents or refuses there. */
async function decide(page: Page, decision: "Allow" | "Refuse"): Promise<void> {
  const link = page.getByRole("dialog").getByRole("link", { name: "Open link" });
  const [other] = await Promise.all([page.waitForEvent("popup"), link.click()]);
  await expect(other.getByRole("heading", { level: 1 })).toHaveText("Connect team?");
  await expect(other.getByText("Runs of all projects will use your account")).toBeVisible();
  await expectAccessible(other, "page of a model connection");
  await expectToFit(other, "page of a model connection");
  await other.getByRole("button", { name: `Continue to ${new URL(issuer.url).host}` }).click();
  await other.getByRole("link", { name: decision }).click();
  await expect(other.getByRole("heading", { level: 1 })).toContainText("connected");
  await other.close();
}

test("a model connection is added, connected, loses its consent, is connected again and removed", async ({ page }) => {
  const complaints = recordFaults(page);
  const row = page.getByRole("row", { name: /^team/ });

  await test.step("the server's faults are shown at the fields", async () => {
    await page.goto(`${server.url}/dashboard/settings?tab=connections`);
    await page.getByRole("button", { name: "Add connection" }).first().click();
    const dialog = page.getByRole("dialog", { name: "Add connection" });
    await dialog.getByLabel("Provider").selectOption("openai_compatible");
    await dialog.getByLabel("Name", { exact: true }).fill("team");
    await dialog.getByLabel("URL", { exact: true }).fill(gateway.url);
    await dialog.getByLabel("OAuth tokens").check();
    await dialog.getByLabel("Tokens", { exact: true }).selectOption("authorization_code");
    await dialog.getByRole("textbox", { name: "Issuer", exact: true }).fill("ftp://sso.example");
    await dialog.getByLabel("Client id").fill(oauthClientId);
    await dialog.getByLabel("Client secret (optional)").fill(oauthClientSecret);
    await dialog.getByRole("button", { name: "Add connection" }).click();
    const issuerField = dialog.getByRole("textbox", { name: "Issuer", exact: true });
    await expect(issuerField).toHaveAccessibleDescription(/http or https/);
    await expectAccessible(page, "fault of an issuer");
    await expectToFit(page, "fault of an issuer");
    await shoot(page, "form");
    await issuerField.fill(issuer.url);
    await dialog.getByRole("button", { name: "Add connection" }).click();
    const tested = page.getByRole("dialog", { name: "Test team" });
    await tested.getByRole("button", { name: "Close" }).last().click();
    await expect(row).toContainText("not connected");
    await shoot(page, "missing");
  });

  await test.step("a refused consent changes nothing, and a consent connects", async () => {
    await row.getByRole("button", { name: "Connect team", exact: true }).click();
    const dialog = page.getByRole("dialog", { name: "Connect team" });
    await expect(dialog).toContainText(`${server.url}/oauth/callback`);
    await dialog.getByRole("button", { name: "Make link" }).click();
    await expect(dialog.getByRole("link", { name: "Open link" })).toBeVisible();
    await expectAccessible(page, "link of a consent");
    await expectToFit(page, "link of a consent");
    await shoot(page, "link");
    await decide(page, "Refuse");
    await expect(dialog).toBeVisible();
    await dialog.getByRole("button", { name: "Make another link" }).click();
    await expect(dialog.getByRole("button", { name: "Make another link" })).toBeEnabled();
    await decide(page, "Allow");
    await expect(dialog).toHaveCount(0);
    await expect(row.getByRole("button", { name: "Reconnect team" })).toBeVisible();
    await expect(row).not.toContainText("not connected");
    await expectAccessible(page, "connected model connection");
    await shoot(page, "connected");
  });

  await test.step("a consent that was taken back is shown with its reason", async () => {
    issuer.faults.token = () =>
      Response.json(
        { error: "invalid_grant", error_description: `The session of the account ${"x".repeat(80)} was ended.` },
        { status: 400 },
      );
    issuer.forget("ada");
    await row.getByRole("button", { name: "Test team" }).click();
    const tested = page.getByRole("dialog", { name: "Test team" });
    // A token that was just issued is not replaced at once.
    await expect(async () => {
      await tested.getByRole("button", { name: "Test connection" }).click();
      await expect(tested).toContainText("invalid_grant", { timeout: 3000 });
    }).toPass({ timeout: 60_000 });
    await tested.getByRole("button", { name: "Close" }).last().click();
    await expect(row).toContainText("consent failed");
    await expect(row).toContainText("invalid_grant");
    await expectAccessible(page, "failed consent");
    await expectToFit(page, "failed consent");
    await shoot(page, "failed");
    issuer.faults = {};
  });

  await test.step("a new consent mends it, and a removal revokes the tokens", async () => {
    await row.getByRole("button", { name: "Connect team", exact: true }).click();
    const dialog = page.getByRole("dialog", { name: "Connect team" });
    await expect(dialog).toContainText("invalid_grant");
    await dialog.getByRole("button", { name: "Make link" }).click();
    await shoot(page, "failed-link");
    await decide(page, "Allow");
    await expect(dialog).toHaveCount(0);
    await expect(row).not.toContainText("consent failed");
    await row.getByRole("button", { name: "Remove team" }).click();
    await page
      .getByRole("alertdialog")
      .getByRole("button", { name: /Remove/ })
      .click();
    await expect(row).toHaveCount(0);
    await expect(() => plain(issuer.revoked.length).toBeGreaterThan(0)).toPass();
  });
  expect(complaints).toEqual([]);
});
