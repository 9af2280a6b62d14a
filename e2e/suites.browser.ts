import { expect, test } from "@playwright/test";
import { type Json, type Runnel, startRunnel } from "./harness.ts";
import { expectAccessible, expectToFit, signInBeforeEach } from "./page-checks.ts";

// Runs with the expected result, compared with a changed agent, in the compiled executable.
let server: Runnel;
test.beforeAll(async () => {
  server = await startRunnel();
});
test.afterAll(() => server[Symbol.asyncDispose]());
test.use({ viewport: { width: 1440, height: 900 } });

signInBeforeEach(() => server);

const answer = "Order 4711 left Frankfurt this morning.";

test("a suite finds runs that a change of their agent would alter, and the new answers", async ({ page }) => {
  test.setTimeout(240_000); // axe checks many states in two themes.
  const agent = await createAgent("Refund desk");
  const steady = await createAgent("Order status");
  const [first, second, third] = [
    await run(agent, "Where is 4711?"),
    await run(agent, "And 4712?"),
    await run(steady, "Hi."),
  ];
  const dialog = (name: string | RegExp) => page.getByRole("dialog", { name });
  const cases = page.getByRole("table", { name: "Cases" }).getByRole("row");
  const caseOf = (id: string) => page.locator(`[data-case="${id}"]`);
  const menu = async (item: string) => {
    await page.getByRole("button", { name: /^More for/ }).click();
    await page.getByRole("menuitem", { name: item }).click();
  };

  await test.step("a suite is created from runs chosen in the list, or named by their ids", async () => {
    await page.goto(`${server.url}/dashboard/suites`);
    await expect(page.getByRole("heading", { name: "No test suites yet" })).toBeVisible();
    await expectAccessible(page, "empty");
    await page.keyboard.press("c");
    const create = dialog("Create suite");
    await expect(create.getByRole("button", { name: "Create suite" })).toBeDisabled();
    await create.getByLabel("Name").fill("smoke");
    await create.getByRole("checkbox", { name: /Where is 4711/ }).check();
    await create.getByLabel("Or any runs, by their ids").fill("agt_1");
    await expect(create.getByText("is not a run id")).toBeVisible();
    await create.getByLabel("Or any runs, by their ids").fill(second.id);
    await expectAccessible(page, "create");
    await page.keyboard.press("Control+Enter");
    await expect(page.getByRole("heading", { name: "smoke" })).toBeVisible();
    await expect(cases).toHaveCount(3); // Includes the header.
    await expect(caseOf(first.id)).toContainText("Not run");
  });

  await test.step("more runs are added from the list's bar, and from the menu of a trace", async () => {
    await page.getByRole("link", { name: "Runs", exact: true }).click();
    await page.getByRole("checkbox", { name: "Select Order status, Hi." }).check();
    await page.getByRole("toolbar", { name: "Selected runs" }).getByRole("button", { name: "Add to suite" }).click();
    await expect(dialog("Add run to suite").getByRole("button", { name: "Add 1 case" })).toBeEnabled();
    await expectAccessible(page, "add to suite");
    await dialog("Add run to suite").getByRole("button", { name: "Add 1 case" }).click();
    await expect(cases).toHaveCount(4);

    await page.goto(`${server.url}/dashboard/runs/${third.id}`);
    await page.getByRole("button", { name: "More actions" }).click();
    await page.getByRole("menuitem", { name: "Add to suite…" }).click();
    await expect(dialog("Add run to suite").getByText("The suite has it already.")).toBeVisible();
    await expect(dialog("Add run to suite").getByRole("button", { name: "Add cases" })).toBeDisabled();
    await dialog("Add run to suite").getByLabel("Suite", { exact: true }).selectOption("A new suite");
    await dialog("Add run to suite").getByLabel("Name of the new suite").fill("smoke");
    await page.keyboard.press("Enter");
    await expect(dialog("Add run to suite").getByText('There is already a suite "smoke".')).toBeVisible();
    await dialog("Add run to suite").getByLabel("Name of the new suite").fill("other");
    await page.keyboard.press("Enter");
    await expect(page.getByRole("heading", { name: "other" })).toBeVisible();
  });

  await test.step("a pinned run cannot be deleted, and the message links to the suite", async () => {
    await page.goto(`${server.url}/dashboard/runs/${first.id}`);
    await page.getByRole("button", { name: "More actions" }).click();
    await page.getByRole("menuitem", { name: "Delete run…" }).click();
    const deletion = page.getByRole("alertdialog", { name: "Delete run" });
    await deletion.getByRole("button", { name: "Delete run" }).click();
    await deletion.getByRole("link", { name: "Open the suite" }).click();
    await expect(page.getByRole("heading", { name: "smoke" })).toBeVisible();
  });

  await test.step("without a change all cases are equal, and no model is called", async () => {
    await page.getByRole("button", { name: "Run suite" }).click();
    await expectAccessible(page, "run suite");
    await page.keyboard.press("Control+Enter");
    await expect(page.getByText("3 of 3 equal")).toHaveCount(2); // In the bar, and among the suite runs.
    await expect(caseOf(first.id)).toContainText("1 step equal");
    await expectAccessible(page, "passed");
  });

  await test.step("after a change the list shows the first divergence of each case, and the details are beside it", async () => {
    await change(agent, { instructions: "Be kind, and never brief." });
    await page.getByRole("button", { name: "Run suite" }).click();
    await page.keyboard.press("Control+Enter");
    await expect(page.getByText("1 of 3 equal, 2 diverged")).toHaveCount(2);
    await expect(caseOf(first.id)).toContainText("Step 0, prompt");
    await caseOf(first.id).getByRole("link").first().focus();
    await page.keyboard.press("j");
    await page.keyboard.press("Enter");
    await expect(page).toHaveURL(new RegExp(`case=${second.id}`));
    const pane = page.getByRole("region", { name: "Case", exact: true });
    await expect(pane.getByRole("link", { name: "Step 0, prompt" })).toHaveAttribute("href", /step=0/);
    await expect(pane).toContainText("The input of the model call differs.");
    await expect(pane.getByRole("region", { name: "Input" })).toContainText("And 4712?");
    const changed = pane.getByRole("region", { name: "What changed in the prompt" });
    await expect(changed.locator("ins")).toContainText("never brief");
    await expectAccessible(page, "diverged");
    await expectToFit(page, "diverged");
    await page.keyboard.press("Escape");
    await expect(pane).toHaveCount(0);
  });

  await test.step("cases can be filtered by outcome, and the address can be saved", async () => {
    await page.getByRole("button", { name: "Outcome" }).click();
    await page.getByRole("menuitemradio", { name: "Equal" }).click();
    await expect(page).toHaveURL(/outcome=equal/);
    await expect(cases).toHaveCount(2);
    await page.reload();
    await expect(cases).toHaveCount(2);
    await page.getByRole("button", { name: "Clear the outcome filter" }).click();
    await expect(cases).toHaveCount(4);
  });

  await test.step("a diverged case continues live with its model, within a budget, and can be compared", async () => {
    await page.getByRole("button", { name: "Run suite" }).click();
    const start = dialog("Run smoke");
    await start.getByLabel("Continue live in a fork").check();
    await start.getByLabel("Max cost, USD").fill("nothing");
    await expect(start.getByText("An amount above 0, such as 0.50.")).toBeVisible();
    await expect(start.getByRole("button", { name: "Run suite" })).toBeDisabled();
    await start.getByLabel("Max cost, USD").fill("0.50");
    await expectAccessible(page, "budget");
    await page.keyboard.press("Control+Enter");
    await expect(page.getByText("Forks cost $0.00 of at most $0.50")).toBeVisible();
    await expect(caseOf(first.id)).toContainText("Same output");
    await expect(caseOf(second.id)).toContainText("Same output");
    await caseOf(first.id).getByRole("link").first().click();
    await expect(page.getByRole("region", { name: "Live fork" })).toContainText("Same output");
    await expectAccessible(page, "went on");
    await page.getByRole("region", { name: "Live fork" }).getByRole("link", { name: "Compare" }).click();
    await expect(page).toHaveURL(new RegExp(`/runs/${first.id}/diff/run_`));
    await page.goBack();
  });

  await test.step("earlier suite runs are kept, with their own cases", async () => {
    await page.getByRole("link", { name: "Close the case" }).click();
    const history = page.getByRole("region", { name: "Suite runs" });
    await expect(history.getByRole("listitem")).toHaveCount(3);
    await history.getByRole("link", { name: /3 of 3 equal/ }).click();
    await expect(page).toHaveURL(/result=srun_/);
    await expect(caseOf(first.id)).toContainText("1 step equal");
    await expect(page.getByRole("region", { name: "build command" })).toContainText(
      "runnel suite run smoke --timeout 10m",
    );
  });

  await test.step("a case is removed, a suite renamed, and finally deleted", async () => {
    await caseOf(second.id)
      .getByRole("button", { name: /^Remove case/ })
      .click();
    await page.getByRole("alertdialog", { name: "Remove case" }).getByRole("button", { name: "Remove case" }).click();
    await expect(caseOf(second.id)).toContainText("removed from the suite");
    await expect(caseOf(second.id).getByRole("link").first()).toBeFocused();
    await menu("Edit suite");
    await dialog("Edit suite").getByLabel("Name").fill("smoke tests");
    await page.keyboard.press("Enter");
    await expect(page.getByRole("heading", { name: "smoke tests" })).toBeVisible();
    await expect(page.getByRole("region", { name: "build command" })).toContainText("runnel suite run 'smoke tests'");
    await page.getByRole("navigation", { name: "Breadcrumb" }).getByRole("link", { name: "Suites" }).click();
    await expect(page.getByRole("table", { name: "Suites" })).toContainText("1 of 3 equal, 2 diverged");
    await expectAccessible(page, "list");
    await expectToFit(page, "list");
    await page.getByRole("button", { name: "More for smoke tests" }).click();
    await page.getByRole("menuitem", { name: "Delete suite" }).click();
    await page.getByRole("alertdialog").getByRole("button", { name: "Delete suite" }).click();
    await expect(page.getByRole("table", { name: "Suites" }).getByRole("row", { name: "smoke tests" })).toHaveCount(0);
    await expect(page.getByRole("table", { name: "Suites" }).getByRole("row", { name: /other/ })).toBeVisible();
  });
});

async function make(path: string, body: object): Promise<Json> {
  const made = await server.post(path, body);
  expect(made.status, JSON.stringify(made.body)).toBe(201);
  return made.body;
}

const run = (agent_id: string, input: string) => make("/v1/runs?wait=60", { agent_id, input });

async function createAgent(name: string): Promise<string> {
  const model = { model: "test/script", model_settings: { script: [{ text: answer }] } };
  return (await make("/v1/agents", { name, instructions: "Be kind.", ...model })).id;
}

async function change(id: string, body: object): Promise<void> {
  const { status } = await server.fetch(`/v1/agents/${id}`, { method: "PATCH", body: JSON.stringify(body) });
  expect(status).toBe(200);
}
