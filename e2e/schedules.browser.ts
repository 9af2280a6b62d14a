import { expect, type Locator, type Page, test } from "@playwright/test";
import { type Json, type Runnel, startRunnel } from "./harness.ts";
import { expectAccessible, expectToFit, recordFaults, setUpAccount } from "./page-checks.ts";

// Schedules in the compiled executable: planned, triggered and repaired in a real browser.
let server: Runnel;
test.beforeAll(async () => {
  server = await startRunnel();
});
test.afterAll(() => server[Symbol.asyncDispose]());
test.use({ viewport: { width: 1440, height: 900 }, timezoneId: "Europe/Berlin" });

test("a schedule is planned with its next times visible, triggered, paused, and repaired after failures", async ({
  page,
}) => {
  test.setTimeout(600_000); // axe checks many states in two themes.
  const complaints = recordFaults(page);
  await server.post("/v1/agents", { name: "Clerk", instructions: "Be brief.", model: "test/echo" });
  await setUpAccount(page, server);

  await test.step("the empty page explains schedules", async () => {
    await page.getByRole("link", { name: "Schedules" }).click();
    await expect(page.getByRole("heading", { name: "No test schedules yet" })).toBeVisible();
    await expectAccessible(page, "empty");
  });

  await test.step("the next five times are shown while the plan is written, in its time zone", async () => {
    await page.keyboard.press("c");
    const dialog = page.getByRole("dialog", { name: "Create schedule" });
    await expect(dialog.getByLabel("Name")).toBeFocused();
    await dialog.getByLabel("Name").fill("Morning report");
    await dialog.getByLabel("Input").fill("Write the report.");
    await expect(dialog.getByLabel("Time zone")).toHaveValue("Europe/Berlin");
    const preview = dialog.getByRole("region", { name: "Preview" });
    await expect(preview).toContainText("At 09:00, Monday through Friday");
    await expect(preview.getByRole("listitem")).toHaveCount(5);
    await dialog.getByLabel("Cron").fill("30 6 1,15 * *");
    await expect(preview).toContainText("At 06:30, on day 1 and 15 of the month");
    await dialog.getByLabel("Cron").fill("0 9 30 2 *");
    await expect(preview).toContainText("it would never run");
    await dialog.getByLabel("Cron").fill("0 0 9 * * *");
    await expect(preview).toContainText("This is not a valid cron expression yet.");
    await page.keyboard.press("Control+Enter");
    await expect(dialog.getByLabel("Cron")).toHaveAccessibleDescription(/Seconds and years are not supported/);
    await expectAccessible(page, "refused");
    await dialog.getByText("Daily", { exact: true }).click();
    await expect(preview).toContainText("At 09:00");
    await expectAccessible(page, "create");
    await dialog.getByText("Show code").click();
    await expect(dialog.getByRole("region", { name: "curl code" })).toContainText('"cron": "0 9 * * *"');
    const shown = await preview.getByRole("listitem").allTextContents();
    await dialog.getByRole("button", { name: "Create schedule" }).click();
    await expect(dialog).toBeHidden();
    const [made] = (await server.get("/v1/schedules")).body.data as Json[];
    const times = (made.next_run_ats as string[]).map((at) => new Date(at));
    const days = times.map((at) =>
      at.toLocaleDateString("en-GB", { timeZone: "Europe/Berlin", day: "numeric", month: "short", year: "numeric" }),
    );
    for (const [index, day] of days.entries()) expect(shown[index]).toContain(`${day}, 09:00`);
    await expect(row(page, "Morning report")).toContainText("At 09:00");
    await expect(row(page, "Morning report")).toContainText("Not run yet");
  });

  await test.step("run now starts a run beside the plan, and the list shows its result", async () => {
    await row(page, "Morning report")
      .getByRole("button", { name: /^Run now/ })
      .click();
    await expect(row(page, "Morning report")).toContainText("Completed", { timeout: 15_000 });
    await expectAccessible(page, "list");
    await expectToFit(page, "list");
    await page.keyboard.press("j");
    await page.keyboard.press("Enter");
    await expect(page).toHaveURL(/\/schedules\/sch_/);
    await expect(times(page)).toHaveCount(1);
    await expect(times(page)).toContainText("Manual");
    await expectAccessible(page, "schedule");
    await expectToFit(page, "schedule");
  });

  await test.step("a paused schedule has no next times; a resumed one has them again", async () => {
    await page.getByRole("button", { name: "Pause" }).click();
    await expect(page.getByRole("region", { name: "Plan" })).toContainText("None: it is not active.");
    await expectAccessible(page, "paused");
    await page.getByRole("button", { name: "Resume" }).click();
    await expect(page.getByRole("list", { name: "Next runs" }).getByRole("listitem")).toHaveCount(5);
  });

  await test.step("it is edited, and only the changed fields are saved", async () => {
    await more(page, "Morning report", "Edit schedule");
    const dialog = page.getByRole("dialog", { name: "Edit schedule" });
    await dialog.getByText("Hourly", { exact: true }).click();
    await dialog.getByText("Overlaps, missed runs and user").click();
    await dialog.getByText("Skip this run").click();
    await dialog.getByLabel("Time zone").fill("utc");
    await page.getByRole("option", { name: "UTC", exact: true }).click();
    await expectAccessible(page, "edit");
    await dialog.getByRole("button", { name: "Save schedule" }).click();
    await expect(dialog).toBeHidden();
    await expect(page.getByRole("region", { name: "Plan" })).toContainText("Every hour");
    await expect(page.getByRole("region", { name: "Plan" })).toContainText("this one is skipped");
  });

  await test.step("a failed run is shown with its reason, and five in a row disable the schedule", async () => {
    const { body: broken } = await server.post("/v1/agents", {
      name: "Broken",
      instructions: "Be brief.",
      model: "test/context-overflow",
    });
    const { body: failing } = await server.post("/v1/schedules", {
      name: longName,
      agent_id: broken.id,
      input: "x ".repeat(300),
      cron: "*/15 8-18 * * mon-fri",
      timezone: "UTC",
    });
    await page.goto(`${server.url}/dashboard/schedules/${failing.id}`);
    await page.getByRole("button", { name: "Run now" }).click();
    await expect(times(page)).toContainText("Failed", { timeout: 15_000 });
    await expect(page.getByText("The last run could not be started")).toBeVisible({ timeout: 15_000 });
    await expectAccessible(page, "failed");
    for (let more = 0; more < 4; more++) await server.post(`/v1/schedules/${failing.id}/trigger`, {});
    await expect(page.getByText("This schedule is disabled")).toBeVisible({ timeout: 15_000 });
    await expect(times(page)).toHaveCount(5, { timeout: 15_000 });
    await expectAccessible(page, "switched off");
    await expectToFit(page, "switched off");
    await page.getByRole("button", { name: "Resume" }).click();
    await expect(page.getByText("This schedule is disabled")).toBeHidden();
  });

  await test.step("filters of its times stand in the address", async () => {
    await page.goto(`${server.url}/dashboard/schedules`);
    await row(page, "Morning report").getByRole("link").click();
    await page.getByRole("button", { name: "Outcome" }).click();
    await page.getByRole("menuitemradio", { name: "Missed" }).click();
    await expect(page).toHaveURL(/outcome=missed/);
    await expect(page.getByText("No results")).toBeVisible();
    await page.getByRole("button", { name: "Clear filter", exact: true }).click();
    await expect(times(page)).toHaveCount(1);
  });

  await test.step("an id of the other mode offers to look there", async () => {
    const address = page.url();
    await page.getByRole("button", { name: "Live" }).click();
    await expect(page).toHaveURL(/\/schedules$/);
    await page.goto(address.replace("/test/", "/live/"));
    await page.getByRole("button", { name: "Check test data" }).click();
    await expect(page.getByRole("heading", { name: "Morning report" })).toBeVisible();
  });

  await test.step("it is deleted after its effect was shown", async () => {
    await more(page, "Morning report", "Delete schedule");
    const dialog = page.getByRole("alertdialog", { name: "Delete Morning report" });
    await expect(dialog.getByRole("button", { name: "Cancel" })).toBeFocused();
    await expectAccessible(page, "delete");
    await dialog.getByRole("button", { name: "Delete schedule" }).click();
    await expect(page).toHaveURL(/\/schedules$/);
    await expect(row(page, "Morning report")).toHaveCount(0);
    await expectToFit(page, "long");
  });

  expect(complaints).toEqual([]);
});

const longName = "Summary of all refunds of the customer-facing assistant, Frankfurt and Dublin, second shift";

const row = (page: Page, name: string): Locator => page.locator("tr[data-schedule]").filter({ hasText: name });

const times = (page: Page): Locator => page.getByRole("table", { name: "Past runs" }).locator("tbody tr");

async function more(page: Page, name: string, act: string): Promise<void> {
  await page.getByRole("button", { name: `More for ${name}` }).click();
  await page.getByRole("menuitem", { name: act }).click();
}
