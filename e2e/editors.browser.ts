import { type Locator, type Page, expect as plain, test } from "@playwright/test";
import { type Json, type Runnel, startRunnel } from "./harness.ts";
import { expectAccessible, expectToFit, fieldContent, signInBeforeEach, switchToJson } from "./page-checks.ts";

/** The editor loads slowly, and code runs slowly, on a busy machine. */
const expect = plain.configure({ timeout: 30_000 });

// Editors of code and JSON and forms of fields in the compiled executable, whose policy allows only the editor's own
// styles.
let server: Runnel;
test.beforeAll(async () => {
  server = await startRunnel();
});
test.afterAll(() => server[Symbol.asyncDispose]());
// axe checks many states in two themes.
test.describe.configure({ timeout: 240_000 });
test.use({ viewport: { width: 1440, height: 900 } });
signInBeforeEach(() => server);

const read = async (path: string): Promise<Json> => await (await server.fetch(path)).json();
const newest = async (kind: "tools" | "agents"): Promise<Json> => {
  const { data } = await read(`/v1/${kind}?limit=1`);
  return await read(`/v1/${kind}/${data[0].id}`);
};

/** Returns the editor, not the plain text field shown until it is loaded. */
const editor = (within: Page | Locator, name: string) =>
  within.locator(".cm-content").and(within.getByRole("textbox", { name, exact: true }));

test("JSON is typed with completion from its schema, and code with Tab, undo and search, by keyboard alone", async ({
  page,
}) => {
  await page.goto(`${server.url}/dashboard/tools/new?type=client`);
  await page.getByLabel("Name", { exact: true }).fill("ask_customer");

  await test.step("names and values are offered while a person types", async () => {
    await switchToJson(page, "Arguments (JSON Schema)");
    const schema = editor(page, "Arguments (JSON Schema)");
    await schema.fill("");
    await page.keyboard.type('{"ty');
    const offered = page.getByRole("listbox", { name: "Completions" });
    await expect(offered.getByRole("option", { name: /"type"/ })).toBeVisible();
    await expectAccessible(page, "completions");
    await expect(offered.getByRole("option", { name: /"type"/ })).toHaveAttribute("aria-selected", "true");
    await page.keyboard.press("Enter");
    await page.keyboard.type('"obj');
    await expect(offered.getByRole("option", { name: '"object"' })).toHaveAttribute("aria-selected", "true");
    await expectAccessible(page, "values"); // An Enter right afterwards would count as text.
    await page.keyboard.press("Enter");
    await expect.poll(() => fieldContent(schema)).toBe('{"type": "object"}');
  });

  await test.step("a fault is marked at its place, and explained", async () => {
    const schema = editor(page, "Arguments (JSON Schema)");
    await schema.fill('{"type": "object", "required": "a"}');
    const mark = page.locator(".cm-lintRange");
    await expect(mark).toHaveText('"required"');
    await mark.hover();
    await expect(page.getByText("Must be of type array.")).toBeVisible();
    await schema.fill('{"type": "object", }');
    await page.keyboard.press("Tab");
    await expect(schema).toHaveAttribute("aria-invalid", "true");
    await expect(schema).toHaveAccessibleDescription(/Invalid JSON/);
    await expect(page.locator(".cm-lintRange-error")).toBeVisible();
    await expectAccessible(page, "not JSON");
    await schema.fill('{"type": "object"}');
    await expect(schema).not.toHaveAttribute("aria-invalid");
    await page.keyboard.press("Control+Enter");
    await expect(page).toHaveURL(/\/tools\/tool_\w+$/);
    expect((await newest("tools")).parameters).toEqual({ type: "object" });
  });

  await test.step("code is undone, searched and left by keyboard; its language changes with the tool's", async () => {
    await page.goto(`${server.url}/dashboard/tools/new?type=code`);
    await page.getByLabel("Name", { exact: true }).fill("twice");
    await expect(editor(page, "Source")).toBeVisible();
    await page.getByRole("radio", { name: "Python", exact: true }).check();
    const source = editor(page, "Source");
    await expect(source).toHaveAttribute("data-language", "python");
    await expect(source).toHaveAccessibleDescription(/Press Escape, then Tab, to leave the editor/);
    await source.fill("");
    await page.keyboard.type("def main(args):\nreturn args['n'] * 2");
    await expect.poll(() => fieldContent(source)).toBe("def main(args):\n    return args['n'] * 2");
    await page.keyboard.press("Control+a");
    await page.keyboard.type("x");
    await expect.poll(() => fieldContent(source)).toBe("x");
    await page.keyboard.press("Control+z");
    await expect.poll(() => fieldContent(source)).toMatch(/\* 2$/);
    await page.keyboard.press("Control+f");
    await page.getByRole("textbox", { name: "Find" }).fill("args");
    await expect(page.locator(".cm-searchMatch")).toHaveCount(2);
    await expectAccessible(page, "search in code");
    await page.keyboard.press("Escape");
    await expect(source).toBeFocused();
    await page.keyboard.press("Escape");
    await page.keyboard.press("Tab");
    await expect(page.getByLabel("Timeout, ms")).toBeFocused();
    await page.keyboard.press("Control+Enter");
    await expect(page).toHaveURL(/\/tools\/tool_\w+$/);
    expect(await newest("tools")).toMatchObject({
      language: "python",
      source: "def main(args):\n    return args['n'] * 2",
    });
  });
});

