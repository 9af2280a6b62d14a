import { type Page, expect as plain, test } from "@playwright/test";
import { type Json, type Runnel, startRunnel } from "./harness.ts";
import { expectAccessible, expectToFit, joinAs, recordFaults, signInBeforeEach } from "./page-checks.ts";

/** Pages are read again every few seconds, on a busy machine later. */
const expect = plain.configure({ timeout: 30_000 });

// Labels of agents in the compiled executable's dashboard: set, moved, split, rolled back and tried in a real browser.
let server: Runnel;
test.beforeAll(async () => {
  server = await startRunnel();
});
test.afterAll(() => server[Symbol.asyncDispose]());
test.use({ viewport: { width: 1440, height: 900 } });

let agents = 0;

/** Creates an agent whose versions answer with their number, except those that fail. */
async function makeAgent(versions: number, failing: readonly number[] = []) {
  const name = `Refund desk ${++agents}`;
  const settings = (version: number) => ({
    script: [failing.includes(version) ? { error: "Out of order." } : { text: `This is version ${version}.` }],
  });
  const body = { name, instructions: "Be brief.", model: "test/script", model_settings: settings(1) };
  const { id } = (await server.post("/v1/agents", body)).body;
  for (let version = 2; version <= versions; version++)
    await change("PATCH", `/v1/agents/${id}`, { model_settings: settings(version) });
  return { id: id as string, name };
}

async function change(method: "PUT" | "PATCH", path: string, body: Json): Promise<void> {
  const { status } = await server.fetch(path, { method, body: JSON.stringify(body) });
  expect([path, status]).toEqual([path, 200]);
}

const labelOf = async (id: string, label = "production"): Promise<Json> =>
  (await server.get(`/v1/agents/${id}/labels/${label}`)).body;
const openReleases = (page: Page, id: string) => page.goto(`${server.url}/dashboard/agents/${id}?tab=releases`);
const pane = (page: Page, label = "production") => page.getByRole("region", { name: `Label ${label}`, exact: true });
const history = (page: Page) => page.getByRole("list", { name: /^History of / }).getByRole("listitem");

signInBeforeEach(() => server);

