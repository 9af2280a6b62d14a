import { readFileSync } from "node:fs";
import { type Page, expect as plain, test } from "@playwright/test";
import { type Runnel, startRunnel } from "./harness.ts";
import { expectAccessible, expectToFit, recordFaults, setUpAccount } from "./page-checks.ts";

/** Documents are read and embedded by their own processes, which start late on a busy machine. */
const expect = plain.configure({ timeout: 30_000 });

// Files in the compiled executable: uploaded, followed, downloaded and deleted in a real browser.
let server: Runnel;
test.beforeAll(async () => {
  server = await startRunnel();
});
test.afterAll(() => server[Symbol.asyncDispose]());
test.use({ viewport: { width: 1440, height: 900 } });

const manual = "# Descaling\n\nPour vinegar into the tank once a month.\n";

test("files are uploaded by picker and by drop, read, retried, downloaded and deleted", async ({ page }) => {
  test.setTimeout(600_000); // axe checks many states in two themes.
  const complaints = recordFaults(page);
  await setUpAccount(page, server);
  await server.post("/v1/memory", { name: "Manuals", kind: "vector" });

  await test.step("without files the page explains them, and c opens the upload", async () => {
    await page.goto(`${server.url}/dashboard/files`);
    await expect(page.getByRole("heading", { name: "No files yet" })).toBeVisible();
    await expectAccessible(page, "no files");
    await page.keyboard.press("c");
    const dialog = page.getByRole("dialog", { name: "Upload files" });
    await dialog.getByRole("button", { name: "Upload file", exact: true }).click();
    await expect(dialog.getByRole("alert")).toHaveText("Choose at least one file.");
  });

  await test.step("several files are chosen, added to a store, and each is ready once a search finds it", async () => {
    const dialog = page.getByRole("dialog", { name: "Upload files" });
    await dialog.getByLabel("Files", { exact: true }).setInputFiles([
      { name: "manual.md", mimeType: "text/markdown", buffer: Buffer.from(manual) },
      {
        name: `${"a very long name of a report ".repeat(6).trim()}.txt`,
        mimeType: "text/plain",
        buffer: Buffer.from("x"),
      },
    ]);
    await dialog.getByLabel("Memory store", { exact: true }).selectOption({ label: "Manuals" });
    await expectAccessible(page, "upload");
    await expectToFit(page, "upload");
    await page.keyboard.press("Control+Enter");
    await expect(row(page, "manual.md")).toContainText("Ready");
    await expect(row(page, "manual.md")).toContainText("Manuals");
    await expect(row(page, "a very long name")).toContainText("Ready");
  });

  await test.step("a document is shown beside its chunks, and a chosen chunk in its place", async () => {
    await page.getByRole("link", { name: "manual.md" }).click();
    await expect(page).toHaveURL(/\/files\/file_\w+$/);
    await expect(page.getByRole("region", { name: "Document" })).toContainText("Pour vinegar into the tank");
    const chunk = page.getByRole("region", { name: "Chunks" }).getByRole("button", { name: /^Chunk 1/ });
    await chunk.click();
    await expect(chunk).toHaveAttribute("aria-pressed", "true");
    await expect(page).toHaveURL(/chunk=0/);
    await expectAccessible(page, "document");
    await expectToFit(page, "document");
    await page.getByRole("link", { name: "Files", exact: true }).first().click();
  });

  await test.step("the chunks of a PDF are outlined on its page, where they can be chosen too", async () => {
    const { id } = (
      await server.post("/v1/files", {
        filename: "paper.pdf",
        purpose: "retrieval",
        content_base64: readFileSync("server/docs/files/manual.pdf", "base64"),
      })
    ).body;
    await expect.poll(async () => (await server.get(`/v1/files/${id}`)).body.status).toBe("ready");
    await page.goto(`${server.url}/dashboard/files/${id}`);
    const picture = page.getByRole("img", { name: "Page 1 of paper.pdf" });
    await expect.poll(() => picture.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBeGreaterThan(500);
    await expectAccessible(page, "page");
    await expectToFit(page, "page");
    const outline = page.getByRole("img", { name: "Chunks on page 1" });
    const [shown, over] = [await picture.boundingBox(), await outline.boundingBox()];
    expect([over!.width, over!.height].map(Math.round)).toEqual([shown!.width, shown!.height].map(Math.round));
    await outline.locator("rect").first().click();
    await expect(page).toHaveURL(/chunk=0/);
    await expect(page.getByRole("button", { name: /^Chunk 1\b/ })).toHaveAttribute("aria-pressed", "true");
    await expectAccessible(page, "document with pages");
    await expectToFit(page, "document with pages");
    await server.delete(`/v1/files/${id}`);
    await page.goto(`${server.url}/dashboard/files`);
  });

  await test.step("a file that is no document fails with a reason in words, and can be retried", async () => {
    await drop(page, "broken.pdf", "%PDF-1.7 and nothing of a PDF", "application/pdf");
    const dialog = page.getByRole("dialog", { name: "Upload files" });
    await expect(dialog.getByRole("list", { name: "Chosen files" })).toContainText("broken.pdf");
    await dialog.getByRole("button", { name: "Upload file", exact: true }).click();
    await expect(row(page, "broken.pdf")).toContainText("Failed");
    await expect(row(page, "broken.pdf")).toContainText("The content does not match the file type.");
    await expect(row(page, "broken.pdf")).toContainText("document_unreadable");
    await expectAccessible(page, "files");
    await expectToFit(page, "files");
    await page.getByRole("button", { name: "Retry: broken.pdf" }).click();
    await expect(page.getByText("Retrying")).toBeVisible();
    await expect(row(page, "broken.pdf")).toContainText("Failed");
  });

  await test.step("an upload that the server refuses shows its reason beside the file, with a retry", async () => {
    await drop(page, "picture.bin", "\u0000\u0001\u0002 no text", "application/octet-stream");
    const dialog = page.getByRole("dialog", { name: "Upload files" });
    await dialog.getByRole("button", { name: "Upload file", exact: true }).click();
    const uploads = page.getByRole("list", { name: "Uploads" });
    await expect(uploads.getByRole("alert")).toContainText("unsupported_file_type");
    await expectAccessible(page, "refused upload");
    await expectToFit(page, "refused upload");
    await uploads.getByRole("button", { name: "Dismiss picture.bin" }).click();
    await expect(uploads).toBeHidden();
  });

  await test.step("leaving chosen files or an unfinished upload requires a confirmation", async () => {
    const question = page.getByRole("alertdialog", { name: "Leave without saving?" });
    await drop(page, "late.md", manual, "text/markdown");
    const dialog = page.getByRole("dialog", { name: "Upload files" });
    await expect(dialog.getByRole("list", { name: "Chosen files" })).toContainText("late.md");
    await page.keyboard.press("Escape");
    await question.getByRole("button", { name: "Keep editing" }).click();
    await page.route("**/files", () => {}); // The upload never finishes.
    await dialog.getByRole("button", { name: "Upload file", exact: true }).click();
    const uploads = page.getByRole("list", { name: "Uploads" });
    await expect(uploads).toContainText("late.md");
    await page.getByRole("link", { name: "Runs", exact: true }).click();
    await expectAccessible(page, "leave an upload");
    await question.getByRole("button", { name: "Keep editing" }).click();
    await uploads.getByRole("button", { name: "Cancel the upload of late.md" }).click();
    await expect(uploads).toBeHidden();
    await page.unroute("**/files");
    await page.getByRole("link", { name: "Runs", exact: true }).click();
    await expect(page).toHaveURL(/\/runs$/);
    await page.goBack();
  });

  await test.step("filters stand in the address, and an empty list offers to clear them", async () => {
    await page.getByRole("button", { name: "Status" }).click();
    await page.getByRole("menuitemradio", { name: "Failed" }).click();
    await expect(page).toHaveURL(/status=failed/);
    await expect(page.getByRole("row")).toHaveCount(2);
    await page.goto(`${server.url}/dashboard/files?purpose=output`);
    await expect(page.getByRole("heading", { name: "No file matches these filters" })).toBeVisible();
    await page.getByRole("button", { name: "Clear filters" }).click();
    await expect(page.getByRole("row")).toHaveCount(4);
  });

  await test.step("a download has the uploaded content", async () => {
    const started = page.waitForEvent("download");
    await page.getByRole("button", { name: "Download manual.md" }).click();
    const download = await started;
    expect(download.suggestedFilename()).toBe("manual.md");
    expect(readFileSync(await download.path(), "utf8")).toBe(manual);
  });

  await test.step("the delete dialog names the stores that lose the file", async () => {
    await page.getByRole("button", { name: "More for manual.md" }).click();
    await page.getByRole("menuitem", { name: "Delete file" }).click();
    const dialog = page.getByRole("alertdialog", { name: "Delete manual.md" });
    await expect(dialog).toContainText("searches of Manuals no longer find");
    await expect(dialog.getByRole("button", { name: "Cancel" })).toBeFocused();
    await expectAccessible(page, "delete file");
    await dialog.getByRole("button", { name: "Delete file" }).click();
    await expect(row(page, "manual.md")).toBeHidden();
    expect(complaints).toEqual([]);
  });
});

const row = (page: Page, name: string) => page.getByRole("row").filter({ hasText: name });

/** Drops a file on the page, as a file manager does. */
async function drop(page: Page, name: string, text: string, type: string): Promise<void> {
  const data = await page.evaluateHandle(
    (file) => {
      const transfer = new DataTransfer();
      transfer.items.add(new File([file.text], file.name, { type: file.type }));
      return transfer;
    },
    { name, text, type },
  );
  const target = page.getByRole("region", { name: "Files", exact: true });
  await target.dispatchEvent("dragenter", { dataTransfer: data });
  await expect(page.getByText("Drop the files to upload them")).toBeVisible();
  await target.dispatchEvent("drop", { dataTransfer: data });
}
