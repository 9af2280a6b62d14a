import { expect, test } from "@playwright/test";
import { type Json, type Runnel, startRunnel } from "./harness.ts";
import { expectAccessible, expectToFit, signInBeforeEach } from "./page-checks.ts";
import { startToolServer, type ToolServer } from "./tool-server.ts";

// A run and its fork side by side in the compiled executable.
let server: Runnel;
let tools: ToolServer;
test.beforeAll(async () => {
  [tools, server] = [startToolServer(), await startRunnel()];
});
test.afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await tools[Symbol.asyncDispose]();
});
test.use({ viewport: { width: 1440, height: 900 } });

signInBeforeEach(() => server);

const before = "Order 4711 arrived damaged. Stock could not be confirmed, so I refund the money to the card.";
const after = "Order 4711 arrived damaged. There are 14 mugs, so I send two new ones today. Would that be well?";

test("a fork stands beside its source, step by step, with durations and costs", async ({ page }) => {
  test.setTimeout(300_000); // axe checks many states in two themes.
  const agent = await createDesk();
  const run = await start(agent, "My mugs came broken.");
  const fork = await forkOf(run.id, 1, { tool_output: { sku: "MUG-TEAL-2", in_stock: 14 } });
  const other = await forkOf(run.id, 2, { model_output: after });
  const row = (name: RegExp) => page.getByRole("list", { name: "Steps" }).getByRole("listitem", { name });

  await test.step("an edited output is compared by lines, after a line that marks the start of the fork", async () => {
    await page.goto(`${server.url}/dashboard/runs/${run.id}/diff/${fork.id}`);
    await expect(page.getByText("B was forked here, at step 1: a different output of check_stock")).toBeVisible();
    const edited = row(/^check_stock, changed/);
    await expect(edited).toContainText("edited");
    await expect(edited.locator("del").first()).toContainText('"code": "http_error"');
    await expect(edited.locator("ins", { hasText: '"in_stock": 14' })).toBeVisible();
    await expect(row(/^test\/script, changed/)).toContainText("Input, tool");
    await expect(page.getByRole("region", { name: "Run B" })).toContainText(
      /Tokens\s*\d+, .+ (less|more|the same)|same/,
    );
    await expectAccessible(page, "fork");
    await expectToFit(page, "fork");
  });

  await test.step("n and p move from difference to difference, and wrap around", async () => {
    const focused = () => page.evaluate(() => document.activeElement?.getAttribute("aria-label"));
    await page.keyboard.press("n");
    expect(await focused()).toBe("check_stock, changed");
    await page.keyboard.press("n");
    expect(await focused()).toBe("test/script, changed");
    await page.keyboard.press("n");
    expect(await focused()).toBe("check_stock, changed");
    await page.keyboard.press("p");
    expect(await focused()).toBe("test/script, changed");
  });

  await test.step("equal steps can be hidden, and the address can be saved", async () => {
    await page.getByLabel("Differences only").check();
    await expect(page).toHaveURL(/hide=equal/);
    await expect(row(/equal/)).toHaveCount(0);
    await expect(page.getByText("1 equal step hidden. Show all").first()).toBeVisible();
    await expectAccessible(page, "differences only");
    await page.reload();
    await page.getByRole("button", { name: "1 equal step hidden. Show all" }).first().click();
    await expect(row(/, equal/).first()).toBeVisible();
    await expect(page).not.toHaveURL(/hide/);
  });

  await test.step("the menu of a trace leads to the comparison with its source, a recent run, or any run", async () => {
    await page.goto(`${server.url}/dashboard/runs/${other.id}`);
    const menu = async (name: string) => {
      await page.getByRole("button", { name: "More actions" }).click();
      await page.getByRole("menuitem", { name }).click();
    };
    await menu("Compare with…");
    const dialog = page.getByRole("dialog", { name: "Compare with another run" });
    await expect(dialog.getByRole("radio")).toHaveCount(2);
    await dialog.getByRole("button", { name: "Compare" }).click();
    await expect(dialog.getByText("Choose a run, or paste an id.")).toBeVisible();
    await expectAccessible(page, "compare with");
    await dialog.getByLabel("Or any run, by its id").fill("thr_1");
    await page.keyboard.press("Enter");
    await expect(dialog.getByText("A run's id begins with run_.")).toBeVisible();
    await dialog.getByRole("radio", { name: /Source of this run/ }).check();
    await page.keyboard.press("Control+Enter");
    await expect(page).toHaveURL(new RegExp(`/runs/${run.id}/diff/${other.id}`));
  });

  await test.step("a model's text is compared by words, in its step and at the end", async () => {
    await expect(page.getByText("B was forked here, at step 2: a different model output")).toBeVisible();
    const output = page.getByRole("region", { name: "Final output" });
    await expect(output.locator("del").first()).toContainText("Stock could not be confirmed");
    await expect(output.locator("ins").first()).toContainText("There are 14 mugs");
    await expect(output).toContainText("Order 4711 arrived damaged.");
    await expectAccessible(page, "prose");
    await expectToFit(page, "prose");
  });

  await test.step("a step that only one run has stands alone, and the sides can be swapped", async () => {
    const bare = await start(await createBare(), "My mugs came broken.");
    await page.goto(`${server.url}/dashboard/runs/${run.id}/diff/${bare.id}`);
    await expect(row(/^check_stock, only in A/)).toContainText("http_error");
    await page.getByRole("link", { name: "Swap sides" }).click();
    await expect(row(/^check_stock, only in B/)).toBeVisible();
    await expectAccessible(page, "only one");
    await expectToFit(page, "only one");
  });

  await test.step("two equal runs are reported as equal", async () => {
    const twin = await start(agent, "My mugs came broken.");
    await page.goto(`${server.url}/dashboard/runs/${run.id}/diff/${twin.id}`);
    await expect(page.getByText("No differences")).toBeVisible();
    await expect(page.getByRole("button", { name: "Next difference" })).toBeDisabled();
    await expectAccessible(page, "equal");
  });

  await test.step("an unknown run id gets a message", async () => {
    await page.goto(`${server.url}/dashboard/runs/${run.id}/diff/run_01kahz0c3e4f5g6h7j8k9m0n1p`);
    await expect(page.getByRole("heading", { name: "No such run" })).toBeVisible();
    await expectAccessible(page, "missing");
  });
});

