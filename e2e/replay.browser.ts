import { expect, type Page, test } from "@playwright/test";
import { type Json, type Runnel, startRunnel } from "./harness.ts";
import { expectAccessible, expectToFit, fieldContent, signInBeforeEach } from "./page-checks.ts";
import { startToolServer, type ToolServer } from "./tool-server.ts";

// A finished run, replayed, verified, and forked with a change, in the compiled executable.
let server: Runnel;
let tools: ToolServer;
let tool: string;
test.beforeAll(async () => {
  [tools, server] = [startToolServer(), await startRunnel()];
  tool = await createTool();
});
test.afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await tools[Symbol.asyncDispose]();
});
test.use({ viewport: { width: 1440, height: 900 } });

test.beforeEach(() => test.setTimeout(300_000)); // axe checks many states in two themes.
signInBeforeEach(() => server);

const story = "The stream carries every leaf that it is given, slowly, down to the sea.";

test("a run replays as recorded, at any pace, and calls no model or tool", async ({ page }) => {
  const run = await start(await createTeller());
  const calls = tools.calls.length;
  await page.goto(`${server.url}/dashboard/runs/${run.id}`);
  const player = page.getByRole("region", { name: "Replay" });
  const range = player.getByRole("slider", { name: "Position of the replay" });
  const detail = page.getByRole("region", { name: "Selected step" });

  await test.step("it stands at the end, and says that it costs nothing", async () => {
    await expect(range).toHaveAttribute("aria-valuetext", /seconds, test\/script/);
    await expect(player).toContainText("Replay costs nothing");
    await expectAccessible(page, "player");
    await expectToFit(page, "player");
  });

  await test.step("the scrubber moves from event to event by arrows, from step to step by pages, and the address follows", async () => {
    await range.focus();
    await page.keyboard.press("Home");
    await expect(range).toHaveAttribute("aria-valuetext", "0.0 seconds, test/script");
    await page.keyboard.press("PageUp");
    await expect(range).toHaveAttribute("aria-valuetext", /seconds, look_up/);
    await expect(page.getByRole("treeitem", { name: /look_up/ })).toHaveAttribute("aria-selected", "true");
    await expect(page).toHaveURL(/[?&]t=[1-9]/);
    await expect(page.locator("[data-head]")).toHaveCount(1); // A line through the waterfall.
    await page.reload();
    await expect(range).toHaveAttribute("aria-valuetext", /seconds, look_up/);
    await page.keyboard.press("."); // The first model call of the last turn.
    await expect(range).toHaveAttribute("aria-valuetext", /seconds, test\/script/);
    await page.keyboard.press(",");
    await expect(range).toHaveAttribute("aria-valuetext", /seconds, look_up/);
    await expectAccessible(page, "scrubbed");
    await expectToFit(page, "scrubbed");
  });

  await test.step("future parts are hidden: neither a call's output nor the run's end is shown", async () => {
    await expect(detail).toContainText("Running at this point.");
    await page.getByRole("treeitem").first().click();
    await expect(detail).toContainText("Not started at this point.");
    await detail.getByRole("tab", { name: "Messages" }).click();
    await expect(detail).toContainText("Let me look.");
    await expect(detail).not.toContainText("The stream");
    await detail.getByRole("tab", { name: "Output" }).click();
    await expectAccessible(page, "not yet");
    await range.focus();
  });

  await test.step("space plays: text grows as recorded, and space pauses", async () => {
    await page.keyboard.press(".");
    // From here on the test controls the clock: on no machine does the text end before it is checked.
    await page.clock.install();
    await page.clock.pauseAt(Date.now() + 60_000);
    await page.keyboard.press(" ");
    await expect(player.getByRole("button", { name: "Pause" })).toBeVisible();
    await page.clock.runFor(3000);
    const text = detail.locator(".caret");
    await expect(text).toContainText("The stream");
    await expect(text).not.toContainText("sea.");
    await page.keyboard.press(" ");
    await expect(player.getByRole("button", { name: "Play" })).toBeVisible();
    await page.clock.resume();
    await expectAccessible(page, "paused");
    await expectToFit(page, "paused");
  });

  await test.step("at sixteen times the pace it reaches the end, where everything is shown as recorded", async () => {
    await player.getByText("16×").click();
    await player.getByRole("button", { name: "Play" }).click();
    await expect(detail).toContainText("down to the sea.");
    await expect(page).not.toHaveURL(/[?&]t=/);
    await expect(page.locator("[data-head]")).toHaveCount(0);
    await expect(player.getByRole("button", { name: "Play" })).toBeVisible();
  });
  expect(tools.calls.length).toBe(calls);
});

test("a verified replay reports equality, or the step that would differ", async ({ page }) => {
  const agent = await createTeller();
  const run = await start(agent);
  await page.goto(`${server.url}/dashboard/runs/${run.id}`);
  await act(page, "Verify replay…");
  const dialog = page.getByRole("dialog", { name: "Verify replay" });
  await dialog.getByRole("button", { name: "Verify", exact: true }).click();
  await expect(dialog.getByText("All steps are equal")).toBeVisible();
  await expectAccessible(page, "verified");
  const changed = await server.fetch(`/v1/agents/${agent}`, {
    method: "PATCH",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ instructions: "Answer in one word." }),
  });
  expect(changed.status).toBe(200);
  await dialog.getByRole("radio", { name: /Current version/ }).check();
  await page.keyboard.press("Control+Enter");
  await expect(dialog.getByText(/would differ/)).toBeVisible();
  await expectAccessible(page, "diverged");
  await expectToFit(page, "diverged");
  await dialog.getByRole("button", { name: "Step 0" }).first().click();
  await expect(page).toHaveURL(/step=0/);
});