test("where the editor cannot load, the plain text field stays, and works", async ({ page }) => {
  await page.route(/\/assets\/surface-[\w-]+\.js$/, (route) => route.abort("internetdisconnected"));
  await page.goto(`${server.url}/dashboard/agents/new`);
  await page.getByLabel("Name", { exact: true }).fill("Plain");
  const instructions = page.getByRole("textbox", { name: "Instructions" });
  await instructions.fill("Be kind.");
  await expect(page.locator(".cm-editor")).toHaveCount(0);
  await page.getByRole("combobox", { name: "Model", exact: true }).fill("test/echo");
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Create agent" }).click();
  await expect(page).toHaveURL(/\/agents\/agt_\w+$/);
  expect(await newest("agents")).toMatchObject({ name: "Plain", instructions: "Be kind." });
});

test("arguments and conditions of a tool are edited as fields, and switch to JSON and back", async ({ page }) => {
  await page.goto(`${server.url}/dashboard/tools/new?type=client`);
  await page.getByLabel("Name", { exact: true }).fill("pay_back");
  const schema = page.getByRole("group", { name: "Arguments (JSON Schema)" });

  await test.step("fields of each kind, and their nested fields", async () => {
    await schema.getByRole("button", { name: "Add field", exact: true }).click();
    await schema.getByLabel("Field name").fill("usd");
    const usd = page.getByRole("region", { name: "usd", exact: true });
    await usd.getByLabel("Type").selectOption("Number");
    await usd.getByLabel("Required").check();
    await usd.getByLabel("Field description").fill("How much.");
    await schema.getByRole("button", { name: "Add field", exact: true }).click();
    await page.getByRole("region", { name: "field 2" }).getByLabel("Field name").fill("orders");
    const orders = page.getByRole("region", { name: "orders", exact: true });
    await orders.getByLabel("Type").selectOption("List");
    await orders.getByRole("region", { name: "Items of orders" }).getByLabel("Type").selectOption("Object");
    await orders.getByRole("button", { name: "Add field to orders.items" }).click();
    const inner = page.getByRole("region", { name: "orders.items.field 1" });
    await inner.getByLabel("Field name").fill("state");
    const state = page.getByRole("region", { name: "orders.items.state" });
    await state.getByText("Allowed values").first().click();
    await state.getByRole("textbox", { name: "Allowed values" }).fill("open\npaid\n");
    await expectAccessible(page, "schema as fields");
    await expectToFit(page, "schema as fields");
    await page.setViewportSize({ width: 390, height: 844 });
    await expectToFit(page, "schema as fields, narrow");
    await page.setViewportSize({ width: 1440, height: 900 });
  });

  const parameters = {
    type: "object",
    properties: {
      usd: { type: "number", description: "How much." },
      orders: {
        type: "array",
        items: { type: "object", properties: { state: { type: "string", enum: ["open", "paid"] } } },
      },
    },
    required: ["usd"],
  };

  await test.step("the JSON is the same, and parts without a field are kept and named", async () => {
    await switchToJson(page, "Arguments (JSON Schema)");
    const text = editor(page, "Arguments (JSON Schema)");
    expect(JSON.parse(await fieldContent(text))).toEqual(parameters);
    await text.fill(JSON.stringify({ ...parameters, additionalProperties: false }, null, 2));
    const switches = page.getByRole("radiogroup", { name: "Arguments (JSON Schema) as" });
    await switches.getByText("Fields").click();
    await expect(schema).toContainText("Kept, editable as JSON only: additionalProperties");
    await page.getByRole("region", { name: "usd", exact: true }).getByLabel("Field description").fill("In dollars.");
    await switchToJson(page, "Arguments (JSON Schema)");
    await text.fill('{"anyOf": [{"type": "object"}]}');
    await expect(switches.getByRole("radio", { name: "Fields" })).toBeDisabled();
    await expect(page.getByText("can only be edited as JSON")).toBeVisible();
    await page.keyboard.press("Control+z");
    await expect(switches.getByRole("radio", { name: "Fields" })).toBeEnabled();
  });

  await test.step("a condition of an argument is written in words", async () => {
    await page.getByText("Conditional").click();
    await page
      .getByRole("radiogroup", { name: "Require approval when the arguments match as" })
      .getByText("Fields")
      .click();
    await page.getByRole("button", { name: "Add condition" }).click();
    const first = page.getByRole("region", { name: "Condition 1" });
    await first.getByLabel("Argument").fill("usd");
    await first.getByLabel("Condition", { exact: true }).selectOption("is more than");
    await first.getByLabel("Value").fill("100");
    await page.getByRole("button", { name: "Add condition" }).click();
    const second = page.getByRole("region", { name: "Condition 2" });
    await second.getByLabel("Condition", { exact: true }).selectOption("is given");
    await expectAccessible(page, "conditions");
    await page.setViewportSize({ width: 390, height: 844 });
    await expectToFit(page, "conditions, narrow");
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.getByRole("button", { name: "Create tool" }).click();
    await expect(page).toHaveURL(/\/tools\/tool_\w+$/);
    const tool = await newest("tools");
    const usd = { ...parameters.properties.usd, description: "In dollars." };
    expect(tool.parameters).toEqual({
      ...parameters,
      properties: { ...parameters.properties, usd },
      additionalProperties: false,
    });
    expect(tool.approval).toEqual({ when: { properties: { usd: { exclusiveMinimum: 100 } }, required: ["usd"] } });
  });
});

