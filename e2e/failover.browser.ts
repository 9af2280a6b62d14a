import { expect as plain, test } from "@playwright/test";
import { createAgent, stubConnection } from "./fixtures.ts";
import { type Runnel, startRunnel } from "./harness.ts";
import { type ModelServer, startModelServer } from "./model-server.ts";
import { expectAccessible, expectToFit, recordFaults, signInBeforeEach } from "./page-checks.ts";

/** Runs take their time on a busy machine. */
const expect = plain.configure({ timeout: 30_000 });

// Several models of an agent in the compiled executable: added in a form, and asked in a run, in a real browser.
const first = "openai_compatible/stub/words-3-0";
const second = "openai_compatible/spare/words-5-0";

let spare: ModelServer;
let server: Runnel;
test.beforeAll(async () => {
  const away = startModelServer();
  await away[Symbol.asyncDispose]();
  spare = startModelServer();
  const connections = { RUNNEL_MODEL_SPARE_BASE_URL: spare.url, RUNNEL_MODEL_SPARE_API_KEY: "none" };
  server = await startRunnel({ environment: { ...stubConnection(away.url), ...connections } });
});
test.afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await spare[Symbol.asyncDispose]();
});
test.use({ viewport: { width: 1440, height: 900 } });
signInBeforeEach(() => server);

test("an agent gets a second model, which answers while the first is away, and the trace says which and why", async ({
  page,
}) => {
  test.setTimeout(240_000); // axe checks many states in two themes.
  const complaints = recordFaults(page);
  const id = await createAgent(server, "words-3-0", { name: "Clerk" });

  await test.step("fallback models are added, moved by keyboard, removed and saved in their order", async () => {
    await page.goto(`${server.url}/dashboard/agents/${id}`);
    const add = page.getByRole("button", { name: "Add fallback model" });
    const fallback = (place: number) => page.getByRole("combobox", { name: `Fallback model ${place}`, exact: true });
    await add.click();
    await expect(fallback(1)).toBeFocused();
    await fallback(1).fill("test/echo");
    await page.keyboard.press("Escape");
    await add.click();
    await fallback(2).fill(second);
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Move fallback model 2 up" }).press("Enter");
    await expect(fallback(1)).toHaveValue(second);
    await expect(page.getByRole("button", { name: "Move fallback model 1 down" })).toBeFocused();
    await expect(page.getByText("Changed: models", { exact: true })).toBeVisible();
    await expectAccessible(page, "fallback models");
    await expectToFit(page, "fallback models");
    await page.getByRole("button", { name: "Remove fallback model 2" }).click();
    await expect(fallback(2)).toBeHidden();
    await page.getByRole("button", { name: "Save as version 2" }).click();
    await expect(page.getByText("Clerk is at version 2")).toBeVisible();
    expect((await server.get(`/v1/agents/${id}`)).body).toMatchObject({ model: first, models: [first, second] });
  });

  await test.step("a model that no connection has is refused at its field", async () => {
    await page.getByRole("button", { name: "Add fallback model" }).click();
    await page.getByRole("combobox", { name: "Fallback model 2" }).fill("nobody/none");
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Save as version 3" }).click();
    const refused = page.getByRole("combobox", { name: "Fallback model 2" });
    await expect(refused).toHaveAccessibleDescription(/^Must be <provider>/);
    await expect(refused).toBeFocused();
    await expect(page.getByRole("combobox", { name: "Fallback model 1" })).not.toHaveAttribute("aria-invalid", "true");
    await page.getByRole("button", { name: "Remove fallback model 2" }).click();
    await expect(page.getByRole("button", { name: /Save as version/ })).toBeHidden();
  });

  await test.step("the playground asks the agent's models in turn, and its trace says which failed and why", async () => {
    await page.goto(`${server.url}/dashboard/playground?agent=${id}`);
    await expect(page.getByText(`If it cannot answer, the next one is asked: ${second}.`)).toBeVisible();
    await page.getByRole("textbox", { name: /message/i }).fill("Go");
    await page.keyboard.press("ControlOrMeta+Enter");
    await expect(page.getByText("a stream that is small", { exact: true })).toBeVisible();
    await page.getByRole("link", { name: "Open trace" }).click();
    await page.getByRole("treeitem", { name: /Model call .*words-5-0/ }).click();
    const detail = page.getByRole("region", { name: "Selected step" });
    await expect(detail).toContainText(`Instead of${first}: The model's server cannot be reached.`);
    await page.getByRole("tab", { name: "Output" }).click();
    await expect(detail).toContainText(`of ${first}, then another model was asked`);
    await expect(page.getByText(`${first}, then ${second}`)).toBeVisible();
    await expectAccessible(page, "trace of two models");
    await expectToFit(page, "trace of two models");
  });

  await test.step("a model chosen in the playground is asked alone", async () => {
    await page.goto(`${server.url}/dashboard/playground?agent=${id}`);
    await page.getByRole("combobox", { name: "Model", exact: true }).fill("test/echo");
    await page.keyboard.press("Escape");
    await expect(page.getByText("Runs here ask this model alone.")).toBeVisible();
    await page.getByRole("textbox", { name: /message/i }).fill("Say it back");
    await page.keyboard.press("ControlOrMeta+Enter");
    await page.getByRole("link", { name: "Open trace" }).click();
    await expect(page.getByRole("treeitem", { name: /Model call test\/echo/ })).toBeVisible();
    const { body: run } = await server.get(`/v1/runs/${page.url().split("/").at(-1)?.split("?")[0]}`);
    expect([run.model, run.models]).toEqual(["test/echo", undefined]);
  });

  expect(complaints).toEqual([]);
});
