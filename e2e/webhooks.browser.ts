import { expect, type Locator, type Page, test } from "@playwright/test";
import { startWebhookReceiver, type WebhookReceiver } from "../server/testing/webhook-receiver.ts";
import { type Runnel, startRunnel } from "./harness.ts";
import { expectAccessible, expectToFit, recordFaults, setUpAccount } from "./page-checks.ts";

// Webhooks in the compiled executable: created, watched and repaired in a real browser, with a real receiver.
let server: Runnel;
let receiver: WebhookReceiver;
test.beforeAll(async () => {
  server = await startRunnel();
  receiver = startWebhookReceiver();
});
test.afterAll(async () => {
  await receiver[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});
test.use({ viewport: { width: 1440, height: 900 }, permissions: ["clipboard-read", "clipboard-write"] });

test("a webhook is created, tested, shown as failing, repaired, and redelivered", async ({ page }) => {
  test.setTimeout(600_000); // axe checks many states in two themes.
  const complaints = recordFaults(page);
  const { body: agent } = await server.post("/v1/agents", {
    name: "Clerk",
    instructions: "Be brief.",
    model: "test/echo",
  });
  await setUpAccount(page, server);

  await test.step("the empty page explains webhooks", async () => {
    await page.getByRole("link", { name: "Webhooks" }).click();
    await expect(page.getByRole("heading", { name: "No test webhooks yet" })).toBeVisible();
    await expectAccessible(page, "empty");
  });

  await test.step("c opens the create dialog; a forbidden address is refused at its field", async () => {
    await page.keyboard.press("c");
    const dialog = page.getByRole("dialog", { name: "Create webhook" });
    await expect(dialog.getByLabel("URL")).toBeFocused();
    await dialog.getByLabel("URL").fill("http://example.com/hooks");
    await page.keyboard.press("Control+Enter");
    await expect(dialog.getByLabel("URL")).toHaveAttribute("aria-invalid", "true");
    await expectAccessible(page, "create");
    await dialog.getByLabel("URL").fill(receiver.url);
    await dialog.getByLabel("Description").fill("Order desk, second floor");
    await dialog.getByText("Show code").click();
    await expect(dialog.getByRole("region", { name: "curl code" })).toContainText('"run.failed"');
    await page.keyboard.press("Control+Enter");
  });

  let secret = "";
  await test.step("its secret is shown once", async () => {
    const dialog = page.getByRole("dialog", { name: "Save this secret now" });
    await expect(dialog.getByRole("button", { name: "Copy", exact: true })).toBeFocused();
    secret = (await dialog.locator("[data-secret]").textContent()) ?? "";
    expect(secret).toMatch(/^whsec_/);
    await expectAccessible(page, "secret");
    await dialog.getByRole("button", { name: "I've saved it" }).click();
    await expect(page.locator("body")).not.toContainText(secret);
    await expect(page.getByRole("row").filter({ hasText: receiver.url })).toContainText("Order desk");
  });

  await test.step("a test event goes to the real receiver, and its delivery opens", async () => {
    await page.getByRole("button", { name: `Send test to ${receiver.url}` }).click();
    await expect(page).toHaveURL(/\/webhooks\/whk_\w+\?delivery=dlv_/);
    const [heard] = await receiver.heard(1);
    expect(JSON.parse(heard!.body).type).toBe("webhook.test");
    await expect(delivery(page)).toContainText("HTTP 200");
    await expect(delivery(page)).toContainText("Taken.");
    await delivery(page).getByText("Request headers").click();
    await expect(delivery(page)).toContainText(heard!.headers["webhook-id"]!);
    await expectAccessible(page, "tested");
  });

  await test.step("a refused event of a run shows the response, and the time of its retry", async () => {
    receiver.answerWith(() => Response.json({ error: "the order desk is closed" }, { status: 503 }));
    await server.post("/v1/runs?wait=60", { agent_id: agent.id, input: "Where is order 4711?" });
    const entry = entries(page).filter({ hasText: "run.completed" });
    await expect(entry).toContainText("Retrying", { timeout: 15_000 });
    await expect(entry).toContainText(/Next attempt in \d+ s|Next attempt in \d+ min/);
    await entry.getByRole("link").click();
    await expect(delivery(page)).toContainText("HTTP 503");
    await expect(delivery(page)).toContainText("the order desk is closed");
    await expect(delivery(page).getByRole("link", { name: /^run_/ })).toBeVisible();
    await expect(page.getByText(/The last (attempt|2 attempts) failed/)).toBeVisible();
    await expectAccessible(page, "failing");
    await expectToFit(page, "failing");
  });

  await test.step("once repaired, redelivery sends the same event under the same id", async () => {
    const before = receiver.received.length;
    receiver.answerWith(() => new Response("Taken."));
    await delivery(page).getByRole("button", { name: "Redeliver" }).click();
    // The message promises nothing that was not tried yet.
    await expect(page.getByText("Redelivery queued")).toBeVisible();
    await receiver.heard(before + 1);
    const ids = receiver.received.slice(1).map(({ headers }) => headers["webhook-id"]);
    expect(new Set(ids).size).toBe(1);
    await expect(delivery(page)).toContainText("HTTP 200");
    await expect(entries(page).filter({ hasText: "run.completed" })).toContainText("Delivered");
  });

  await test.step("filters stand in the address; j, k and Enter go through the list", async () => {
    await page.getByRole("button", { name: "Event", exact: true }).click();
    await page.getByRole("menuitemradio", { name: "webhook.test" }).click();
    await expect(page).toHaveURL(/type=webhook\.test/);
    await expect(entries(page)).toHaveCount(1);
    await page.getByRole("button", { name: "Clear the event filter" }).click();
    await expect(entries(page)).toHaveCount(2);
    await page.keyboard.press("j");
    await page.keyboard.press("j");
    await page.keyboard.press("Enter");
    await expect(delivery(page).getByRole("heading", { name: "webhook.test" })).toBeVisible();
  });

  await test.step("an empty later page leads back, and does not claim that there are none", async () => {
    const address = page.url();
    const [id] = /whk_\w+/.exec(address) ?? [];
    await page.goto(`${server.url}/dashboard/webhooks?after=${id}`);
    await expect(page.getByRole("heading", { name: "No webhooks on this page" })).toBeVisible();
    await page.getByRole("button", { name: "Show the newest" }).click();
    await expect(page.getByRole("row").filter({ hasText: receiver.url })).toBeVisible();
    await page.goto(address);
    await expect(delivery(page).getByRole("heading", { name: "webhook.test" })).toBeVisible();
  });

  await test.step("on a phone the delivery fills the page, with a way back", async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    await expect(entries(page).first()).toBeHidden();
    await expectAccessible(page, "phone delivery");
    await delivery(page).getByRole("link", { name: "Deliveries" }).click();
    await expect(entries(page)).toHaveCount(2);
    await expectAccessible(page, "phone list");
    await page.setViewportSize({ width: 1440, height: 900 });
  });

  await test.step("the secret is rotated with an overlap in which both sign", async () => {
    await more(page, "Rotate secret");
    const dialog = page.getByRole("dialog", { name: "Rotate secret" });
    await expect(dialog).toContainText(/The old secret signs until tomorrow/);
    await expectAccessible(page, "rotate");
    await dialog.getByRole("button", { name: "Rotate secret" }).click();
    const reveal = page.getByRole("dialog", { name: "Save this secret now" });
    await expect(reveal).toContainText("each event is signed with the old secret too");
    expect(await reveal.locator("[data-secret]").textContent()).not.toBe(secret);
    await reveal.getByRole("button", { name: "I've saved it" }).click();
    await expect(page.getByText("Old secret signs until")).toBeVisible();
    const before = receiver.received.length;
    await page.getByRole("button", { name: "Send test" }).click();
    await receiver.heard(before + 1);
    expect(receiver.received.at(-1)!.headers["webhook-signature"]!.split(" ")).toHaveLength(2);
  });

  await test.step("failed deliveries since a time are redelivered", async () => {
    receiver.answerWith(() => new Response("No.", { status: 500 }));
    await server.post("/v1/runs?wait=60", { agent_id: agent.id, input: "And order 4712?" });
    await expect(entries(page).filter({ hasText: "Retrying" })).toBeVisible({ timeout: 15_000 });
    receiver.answerWith(() => new Response("Taken."));
    await more(page, "Redeliver failed events");
    const dialog = page.getByRole("dialog", { name: "Redeliver failed events" });
    await expectAccessible(page, "redeliver");
    await dialog.getByRole("button", { name: "Redeliver" }).click();
    await expect(dialog).toBeHidden();
    await expect(entries(page).filter({ hasText: "Retrying" })).toBeHidden({ timeout: 15_000 });
  });

  await test.step("a disabled webhook says why it receives nothing, and is enabled again from there", async () => {
    await more(page, "Disable");
    await expect(page.getByText("Disabled.")).toBeVisible();
    await expect(page.getByText("Webhook disabled")).toBeVisible(); // Half-faded text has no contrast to check.
    await expectAccessible(page, "switched off");
    await page.getByRole("button", { name: "Enable" }).click();
    await expect(page.getByText("Disabled.")).toBeHidden();
    receiver.answerWith(() => new Response(null, { status: 410 }));
    await server.post("/v1/runs?wait=60", { agent_id: agent.id, input: "Once more" });
    await expect(page.getByText("The endpoint returned 410 Gone")).toBeVisible({ timeout: 15_000 });
    await expectAccessible(page, "gone");
  });

  await test.step("an id of the other mode offers to look there", async () => {
    const address = page.url();
    await page
      .getByRole("radio", { name: "Live" })
      .or(page.getByRole("button", { name: "Live" }))
      .first()
      .click();
    await expect(page).toHaveURL(/\/webhooks$/);
    await page.goto(address.replace("/test/", "/live/"));
    await page.getByRole("button", { name: "Check test data" }).click();
    await expect(page.getByRole("heading", { name: receiver.url })).toBeVisible();
  });

  await test.step("it is edited, and deleted after its effect was shown", async () => {
    await more(page, "Edit webhook");
    const edit = page.getByRole("dialog", { name: "Edit webhook" });
    await edit.getByRole("checkbox", { name: /All events/ }).check();
    await edit.getByLabel("Description").fill("x".repeat(300));
    await edit.getByRole("button", { name: "Save webhook" }).click();
    await expect(page.getByText("all events", { exact: true })).toBeVisible();
    await expectToFit(page, "long");
    await more(page, "Delete webhook");
    const dialog = page.getByRole("alertdialog", { name: /^Delete/ });
    await expect(dialog.getByRole("button", { name: "Cancel" })).toBeFocused();
    await expectAccessible(page, "delete");
    await dialog.getByRole("button", { name: "Delete webhook" }).click();
    await expect(page).toHaveURL(/\/webhooks$/);
    await expect(page.getByRole("heading", { name: "No test webhooks yet" })).toBeVisible();
  });

  expect(complaints).toEqual([]);
});

const entries = (page: Page): Locator => page.getByRole("list", { name: "Deliveries" }).getByRole("listitem");

const delivery = (page: Page): Locator => page.getByRole("region", { name: "Delivery", exact: true });

async function more(page: Page, act: string): Promise<void> {
  await page.getByRole("button", { name: `More for ${receiver.url}` }).click();
  await page.getByRole("menuitem", { name: act }).click();
}
