import { mkdirSync } from "node:fs";
import { expect, type Locator, type Page, test } from "@playwright/test";
import { type Runnel, startRunnel } from "./harness.ts";
import { expectAccessible, recordFaults, signInBeforeEach } from "./page-checks.ts";

// Model connections in the compiled executable, with a real model server behind them, in a real browser.

/** Starts a server with a list of models, which takes tools but no reasoning. Its failures are the test's. */
function startListedServer() {
  const state = { models: [] as object[], list: null as (() => Response) | null, keys: new Set<string>(), asked: 0 };
  const held = { gate: Promise.withResolvers<void>() };
  held.gate.resolve();
  const chunk = (delta: object, finish_reason: string | null = null) =>
    `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
  const usage = `data: ${JSON.stringify({ choices: [], usage: { prompt_tokens: 20, completion_tokens: 2 } })}\n\n`;
  const call = { index: 0, id: "c", type: "function", function: { name: "weather", arguments: "{}" } };
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    async fetch(request) {
      state.keys.add(request.headers.get("authorization") ?? "");
      const { pathname } = new URL(request.url);
      if (request.method === "GET")
        return pathname === "/v1/models"
          ? (state.list?.() ?? Response.json({ object: "list", data: state.models }))
          : new Response(null, { status: 404 });
      const body = (await request.json()) as { tools?: unknown; reasoning_effort?: string; response_format?: unknown };
      state.asked++;
      await held.gate.promise;
      if (body.reasoning_effort)
        return Response.json(
          { error: { message: "reasoning_effort is not supported by this model" } },
          { status: 400 },
        );
      const text = body.response_format ? '{"capital":"Oslo"}' : "ready";
      const parts = body.tools
        ? [chunk({ tool_calls: [call] }), chunk({}, "tool_calls")]
        : [chunk({ content: text }), chunk({}, "stop")];
      return new Response(`${parts.join("")}${usage}data: [DONE]\n\n`, {
        headers: { "content-type": "text/event-stream" },
      });
    },
  });
  return Object.assign(state, {
    url: `http://127.0.0.1:${server.port}/v1`,
    hold: () => {
      held.gate = Promise.withResolvers<void>();
    },
    release: () => held.gate.resolve(),
    [Symbol.asyncDispose]: () => server.stop(true),
  });
}

const router = Array.from({ length: 420 }, (_, index) => ({
  id: `vendor-${String(index % 20).padStart(2, "0")}/model-${String(index).padStart(3, "0")}-instruct`,
  name: `Vendor: Model ${index}`,
  context_length: 8192 * (1 + (index % 16)),
  pricing: { prompt: "0.0000005", completion: "0.0000015" },
}));
const small = [
  { id: "llama-3.3-70b", max_model_len: 131_072 },
  { id: "old-model", deprecated: true },
  { id: "nomic-embed-text" },
];

let server: Runnel;
test.beforeAll(async () => {
  server = await startRunnel({ keepLimits: true });
});
test.afterAll(() => server[Symbol.asyncDispose]());
test.use({ viewport: { width: 1440, height: 900 } });
signInBeforeEach(() => server);

const table = (page: Page): Locator => page.getByRole("table", { name: "Model connections" });
const row = (page: Page, name: string): Locator => table(page).getByRole("row", { name: new RegExp(`^${name}`) });

async function shoot(page: Page, name: string): Promise<void> {
  if (!process.env.RUNNEL_SHOTS) return;
  mkdirSync(process.env.RUNNEL_SHOTS, { recursive: true });
  await page.screenshot({ path: `${process.env.RUNNEL_SHOTS}/${name}.png` });
}

