import { type Page, expect as plain, test } from "@playwright/test";
import { startMcpServer } from "../server/testing/mcp-server.ts";
import { type Runnel, startRunnel } from "./harness.ts";
import {
  expectAccessible,
  expectToFit,
  fieldContent,
  recordFaults,
  setUpAccount,
  switchToJson,
} from "./page-checks.ts";
import { startToolServer } from "./tool-server.ts";

/** Sandboxed code and models run in their own processes, which start late on a busy machine. */
const expect = plain.configure({ timeout: 30_000 });

// Tools in the compiled executable: created, tested, changed and deleted in a real browser.
let server: Runnel;
const services = startToolServer();
const mcp = startMcpServer();
test.beforeAll(async () => {
  server = await startRunnel();
});
test.afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await services[Symbol.asyncDispose]();
  await mcp[Symbol.asyncDispose]();
});
test.use({ viewport: { width: 1440, height: 900 }, permissions: ["clipboard-read", "clipboard-write"] });

test("tools of each kind are created, tested with arguments, changed and deleted", async ({ page }) => {
  test.setTimeout(600_000); // axe checks many states in two themes.
  const complaints = recordFaults(page);
  await setUpAccount(page, server);

  await test.step("without tools the page explains them, and c creates the first", async () => {
    await page.goto(`${server.url}/dashboard/tools`);
    await expect(page.getByRole("heading", { name: "No tools yet" })).toBeVisible();
    await expectAccessible(page, "no tools");
    await page.keyboard.press("c");
    await expect(page).toHaveURL(/\/tools\/new$/);
    await page.getByRole("button", { name: "Create tool" }).click();
    await expect(page.getByLabel("Name", { exact: true })).toBeFocused();
    await expect(page.getByLabel("Name", { exact: true })).toHaveAccessibleDescription("Enter a name.");
  });

  await test.step("an invalid schema is refused at its field; a client tool cannot be tested here", async () => {
    await page.getByLabel("Name", { exact: true }).fill("ask_customer");
    await page.getByLabel("Description").fill("Asks the customer.");
    await switchToJson(page, "Arguments (JSON Schema)");
    const schema = page.getByRole("textbox", { name: "Arguments (JSON Schema)" });
    await schema.fill('{"type": "object", "properties": {"question": {"type": "strong"}}}');
    await page.getByRole("button", { name: "Create tool" }).click();
    await expect(schema).toHaveAttribute("aria-invalid", "true");
    await expect(schema).toBeFocused();
    await schema.fill('{"type": "object", "properties": {"question": {"type": "string"}}, "required": ["question"]}');
    await expectAccessible(page, "new client tool");
    await expectToFit(page, "new client tool");
    await page.keyboard.press("Control+Enter");
    await expect(page).toHaveURL(/\/tools\/tool_\w+$/);
    await page.getByRole("tab", { name: "Test" }).click();
    await expect(page.getByRole("heading", { name: "Client tools do not run on this server" })).toBeVisible();
  });

  await test.step("secrets are set, and only their names are shown", async () => {
    await page.goto(`${server.url}/dashboard/tools`);
    await page.getByRole("button", { name: "Secrets" }).click();
    const dialog = page.getByRole("dialog", { name: "Secrets" });
    await dialog.getByLabel("Name").fill("CRM_KEY");
    await dialog.getByLabel("Value").fill("a-very-secret-value");
    await page.keyboard.press("Control+Enter");
    await expect(dialog.getByRole("list", { name: "Secrets" })).toContainText("CRM_KEY");
    await expectAccessible(page, "secrets");
    await page.keyboard.press("Escape");
    await expect(page.getByText("a-very-secret-value")).toHaveCount(0);
  });

  await test.step("an HTTP tool shows its signing secret once, and is called with arguments from its schema", async () => {
    await page.goto(`${server.url}/dashboard/tools/new?type=http`);
    await page.getByLabel("Name", { exact: true }).fill("weather");
    await page.getByLabel("URL", { exact: true }).fill(`${services.url}/weather`);
    await page.getByRole("button", { name: "Add header" }).click();
    await page.getByLabel("Header 1, name").fill("x-crm");
    await page.getByRole("button", { name: "Insert a secret into header 1" }).click();
    await page.getByRole("menuitem", { name: "CRM_KEY" }).click();
    await expect(page.getByLabel("Header 1, value")).toHaveValue("{{secret.CRM_KEY}}");
    await page
      .getByRole("textbox", { name: "Arguments (JSON Schema)" })
      .fill(
        '{"type": "object", "properties": {"city": {"enum": ["Oslo", "Lima"]}, "days": {"type": "integer", "minimum": 3}}}',
      );
    await page.getByText("Always required").click();
    await expectAccessible(page, "new http tool");
    await page.getByRole("button", { name: "Create tool" }).click();
    const secret = page.getByRole("dialog", { name: "Save this signing secret now" });
    await expect(secret.locator("[data-secret]")).toHaveText(/^whsec_/);
    await expectAccessible(page, "signing secret");
    await secret.getByRole("button", { name: "I've saved it" }).click();
    await expect(page).toHaveURL(/\/tools\/tool_\w+$/);
    await expect(page.getByLabel("Header 1, value")).toHaveValue("********");
    await page.getByRole("tab", { name: "Test" }).click();
    await expect
      .poll(() => fieldContent(page.getByRole("textbox", { name: "Arguments" })))
      .toMatch(/"city": "Oslo",\s+"days": 3/);
    await page.keyboard.press("Tab");
    await page.getByRole("button", { name: "Call tool" }).click();
    const outcome = page.getByRole("region", { name: "Result of the call" });
    await expect(outcome).toContainText("Succeeded");
    await expect(outcome).toContainText("clear");
    expect(services.callsOf("/weather")[0]?.headers["x-crm"]).toBe("a-very-secret-value");
    await expectAccessible(page, "tool answered");
    await expectToFit(page, "tool answered");
  });

  await test.step("invalid arguments are reported before the call", async () => {
    await page.getByRole("textbox", { name: "Arguments" }).fill('{"days": 1}');
    await page.keyboard.press("Control+Enter");
    await expect(page.getByRole("textbox", { name: "Arguments" })).toHaveAttribute("aria-invalid", "true");
    expect(services.callsOf("/weather")).toHaveLength(1);
  });

  await test.step("a change keeps masked values, and an error is shown as the model reads it", async () => {
    await page.getByRole("tab", { name: "Definition" }).click();
    await page.getByLabel("URL", { exact: true }).fill(`${services.url}/fails`);
    await page.getByRole("button", { name: "Save tool" }).click();
    await expect(page.getByText("Tool saved")).toBeVisible();
    await page.getByRole("tab", { name: "Test" }).click();
    await page.getByRole("button", { name: "Call tool" }).click();
    await expect(page.getByText("The model would read this error")).toBeVisible();
    await expectAccessible(page, "tool failed");
    await page.getByRole("tab", { name: "Definition" }).click();
    await expectAccessible(page, "http tool");
    await expectToFit(page, "http tool");
  });

  await test.step("code is written in an editor that indents, and runs in the sandbox", async () => {
    await page.goto(`${server.url}/dashboard/tools/new?type=code`);
    await page.getByLabel("Name", { exact: true }).fill("add");
    const source = page.getByLabel("Source");
    await expect.poll(() => fieldContent(source)).toMatch(/args\.a \+ args\.b/);
    await source.focus();
    await page.keyboard.press("Control+Home");
    await page.keyboard.press("Tab");
    await expect(source).toBeFocused();
    await expect.poll(() => fieldContent(source)).toMatch(/^ {2}\(args\)/);
    await page.keyboard.press("Escape");
    await page.keyboard.press("Tab");
    await expect(source).not.toBeFocused();
    await page
      .getByRole("textbox", { name: "Arguments (JSON Schema)" })
      .fill(
        '{"type": "object", "properties": {"a": {"type": "number", "default": 40}, "b": {"type": "number", "default": 2}}}',
      );
    await expectAccessible(page, "new code tool");
    await expectToFit(page, "new code tool");
    await page.getByRole("button", { name: "Create tool" }).click();
    await expect(page).toHaveURL(/\/tools\/tool_\w+$/);
    await page.getByRole("tab", { name: "Test" }).click();
    await page.getByRole("button", { name: "Call tool" }).click();
    await expect(page.getByRole("region", { name: "Result of the call" })).toContainText("sum: 42");
  });

  await test.step("an MCP server lists its tools, is refreshed, and each of its tools is tested", async () => {
    await page.goto(`${server.url}/dashboard/tools/new?type=mcp`);
    await page.getByLabel("Name", { exact: true }).fill("calc");
    await page.getByLabel("URL", { exact: true }).fill(mcp.url);
    await page.getByRole("button", { name: "Create tool" }).click();
    const offered = page.getByRole("list", { name: "Tools of the server" });
    await expect(offered).toContainText("add");
    await page.getByRole("button", { name: "Refresh list" }).click();
    await expect(page.getByText("List refreshed")).toBeVisible();
    await expectAccessible(page, "mcp tool");
    await expectToFit(page, "mcp tool");
    await offered.getByRole("link", { name: "Try add", exact: true }).click();
    await page.getByRole("textbox", { name: "Arguments" }).fill('{"a": 40, "b": 2}');
    await page.keyboard.press("Control+Enter");
    await expect(page.getByRole("region", { name: "Result of the call" })).toContainText("42");
  });

  await test.step("the list shows each tool's kind, its approval, and its agents", async () => {
    const { data } = (await server.get("/v1/tools")).body;
    const weather = data.find((tool: { name: string }) => tool.name === "weather");
    const desk = { name: "Refund desk", instructions: "Help.", model: "test/echo", tools: [weather.id] };
    await server.post("/v1/agents", desk);
    const long = "Reads the whole archive of orders, invoices and letters of a customer. ".repeat(20);
    await server.post("/v1/tools", { name: "x".repeat(64), type: "client", description: long });
    await page.goto(`${server.url}/dashboard/tools`);
    await expect(row(page, "weather")).toContainText("Always required");
    await expect(row(page, "weather")).toContainText("Refund desk");
    await expect(row(page, "ask_customer")).toContainText("No agent");
    await expectAccessible(page, "tools");
    await expectToFit(page, "tools");
    await page.getByRole("button", { name: "Type" }).click();
    await page.getByRole("menuitemradio", { name: "HTTP" }).click();
    await expect(page).toHaveURL(/type=http/);
    await expect(page.getByRole("row")).toHaveCount(2);
  });

  await test.step("the delete dialog names the agents that lose the tool", async () => {
    await page.getByRole("link", { name: "weather" }).click();
    await page.getByRole("button", { name: "More actions" }).click();
    await page.getByRole("menuitem", { name: "Delete tool" }).click();
    const dialog = page.getByRole("alertdialog", { name: "Delete weather" });
    await expect(dialog).toContainText("1 agent loses it: Refund desk.");
    await expectAccessible(page, "delete tool");
    await dialog.getByRole("button", { name: "Delete tool" }).click();
    await expect(page).toHaveURL(/\/tools$/);
    await expect(row(page, "weather")).toBeHidden();
    expect(complaints).toEqual([]);
  });
});