test("a label is created, moved, split by percent and rolled back, and each step is what runs get", async ({
  page,
}) => {
  test.setTimeout(300_000);
  const { id, name } = await makeAgent(3);

  await test.step("without labels the page explains them, and c creates the first", async () => {
    await openReleases(page, id);
    await expect(page.getByRole("heading", { name: "No labels yet" })).toBeVisible();
    await expectAccessible(page, "no labels");
    await page.keyboard.press("c");
    const dialog = page.getByRole("dialog", { name: "Set a label" });
    await dialog.getByRole("combobox", { name: "Label" }).fill("Production 1");
    await dialog.getByRole("button", { name: "Create label" }).click();
    await expect(dialog.getByRole("combobox", { name: "Label" })).toHaveAccessibleDescription(/lower-case letters/);
    await dialog.getByRole("combobox", { name: "Label" }).fill("production");
    await dialog.getByLabel("Version", { exact: true }).selectOption("1");
    await expectAccessible(page, "new label");
    await expectToFit(page, "new label");
    await dialog.getByRole("button", { name: "Create label" }).click();
    await expect(dialog).toBeHidden();
    await expect(pane(page)).toContainText(`${name}@production`);
    expect(await labelOf(id)).toMatchObject({ version: 1, revision: 1 });
  });

  await test.step("it moves to the newest version in one step", async () => {
    await pane(page).getByRole("button", { name: "Move to version 3" }).click();
    const dialog = page.getByRole("dialog", { name: "Move production" });
    await expect(dialog).toContainText("It holds version 1 now.");
    await dialog.getByRole("button", { name: "Save label" }).click();
    await expect(dialog).toBeHidden();
    await expect(history(page)).toHaveText([/^SetVersion 3 current/, /^SetVersion 1/]);
    expect(await labelOf(id)).toMatchObject({ version: 3, revision: 2 });
    const run = await server.post("/v1/runs?wait=60", { agent_id: `${name}@production`, input: "Hi." });
    expect(run.body).toMatchObject({ agent_version: 3 });
  });

  await test.step("it splits by percent over two versions, with a rule for automatic rollback", async () => {
    await pane(page).getByRole("button", { name: "Move label" }).click();
    const dialog = page.getByRole("dialog", { name: "Move production" });
    await dialog.getByText("Two versions").click();
    await dialog.getByLabel("Percent of the runs").fill("12.345");
    await dialog.getByRole("button", { name: "Save label" }).click();
    await expect(dialog.getByLabel("Percent of the runs")).toHaveAccessibleDescription(/two decimals/);
    await dialog.getByLabel("Percent of the runs").fill("12.5");
    await expect(dialog.getByLabel("Rest of the runs")).toHaveValue("87.5%");
    await dialog.getByLabel("Other version").selectOption("2");
    await dialog.getByLabel(/Roll back when the runs of version 3/).check();
    await dialog.getByLabel("Failed runs, percent").fill("30");
    await dialog.getByLabel("Score (optional)").fill("feedback");
    await dialog.getByRole("button", { name: "Save label" }).click();
    await expect(dialog.getByLabel("Mean of the score below")).toBeFocused();
    await dialog.getByLabel("Mean of the score below").fill("0.5");
    await expectAccessible(page, "split");
    await expectToFit(page, "split");
    await dialog.getByRole("button", { name: "Save label" }).click();
    await expect(dialog).toBeHidden();
    expect(await labelOf(id)).toMatchObject({
      split: [
        { version: 3, percent: 12.5 },
        { version: 2, percent: 87.5 },
      ],
      rollback_on: { failure_rate: 0.3, score: { name: "feedback", below: 0.5 }, min_runs: 20 },
    });
  });

  await test.step("the numbers of both versions stand side by side", async () => {
    for (let n = 0; n < 4; n++) {
      const body = { agent_id: id, label: "production", user_id: `user_${n}`, input: "Hi." };
      const run = (await server.post("/v1/runs?wait=60", body)).body;
      await change("PUT", `/v1/runs/${run.id}/scores/feedback`, { value: 1 });
    }
    const { versions } = (await server.get(`/v1/agents/${id}/labels/production/report`)).body;
    const runs = versions.map((version: Json) => version.runs);
    expect(runs[0] + runs[1]).toBe(4);
    const table = page.getByRole("table", { name: "Numbers of production" });
    await expect(table.getByRole("columnheader")).toHaveText(["Number", "Version 3", "Version 2"]);
    await expect(table.getByRole("row", { name: /^Runs/ })).toHaveText(`Runs${runs[0]}${runs[1]}`);
    await expect(table.getByRole("row", { name: /^Score feedback/ })).toContainText(/1 \(\d\)/);
    await expect(pane(page)).toContainText("or the mean of feedback is below 0.5");
    await expectAccessible(page, "releases");
    await expectToFit(page, "releases");
  });

  await test.step("it rolls back to what it held before, which the dialog says first", async () => {
    await pane(page).getByRole("button", { name: "Roll back" }).click();
    const dialog = page.getByRole("alertdialog", { name: "Roll back production" });
    await expect(dialog).toContainText("it holds version 3 again. Its rule for automatic rollback is removed.");
    await expectAccessible(page, "roll back");
    await dialog.getByRole("button", { name: "Roll back" }).click();
    await expect(dialog).toBeHidden();
    await expect(history(page).first()).toHaveText(/^Rolled backVersion 3 current/);
    expect(await labelOf(id)).toMatchObject({ version: 3, reason: "rollback", rollback_on: null });
    await pane(page).getByRole("button", { name: "Roll back" }).click();
    await expect(dialog).toContainText("it holds version 1 again");
    await dialog.getByRole("button", { name: "Cancel" }).click();
  });

  await test.step("any place of its history is set again", async () => {
    await history(page)
      .filter({ hasText: "12.5%" })
      .getByRole("button", { name: /^Set again: version 3 for 12.5%/ })
      .click();
    const dialog = page.getByRole("dialog", { name: "Move production" });
    await expect(dialog.getByLabel("Percent of the runs")).toHaveValue("12.5");
    await dialog.getByRole("button", { name: "Save label" }).click();
    await expect(dialog).toBeHidden();
    expect(await labelOf(id)).toMatchObject({ split: [{ version: 3 }, { version: 2 }], reason: "set" });
  });

  await test.step("it is deleted after a question", async () => {
    await pane(page).getByRole("button", { name: "More for production" }).click();
    await page.getByRole("menuitem", { name: "Delete label" }).click();
    await page.getByRole("alertdialog").getByRole("button", { name: "Delete label" }).click();
    await expect(page.getByRole("heading", { name: "No labels yet" })).toBeVisible();
    expect((await labelOf(id)).error.code).toBe("resource_not_found");
  });
});