test("a long comparison shows one page, and n loads the next difference", async ({ page }) => {
  const run = await start(await createLong(), "Go.");
  const fork = await forkOf(run.id, 239, { tool_output: { sky: "snow" } });
  await page.goto(`${server.url}/dashboard/runs/${run.id}/diff/${fork.id}`);
  const steps = page.getByRole("list", { name: "Steps" }).getByRole("listitem");
  await expect(steps).toHaveCount(100);
  await expect(page.getByText("239 equal")).toBeVisible();
  await page.keyboard.press("n");
  await expect(page.getByRole("listitem", { name: "look_up, changed" })).toBeFocused();
  await expect(page.getByRole("listitem", { name: "look_up, changed" })).toContainText('"sky": "snow"');
  await expect(page.getByRole("region", { name: "Final output" })).toBeVisible();
});

async function make(path: string, body: object): Promise<Json> {
  const answer = await server.post(path, body);
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return answer.body;
}

const start = (agent_id: string, input: string) => make("/v1/runs?wait=60", { agent_id, input });

const forkOf = (id: string, step_index: number, edits: object) =>
  make(`/v1/runs/${id}/fork?wait=60`, { step_index, edits });

async function tool(name: string, path: string): Promise<string> {
  const parameters = { type: "object", properties: { sku: { type: "string" } } };
  const more = { type: "http", url: `${tools.url}${path}`, idempotent: true };
  return (await make("/v1/tools", { name, description: `Does ${name}.`, parameters, ...more })).id;
}

async function agent(name: string, script: object[], tools: string[], more: object = {}): Promise<string> {
  const model = { model: "test/script", model_settings: { script } };
  return (await make("/v1/agents", { name, instructions: "Be kind.", ...model, tools, ...more })).id;
}

/** Creates an agent that looks for stock, which fails, and that answers anyway. */
const createDesk = async () =>
  agent(
    "Refund desk",
    [
      { text: "Let me look.", tool_calls: [{ name: "check_stock", arguments: { sku: "MUG-TEAL-2" } }] },
      { text: before },
    ],
    [await tool("check_stock", "/fails")],
  );

const createBare = () => agent("Bare desk", [{ text: before }], []);

/** Creates an agent whose run has 241 steps. */
const createLong = async () =>
  agent(
    "Long",
    Array.from({ length: 121 }, (_, i) =>
      i === 120 ? { text: "Finished." } : { tool_calls: [{ name: "look_up", arguments: { sku: `MUG-${i}` } }] },
    ),
    [await tool("look_up", "/ok")],
    { max_turns: 200 },
  );
