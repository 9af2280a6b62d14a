import { createHmac } from "node:crypto";
import { expect, test } from "@playwright/test";
import { type Json, type Runnel, startRunnel } from "./harness.ts";
import { expectAccessible, expectToFit, signInBeforeEach } from "./page-checks.ts";

// Variables of an agent in the compiled executable: a trigger fills them from its events, and a fork changes them.
let server: Runnel;
test.beforeAll(async () => {
  server = await startRunnel();
});
test.afterAll(() => server[Symbol.asyncDispose]());
test.use({ viewport: { width: 1440, height: 900 } });

signInBeforeEach(() => server);

async function make(path: string, body: object): Promise<Json> {
  const answer = await server.post(path, body);
  expect([200, 201], JSON.stringify(answer.body)).toContain(answer.status);
  return answer.body;
}

const newDesk = (more: object = {}): Promise<Json> =>
  make("/v1/agents", {
    name: "Refund desk",
    instructions: "Refunds are possible within {{days}} days. The customer is {{customer}}.",
    model: "test/echo",
    variables: [
      { name: "customer", type: "string", required: true },
      { name: "days", type: "integer", default: 14 },
    ],
    ...more,
  });

const promptOf = async (id: string): Promise<string> =>
  (await server.get(`/v1/traces/${id}?include=prompt`)).body.steps[0].prompt.messages[0].content;

test("a trigger takes templates for the variables of its agent, and shows which value of an event did not fit", async ({
  page,
}) => {
  test.setTimeout(300_000); // axe checks many states in two themes.
  await newDesk();
  const dialog = page.getByRole("dialog", { name: "Create trigger" });

  await test.step("the form has a field for each variable, and the server's refusal is shown", async () => {
    await page.goto(`${server.url}/dashboard/triggers`);
    await page.getByRole("button", { name: "Create trigger" }).first().click();
    await dialog.getByLabel("Name").fill("Refunds");
    await dialog.getByLabel("Input").fill("{{body.text}}");
    const group = dialog.getByRole("group", { name: "Variables of the agent" });
    await group.getByLabel("days").fill("{{body.days}} days");
    await group.getByLabel("customer").fill("{{body.customer.name}}");
    await dialog.getByRole("button", { name: "Create trigger" }).click();
    await expect(dialog).toContainText("variables.days: Must be an integer.");
    await expectAccessible(page, "refused");
    await expectToFit(page, "refused");
    await group.getByLabel("days").fill("{{body.days}}");
    await dialog.getByText("Show code").click();
    await expect(dialog.getByRole("region", { name: "curl code" })).toContainText('"days": "{{body.days}}"');
    await dialog.getByRole("button", { name: "Create trigger" }).click();
    await expect(dialog).toBeHidden();
  });

  const secret = (await page.locator("[data-secret]").textContent()) ?? "";
  await page.keyboard.press("Escape");
  const [trigger] = (await server.get("/v1/triggers")).body.data as Json[];
  const send = async (event: object): Promise<Json> => {
    const body = JSON.stringify(event);
    const headers = {
      "content-type": "application/json",
      "x-github-delivery": crypto.randomUUID(),
      "x-hub-signature-256": `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`,
    };
    const { pathname } = new URL(trigger.url);
    return await (await server.fetch(pathname, { method: "POST", headers, body, key: null })).json();
  };

  await test.step("its page shows the templates, and each event with its reason", async () => {
    await send({ text: "Hello", customer: { name: "Ann" }, days: "soon" });
    const { run_id } = await send({ text: "Hello", customer: { name: "Ann" }, days: "30" });
    await page.goto(`${server.url}/dashboard/triggers/${trigger.id}`);
    const rule = page.getByRole("region", { name: "Rule" });
    await expect(rule).toContainText("customer is {{body.customer.name}}");
    await expect(page.getByText("variables.days: Must be an integer.")).toBeVisible();
    await expect
      .poll(() => promptOf(run_id).catch(() => ""))
      .toBe("Refunds are possible within 30 days. The customer is Ann.");
    await expectAccessible(page, "trigger");
    await expectToFit(page, "trigger");
  });

  await test.step("the form has them again, and an emptied one is left to the default", async () => {
    await page.getByRole("button", { name: "More for Refunds" }).click();
    await page.getByRole("menuitem", { name: "Edit trigger" }).click();
    const form = page.getByRole("dialog", { name: "Edit trigger" });
    await expect(form.getByLabel("customer")).toHaveValue("{{body.customer.name}}");
    await form.getByLabel("days").fill("");
    await form.getByRole("button", { name: "Save trigger" }).click();
    await expect(form).toBeHidden();
    const { variables } = (await server.get(`/v1/triggers/${trigger.id}`)).body;
    expect(variables).toEqual({ customer: "{{body.customer.name}}" });
  });
});

test("a fork changes values of variables, and keeps the others as they were recorded", async ({ page }) => {
  test.setTimeout(300_000);
  const tool = await make("/v1/tools", { name: "look_up", type: "client" });
  const script = [{ tool_calls: [{ name: "look_up", arguments: {} }] }, { text: "Done." }];
  const desk = await newDesk({ model: "test/script", model_settings: { script }, tools: [tool.id] });
  const variables = { customer: "Ann", days: 30 };
  const run = await make("/v1/runs?wait=60", { agent_id: desk.id, input: "Hello", variables });
  const [{ tool_call_id }] = run.required_action.submit_tool_outputs.tool_calls;
  await make(`/v1/runs/${run.id}/submit_tool_outputs`, { tool_outputs: [{ tool_call_id, output: "shipped" }] });
  // The fork has the variables of the version that the run began with.
  await server.patch(`/v1/agents/${desk.id}`, { instructions: "Be brief.", variables: [] });
  await page.goto(`${server.url}/dashboard/runs/${run.id}`);
  await page.getByRole("treeitem", { name: /look_up/ }).click();
  await page.getByRole("button", { name: "Fork from here" }).click();
  const panel = page.getByRole("form", { name: "Fork" });
  await panel.getByText("Also change the model, instructions, input or variables").click();
  await expect(panel.getByLabel("days")).toHaveValue("30");
  await panel.getByLabel("customer").fill("Bob {{days}}");
  await panel.getByText("Show code").click();
  await expect(panel.getByRole("region", { name: "curl code" })).toContainText('"customer": "Bob {{days}}"');
  await expect(panel.getByRole("region", { name: "curl code" })).not.toContainText('"days": 30');
  await expectAccessible(page, "fork");
  await expectToFit(page, "fork");
  await panel.getByRole("button", { name: "Create fork" }).click();
  await expect(page.getByRole("link", { name: "Compare with it" })).toBeVisible();
  const [fork] = (await server.get("/v1/runs?origin=fork")).body.data as Json[];
  expect((await server.get(`/v1/runs/${fork.id}`)).body.variables).toEqual({ customer: "Bob {{days}}", days: 30 });
});