test("a release that the server rolled back by itself looks so, in the list, at the label and in its history", async ({
  page,
}) => {
  const { id } = await makeAgent(2, [2]);
  await change("PUT", `/v1/agents/${id}/labels/production`, { version: 1 });
  await change("PUT", `/v1/agents/${id}/labels/production`, {
    version: 2,
    rollback_on: { failure_rate: 0.5, min_runs: 1 },
  });
  await openReleases(page, id);
  await expect(pane(page)).toContainText("Ended: 0 of 1 run.");
  await server.post("/v1/runs?wait=60", { agent_id: id, label: "production", input: "Hi." });
  await expect(pane(page)).toContainText("The server rolled this label back");
  await expect(pane(page)).toContainText("It held version 2 and holds version 1");
  await expect(page.getByRole("list", { name: "Labels" })).toContainText("Rolled back automatically");
  await expect(history(page).first()).toHaveText(/^Rolled back automaticallyVersion 1 current.*by its rule/);
  await expectAccessible(page, "rolled back by the server");
  await expectToFit(page, "rolled back by the server");
});

test("a move that another person made meanwhile is shown before it is replaced", async ({ page }) => {
  const { id } = await makeAgent(3);
  await change("PUT", `/v1/agents/${id}/labels/production`, { version: 1 });
  await openReleases(page, id);
  await pane(page).getByRole("button", { name: "Move to version 3" }).click();
  await change("PUT", `/v1/agents/${id}/labels/production`, { version: 2 });
  const dialog = page.getByRole("dialog", { name: "Move production" });
  await dialog.getByRole("button", { name: "Save label" }).click();
  await expect(dialog.getByRole("alert")).toContainText("The label was moved meanwhile");
  await expect(dialog.getByRole("alert")).toContainText("It holds version 2 now.");
  expect(await labelOf(id)).toMatchObject({ version: 2 });
  await expectAccessible(page, "moved meanwhile");
  await dialog.getByRole("button", { name: "Set mine all the same" }).click();
  await expect(dialog).toBeHidden();
  expect(await labelOf(id)).toMatchObject({ version: 3, revision: 3 });
});

test("a version gets a label from the list of versions, which shows the labels of each", async ({ page }) => {
  const { id } = await makeAgent(2);
  await change("PUT", `/v1/agents/${id}/labels/production`, { version: 1 });
  await page.goto(`${server.url}/dashboard/agents/${id}?tab=versions&version=2`);
  await expect(page.getByRole("button", { name: /^Version 1/ })).toContainText("production");
  await page.getByRole("button", { name: "Set label" }).click();
  const dialog = page.getByRole("dialog", { name: "Set a label" });
  await dialog.getByRole("combobox", { name: "Label" }).fill("production");
  await expect(dialog).toContainText("This label exists: it holds version 1 now.");
  await dialog.getByRole("button", { name: "Move label" }).click();
  await expect(page).toHaveURL(/tab=releases/);
  await expect(pane(page)).toContainText("100% of the runs, the newest version");
  expect(await labelOf(id)).toMatchObject({ version: 2, revision: 2 });
});

