import { expect, type Locator, type Page, test } from "@playwright/test";
import { type Json, type Runnel, startRunnel } from "./harness.ts";
import { recordFaults, setUpAccount, switchToJson } from "./page-checks.ts";
import { startToolServer } from "./tool-server.ts";

// The goals of a newcomer and of an operator, from end to end: after the first address, by links and buttons alone.
test.use({ viewport: { width: 1440, height: 900 } });

test("a newcomer gets from the set-up link to live with the pages as only guide", async ({ page }) => {
  test.setTimeout(180_000);
  await using server = await startRunnel();
  const complaints = recordFaults(page);
  const kept: { key?: string } = {};

  await test.step("the set-up link creates an account, and the guide a test key whose first request works as shown", async () => {
    await setUpAccount(page, server);
    await page.getByRole("button", { name: "Create test key" }).click();
    await expect(page.getByRole("heading", { name: "Save your test key" })).toBeVisible();
    kept.key = (await page.locator("[data-secret]").textContent()) ?? "";
    await page.getByLabel("Include secret").check();
    const curl = await page.getByRole("region", { name: "curl code" }).textContent();
    expect(await shell(curl ?? "")).toMatchObject({ object: "me", environment: "test" });
    await page.getByRole("button", { name: "I've saved it" }).click();
    await expect(page.getByRole("heading", { name: "Create an agent" })).toBeVisible();
  });

  await test.step("a client tool is created, and an agent for it whose model needs no provider", async () => {
    await goTo(page, "Tools");
    await page.getByRole("link", { name: "Create tool" }).first().click();
    await page.getByRole("heading", { name: "Create tool" }).waitFor();
    await page.getByLabel("Name").fill("get weather");
    await page.getByLabel("Description").fill("The weather in a city, now.");
    await switchToJson(page, "Arguments (JSON Schema)");
    await page
      .getByRole("textbox", { name: "Arguments (JSON Schema)" })
      .fill('{"type": "object", "properties": {"city": {"type": "string"}}}');
    await page.getByRole("button", { name: "Create tool" }).click();
    await expect(page.getByLabel("Name")).toHaveAccessibleDescription(/Letters, digits, _ and - only/);
    await page.getByLabel("Name").fill("get_weather");
    await page.getByRole("button", { name: "Create tool" }).click();
    await expect(page.getByRole("heading", { name: "get_weather" })).toBeVisible();

    await page.getByRole("link", { name: "Create one" }).click();
    await page.getByRole("heading", { name: "Create agent" }).waitFor();
    await page.getByLabel("Name").fill("Weather desk");
    await page.getByLabel("Instructions").fill("Use the tool to look up the weather, then report it.");
    await page.getByRole("combobox", { name: "Model" }).click();
    await page.getByRole("option", { name: /test\/script plays a script, with tool calls/ }).click();
    await page.getByRole("checkbox", { name: /get_weather/ }).check();
    await page.getByRole("button", { name: "Generate an example with the selected tools" }).click();
    await page.getByRole("button", { name: "Create agent" }).click();
    await expect(page.getByRole("heading", { name: "Weather desk" })).toBeVisible();
  });

  await test.step("it runs in the playground, waits for the newcomer's output, and continues with it", async () => {
    await page.getByRole("link", { name: "Open in playground" }).click();
    await page.getByRole("textbox", { name: "Message to the agent" }).fill("How is the weather?");
    await page.getByRole("button", { name: "Send", exact: true }).click();
    await page.getByLabel("Output", { exact: true }).fill('{"sky": "clear"}');
    await page.getByRole("button", { name: "Send output" }).click();
    await expect(page.getByText("Here is my answer.", { exact: true })).toBeVisible();
    await expect(page.getByText("Completed", { exact: true }).first()).toBeVisible();
  });

  await test.step("its trace is replayed from start to end", async () => {
    await page.getByRole("link", { name: "Open trace" }).click();
    const player = page.getByRole("region", { name: "Replay" });
    const range = player.getByRole("slider");
    await range.press("Home");
    await expect(page).toHaveURL(/[?&]t=0/);
    await player.getByText("16×").click();
    await player.getByRole("button", { name: "Play" }).click();
    await expect(page).not.toHaveURL(/[?&]t=/);
    await expect(page.getByRole("region", { name: "Selected step" })).toContainText("Here is my answer.");
  });

  await test.step("it is forked with a different output of the tool, and both stand side by side", async () => {
    await page.getByRole("treeitem", { name: /get_weather/ }).click();
    await page.getByRole("button", { name: "Fork from here" }).click();
    await page.getByLabel("Tool output (JSON)").fill('{"sky": "storm"}');
    await page.getByRole("button", { name: "Create fork" }).click();
    await page.getByRole("link", { name: "Compare with it" }).click();
    await expect(page.getByText("B was forked here, at step 1: a different output of get_weather")).toBeVisible();
    await expect(page.getByText('"sky": "clear"').first()).toBeVisible();
    await expect(page.getByText('"sky": "storm"').first()).toBeVisible();
  });

  await test.step("the key is rotated, and both work while they overlap", async () => {
    await goTo(page, "API keys");
    await page.getByRole("button", { name: "Rotate First steps" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Rotate key" }).click();
    const made = page.getByRole("dialog", { name: "Save this key now" });
    const next = (await made.locator("[data-secret]").textContent()) ?? "";
    for (const key of [kept.key, next]) expect(await server.get("/v1/me", key)).toMatchObject({ status: 200 });
    await expect(made).toContainText("The first request arrived");
    await made.getByRole("button", { name: "I've saved it" }).click();
    await expect(page.getByRole("row", { name: /Rotating/ })).toContainText(/Works for 23:\d\d:\d\d/);
  });

  await test.step("live shows its own data, in its own colour", async () => {
    await page.getByRole("button", { name: "Live", exact: true }).click();
    await expect(page.locator("html")).toHaveAttribute("data-mode", "live");
    await expect(page.getByRole("main").getByText("Live data", { exact: true })).toBeVisible();
    await expect(page.getByRole("row", { name: /sk_live_/ })).toHaveCount(1);
    await expect(page.getByRole("row", { name: /sk_test_/ })).toHaveCount(0);
  });
  expect(complaints).toEqual([]);
});

test("the overview tells an operator, in three clicks at most, why each of last night's runs failed", async ({
  page,
}) => {
  test.setTimeout(180_000);
  await using tools = startToolServer();
  await using server = await startRunnel();
  const complaints = recordFaults(page);
  await makeNight(server, tools.url);
  await setUpAccount(page, server);

  const failures = page.getByRole("region", { name: "Failed runs" });
  const needs = page.getByRole("region", { name: /^Needs you/ });
  // The overview has links to agents of the same names: only those of the list of runs are meant.
  const runs = page.getByRole("region", { name: "Runs", exact: true });
  const runOf = (agent: string) => runs.getByRole("link", { name: new RegExp(`^${agent}`) }).last();
  const causes: { what: string; way: Locator[]; why: string | RegExp }[] = [
    {
      what: "a scheduled run whose provider refused",
      way: [needs.getByRole("link", { name: "Review: Schedule Nightly report failed" })],
      why: "The provider returned 503: overloaded.",
    },
    {
      what: "a run that a guardrail stopped",
      way: [failures.getByRole("link", { name: /guardrail_blocked/ }), runOf("Support desk")],
      why: "It matches the pattern.",
    },
    {
      what: "a run that spent its budget",
      way: [failures.getByRole("link", { name: /budget_exceeded/ }), runOf("Circler")],
      why: "The run may make 3 tool calls, and asked for more.",
    },
    {
      what: "a run that took too long",
      way: [failures.getByRole("link", { name: /run_timeout/ }), runOf("Sleeper")],
      why: "The run took longer than 1000 ms",
    },
    {
      what: "a run whose tool did not answer in time",
      way: [
        failures.getByRole("link", { name: /max_turns_exceeded/ }),
        runOf("Stock keeper"),
        page.getByRole("treeitem", { name: /Tool call check_stock Failed/ }).first(),
      ],
      why: "The request took too long.",
    },
    {
      what: "a webhook that nobody takes",
      way: [needs.getByRole("link", { name: /^Review: Webhook 127\.0\.0\.1:\d+ fails/ })],
      why: /The last (attempt|\d+ attempts) failed/,
    },
    {
      what: "a call that a crash cut short",
      way: [needs.getByRole("link", { name: "Review charge_card" })],
      why: "It is unknown whether this call took effect",
    },
  ];
  for (const { what, way, why } of causes)
    await test.step(what, async () => {
      await goTo(page, "Overview");
      for (const link of way) await link.click();
      await expect(page.getByRole("main").getByText(why).first()).toBeVisible();
    });
  expect(complaints).toEqual([]);
});

/** Clicks a link of the side bar, which comes first. */
const goTo = (page: Page, name: string): Promise<void> => page.getByRole("link", { name, exact: true }).first().click();

/** Runs a command that a page shows, as its reader would. */
async function shell(command: string): Promise<Json> {
  const child = Bun.spawn(["sh", "-c", command], { stdout: "pipe", stderr: "pipe" });
  const [out, err, code] = [
    await new Response(child.stdout).text(),
    await new Response(child.stderr).text(),
    await child.exited,
  ];
  expect(code, err).toBe(0);
  return JSON.parse(out);
}

/** Creates a night in which each run failed in a different way. */
async function makeNight(server: Runnel, tools: string): Promise<void> {
  const make = async (path: string, body: Json): Promise<Json> => {
    const answer = await server.post(path, body);
    expect(answer.status, JSON.stringify(answer.body)).toBe(201);
    return answer.body;
  };
  const agent = (name: string, model: string, more: Json = {}): Promise<Json> =>
    make("/v1/agents", { name, instructions: "Be brief.", model, ...more });
  const scripted = (name: string, script: Json[], more: Json = {}): Promise<Json> =>
    agent(name, "test/script", { model_settings: { script }, ...more });
  const run = (by: Json, more: Json = {}) => make("/v1/runs?wait=60", { agent_id: by.id, input: "Begin.", ...more });
  const tool = async (name: string, path: string, more: Json = {}): Promise<string> => {
    const parameters = { type: "object", properties: { sku: { type: "string" } } };
    const own = { name, type: "http", description: "Asks the shop.", parameters, url: `${tools}${path}`, ...more };
    return (await make("/v1/tools", own)).id;
  };

  await make("/v1/webhooks", { url: `${tools}/fails`, events: ["run.failed"] });
  const night = await scripted("Night clerk", [{ error: "The provider returned 503: overloaded." }]);
  const schedule = await make("/v1/schedules", {
    name: "Nightly report",
    agent_id: night.id,
    input: "Write the report.",
    cron: "0 2 * * *",
    timezone: "UTC",
  });
  await make(`/v1/schedules/${schedule.id}/trigger`, {});

  const blocked = { type: "regex", on: ["output"], action: "block", config: { pattern: "password" } };
  await run(await scripted("Support desk", [{ text: "The password is tea." }], { guardrails: [blocked] }));
  const lookup = await tool("lookup", "/weather");
  await run(await agent("Circler", "test/loops-forever", { tools: [lookup], budget: { max_tool_calls: 3 } }));
  await run(await agent("Sleeper", "test/timeout"), { timeout_ms: 1000 });
  const stock = await tool("check_stock", "/slow/20000", { timeout_ms: 1000, retries: 0, idempotent: true });
  await run(await agent("Stock keeper", "test/loops-forever", { tools: [stock], max_turns: 1 }));

  const charge = await tool("charge_card", "/silent");
  const asks = [{ tool_calls: [{ name: "charge_card", arguments: { sku: "T-1" } }] }, { text: "Charged." }];
  const paying = await scripted("Cashier", asks, { tools: [charge] });
  const { id } = await make("/v1/runs", { agent_id: paying.id, input: "Charge it." });
  await using stream = await server.stream(`/v1/runs/${id}/events`);
  await stream.until((frame) => frame.event === "step.started" && frame.data.type === "tool_call");
  await server.kill9();
  await server.restart();
}
