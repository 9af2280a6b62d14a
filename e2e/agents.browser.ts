import { type Page, expect as plain, test } from "@playwright/test";
import { stubConnection } from "./fixtures.ts";
import { type Runnel, startRunnel } from "./harness.ts";
import {
  expectAccessible,
  expectToFit,
  fieldContent,
  recordFaults,
  setUpAccount,
  switchToJson,
} from "./page-checks.ts";

/** Sandboxed code and models run in their own processes, which start late on a busy machine. */
const expect = plain.configure({ timeout: 30_000 });

// Agents in the compiled executable: created, changed and restored in a real browser.
let server: Runnel;
test.beforeAll(async () => {
  server = await startRunnel();
});
test.afterAll(() => server[Symbol.asyncDispose]());
test.use({ viewport: { width: 1440, height: 900 }, permissions: ["clipboard-read", "clipboard-write"] });

test("an agent is created, changed while another person edits it, compared, restored and deleted", async ({ page }) => {
  test.setTimeout(600_000); // axe checks many states in two themes.
  const complaints = recordFaults(page);
  await setUpAccount(page, server);
  let id = "";

  await test.step("without agents the page explains them, and c creates the first", async () => {
    await page.getByRole("link", { name: "Agents", exact: true }).click();
    await expect(page).toHaveURL(/\/agents$/);
    await expect(page.getByRole("heading", { name: "No agents yet" })).toBeVisible();
    await expectAccessible(page, "no agents");
    await page.keyboard.press("c");
    await expect(page).toHaveURL(/\/agents\/new$/);
  });

  await test.step("a missing value is reported at its field, and a known model is picked from the list", async () => {
    await server.post("/v1/tools", { name: "lookup_order", type: "client", description: "Finds an order." });
    await server.post("/v1/memory", { name: "Manuals", kind: "vector" });
    await page.reload();
    await page.getByRole("button", { name: "Create agent" }).click();
    await expect(page.getByLabel("Name", { exact: true })).toBeFocused();
    await expect(page.getByLabel("Name", { exact: true })).toHaveAccessibleDescription("Enter a name.");
    await page.getByLabel("Name", { exact: true }).fill("Refund desk");
    await page.getByLabel("Instructions").fill("Be kind and short.\nNever promise a date.");
    const model = page.getByRole("combobox", { name: "Model", exact: true });
    await model.fill("test/");
    await expect(page.getByRole("option", { name: "test/echo" })).toBeVisible();
    await expectAccessible(page, "model list");
    await page.getByRole("option", { name: "test/echo" }).click();
    await expect(model).toHaveValue("test/echo");
    await page.getByRole("checkbox", { name: /lookup_order/ }).check();
    await page.getByRole("checkbox", { name: /Manuals/ }).check();
    await switchToJson(page, "Memory");
    await expect
      .poll(() => fieldContent(page.getByRole("textbox", { name: "Memory policy" })))
      .toMatch(/"memory_id": "mem_/);
    await page.getByRole("radiogroup", { name: "Memory as" }).getByText("Fields", { exact: true }).click();
    await expectAccessible(page, "new agent");
    await expectToFit(page, "new agent");
  });

  await test.step("an invalid guardrail is refused at its field; one added from the menu is accepted", async () => {
    await switchToJson(page, "Guardrails");
    const guardrails = page.getByRole("textbox", { name: "Guardrails" });
    await guardrails.fill('[{"type": "regex", "on": ["output"], "action": "block", "config": {"pattern": "("}}]');
    await page.getByRole("button", { name: "Create agent" }).click();
    await expect(guardrails).toHaveAttribute("aria-invalid", "true");
    await expect(guardrails).toBeFocused();
    await guardrails.fill("");
    await page.getByRole("button", { name: "Add a guardrail" }).click();
    await page.getByRole("menuitem", { name: "Personal data" }).click();
    await expect.poll(() => fieldContent(guardrails)).toMatch(/"pii"/);
    await page.getByText("Show code").click();
    await expect(page.getByRole("region", { name: "curl code" })).toContainText("/v1/agents");
    await page.keyboard.press("Control+Enter");
    await expect(page).toHaveURL(/\/agents\/agt_\w+$/);
    id = page.url().split("/").at(-1) ?? "";
    expect((await server.get(`/v1/agents/${id}`)).body).toMatchObject({
      name: "Refund desk",
      model: "test/echo",
      tools: [{ name: "lookup_order" }],
      guardrails: [{ type: "pii" }],
    });
  });

  await test.step("a change creates a new version, and only the changed fields are sent", async () => {
    await expect(page.getByRole("heading", { name: "Refund desk" })).toBeVisible();
    await page.getByLabel("Instructions").fill("Be kind and brief.\nNever promise a date.");
    await expect(page.getByText("Changed: instructions")).toBeVisible();
    await expectAccessible(page, "changed agent");
    await page.keyboard.press("Control+Enter");
    await expect(page.getByText("Refund desk is at version 2")).toBeVisible();
    await expect(page.getByRole("button", { name: /Save as version/ })).toBeHidden();
  });

  await test.step("a change that another person saved meanwhile is shown before the save", async () => {
    await page.getByLabel("Description", { exact: true }).fill("Answers about refunds");
    await server.fetch(`/v1/agents/${id}`, { method: "PATCH", body: JSON.stringify({ model: "test/refusal" }) });
    await page.getByRole("button", { name: "Save as version 3" }).click();
    const alert = page.getByRole("alert").filter({ hasText: "Someone saved version 3 meanwhile" });
    await expect(alert).toContainText("They changed: model. You changed: description.");
    await expectAccessible(page, "conflict");
    await alert.getByRole("button", { name: "Save mine as version 4" }).click();
    await expect(page.getByText("Refund desk is at version 4")).toBeVisible();
    await expect(page.getByRole("combobox", { name: "Model", exact: true })).toHaveValue("test/refusal");
  });

  await test.step("versions are compared word by word, and an older one is restored as a new one", async () => {
    await page.getByRole("tab", { name: "Versions" }).click();
    await page.getByRole("button", { name: /^Version 2/ }).click();
    const changed = page.getByRole("region", { name: "What changed" });
    await expect(changed.locator("del")).toHaveText("short");
    await expect(changed.locator("ins")).toHaveText("brief");
    await expect(page).toHaveURL(/version=2/);
    await expectAccessible(page, "versions");
    await expectToFit(page, "versions");
    await page.setViewportSize({ width: 390, height: 800 }); // A phone shows one of the two panes.
    await expect(page.getByRole("list", { name: "Versions" })).toBeHidden();
    await page.getByRole("button", { name: "All versions" }).click();
    await expect(changed).toBeHidden();
    await expect(page.getByRole("button", { name: /^Version 2/ })).toBeFocused();
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.getByRole("button", { name: /^Version 1/ }).click();
    await changed.getByRole("button", { name: "Restore version 1" }).click();
    const dialog = page.getByRole("alertdialog", { name: "Restore version 1" });
    await expect(dialog).toContainText("Version 5 is saved");
    await expect(dialog.getByRole("button", { name: "Cancel" })).toBeFocused();
    await expectAccessible(page, "restore");
    await dialog.getByRole("button", { name: "Restore version 1" }).click();
    await expect(page.getByRole("button", { name: /^Version 5/ })).toContainText("current");
    expect((await server.get(`/v1/agents/${id}`)).body).toMatchObject({
      version: 5,
      model: "test/echo",
      instructions: "Be kind and short.\nNever promise a date.",
    });
  });

  await test.step("the agent's runs stand on their own tab, with a link to all of them", async () => {
    await server.post("/v1/runs?wait=60", { agent_id: id, input: "Where is order 4711?" });
    await page.getByRole("tab", { name: "Runs" }).click();
    await expect(page.getByRole("row").filter({ hasText: "Where is order 4711?" })).toContainText("Completed");
    await expectAccessible(page, "runs of the agent");
    await expectToFit(page, "runs of the agent");
    await page.getByRole("link", { name: "All runs of this agent" }).click();
    await expect(page).toHaveURL(new RegExp(`/runs\\?agent=${id}`));
  });

  await test.step("the agent gets a chat page, another link, other limits, and the page is closed", async () => {
    await page.goto(`${server.url}/dashboard/agents/${id}?tab=chat`);
    await page.getByLabel("Runs per day, per visitor").fill("none");
    await page.getByRole("button", { name: "Open a chat page" }).click();
    await expect(page.getByLabel("Runs per day, per visitor")).toHaveAccessibleDescription(/a whole number/);
    await page.getByLabel("Runs per day, per visitor").fill("20");
    await page.getByLabel("Title").fill("Ask about refunds");
    await expectAccessible(page, "new chat page");
    await page.getByRole("button", { name: "Open a chat page" }).click();
    const link = page.getByTestId("chat-page-url");
    await expect(link).toContainText(`/chat/${id}#`);
    await expectAccessible(page, "chat page of the agent");
    await expectToFit(page, "chat page of the agent");
    const first = await link.textContent();
    expect((await server.get(`/v1/agents/${id}/chat_page`)).body).toMatchObject({
      url: first,
      title: "Ask about refunds",
      access: "link",
      visitor_limits: { runs_per_minute: 6, runs_per_day: 20 },
    });
    await page.getByRole("button", { name: "New link" }).click();
    await page.getByRole("alertdialog").getByRole("button", { name: "Replace the link" }).click();
    await expect(link).not.toHaveText(first!);
    await page.getByText("Members", { exact: true }).click();
    await page.getByRole("button", { name: "Save chat page" }).click();
    await expect(link).toHaveText(new RegExp(`/chat/${id}$`));
    await page.getByRole("button", { name: "Close the page" }).click();
    await page.getByRole("alertdialog").getByRole("button", { name: "Close the page" }).click();
    await expect(page.getByRole("button", { name: "Open a chat page" })).toBeVisible();
    expect((await server.get(`/v1/agents/${id}/chat_page`)).status).toBe(404);
  });

  await test.step("protocols are switched on and off by their checkboxes", async () => {
    await page.getByRole("tab", { name: "Definition" }).click();
    const door = page.getByRole("checkbox", { name: /^MCP/ });
    for (const isOpen of [true, false]) {
      const { version } = (await server.get(`/v1/agents/${id}`)).body;
      await door.setChecked(isOpen);
      await page.getByRole("button", { name: `Save as version ${version + 1}` }).click();
      await expect.poll(async () => (await server.get(`/v1/agents/${id}`)).body.doors.mcp).toBe(isOpen);
    }
  });

  await test.step("the agent learns facts of its users once a checkbox of its own store is set", async () => {
    const store = (await server.post("/v1/memory", { name: "Facts", kind: "vector", scope: "user" })).body;
    await page.reload();
    await page.getByRole("radiogroup", { name: "Memory as" }).getByText("Fields", { exact: true }).click();
    await page.getByRole("checkbox", { name: /^Facts/ }).check();
    const learns = page.getByRole("checkbox", { name: "Learn facts about the user" });
    await expect(learns).not.toBeChecked();
    await learns.check();
    await expectAccessible(page, "learn facts");
    await expectToFit(page, "learn facts");
    const { version } = (await server.get(`/v1/agents/${id}`)).body;
    await page.getByRole("button", { name: `Save as version ${version + 1}` }).click();
    const stores = async () => (await server.get(`/v1/agents/${id}`)).body.memory?.stores;
    await expect.poll(stores).toContainEqual(expect.objectContaining({ memory_id: store.id, learn: true }));
  });

  await test.step("the list is searched by name, used by keyboard, and holds long names", async () => {
    const long = {
      name: `Deployment ${"assistant ".repeat(11)}`.trim(),
      instructions: "Be brief.",
      model: "test/echo",
    };
    await server.post("/v1/agents", { ...long, description: "Ships. ".repeat(60).trim() });
    await page.goto(`${server.url}/dashboard/agents`);
    await expect(page.getByRole("row")).toHaveCount(3);
    await expectAccessible(page, "agents");
    await expectToFit(page, "agents");
    await page.keyboard.press("/");
    await page.keyboard.type("refund");
    await expect(page.getByRole("row")).toHaveCount(2);
    await expect(page).toHaveURL(/q=refund/);
    await page.getByLabel("Search agents by name").fill("nobody");
    await expect(page.getByRole("heading", { name: "No results" })).toBeVisible();
    await expectAccessible(page, "no agent found");
    await page.getByRole("button", { name: "Clear search" }).click();
    await page.getByRole("heading", { name: "Agents", exact: true }).click();
    await page.keyboard.press("j");
    await page.keyboard.press("j");
    await page.keyboard.press("Enter");
    await expect(page).toHaveURL(new RegExp(`/agents/${id}$`));
  });

  await test.step("the delete dialog names the effect", async () => {
    await page.getByRole("button", { name: "More actions" }).click();
    await page.getByRole("menuitem", { name: "Delete agent" }).click();
    const dialog = page.getByRole("alertdialog", { name: "Delete Refund desk" });
    await expect(dialog).toContainText("Deletes all of its 8 versions");
    await expect(dialog).toContainText("Its run is kept");
    await expectAccessible(page, "delete agent");
    await dialog.getByRole("button", { name: "Delete agent" }).click();
    await expect(page).toHaveURL(/\/agents$/);
    await expect(page.getByRole("row")).toHaveCount(2);
  });

  await test.step("runs of a deleted agent keep its last name, marked as deleted", async () => {
    await page.getByRole("link", { name: "Runs", exact: true }).click();
    const run = page.getByRole("link", { name: /^Refund desk \(deleted\) · / });
    await expect(run).toBeVisible();
    await run.click();
    await expect(page.getByRole("heading", { name: "Refund desk (deleted)" })).toBeVisible();
    await page.goto(`${server.url}/dashboard/overview`);
    await expect(page.getByRole("link", { name: "Refund desk (deleted)" })).toBeVisible();
    await page.goto(`${server.url}/dashboard/runs?agent=${id}`);
    await expect(page.getByRole("button", { name: "Agent: Refund desk (deleted)" })).toBeVisible();
  });

  await test.step("an unknown agent id gets a message with a link back", async () => {
    await page.goto(`${server.url}/dashboard/agents/${id}`);
    await expect(page.getByRole("heading", { name: "No such agent" })).toBeVisible();
    await expectAccessible(page, "no such agent");
    await expectNoComplaints(page, complaints);
  });
});

async function expectNoComplaints(page: Page, complaints: readonly string[]): Promise<void> {
  await expect(page.getByRole("main")).toBeVisible();
  expect(complaints).toEqual([]);
}

test("an agent is copied to live with its tools, duplicated, and imported from its file", async ({ page }) => {
  // No test model, because test models serve test keys only. This model is never called.
  await using server = await startRunnel({ environment: stubConnection("http://127.0.0.1:9/v1") });
  const complaints = recordFaults(page);
  await setUpAccount(page, server);
  await server.put("/v1/secrets/PARCEL_KEY", { value: "secret value" });
  const tool = await server.post("/v1/tools", {
    name: "find_parcel",
    type: "http",
    description: "Finds a parcel.",
    url: "https://parcels.example/find",
    headers: { authorization: "Bearer {{secret.PARCEL_KEY}}" },
  });
  const agent = await server.post("/v1/agents", {
    name: "Parcel desk",
    instructions: "Find parcels.",
    model: "openai_compatible/stub/words",
    tools: [tool.body.id],
  });
  const act = async (name: string) => {
    await page.getByRole("button", { name: "More actions" }).click();
    await page.getByRole("menuitem", { name }).click();
  };
  await page.goto(`${server.url}/dashboard/agents/${agent.body.id}`);

  await test.step("the copy dialog first shows the new resources and the headers that are not copied", async () => {
    await act("Copy to live…");
    const dialog = page.getByRole("dialog", { name: "Copy Parcel desk" });
    await expect(dialog.getByRole("listitem")).toHaveText([/Agent\s*Parcel desk\s*new/, /Tool\s*find_parcel\s*new/]);
    await expect(dialog).toContainText(
      "Values of headers are not copied. Set them afterwards: find_parcel: authorization",
    );
    await expectAccessible(page, "copy to live");
    await dialog.getByRole("button", { name: "Copy", exact: true }).click();
    await expect(page).toHaveURL(/\/live\/agents\/agt_/);
    await expect(page.getByRole("heading", { name: "Parcel desk" })).toBeVisible();
    await expect(page.locator("html")).toHaveAttribute("data-mode", "live");
  });

  await test.step("a second copy changes only what differs, as a new version", async () => {
    await server.patch(`/v1/agents/${agent.body.id}`, { instructions: "Find parcels, fast." });
    await page.goto(page.url().replace(/\/live\/agents\/.*/, `/test/agents/${agent.body.id}`));
    await act("Copy to live…");
    const dialog = page.getByRole("dialog", { name: "Copy Parcel desk" });
    await expect(dialog.getByRole("listitem")).toHaveText([/differs in instructions/, /the same/]);
    await dialog.getByRole("button", { name: "Copy", exact: true }).click();
    await expect(page).toHaveURL(/\/live\/agents\/agt_/);
    await expect(page.getByText("v2", { exact: true })).toBeVisible();
  });

  await test.step("a duplicate has its own name", async () => {
    await page.goto(page.url().replace(/\/live\/agents\/.*/, `/test/agents/${agent.body.id}`));
    await act("Duplicate");
    await expect(page.getByRole("heading", { name: "Parcel desk copy" })).toBeVisible();
  });

  await test.step("importing an exported file creates the agent again", async () => {
    const [download] = await Promise.all([page.waitForEvent("download"), act("Export")]);
    const file = await download.path();
    await server.delete(`/v1/agents/${/agt_\w+/.exec(page.url())![0]}`);
    await page.getByRole("link", { name: "Agents", exact: true }).first().click();
    await page.getByLabel("Exported file").setInputFiles(file);
    const dialog = page.getByRole("dialog", { name: "Import Parcel desk copy" });
    await expect(dialog.getByRole("listitem")).toHaveText([/Parcel desk copy\s*new/, /find_parcel\s*the same/]);
    await dialog.getByRole("button", { name: "Import" }).click();
    await expect(page.getByRole("heading", { name: "Parcel desk copy" })).toBeVisible();
  });
  expect(complaints).toEqual([]);
});
