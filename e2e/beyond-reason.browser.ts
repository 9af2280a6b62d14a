import { type Page, expect as plain, test } from "@playwright/test";
import { type Json, type Runnel, startRunnel } from "./harness.ts";
import { expectToFit, fieldContent, signInBeforeEach } from "./page-checks.ts";

// Data that only the API can create: no page hangs, throws, or logs an error because of it.
const expect = plain.configure({ timeout: 30_000 });
let server: Runnel;
test.beforeAll(async () => {
  server = await startRunnel();
});
test.afterAll(() => server[Symbol.asyncDispose]());
test.describe.configure({ timeout: 180_000 });
test.use({ viewport: { width: 1440, height: 900 } });
signInBeforeEach(() => server);

const make = async (path: string, body: Json): Promise<Json> => {
  const { status, body: made } = await server.post(path, body);
  expect([status, made.error ?? null]).toEqual([expect.any(Number), null]);
  return made;
};
const client = (name: string, more: Json) =>
  make("/v1/tools", { name, type: "client", description: "Looks.", ...more });
const editor = (page: Page, name: string) =>
  page.locator(".cm-content").and(page.getByRole("textbox", { name, exact: true }));
const fieldsOf = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`field_${i}`, { type: "string", enum: ["a", "b"] }]));
/** Expects the page to react to a key press at once and not to scroll sideways. */
async function expectAlive(page: Page, name: string): Promise<void> {
  await expectToFit(page, name);
  await page.keyboard.press("Escape");
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(resolve)));
}

test("a schema with hundreds of fields, deep nesting or recursion is edited as JSON and keeps its content", async ({
  page,
}) => {
  const wide = await client("wide", { parameters: { type: "object", properties: fieldsOf(300) } });
  await page.goto(`${server.url}/dashboard/tools/${wide.id}`);
  await expect(page.getByText("This schema can only be edited as JSON.").first()).toBeVisible();
  await expect(editor(page, "Arguments (JSON Schema)")).toBeVisible();
  await expectAlive(page, "300 fields");

  const nested = (depth: number): Json =>
    depth === 0 ? { type: "string" } : { type: "object", properties: { down: nested(depth - 1) } };
  const self = { $defs: { node: { type: "object", properties: { next: { $ref: "#/$defs/node" } } } } };
  const parameters = { type: "object", properties: { deep: nested(12), loop: { $ref: "#/$defs/node" } }, ...self };
  const deep = await client("deep", { parameters });
  await page.goto(`${server.url}/dashboard/tools/${deep.id}`);
  await expect(page.getByRole("region", { name: "loop", exact: true })).toContainText(
    "Kept, editable as JSON only: $ref",
  );
  await expect(page.getByRole("region", { name: "deep.down", exact: true })).toBeVisible();
  await page.getByLabel("Description", { exact: true }).fill("Looks again.");
  await page.getByRole("button", { name: "Save tool" }).click();
  await expect.poll(async () => (await server.get(`/v1/tools/${deep.id}`)).body.description).toBe("Looks again.");
  expect((await server.get(`/v1/tools/${deep.id}`)).body.parameters).toEqual(parameters);
  await expectAlive(page, "deep");
});