test("guardrails, a script and a response format are edited as fields", async ({ page }) => {
  await page.goto(`${server.url}/dashboard/agents/new`);
  await page.getByLabel("Name", { exact: true }).fill("Desk");
  await editor(page, "Instructions").fill("# Be kind\n\nAnd **short**.");
  await page.getByRole("combobox", { name: "Model", exact: true }).fill("test/script");
  await page.keyboard.press("Escape");

  await test.step("a script writes a text and calls a tool", async () => {
    await page.getByRole("button", { name: "Add model call" }).click();
    const first = page.getByRole("region", { name: "Model call 1" });
    await first.getByLabel("Text").fill("One moment.");
    await first.getByRole("button", { name: "Add tool call" }).click();
    await first.getByRole("combobox", { name: "Tool" }).fill("find_order");
    await page.keyboard.press("Escape");
    await editor(first, "Arguments of the call").fill('{"id": 7}');
    await page.getByRole("button", { name: "Add model call" }).click();
    await page.getByRole("region", { name: "Model call 2" }).getByLabel("Text").fill("It is on its way.");
  });

  await test.step("rules are picked and set", async () => {
    const add = page.getByRole("button", { name: "Add a guardrail" });
    await add.click();
    await page.getByRole("menuitem", { name: "Personal data" }).click();
    await page.getByRole("region", { name: "Guardrail 1: Personal data" }).getByLabel("Kinds").fill("email\nphone");
    await page
      .getByRole("region", { name: "Guardrail 1: Personal data" })
      .getByLabel("Output", { exact: true })
      .check();
    await add.click();
    await page.getByRole("menuitem", { name: "Length" }).click();
    const length = page.getByRole("region", { name: "Guardrail 2: Length" });
    await length.getByLabel("Max length, characters").fill("500");
    await length.getByLabel("Action").selectOption("Flag");
    const format = page.getByRole("group", { name: "Output schema" });
    await format.getByRole("button", { name: "Add field" }).click();
    await format.getByLabel("Field name").fill("answer");
    await expectAccessible(page, "agent as fields");
    await expectToFit(page, "agent as fields");
    await page.setViewportSize({ width: 390, height: 844 });
    await expectToFit(page, "agent as fields, narrow");
    await page.setViewportSize({ width: 1440, height: 900 });
  });

  await page.getByRole("button", { name: "Create agent" }).click();
  await expect(page).toHaveURL(/\/agents\/agt_\w+$/);
  expect(await newest("agents")).toMatchObject({
    instructions: "# Be kind\n\nAnd **short**.",
    model_settings: {
      script: [
        { text: "One moment.", tool_calls: [{ name: "find_order", arguments: { id: 7 } }] },
        { text: "It is on its way." },
      ],
    },
    guardrails: [
      { type: "pii", on: ["input", "output"], action: "redact", config: { kinds: ["email", "phone"] } },
      { type: "max_length", on: ["input"], action: "flag", config: { max_length: 500 } },
    ],
    output_schema: { type: "object", properties: { answer: { type: "string" } } },
  });
});