test("the playground tries a label or a version as it is, and says which version answered", async ({ page }) => {
  test.setTimeout(120_000);
  const { id } = await makeAgent(3);
  await change("PUT", `/v1/agents/${id}/labels/production`, { version: 1 });
  await page.goto(`${server.url}/dashboard/playground?agent=${id}`);
  const version = page.getByRole("combobox", { name: "Version", exact: true });
  const say = async (text: string) => {
    await page.getByRole("textbox", { name: /message/i }).fill(text);
    await page.keyboard.press("ControlOrMeta+Enter");
  };
  const answer = page.getByRole("article", { name: "Run" }).last();
  const code = page.getByRole("complementary", { name: "Code" });
  await expect(version).toHaveValue("");
  await version.selectOption({ label: "production (v1)" });
  await expect(page).toHaveURL(/choice=production/);
  await expect(code).toContainText('"label": "production"');
  await say("Who are you?");
  await expect(answer).toContainText("This is version 1.");
  await expect(answer).toContainText("production, version 1");
  await expectAccessible(page, "a label in the playground");
  await expectToFit(page, "a label in the playground");
  await version.selectOption("2");
  await expect(code).toContainText('"version": 2');
  await expect(answer).toContainText("This is version 1."); // The conversation goes on.
  await say("And now?");
  await expect(answer).toContainText("This is version 2.");
  await version.selectOption("");
  await expect(code).not.toContainText('"version"');
  await expect(answer).toContainText("This is version 2.");
  await say("And now?");
  await expect(answer).toContainText("This is version 3.");
  await page.goto(`${server.url}/dashboard/playground?agent=${id}&choice=staging`);
  await expect(page.getByRole("heading", { name: "No such label" })).toBeVisible();
  await page.getByRole("button", { name: "Try the newest version" }).click();
  await expect(version).toHaveValue("");
});