test("conditions, guardrails and names of any kind are shown unchanged", async ({ page }) => {
  const when = {
    properties: {
      odd: { const: { a: [1] } },
      "a.b c": { enum: ["1", 1, null, ""] },
      مبلغ: { pattern: "^\\d{1,3}$" },
    },
    required: ["toString"],
  };
  const asks = await client("asks", { parameters: { type: "object" }, approval: { when } });
  await page.goto(`${server.url}/dashboard/tools/${asks.id}`);
  await expect(page.getByRole("region", { name: /^Condition \d$/ })).toHaveCount(4);
  await expect(page.getByLabel("Value", { exact: true }).first()).toHaveValue('{"a":[1]}');

  const name = "👩‍👩‍👧‍👦 مكتب الاسترداد \u202eoops\u202c ".padEnd(60, "ﷺ");
  const agent = await make("/v1/agents", {
    name,
    instructions: "x",
    model: "test/echo",
    guardrails: [
      {
        type: "json_schema",
        on: ["output"],
        action: "flag",
        config: { schema: { type: "object", properties: fieldsOf(50) } },
      },
      { type: "blocked_terms", on: ["input"], action: "flag", config: { terms: ["ﷺ".repeat(50), "<b>", "{{x}}"] } },
      ...Array.from({ length: 20 }, (_, i) => ({
        type: "regex",
        on: ["output"],
        action: "flag",
        config: { pattern: `a{${i + 1}}` },
      })),
    ],
  });
  await page.goto(`${server.url}/dashboard/agents/${agent.id}`);
  await expect(page.getByRole("region", { name: /^Guardrail 22:/ })).toBeVisible();
  await expectAlive(page, "guardrails");
  const run = await make("/v1/runs?wait=60", { agent_id: agent.id, input: "مرحبا 👋 \u202e dlrow" });
  for (const path of ["/runs", `/runs/${run.id}?graph=drawing`, "/agents", "/overview"]) {
    await page.goto(`${server.url}/dashboard${path}`);
    await expect(page.getByText("👩‍👩‍👧‍👦").first()).toBeVisible();
    await expectAlive(page, path);
  }
});

test("the page stays responsive with thousands of prompt variables and a line of 240 kB", async ({ page }) => {
  const names = Array.from({ length: 5_000 }, (_, i) => `{{v${i}}}`).join(" ");
  const agent = await make("/v1/agents", {
    name: "Many",
    model: "test/echo",
    instructions: `{{constructor}} {{größe}} {{}} {{{{ ${names}`,
  });
  await page.goto(`${server.url}/dashboard/playground?agent=${agent.id}`);
  await expect(page.getByLabel("constructor", { exact: true })).toHaveValue("");
  await page.getByLabel("größe", { exact: true }).fill("XL");
  await expect(page.getByText(/^4,9\d\d more are sent unchanged\.$/)).toBeVisible();
  await expectAlive(page, "variables");

  const line = `${"a".repeat(120_000)} **b** ${"c".repeat(120_000)}`;
  const echo = await make("/v1/agents", { name: "Echo", model: "test/echo", instructions: "x" });
  const run = await make("/v1/runs?wait=60", { agent_id: echo.id, input: line });
  const other = await make("/v1/runs?wait=60", { agent_id: echo.id, input: `${line}!` });
  for (const path of ["/runs", `/runs/${run.id}`, `/runs/${run.id}?tab=messages`, `/runs/${run.id}/diff/${other.id}`]) {
    await page.goto(`${server.url}/dashboard${path}`);
    await expect(page.getByText(/aaaa/).first()).toBeVisible();
    await expectAlive(page, path.split("/").at(-1)!);
  }
});

test("a text of five megabytes or with endless nesting can be pasted into an editor", async ({ page }) => {
  const paste = (text: string) =>
    page.evaluate((text) => {
      const data = new DataTransfer();
      data.setData("text/plain", text);
      document.activeElement?.dispatchEvent(
        new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }),
      );
    }, text);
  await page.goto(`${server.url}/dashboard/tools/new?type=client`);
  await page.getByText("JSON", { exact: true }).first().click();
  const schema = editor(page, "Arguments (JSON Schema)");
  for (const [text, told] of [
    [`{"type": "object", "description": "${"x".repeat(5_000_000)}"}`, null],
    [`{"properties": {"a": {"const": ${"[".repeat(50_000)}${"]".repeat(50_000)}}}}`, /nested deeper/],
  ] as const) {
    await schema.fill("");
    await schema.focus();
    await paste(text);
    await page.keyboard.press("Control+Home");
    await page.keyboard.press("Tab");
    await page.getByLabel("Description", { exact: true }).fill("Still here.");
    if (told) await expect(schema).toHaveAccessibleDescription(told);
    await expectAlive(page, "pasted");
  }
  expect(await fieldContent(schema)).toContain("const");
});