test("from any step a run continues with another output, and stands beside its source", async ({ page }) => {
  const run = await start(await createTeller());
  await page.goto(`${server.url}/dashboard/runs/${run.id}?step=1`);
  const form = page.getByRole("form", { name: "Fork" });
  const output = form.getByLabel("Tool output (JSON)");

  await test.step("f opens the editor with the recorded output; Escape closes it again", async () => {
    await page.getByRole("button", { name: "Fork from here" }).waitFor();
    await page.keyboard.press("f");
    await expect(page).toHaveURL(/fork=true/);
    await expect(output).toBeFocused();
    await expect.poll(() => fieldContent(output)).toMatch(/"sky": "clear"/);
    await expect(form.getByText("Same as recorded")).toBeVisible();
    // Of two model calls, the fork shares the first and repeats the second.
    await expect(
      form.getByText(/^About \$0\.00 for 1 model call, \d+ tokens, if it continues as recorded\.$/),
    ).toBeVisible();
    await page.keyboard.press("Escape");
    await expect(page.getByRole("button", { name: "Fork from here" })).toBeFocused();
    await page.keyboard.press("f");
  });

  await test.step("invalid JSON is reported while it is typed, and cannot be sent", async () => {
    await output.fill('{"sky": ');
    await expect(form.getByText(/Invalid JSON/)).toBeVisible();
    await expect(form.getByRole("button", { name: "Create fork" })).toBeDisabled();
    await expectAccessible(page, "no json");
    await form.getByRole("button", { name: "Restore recorded value" }).click();
    await expect(form.getByText("Same as recorded")).toBeVisible();
  });

  await test.step("model, instructions and input can be changed too, and the request is shown", async () => {
    await output.fill('{"sky": "snow"}');
    await form.getByText("Also change the model, instructions or input").click();
    await form.getByLabel("Model", { exact: true }).fill("ollama/unheard-of");
    await expect(form.getByText(/^Cost unknown: a model has no price\. 1 model call/)).toBeVisible();
    await form.getByLabel("Model", { exact: true }).fill("");
    await form.getByLabel("Instructions").fill("Be short.");
    await form.getByText("Show code").click();
    await expect(form).toContainText('"instructions": "Be short."');
    await expect(form).toContainText("recorded_then_live");
    await expectAccessible(page, "fork");
    await expectToFit(page, "fork");
    await page.setViewportSize({ width: 390, height: 844 });
    await expect(form.getByRole("button", { name: "Create fork" })).toBeVisible();
    await expect(page.getByRole("region", { name: "Replay" })).toBeHidden();
    await page.setViewportSize({ width: 1440, height: 900 });
  });

  await test.step("another step asks before the draft is lost; Close offers a choice, too", async () => {
    const question = page.getByRole("alertdialog", { name: "Leave without saving?" });
    await page.getByRole("treeitem").first().click();
    await question.getByRole("button", { name: "Keep editing" }).click();
    await expect.poll(() => fieldContent(output)).toBe('{"sky": "snow"}');
    await form.getByRole("button", { name: "Close", exact: true }).click();
    await expect(page.getByRole("button", { name: "Fork from here" })).toBeFocused();
    await expect(question).toBeHidden();
    await page.keyboard.press("f");
    await output.fill('{"sky": "snow"}');
  });

  await test.step("the fork opens its trace, which leads to the comparison with its source", async () => {
    await output.focus();
    await page.keyboard.press("Control+Enter");
    await expect(page.getByText("Fork created")).toBeVisible();
    await expect(page).not.toHaveURL(new RegExp(run.id));
    await page.getByRole("link", { name: "Compare with it" }).click();
    await expect(page.getByText(/B was forked here, at step 1: a different output of look_up/)).toBeVisible();
    await page.getByRole("link", { name: "Fork again" }).click();
    await expect(output).toBeVisible();
  });

  await test.step("the text of a model call can be rewritten", async () => {
    await page.goto(`${server.url}/dashboard/runs/${run.id}?step=2&fork=true`);
    await form.getByLabel("Model output").fill("No more tales.");
    await expectAccessible(page, "fork of a model call");
    await form.getByRole("button", { name: "Create fork" }).click();
    await expect(page.getByRole("link", { name: "Compare with it" })).toBeVisible();
    await expect(page.getByRole("region", { name: "Selected step" })).toContainText("No more tales.");
  });
});

async function act(page: Page, name: string): Promise<void> {
  await page.getByRole("button", { name: "More actions" }).click();
  await page.getByRole("menuitem", { name }).click();
}

async function make(path: string, body: object): Promise<Json> {
  const answer = await server.post(path, body);
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return answer.body;
}

const start = (agent_id: string) => make("/v1/runs?wait=60", { agent_id, input: "Tell me." });

async function createTool(): Promise<string> {
  const parameters = { type: "object", properties: { city: { type: "string" } } };
  const http = { type: "http", url: `${tools.url}/slow/300`, idempotent: true };
  return (await make("/v1/tools", { name: "look_up", description: "Looks it up.", parameters, ...http })).id;
}

/** Creates an agent that looks something up, and writes a story, a word at a time. */
async function createTeller(): Promise<string> {
  const script = [
    { text: "Let me look.", tool_calls: [{ name: "look_up", arguments: { city: "Oslo" } }], delta_ms: 50 },
    { text: story, delta_ms: 800 },
  ];
  const model = { model: "test/script", model_settings: { script } };
  return (await make("/v1/agents", { name: "Storyteller", instructions: "Be kind.", ...model, tools: [tool] })).id;
}