test("a schedule, an agent tool, a thread and a chat page choose a label, and keep it when they are edited", async ({
  page,
}) => {
  test.setTimeout(180_000);
  const { id, name } = await makeAgent(2);
  await change("PUT", `/v1/agents/${id}/labels/production`, { version: 1 });
  const choose = (label = "production (v1)") => page.getByLabel("Version", { exact: true }).selectOption({ label });

  await test.step("a schedule", async () => {
    await page.goto(`${server.url}/dashboard/schedules`);
    await page.getByRole("button", { name: "Create schedule" }).click();
    const dialog = page.getByRole("dialog", { name: "Create schedule" });
    await dialog.getByLabel("Name").fill("Digest");
    await dialog.getByLabel("Agent").selectOption({ label: name });
    await choose();
    await dialog.getByLabel("Input").fill("Write it.");
    await dialog.getByRole("button", { name: "Create schedule" }).click();
    await expect(dialog).toBeHidden();
    const [schedule] = (await server.get("/v1/schedules")).body.data;
    expect(schedule).toMatchObject({ agent_id: id, label: "production", version: null });
    await page.goto(`${server.url}/dashboard/schedules/${schedule.id}`);
    await page.getByRole("button", { name: /^More/ }).click();
    await page.getByRole("menuitem", { name: "Edit schedule" }).click();
    const edit = page.getByRole("dialog", { name: "Edit schedule" });
    await expect(edit.getByLabel("Version", { exact: true })).toHaveValue("@production");
    await edit.getByLabel("Input").fill("Write it well.");
    await edit.getByRole("button", { name: "Save schedule" }).click();
    await expect(edit).toBeHidden();
    expect((await server.get(`/v1/schedules/${schedule.id}`)).body).toMatchObject({ label: "production" });
  });

  await test.step("an agent tool", async () => {
    await page.goto(`${server.url}/dashboard/tools/new?type=agent`);
    await page.getByLabel("Name", { exact: true }).fill("ask_desk");
    await page.getByLabel("Agent to call").selectOption({ label: name });
    await choose();
    await page.getByRole("button", { name: "Create tool" }).click();
    await expect(page).toHaveURL(/\/tools\/tool_\w+$/);
    const path = `/v1/tools/${page.url().split("/").at(-1)}`;
    expect((await server.get(path)).body).toMatchObject({ agent_id: id, label: "production" });
    await choose("v2");
    await page.getByRole("button", { name: "Save tool" }).click();
    await expect(page.getByRole("button", { name: "Save tool" })).toBeHidden();
    expect((await server.get(path)).body).toMatchObject({ agent_id: id, label: null, version: 2 });
  });

  await test.step("a thread", async () => {
    const thread = (await server.post("/v1/threads", { title: "Refunds" })).body;
    await page.goto(`${server.url}/dashboard/threads/${thread.id}`);
    await page.getByLabel("Agent").selectOption({ label: name });
    await choose();
    await page.getByLabel("Message").fill("Who are you?");
    await page.getByRole("button", { name: "Send" }).click();
    await expect(page.getByText("This is version 1.")).toBeVisible();
  });

  await test.step("a chat page", async () => {
    await page.goto(`${server.url}/dashboard/agents/${id}?tab=chat`);
    await choose();
    await page.getByRole("button", { name: "Open a chat page" }).click();
    await expect(page.getByTestId("chat-page-url")).toBeVisible();
    await page.getByLabel("Title").fill("Ask us");
    await page.getByRole("button", { name: "Save chat page" }).click();
    const read = async () => (await server.get(`/v1/agents/${id}/chat_page`)).body;
    await expect.poll(async () => (await read()).title).toBe("Ask us");
    expect(await read()).toMatchObject({ label: "production" });
  });
});

test("the command menu opens the releases of the open agent, and lists few commands before a search", async ({
  page,
}) => {
  const { id } = await makeAgent(1);
  await page.goto(`${server.url}/dashboard/agents/${id}`);
  await expect(page.getByRole("tab", { name: "Releases" })).toBeVisible();
  await page.keyboard.press("ControlOrMeta+k");
  const palette = page.getByRole("dialog", { name: "Search or jump to" });
  await expect(palette.getByRole("option", { name: /^Overview/ })).toBeVisible();
  await expect(palette.getByRole("option", { name: /^Dark theme/ })).toHaveCount(0);
  await palette.getByRole("combobox").fill("password");
  await expect(palette.getByRole("option", { name: /^Account/ })).toBeVisible();
  await palette.getByRole("combobox").fill("rollback");
  await palette.getByRole("option", { name: /^Releases/ }).click();
  await expect(page).toHaveURL(/tab=releases/);
  await expect(page.getByRole("heading", { name: "No labels yet" })).toBeVisible();
});

test("a viewer sees labels, numbers and history, and is offered no change of them", async ({ browser, page }) => {
  const { id } = await makeAgent(2);
  for (const version of [1, 2]) await change("PUT", `/v1/agents/${id}/labels/production`, { version });
  const context = await browser.newContext({ ignoreHTTPSErrors: true });
  const guest = await context.newPage();
  const faults = recordFaults(guest);
  await page.goto(`${server.url}/dashboard`);
  await joinAs("viewer", { owner: page, guest });
  await openReleases(guest, id);
  await expect(history(guest)).toHaveCount(2);
  await expect(guest.getByRole("table", { name: "Numbers of production" })).toBeVisible();
  for (const name of [/^Move/, /^Roll back/, /^Set/, /^More for/, /^Create/])
    await expect(guest.getByRole("main").getByRole("button", { name })).toHaveCount(0);
  await guest.keyboard.press("c");
  await expect(guest.getByRole("dialog")).toHaveCount(0);
  expect(faults).toEqual([]);
  await context.close();
});
