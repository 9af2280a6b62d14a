import type { Page } from "playwright";
import type { ModelIds } from "./seed-models.ts";
import { click, dialog, inTurn, onPhone, type State } from "./states.ts";

/** Returns the states that show models: connections, prices, several models of an agent, and pictures. */
export function modelStates(ids: ModelIds): Record<string, State> {
  const connections = "/settings?tab=connections";
  const several = `/agents/${ids.several}`;
  const shown = (name: string | RegExp) => (page: Page) =>
    page.getByText(name).first().scrollIntoViewIfNeeded({ timeout: 2000 });
  const model = async (page: Page, text: string) =>
    await page.getByRole("combobox", { name: "Model", exact: true }).fill(text);
  const tested = async (page: Page) => {
    await page.getByRole("dialog").getByRole("combobox").fill("aurora/model-000-instruct");
    await page.getByRole("dialog").getByLabel("Images").check();
    await click("button", "Test connection")(page);
    await page.getByText(/The connection works|does not work/).waitFor();
  };
  const refused = async (page: Page) => {
    await page
      .getByRole("dialog")
      .getByLabel(/Max concurrent/)
      .fill("many");
    await click("button", "Save changes")(page);
  };
  return {
    "models-connections": { path: connections },
    "models-edit": { path: connections, act: inTurn(click("button", "Edit gpu"), dialog) },
    "models-edit-faults": { path: connections, act: inTurn(click("button", "Edit gpu"), dialog, refused) },
    "models-test": { path: connections, act: inTurn(click("button", "Test gpu"), dialog, tested) },
    "models-test-away": {
      path: connections,
      act: inTurn(click("button", "Test away"), dialog, async (page) => {
        await page.getByRole("dialog").getByRole("combobox").fill("qwen-3");
        await click("button", "Test connection")(page);
        await page
          .getByText(/did not work|does not work|cannot be reached/)
          .first()
          .waitFor();
      }),
    },
    "models-listed": { path: connections, act: inTurn(click("button", /^Models of gpu/), dialog) },
    "models-unlisted": { path: connections, act: inTurn(click("button", /^Models of northern/), dialog) },
    "models-prices": { path: "/settings?tab=prices" },
    "models-update": { path: "/settings?tab=prices", act: inTurn(click("button", "Update prices…"), dialog) },
    "models-picker": { path: several, act: (page) => model(page, "cassiopeia") },
    "models-failover": { path: several, act: shown("Add fallback model") },
    "models-failover-faults": {
      path: several,
      act: inTurn(
        shown("Add fallback model"),
        click("button", "Add fallback model"),
        async (page) => {
          await page.getByRole("combobox", { name: "Fallback model 3" }).fill("nobody/none");
          await page.keyboard.press("Escape");
        },
        click("button", /^Save as version/),
        shown("Add fallback model"),
      ),
    },
    "models-provider-tools": { path: `/agents/${ids.searching}`, act: shown("Tools of the provider") },
    "models-moved": { path: `/runs/${ids.moved}?step=0&tab=output&view=detail` },
    "models-moved-request": { path: `/runs/${ids.moved}?step=0&tab=request&view=detail` },
    "models-playground": {
      path: `/playground?agent=${ids.several}`,
      act: onPhone((page) => page.getByText("Agent", { exact: true }).first().click()),
    },
    "models-playground-image": { path: `/playground?agent=${ids.viewer}`, act: pastePicture },
    "models-playground-sent": {
      path: `/playground?agent=${ids.viewer}`,
      act: inTurn(pastePicture, click("button", "Send"), (page) => page.getByText("Completed").first().waitFor()),
    },
  };
}

/** Writes a message with a picture and a document of a long name. */
async function pastePicture(page: Page): Promise<void> {
  const field = page.getByRole("textbox", { name: /message/i }).last();
  await field.fill("What is wrong with this mug?");
  await field.evaluate(async (target) => {
    const canvas = Object.assign(document.createElement("canvas"), { width: 640, height: 400 });
    const pen = canvas.getContext("2d")!;
    pen.fillStyle = "teal";
    pen.fillRect(160, 60, 280, 300);
    const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve));
    const clipboardData = new DataTransfer();
    clipboardData.items.add(new File([blob!], "mug.png", { type: "image/png" }));
    const name = `${"Delivery note of the northern warehouse ".repeat(3)}.txt`;
    clipboardData.items.add(new File(["Mug, teal, two pieces."], name, { type: "text/plain" }));
    target.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
  });
  await page.getByRole("list", { name: "Files of the message" }).getByRole("listitem").nth(1).waitFor();
}
