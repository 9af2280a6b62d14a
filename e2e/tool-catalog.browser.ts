import { expect as plain, test } from "@playwright/test";
import { type Runnel, startRunnel } from "./harness.ts";
import { expectAccessible, expectToFit, recordFaults, setUpAccount } from "./page-checks.ts";

/** Sandboxed code runs in a process of its own, which starts late on a busy machine. */
const expect = plain.configure({ timeout: 60_000 });

let server: Runnel;
test.beforeAll(async () => {
  server = await startRunnel();
});
test.afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

test("a ready tool is added by two clicks and works, and one with settings says what it needs", async ({ page }) => {
  test.setTimeout(300_000);
  const complaints = recordFaults(page);
  await setUpAccount(page, server);
  await page.goto(`${server.url}/dashboard/tools`);

  await test.step("the catalogue lists what there is", async () => {
    await page.getByRole("button", { name: "Catalogue" }).click();
    const dialog = page.getByRole("dialog", { name: "Catalogue" });
    await expect(dialog.getByRole("listitem")).toHaveCount(10);
    await expectAccessible(page, "catalogue of tools");
    await expectToFit(page, "catalogue of tools");
    await dialog.getByRole("button", { name: "Add Calculator" }).click();
    await expect(dialog).toBeHidden();
  });

  await test.step("the calculator computes", async () => {
    await page.getByRole("link", { name: "calculate", exact: true }).click();
    await page.getByRole("tab", { name: "Test" }).click();
    await page.getByRole("textbox", { name: "Arguments" }).fill('{"expression": "19.99 * 3"}');
    await page.getByRole("button", { name: "Call tool" }).click();
    await expect(page.getByRole("region", { name: "Result of the call" })).toContainText("59.97");
  });

  await test.step("an entry with settings asks for them, and shows its key to nobody", async () => {
    await page.goto(`${server.url}/dashboard/tools`);
    await page.getByRole("button", { name: "Catalogue" }).click();
    await page.getByRole("button", { name: "Add Send e-mail" }).click();
    const dialog = page.getByRole("dialog", { name: "Send e-mail" });
    await dialog.getByRole("button", { name: "Add", exact: true }).click();
    await expect(dialog.getByLabel("Mail server", { exact: true })).toHaveAccessibleDescription(
      "Mail server is missing.",
    );
    await dialog.getByLabel("Mail server", { exact: true }).fill("https://mail.example.com");
    await dialog.getByLabel("Password (optional)").fill("mail-secret");
    await dialog.getByLabel("Sender", { exact: true }).fill("Support <support@example.com>");
    await dialog.getByRole("button", { name: "Add", exact: true }).click();
    await expect(dialog.getByLabel("Mail server", { exact: true })).toHaveAccessibleDescription(/Must be smtp:/);
    await expectAccessible(page, "settings of a ready tool");
    await dialog.getByLabel("Mail server", { exact: true }).fill("smtp://runnel@mail.example.com:587");
    await dialog.getByRole("button", { name: "Add", exact: true }).click();
    await expect(dialog).toBeHidden();
    await page.getByRole("link", { name: "send_email", exact: true }).click();
    await expect(page.getByLabel("Password", { exact: true })).toHaveValue("********");
    await expectAccessible(page, "an e-mail tool");
    await expectToFit(page, "an e-mail tool");
  });

  await test.step("names that are there ask for a prefix", async () => {
    await page.goto(`${server.url}/dashboard/tools`);
    await page.getByRole("button", { name: "Catalogue" }).click();
    await page.getByRole("button", { name: "Add Read web pages" }).click();
    const dialog = page.getByRole("dialog", { name: "Read web pages" });
    await dialog.getByRole("button", { name: "Add", exact: true }).click();
    await expect(dialog).toBeHidden();
    await page.getByRole("button", { name: "Catalogue" }).click();
    await page.getByRole("button", { name: "Add Read web pages" }).click();
    await dialog.getByRole("button", { name: "Add", exact: true }).click();
    await dialog.getByLabel("Prefix of the names").fill("docs-");
    await dialog.getByRole("button", { name: "Add", exact: true }).click();
    await expect(page.getByRole("link", { name: "docs-fetch_page", exact: true })).toBeVisible();
  });
  expect(complaints).toEqual([]);
});