test("variables of a prompt are filled in the playground, and saved as variables", async ({ page }) => {
  const body = { name: "Letters", model: "test/echo", instructions: "Write to {{customer}}." };
  const agent: Json = await (await server.fetch("/v1/agents", { method: "POST", body: JSON.stringify(body) })).json();
  await page.goto(`${server.url}/dashboard/playground?agent=${agent.id}`);
  const variables = page.getByRole("group", { name: "Variables" });
  await variables.getByLabel("customer").fill("Ada");
  await page.getByLabel("Message to the agent").fill("It is {{weather}}, say {{customer}}.");
  await variables.getByLabel("weather").fill("sunny");
  await expectAccessible(page, "variables");
  await page.keyboard.press("Control+Enter");
  await page.getByLabel("Message to the agent").press("Control+Enter");
  const answer = page.getByRole("article", { name: "Run", exact: true }).last();
  await expect(answer).toContainText("It is sunny, say Ada.");
  const runs = async (): Promise<Json[]> => (await read("/v1/runs?limit=1")).data;
  await expect.poll(runs).toHaveLength(1); // The message appears before its run is created.
  const data = await runs();
  const sent: Json = await read(`/v1/runs/${data[0].id}`);
  expect(JSON.stringify(sent.input)).toContain("It is sunny, say Ada.");

  await page.reload();
  await expect(variables.getByLabel("customer")).toHaveValue("Ada");
  await editor(page, "Instructions").fill("Write a letter to {{customer}}.");
  await page.getByRole("button", { name: "Save as version 2" }).click();
  await expect(page.getByText("Saved as version 2")).toBeVisible();
  expect(await read(`/v1/agents/${agent.id}`)).toMatchObject({ instructions: "Write a letter to {{customer}}." });
});
