import { type Page, expect as plain, test } from "@playwright/test";
import { type Runnel, startRunnel } from "./harness.ts";
import { expectAccessible, expectToFit, recordFaults, setUpAccount } from "./page-checks.ts";

/** Documents are read and embedded by their own processes, which start late on a busy machine. */
const expect = plain.configure({ timeout: 30_000 });

// Memory in the compiled executable: stores, their content and their searches, in a real browser.
let server: Runnel;
test.beforeAll(async () => {
  server = await startRunnel();
});
test.afterAll(() => server[Symbol.asyncDispose]());
test.use({ viewport: { width: 1440, height: 900 } });

test("a store of passages is created, filled, searched, reconfigured and deleted", async ({ page }) => {
  test.setTimeout(600_000); // axe checks many states in two themes.
  const complaints = recordFaults(page);
  await setUpAccount(page, server);

  await test.step("without stores the page explains them, and c creates the first", async () => {
    await page.goto(`${server.url}/dashboard/memory`);
    await expect(page.getByRole("heading", { name: "No memory stores yet" })).toBeVisible();
    await expectAccessible(page, "no stores");
    await page.keyboard.press("c");
    const dialog = page.getByRole("dialog", { name: "Create store" });
    await expect(dialog.getByLabel("Name")).toBeFocused();
    await page.keyboard.press("Control+Enter");
    await expect(dialog.getByLabel("Name")).toHaveAccessibleDescription("Enter a name.");
    await dialog.getByLabel("Name").fill("Manuals");
    await expectAccessible(page, "create store");
    await expectToFit(page, "create store");
  });

  await test.step("an unreachable embedding model is refused at its field", async () => {
    const dialog = page.getByRole("dialog", { name: "Create store" });
    await dialog.getByRole("combobox", { name: "Embedding model" }).fill("openai/text-embedding-3-small");
    await page.keyboard.press("Control+Enter");
    await expect(dialog.getByRole("combobox", { name: "Embedding model" })).toHaveAttribute("aria-invalid", "true");
    await dialog.getByRole("combobox", { name: "Embedding model" }).fill("builtin/use-lite-512");
    await page.keyboard.press("Control+Enter");
    await expect(page).toHaveURL(/\/memory\/mem_\w+$/);
  });

  await test.step("texts are added with metadata, and appear in the list once a search finds them", async () => {
    await expect(page.getByRole("heading", { name: "No entries yet" })).toBeVisible();
    for (const [text, metadata] of [
      ["Pour vinegar into the tank once a month to remove limescale.", '{"year": 2026, "part": "tank"}'],
      ["The warranty covers repairs during the first year.", '{"year": 2024}'],
    ] as const) {
      await page.getByRole("button", { name: "Add entry" }).click();
      const dialog = page.getByRole("dialog", { name: "Add entry" });
      await dialog.getByRole("textbox", { name: "Text" }).fill(text);
      await dialog.getByLabel("Metadata").fill(metadata);
      if (text.startsWith("Pour")) await expectAccessible(page, "add entry");
      await page.keyboard.press("Control+Enter");
      await expect(row(page, text)).toContainText("Ready");
    }
    await server.post(`/v1/memory/${idOf(page)}/entries`, { text: "verylongwordwithoutanybreak".repeat(40) });
    await page.reload();
    await expect(page.getByRole("row")).toHaveCount(4);
    await expectAccessible(page, "entries");
    await expectToFit(page, "entries");
  });

  await test.step("a search shows its matches with their scores and sources", async () => {
    await page.getByRole("tab", { name: "Search" }).click();
    await page.getByLabel("Query").fill("How do I get rid of limescale?");
    await page.keyboard.press("Enter");
    const found = page.getByRole("region", { name: "Passages found" });
    await expect(found.getByRole("listitem").first()).toContainText("Pour vinegar");
    await expect(found.getByRole("listitem").first()).toContainText(/semantic 0\.\d{3} · keyword 0\.\d{3}/);
    await expect(page).toHaveURL(/q=How/);
    await expectAccessible(page, "search");
    await expectToFit(page, "search");
    await page.getByText("Filter by metadata").click();
    await page.getByLabel("Filter", { exact: true }).fill('{"year": {"$lt": 2025}}');
    await page.getByRole("button", { name: "Search", exact: true }).click();
    await expect(found.getByRole("listitem")).toHaveCount(1);
    await expect(found).toContainText("The warranty");
    await page.reload();
    await expect(found).toContainText("The warranty");
    await page.getByLabel("Filter", { exact: true }).fill('{"year": {"$near": 1}}');
    await page.getByRole("button", { name: "Search", exact: true }).click();
    await expect(page.getByRole("alert").filter({ hasText: "The search failed" })).toContainText("$near");
    await expectAccessible(page, "search failed");
  });

  await test.step("settings show the embedding; an invalid change is refused at its field", async () => {
    await page.getByRole("tab", { name: "Settings" }).click();
    await page.getByLabel("Expires after, seconds").fill("2592000");
    await expect(page.getByLabel("Expires after, seconds")).toHaveAccessibleDescription(/30 days/);
    await page.getByRole("button", { name: "Save store" }).click();
    await expect(page.getByText("Store saved")).toBeVisible();
    await page.getByRole("combobox", { name: "Embedding model" }).fill("openai/text-embedding-3-small");
    await page.getByRole("button", { name: "Change embedding" }).click();
    await expect(page.getByRole("combobox", { name: "Embedding model" })).toHaveAttribute("aria-invalid", "true");
    await expectAccessible(page, "store settings");
    await expectToFit(page, "store settings");
  });

  await test.step("the dialogs to delete an entry and the store name what is lost", async () => {
    await page.getByRole("tab", { name: "Entries" }).click();
    const question = page.getByRole("alertdialog", { name: "Leave without saving?" });
    await question.getByRole("button", { name: "Leave", exact: true }).click(); // The other embedding is not saved.
    await page.getByRole("button", { name: /^Delete The warranty/ }).click();
    await page.getByRole("alertdialog").getByRole("button", { name: "Delete entry" }).click();
    await expect(row(page, "The warranty")).toBeHidden();
    await page.getByRole("tab", { name: "Settings" }).click();
    await page.getByRole("button", { name: "Delete store" }).click();
    const dialog = page.getByRole("alertdialog", { name: "Delete Manuals" });
    await expect(dialog).toContainText("2 entries");
    await expectAccessible(page, "delete store");
    await dialog.getByRole("button", { name: "Delete store" }).click();
    await expect(page.getByRole("heading", { name: "No memory stores yet" })).toBeVisible();
    expect(complaints).toEqual([]);
  });

  await test.step("a fact is shown with its run, corrected in place and deleted", async () => {
    const { id } = (await server.post("/v1/memory", { name: "Facts", kind: "vector", scope: "user" })).body;
    const run_id = "run_01k6w3v5r8d2f9h1j4m7n00002";
    const fact = { text: "Ada drinks coffee.", scope_id: "ada", metadata: { run_id } };
    await server.post(`/v1/memory/${id}/entries`, fact);
    await server.post(`/v1/memory/${id}/entries`, { text: "Bo has a dog.", scope_id: "bo" });
    await page.goto(`${server.url}/dashboard/memory/${id}`);
    await page.getByLabel("User").fill("ada");
    await page.keyboard.press("Enter");
    await expect(page.getByRole("row")).toHaveCount(2);
    const link = row(page, "Ada drinks coffee.").getByRole("link", { name: "Learned from a run" });
    await expect(link).toHaveAttribute("href", new RegExp(`/runs/${run_id}$`));
    await expectAccessible(page, "facts");
    await expectToFit(page, "facts");
    await page.getByRole("button", { name: "Edit Ada drinks coffee." }).click();
    const dialog = page.getByRole("dialog", { name: "Edit entry" });
    await dialog.getByRole("textbox", { name: "Text" }).fill("Ada drinks tea.");
    await expectAccessible(page, "edit entry");
    await expectToFit(page, "edit entry");
    await page.keyboard.press("Control+Enter");
    await expect(row(page, "Ada drinks tea.")).toContainText("Ready");
    await expect(row(page, "Ada drinks tea.").getByRole("link", { name: "Learned from a run" })).toBeVisible();
    const { data } = (await server.post(`/v1/memory/${id}/search`, { query: "tea", scope_id: "ada" })).body;
    expect(data).toMatchObject([{ text: "Ada drinks tea.", metadata: { run_id } }]);
    await page.getByRole("button", { name: "Delete Ada drinks tea." }).click();
    await page.getByRole("alertdialog").getByRole("button", { name: "Delete entry" }).click();
    await expect(row(page, "Ada drinks tea.")).toBeHidden();
    await server.fetch(`/v1/memory/${id}`, { method: "DELETE" });
    await page.goto(`${server.url}/dashboard/memory`);
  });

  await test.step("a key is written over the version that was read, and never over an unseen one", async () => {
    const { id } = (await server.post("/v1/memory", { name: "Scratchpad", kind: "kv", scope: "user" })).body;
    await page.reload();
    await page.getByRole("link", { name: "Scratchpad" }).click();
    await expect(page.getByRole("heading", { name: "Enter a user id" })).toBeVisible();
    await page.getByLabel("User").fill("ann");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Set key" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Key", { exact: true }).fill("plan/next step");
    await dialog.getByLabel("Value").fill('{"call": "back"}');
    await expectAccessible(page, "set key");
    await page.keyboard.press("Control+Enter");
    await expect(row(page, "plan/next step")).toContainText('{"call":"back"}');
    await expectAccessible(page, "keys");
    await expectToFit(page, "keys");

    await page.getByRole("button", { name: "plan/next step", exact: true }).click();
    await dialog.getByLabel("Value").fill('"mine"');
    const path = `/v1/memory/${id}/keys/${encodeURIComponent("plan/next step")}?scope_id=ann`;
    await server.fetch(path, { method: "PUT", body: JSON.stringify({ value: { by: "somebody else" } }) });
    await page.keyboard.press("Control+Enter");
    const conflict = dialog.getByRole("alert").filter({ hasText: "Someone saved version 2 meanwhile" });
    await expect(conflict).toContainText("somebody else");
    await expectAccessible(page, "key conflict");
    await conflict.getByRole("button", { name: "Keep mine, overwrite version 2" }).click();
    await expect(row(page, "plan/next step")).toContainText("v3");
    await expect(row(page, "plan/next step")).toContainText('"mine"');
  });

  await test.step("keys are searched by prefix, and a key is deleted at its version", async () => {
    await page.getByLabel("Search keys by prefix").fill("nothing");
    await expect(page.getByRole("heading", { name: "No results" })).toBeVisible();
    await page.getByLabel("Search keys by prefix").fill("plan");
    await page.getByRole("button", { name: "Delete plan/next step" }).click();
    await page.getByRole("alertdialog").getByRole("button", { name: "Delete key" }).click();
    await expect(row(page, "plan/next step")).toBeHidden();
    await page.goto(`${server.url}/dashboard/memory`);
    await expect(row(page, "Scratchpad")).toContainText("Each user");
    await expectAccessible(page, "stores");
    await expectToFit(page, "stores");
    expect(complaints).toEqual([]);
  });
});

const row = (page: Page, text: string) => page.getByRole("row").filter({ hasText: text });

const idOf = (page: Page): string => new URL(page.url()).pathname.split("/").at(-1) ?? "";
