import { expect, type Page, test } from "@playwright/test";
import { type Json, type Runnel, startRunnel } from "./harness.ts";
import { expectAccessible, expectToFit, recordFaults, setUpAccount } from "./page-checks.ts";

// Threads in the compiled executable: conversations found, read, continued and deleted in a real browser.
let server: Runnel;
test.beforeAll(async () => {
  server = await startRunnel();
});
test.afterAll(() => server[Symbol.asyncDispose]());
test.use({ viewport: { width: 1440, height: 900 } });

test("a conversation is found, read with its runs, continued, renamed and deleted", async ({ page }) => {
  test.setTimeout(420_000); // axe checks many states in two themes.
  const complaints = recordFaults(page);
  await setUpAccount(page, server);
  const guide = await agent("Guide", { model: "test/echo", memory: { history: { mode: "thread", max_messages: 50 } } });

  await test.step("without any thread the page explains them; c creates the first", async () => {
    await page.getByRole("link", { name: "Threads" }).click();
    await expect(page.getByRole("heading", { name: "No threads yet" })).toBeVisible();
    await expectAccessible(page, "empty");
    await page.keyboard.press("c");
    const dialog = page.getByRole("dialog", { name: "Create thread" });
    await expect(dialog.getByLabel("Title (optional)")).toBeFocused();
    await dialog.getByLabel("Title (optional)").fill("A trip to Oslo");
    await dialog.getByLabel("User (optional)").fill("ada");
    await dialog.getByText("Show code").click();
    await expect(dialog.getByRole("region", { name: "curl code" })).toContainText('"user_id": "ada"');
    await expectAccessible(page, "create");
    await page.keyboard.press("Control+Enter");
    await expect(page).toHaveURL(/\/threads\/thr_/);
    await expect(page.getByText("No messages yet")).toBeVisible();
  });

  await test.step("a message starts a run in the thread, and its text streams in", async () => {
    await say(page, "I want to see **Oslo**.");
    await expect(parts(page)).toHaveCount(1);
    await expect(parts(page).first().locator("strong")).toHaveText("Oslo");
    await expect(page.getByRole("button", { name: "Send", exact: true })).toBeDisabled();
    await say(page, "How do I get there?");
    await expect(parts(page)).toHaveCount(2);
    await expect(page.getByText("Idle")).toBeVisible();
    await expect(page.locator("dd").filter({ hasText: /^4$/ })).toBeVisible();
  });

  await test.step("a half-written message is restored after another page", async () => {
    await page.getByLabel("Message").fill("And how");
    await page.getByRole("link", { name: "Threads" }).first().click();
    await expect(page).toHaveURL(/\/threads$/);
    await page.goBack();
    await expect(page.getByLabel("Message")).toHaveValue("And how");
    await page.getByLabel("Message").fill("");
  });

  await test.step("a waiting run is answered in place, and the next one waits behind it", async () => {
    const tools = [await tool("book_train")];
    const calls = [{ name: "book_train", arguments: { to: "Oslo", seats: 2 } }];
    const script = [{ text: "I book it.", tool_calls: calls }, { text: "Booked." }];
    await agent("Booker", { model: "test/script", tools, model_settings: { script }, memory: null });
    await page.reload();
    await page.getByLabel("Agent", { exact: true }).selectOption("Booker");
    await expect(page.getByText("This agent does not read earlier messages of the conversation.")).toBeVisible();
    await say(page, "Book it.");
    await expect(page.getByText("Waiting", { exact: true })).toBeVisible();
    await expect(page.getByText("Another run is in progress. This one waits for it.")).toBeVisible();
    await page.getByLabel("Agent", { exact: true }).selectOption("Guide");
    await say(page, "Thank you!");
    await expect(page.getByText("Starts when the earlier runs have ended.")).toBeVisible();
    await expectAccessible(page, "waiting");
    await expectToFit(page, "waiting");
    await page.getByLabel("Output").fill('{"seats": "11A, 11B"}');
    await page.getByRole("button", { name: "Send output" }).click();
    await expect(parts(page)).toHaveCount(4);
    await expect(page.getByText("Idle")).toBeVisible();
    const call = page.getByRole("group").filter({ hasText: "book_train" });
    await call.getByText("book_train").click();
    await expect(call).toContainText("11A, 11B");
  });

  await test.step("each part links to its run", async () => {
    await parts(page).nth(2).getByRole("link", { name: "Booker" }).click();
    await expect(page).toHaveURL(/\/runs\/run_/);
    await page.goBack();
    await expect(parts(page)).toHaveCount(4);
    await expectAccessible(page, "thread");
    await expectToFit(page, "thread");
  });

  await test.step("title and metadata are changed, and an invalid value is reported at its field", async () => {
    await page.getByRole("button", { name: "Edit thread" }).click();
    const dialog = page.getByRole("dialog", { name: "Edit thread" });
    await dialog.getByLabel("Title").fill("Oslo in May");
    await dialog.getByLabel("Metadata").fill('{"order": 4711}');
    await expect(dialog.getByLabel("Metadata")).toHaveAccessibleDescription(/“order” is not a string/);
    await expectAccessible(page, "edit");
    await dialog.getByLabel("Metadata").fill('{"order": "4711"}');
    await page.keyboard.press("Control+Enter");
    await expect(page.getByRole("heading", { name: "Oslo in May" })).toBeVisible();
    await expect(page.locator("dd").filter({ hasText: "4711" })).toBeVisible();
  });

  await test.step("the list is filtered by user, session and status, in the address", async () => {
    await server.post("/v1/threads", { user_id: "bob", session_id: "tab 7" });
    await server.post("/v1/threads", {
      title: "A very long title without an end ".repeat(7),
      user_id: "x".repeat(200),
    });
    await page.getByRole("navigation", { name: "Breadcrumb" }).getByRole("link").click();
    await expect(rows(page)).toHaveCount(3);
    await expectAccessible(page, "list");
    await expectToFit(page, "list");
    await page.getByRole("button", { name: "Session", exact: true }).click();
    await page.getByRole("dialog").getByLabel("Session").fill("tab 7");
    await page.keyboard.press("Enter");
    await expect(rows(page)).toHaveCount(1);
    await expect(page).toHaveURL(/session=tab/);
    await page.getByRole("button", { name: "Status", exact: true }).click();
    await page.getByRole("menuitemradio", { name: "Waiting" }).click();
    await expect(page.getByText("No thread with status “Waiting” and session “tab 7”.")).toBeVisible();
    await page.getByRole("button", { name: "Clear filters" }).click();
    await expect(rows(page)).toHaveCount(3);
  });

  await test.step("a thread is deleted after a dialog that says what is lost; its runs stay", async () => {
    await rows(page).filter({ hasText: "Oslo in May" }).getByRole("link").click();
    await page.getByRole("button", { name: "More actions" }).click();
    await page.getByRole("menuitem", { name: "Delete thread" }).click();
    const dialog = page.getByRole("alertdialog", { name: "Delete Oslo in May" });
    await expect(dialog).toContainText(/\d+ messages are permanently deleted\. Its runs and their traces are kept/);
    await expectAccessible(page, "delete");
    await dialog.getByRole("button", { name: "Delete thread" }).click();
    await expect(page).toHaveURL(/\/threads$/);
    await expect(rows(page)).toHaveCount(2);
    expect((await server.get(`/v1/runs?agent_id=${guide}`)).body.data).toHaveLength(3);
  });

  await test.step("a thread of live data opened in test is reported as live, and not as missing", async () => {
    const live: Json = (await server.post("/v1/threads", { title: "Live" }, server.keys.live)).body;
    await page.goto(`${server.url}/dashboard/threads/${live.id}`);
    await expect(page.getByRole("heading", { name: "This thread is live data" })).toBeVisible();
    await page.getByRole("button", { name: "Check live data" }).click();
    await expect(page.getByRole("heading", { name: "Live", exact: true })).toBeVisible();
  });

  expect(complaints).toEqual([]);
});

const rows = (page: Page) => page.getByRole("row").filter({ has: page.getByRole("cell") });
const parts = (page: Page) => page.getByRole("region", { name: "Conversation" }).getByRole("article");

async function say(page: Page, text: string): Promise<void> {
  await page.getByLabel("Message").fill(text);
  await page.keyboard.press("Control+Enter");
  await expect(page.getByLabel("Message")).toHaveValue("");
}

async function tool(name: string): Promise<string> {
  const parameters = { type: "object", properties: { to: { type: "string" } } };
  const made = await server.post("/v1/tools", { name, type: "client", description: "Does it.", parameters });
  expect(made.status).toBe(201);
  return made.body.id;
}

async function agent(name: string, more: Record<string, unknown>): Promise<string> {
  const made = await server.post("/v1/agents", { name, instructions: "Help with trips.", ...more });
  expect(made.status).toBe(201);
  return made.body.id;
}