async function add(page: Page, name: string, url: string, key = ""): Promise<void> {
  await page.goto(`${server.url}/dashboard/settings?tab=connections`);
  await page.getByRole("button", { name: "Add connection" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Provider").selectOption("openai_compatible");
  await dialog.getByLabel("Name").fill(name);
  await dialog.getByLabel("URL").fill(url);
  if (key) await dialog.getByLabel("Key").fill(key);
  await dialog.getByRole("button", { name: "Add connection" }).click();
  await expect(page.getByRole("dialog", { name: `Test ${name}` })).toBeVisible();
}

test("a connection is added, tested feature by feature, and its models are offered to agents at once", async ({
  page,
}) => {
  test.setTimeout(180_000);
  const complaints = recordFaults(page);
  await using model = startListedServer();
  model.models = small;

  await test.step("the form shows the provider's own address, and keeps a typed one", async () => {
    await page.goto(`${server.url}/dashboard/settings?tab=connections`);
    await page.getByRole("button", { name: "Add connection" }).click();
    const dialog = page.getByRole("dialog");
    await expect(dialog.getByLabel("URL")).toHaveValue("https://api.openai.com/v1");
    await dialog.getByLabel("Provider").selectOption("anthropic");
    await expect(dialog.getByLabel("URL")).toHaveValue("https://api.anthropic.com/v1");
    await dialog.getByLabel("URL").fill("https://proxy.example/v1");
    await dialog.getByLabel("Provider").selectOption("google");
    await expect(dialog.getByLabel("URL")).toHaveValue("https://proxy.example/v1");
    await shoot(page, "connection-add");
    await dialog.getByRole("button", { name: "Cancel" }).click();
  });

  await test.step("a test shows each line when it is done, and can be stopped", async () => {
    await add(page, "local", model.url, "sk-first");
    const dialog = page.getByRole("dialog", { name: "Test local" });
    model.hold();
    await dialog.getByRole("button", { name: "Test connection" }).click();
    await expect(dialog.getByText("Waiting for the server")).toBeVisible();
    await dialog.getByRole("button", { name: "Stop" }).click();
    await expect(dialog.getByText("The test was stopped.")).toBeVisible();
    const asked = model.asked;
    model.release();
    expect(model.asked).toBe(asked);
    await dialog.getByLabel(/Model/).fill("llama-3.3-70b");
    await dialog.getByLabel("Images").check();
    await page.keyboard.press("Escape"); // Closes the suggestions, if there are any.
  });

  await test.step("refused features have the server's own words", async () => {
    if (!(await page.getByRole("dialog", { name: "Test local" }).isVisible()))
      await page.getByRole("button", { name: "Test local" }).click();
    const dialog = page.getByRole("dialog", { name: "Test local" });
    await dialog.getByLabel(/Model/).fill("llama-3.3-70b");
    await dialog.getByRole("button", { name: "Test connection" }).click();
    await expect(dialog.getByText("The connection works.")).toBeVisible();
    const lines = dialog.getByRole("list", { name: "Checks" }).getByRole("listitem");
    await expect(lines.filter({ hasText: "Tools: Yes." })).toHaveCount(1);
    await expect(lines.filter({ hasText: "Structured output: Yes." })).toHaveCount(1);
    await expect(lines.filter({ hasText: "Reasoning: No." })).toContainText("reasoning_effort is not supported");
    await expectAccessible(page, "connection tested");
    await shoot(page, "connection-tested");
    await dialog.getByRole("button", { name: "Close" }).first().click();
    await expect(row(page, "local")).toContainText("Worked");
    await expect(row(page, "local")).toContainText("3 models");
    await expectAccessible(page, "connections with states");
  });

  await test.step("the agent form offers the models by any part of their names, and takes any other name", async () => {
    await page.goto(`${server.url}/dashboard/agents/new`);
    const field = page.getByRole("combobox", { name: "Model" });
    await field.fill("lama 70b");
    const option = page.getByRole("option", { name: /local\/llama-3\.3-70b/ });
    await expect(option).toContainText("131k");
    await shoot(page, "agent-models");
    await field.press("ArrowDown");
    await field.press("Enter");
    await expect(field).toHaveValue("openai_compatible/local/llama-3.3-70b");
    await field.fill("nomic");
    await expect(page.getByRole("option", { name: /nomic/ })).toHaveCount(0);
    await field.fill("openai_compatible/local/not-in-the-list");
    await page.getByLabel("Name", { exact: true }).fill("Clerk");
    await page.getByLabel("Instructions").fill("Be brief.");
    await page.getByRole("button", { name: "Create agent" }).click();
    await expect(page).toHaveURL(/agents\/agt_/);
  });

  expect(complaints).toEqual([]);
});

test("a connection is edited: an empty key stays, and a change by another person is shown first", async ({ page }) => {
  test.setTimeout(120_000);
  const complaints = recordFaults(page);
  await using model = startListedServer();
  model.models = small;
  await add(page, "edited", model.url, "sk-first");
  await page.keyboard.press("Escape");
  await expect(row(page, "edited")).toContainText("3 models");

  await test.step("limits are changed, and the key stays", async () => {
    await page.getByRole("button", { name: "Edit edited" }).click();
    const dialog = page.getByRole("dialog", { name: "Edit connection edited" });
    await expect(dialog.getByLabel("Key (optional)")).toHaveValue("");
    await dialog.getByLabel(/Max concurrent/).fill("many");
    await dialog.getByRole("button", { name: "Save changes" }).click();
    await expect(dialog.getByLabel(/Max concurrent/)).toHaveAttribute("aria-invalid", "true");
    await dialog.getByLabel(/Max concurrent/).fill("5");
    await expectAccessible(page, "connection edit");
    await shoot(page, "connection-edit");
    await page.keyboard.press("Enter");
    await expect(row(page, "edited")).toContainText("at most 5 at once");
    expect([...model.keys]).toEqual(["Bearer sk-first"]);
  });

  await test.step("a stale draft shows the other change, and keeps both", async () => {
    await page.getByRole("button", { name: "Edit edited" }).click();
    const dialog = page.getByRole("dialog", { name: "Edit connection edited" });
    await server.command("connections", "edit", "edited", "--max-concurrent", "9");
    await dialog.getByLabel("Key (optional)").fill(" sk-second");
    await dialog.getByRole("button", { name: "Save changes" }).click();
    await expect(dialog.getByText("Someone changed this connection meanwhile")).toBeVisible();
    await expect(dialog.getByRole("alert")).toContainText("They changed: Max concurrent calls.");
    await shoot(page, "connection-conflict");
    await dialog.getByRole("button", { name: "Save mine" }).click();
    await expect(row(page, "edited")).toContainText("at most 9 at once");
    await expect.poll(() => model.keys.has("Bearer sk-second")).toBe(true);
  });
  expect(complaints.filter((text) => !/40[09]/.test(text))).toEqual([]);
});

test("a list of 420 models opens at once, is searched, and renders only the rows in sight", async ({ page }) => {
  test.setTimeout(120_000);
  const complaints = recordFaults(page);
  await using model = startListedServer();
  model.models = router;
  await add(page, "router", model.url);
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Models of router: 420 models" }).click();
  const dialog = page.getByRole("dialog", { name: "Models of router" });
  await expect(dialog.getByText("420 models")).toBeVisible();
  expect(await dialog.getByRole("listitem").count()).toBeLessThan(60);
  await expectAccessible(page, "models of a connection");
  await shoot(page, "connection-models");
  await dialog.getByLabel("Search models").fill("model 417");
  await expect(dialog.getByRole("listitem")).toHaveCount(1);
  await expect(dialog.getByRole("listitem")).toContainText("$0.50 / $1.50");
  await dialog.getByLabel("Search models").fill("nothing-like-it");
  await expect(dialog.getByText(/No model has “nothing-like-it”/)).toBeVisible();
  await dialog.getByRole("button", { name: "Close" }).first().click();

  await test.step("the agent form reaches the last model by keyboard, and picks on Enter alone", async () => {
    await page.goto(`${server.url}/dashboard/agents/new`);
    const field = page.getByRole("combobox", { name: "Model" });
    await field.fill("router/vendor");
    await expect(page.getByRole("option").first()).toHaveAttribute("aria-setsize", "420");
    expect(await page.getByRole("option").count()).toBeLessThan(40);
    await field.press("ArrowUp");
    const last = page.getByRole("option", { name: /vendor-19\/model-419/ });
    await expect(last).toHaveAttribute("aria-selected", "true");
    await expect(last).toBeInViewport();
    await expect(field).toHaveValue("router/vendor");
    await shoot(page, "agent-models-long");
    await field.press("Enter");
    await expect(field).toHaveValue("openai_compatible/router/vendor-19/model-419-instruct");
  });
  expect(complaints).toEqual([]);
});

test("a failing list says why, keeps the one before, and is read again by a button", async ({ page }) => {
  test.setTimeout(120_000);
  await using model = startListedServer();
  model.models = small;
  await add(page, "failing", model.url, "sk-x");
  await page.keyboard.press("Escape");
  await expect(row(page, "failing")).toContainText("3 models");
  model.list = () => Response.json({ error: { message: "Out of credit" } }, { status: 402 });
  await page.getByRole("button", { name: /Models of failing/ }).click();
  const dialog = page.getByRole("dialog", { name: "Models of failing" });
  await expect(dialog.getByRole("listitem").first()).toBeVisible();
  // A refresh within two seconds of the one before is the same one.
  await expect(async () => {
    await dialog.getByRole("button", { name: "Refresh" }).click();
    await expect(dialog.getByText("The server returned HTTP 402")).toBeVisible({ timeout: 1000 });
  }).toPass();
  await expect(dialog.getByText(/Out of credit/)).toBeVisible();
  await expect(dialog.getByRole("listitem")).toHaveCount(2);
  await expectAccessible(page, "failing list");
  await shoot(page, "connection-models-failing");
  await page.goto(`${server.url}/dashboard/agents/new`);
  await expect(page.getByText("The list is the last one that was read.")).toBeVisible();
});

test("connections fit a phone and a dark theme", async ({ page }) => {
  test.setTimeout(120_000);
  await using model = startListedServer();
  model.models = router;
  await add(page, "phone", model.url);
  await page.keyboard.press("Escape");
  for (const [theme, width] of [
    ["dark", 1440],
    ["light", 390],
    ["dark", 390],
  ] as const) {
    await page.setViewportSize({ width, height: 844 });
    await page.evaluate((value) => localStorage.setItem("runnel.theme", value), theme);
    await page.goto(`${server.url}/dashboard/settings?tab=connections`);
    await expect(row(page, "phone")).toContainText("420 models");
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
    await expectAccessible(page, `connections ${theme} ${width}`);
    await shoot(page, `connections-${theme}-${width}`);
    await page.getByRole("button", { name: "Models of phone: 420 models" }).click();
    await expect(page.getByRole("dialog").getByText("420 models")).toBeVisible();
    await expectAccessible(page, `models ${theme} ${width}`);
    await shoot(page, `models-${theme}-${width}`);
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Test phone" }).click();
    await shoot(page, `test-${theme}-${width}`);
    await page.keyboard.press("Escape");
  }
});
