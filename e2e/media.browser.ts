import { expect, type Page, test } from "@playwright/test";
import { type Runnel, startRunnel } from "./harness.ts";
import { expectAccessible, expectToFit, recordFaults, setUpAccount } from "./page-checks.ts";

// Pictures and documents in the dashboard of the compiled executable, in a real browser.
let server: Runnel;
test.beforeAll(async () => {
  server = await startRunnel();
});
test.afterAll(() => server[Symbol.asyncDispose]());
test.use({ viewport: { width: 1440, height: 900 } });

/** A picture of 120 by 80 pixels, drawn by the browser itself. */
const drawPicture = (page: Page): Promise<string> =>
  page.evaluate(() => {
    const canvas = Object.assign(document.createElement("canvas"), { width: 120, height: 80 });
    const pen = canvas.getContext("2d")!;
    pen.fillStyle = "seagreen";
    pen.fillRect(0, 0, 120, 80);
    return canvas.toDataURL("image/png").split(",")[1]!;
  });

/** Pastes a file into the message, as a browser does. */
const paste = (page: Page, name: string, type: string, base64: string) =>
  page.getByRole("textbox", { name: "Message to the agent" }).evaluate(
    (field, { name, type, base64 }) => {
      const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
      const clipboardData = new DataTransfer();
      clipboardData.items.add(new File([bytes], name, { type }));
      field.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
    },
    { name, type, base64 },
  );

test("an image and a PDF pasted into the playground go with the message, and the trace shows them and a tool's picture", async ({
  page,
}) => {
  test.setTimeout(120_000);
  const complaints = recordFaults(page);
  await setUpAccount(page, server);
  const picture = await drawPicture(page);
  const post = async (path: string, body: object) => (await server.post(`/v1${path}`, body)).body;
  const source = `() => output.write("chart.png", Uint8Array.from(${JSON.stringify([...Buffer.from(picture, "base64")])}))`;
  const tool = await post("/tools", { name: "draw", type: "code", source });
  const script = [{ tool_calls: [{ name: "draw", arguments: {} }] }, { text: "A green field." }];
  const agent = await post("/agents", {
    name: "Viewer",
    instructions: "Look.",
    model: "test/script",
    model_settings: { script },
    tools: [tool.id],
  });
  const manual = await (await server.fetch("/docs/files/manual.pdf", { key: null })).arrayBuffer();

  await page.goto(`${server.url}/dashboard/playground?agent=${agent.id}`);
  await expect(page.getByRole("heading", { name: "Try Viewer" })).toBeVisible();
  await paste(page, "field.png", "image/png", picture);
  await paste(page, "manual.pdf", "application/pdf", Buffer.from(manual).toString("base64"));
  const chosen = page.getByRole("list", { name: "Files of the message" });
  await expect(chosen.getByRole("listitem")).toHaveCount(2);
  await expect(chosen.locator("img")).toBeVisible();
  await expectAccessible(page, "files chosen");
  await expectToFit(page, "files chosen");
  await page.getByRole("textbox", { name: "Message to the agent" }).fill("What is this?");
  await page.getByRole("button", { name: "Send" }).click();

  const run = page.getByRole("article", { name: "Run" });
  await expect(run.getByRole("status")).toHaveText("Completed");
  await expect(chosen).toHaveCount(0);
  const shown = run.getByRole("img", { name: /field.png|Image file_/ });
  await expect(shown).toBeVisible();
  await expect.poll(() => shown.evaluate((image) => (image as HTMLImageElement).naturalWidth)).toBe(120);
  await expect(run.getByRole("button", { name: /manual.pdf|file_/ })).toBeVisible();
  await expectAccessible(page, "files sent");

  await run.getByRole("link", { name: "Open trace" }).click();
  await expect(page).toHaveURL(/\/runs\/run_/);
  await page.getByRole("treeitem", { name: /draw/ }).click();
  const chart = page.getByRole("img", { name: "chart.png" });
  await expect.poll(() => chart.evaluate((image) => (image as HTMLImageElement).naturalWidth)).toBe(120);
  await expectAccessible(page, "a tool's picture");
  expect(complaints).toEqual([]);
});