test("a tool is duplicated and copied to live, where only the differences are changed", async ({ page }) => {
  await using server = await startRunnel();
  const complaints = recordFaults(page);
  await setUpAccount(page, server);
  const tool = await server.post("/v1/tools", {
    name: "find_parcel",
    type: "http",
    description: "Finds a parcel.",
    url: "https://parcels.example/find",
    headers: { authorization: "secret value" },
  });
  await page.goto(`${server.url}/dashboard/tools/${tool.body.id}`);
  await page.waitForURL(/\/test\/tools\/tool_/);
  const inTest = page.url();
  const act = async (name: string) => {
    await page.goto(inTest);
    await page.getByRole("button", { name: "More actions" }).click();
    await page.getByRole("menuitem", { name }).click();
  };

  await test.step("a duplicate has its own name, and the dialog names its missing headers", async () => {
    await act("Duplicate");
    await expect(page.getByRole("heading", { name: "find_parcel_copy" })).toBeVisible();
    await expect(page.getByText("Enter its headers again: authorization")).toBeVisible();
  });

  await test.step("the copy dialog first shows the new tools and the headers that are not copied", async () => {
    await act("Copy to live…");
    const dialog = page.getByRole("dialog", { name: "Copy find_parcel" });
    await expect(dialog.getByRole("listitem")).toHaveText([/Tool\s*find_parcel\s*new/]);
    await expect(dialog).toContainText("Set them afterwards: find_parcel: authorization");
    await expectAccessible(page, "copy a tool to live");
    await dialog.getByRole("button", { name: "Copy", exact: true }).click();
    await expect(page).toHaveURL(/\/live\/tools\/tool_/);
    await expect(page.getByRole("heading", { name: "find_parcel" })).toBeVisible();
  });

  await test.step("a second copy changes the tool only if that option is chosen", async () => {
    await server.patch(`/v1/tools/${tool.body.id}`, { description: "Finds a parcel, fast." });
    await act("Copy to live…");
    const dialog = page.getByRole("dialog", { name: "Copy find_parcel" });
    await expect(dialog.getByRole("listitem")).toHaveText([/differs in description/]);
    await dialog.getByText("Update them").click();
    await dialog.getByRole("button", { name: "Copy", exact: true }).click();
    await expect(page).toHaveURL(/\/live\/tools\/tool_/);
    await expect(page.getByLabel("Description")).toHaveValue("Finds a parcel, fast.");
  });
  expect(complaints).toEqual([]);
});

const row = (page: Page, text: string) => page.getByRole("row").filter({ hasText: text });
