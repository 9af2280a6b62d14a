import { expect, type Page, test } from "@playwright/test";
import { type Json, type Runnel, startRunnel } from "./harness.ts";
import { expectAccessible, expectToFit, signInBeforeEach } from "./page-checks.ts";

// Runs that people steer and pause, and agents that hand over, in the dashboard of the compiled executable.
let server: Runnel;
test.beforeAll(async () => {
  server = await startRunnel();
});
test.afterAll(() => server[Symbol.asyncDispose]());
test.use({ viewport: { width: 1440, height: 900 } });
signInBeforeEach(() => server);

test("a message to a run is shown as waiting until the model has it, and in its place afterwards", async ({ page }) => {
  const run = await waitingRun("Clerk");
  await open(page, `/runs/${run.id}?step=run&tab=messages`);
  await expect(page.getByRole("button", { name: "Message" })).toBeVisible();
  await page.keyboard.press("m");
  const dialog = page.getByRole("dialog", { name: "Send a message" });
  await expect(dialog.getByLabel("Message")).toBeFocused();
  await expect(dialog.getByRole("button", { name: "Send message" })).toBeDisabled();
  await dialog.getByLabel("Message").fill("In kilograms, please.");
  await expectAccessible(page, "send a message");
  await expectToFit(page, "send a message");
  await page.keyboard.press("Control+Enter");
  await expect(dialog).toBeHidden();

  const message = page.getByRole("article", { name: "user" }).filter({ hasText: "In kilograms, please." });
  await expect(message).toContainText("For the next model call");
  await page.reload();
  await expect(message).toContainText("For the next model call");
  await answer(run);
  await expect(message).toContainText("Sent during the run");
  await expect(page.getByRole("article").last()).toContainText("There are 14 packets.");
  await expect(page.getByRole("button", { name: "Message" })).toBeHidden();
  await expectAccessible(page, "steered run");
});

test("an answer that a message interrupted is marked on the page of the run and in the playground", async ({
  page,
}) => {
  const script = [{ text: "Once upon a time", delta_ms: 60_000 }, { text: "The end." }];
  const agent = await createScripted(script, { name: "Storyteller" });
  await open(page, `/playground?agent=${agent}`);
  const composer = page.getByRole("textbox", { name: "Message to the agent" });
  await composer.fill("Tell me a story.");
  await page.keyboard.press("Control+Enter");
  const conversation = page.getByRole("region", { name: "Conversation" });
  await expect(conversation).toContainText("Once ");
  await composer.fill("Come to the end.");
  await expect(page.getByRole("complementary", { name: "Code" })).toContainText("/messages");
  await page.getByRole("button", { name: "Interrupt" }).click();
  await expect(conversation).toContainText("Interrupted by a message.");
  await expect(conversation).toContainText("The end.");
  await expect(composer).toHaveValue("");
  await expectAccessible(page, "interrupted answer");

  await page.getByRole("link", { name: "Open trace" }).click();
  await expect(page.getByRole("treeitem", { name: /interrupted/i })).toBeVisible();
  await page.getByRole("tab", { name: "Messages" }).click();
  await expect(page.getByRole("article", { name: "assistant" }).first()).toContainText("Interrupted");
});

test("a paused run says why, is found by its status, and goes on from its page or the command menu", async ({
  page,
}) => {
  const run = await waitingRun("Counter");
  await open(page, `/runs/${run.id}?step=run`);
  await page.getByRole("button", { name: "Pause", exact: true }).click();
  await expect(page.getByText("Pauses soon").first()).toBeVisible();
  await expect(page.getByText("The run pauses once its open calls are answered.")).toBeVisible();
  await page.getByRole("button", { name: "Cancel pause" }).click();
  await expect(page.getByText("Pauses soon")).toHaveCount(0);

  await server.post(`/v1/runs/${run.id}/pause`, { reason: "Mara counts again." });
  await answer(run);
  await expect(page.getByText("Mara counts again.")).toBeVisible();
  await expectAccessible(page, "paused run");
  await expectToFit(page, "paused run");

  await open(page, "/runs?status=paused");
  const row = page.getByRole("row").filter({ hasText: "Counter" });
  await row.getByRole("link").first().click();
  await expect(page.getByRole("button", { name: "Resume" })).toBeVisible();
  await page.keyboard.press("Control+k");
  const palette = page.getByRole("dialog", { name: "Search or jump to" });
  // Pages without a key are listed only when they are searched for, so that the run's actions are in sight.
  await expect(palette.getByRole("option", { name: "Send a message to the run" })).toBeVisible();
  await expect(palette.getByRole("option", { name: "Webhooks" })).toHaveCount(0);
  await page.keyboard.type("resume");
  await page.keyboard.press("Enter");
  await expect(page.getByText("There are 14 packets.")).toBeVisible();
  await expect(page.getByRole("button", { name: "Resume" })).toBeHidden();
});

test("after a handoff the run, its steps, its graph and its thread say which agent answers", async ({ page }) => {
  const money = await createScripted([{ text: "It is on its way." }], { name: "Refund desk" });
  const call = { name: "transfer_to_refund_desk", arguments: { reason: "Both mugs are broken." } };
  const script = [{ text: "One moment.", tool_calls: [call] }];
  const desk = await createScripted(script, { name: "Front desk", handoffs: [money] });
  const { body: thread } = await server.post("/v1/threads", { title: "Mugs" });
  const run = await start(desk, { thread_id: thread.id });

  await open(page, `/runs/${run.id}`);
  await expect(page.getByRole("link", { name: "Refund desk" })).toBeVisible();
  await page.getByRole("treeitem", { name: /To Refund desk/ }).click();
  await expect(page.getByLabel("Selected step")).toContainText(
    "Front desk handed the conversation over to Refund desk",
  );
  await expect(page.getByLabel("Selected step")).toContainText("Both mugs are broken.");
  await expectAccessible(page, "handoff");
  await open(page, `/runs/${run.id}?tab=messages&graph=drawing`);
  await expect(page.getByRole("article", { name: "assistant, Front desk" })).toContainText("One moment.");
  await expect(page.getByRole("article", { name: "assistant, Refund desk" })).toContainText("It is on its way.");
  await expectAccessible(page, "messages of two agents");
  await expectToFit(page, "messages of two agents");

  await open(page, `/threads/${thread.id}`);
  const conversation = page.getByRole("region", { name: "Conversation" });
  await expect(conversation).toContainText("Refund desk answers from here");
  await expect(conversation).toContainText("Both mugs are broken.");
  await expect(conversation).not.toContainText("transfer_to_refund_desk");
  await expect(page.getByLabel("Agent")).toHaveValue(money);
  await expectAccessible(page, "thread of two agents");
});

test("in a thread a message goes to the run that works, or waits for its end", async ({ page }) => {
  const { body: thread } = await server.post("/v1/threads", { title: "Stock" });
  const run = await waitingRun("Warehouse", { thread_id: thread.id });
  await open(page, `/threads/${thread.id}`);
  await page.getByText("To the run now").click();
  await page.getByLabel("Message").fill("In kilograms, please.");
  await expect(page.getByText("The run that is in progress reads it with its next model call.")).toBeVisible();
  await expectAccessible(page, "message to a run");
  await page.keyboard.press("Control+Enter");
  await expect(page.getByRole("region", { name: "Conversation" })).toContainText("In kilograms, please.");
  expect((await server.get(`/v1/runs?thread_id=${thread.id}`)).body.data).toHaveLength(1);
  await answer(run);
  await expect(page.getByRole("region", { name: "Conversation" })).toContainText("There are 14 packets.");
});

/** Creates an agent whose model follows a script, and returns its id. */
async function createScripted(script: object[], more: Json): Promise<string> {
  const agent = { instructions: "Be brief.", model: "test/script", model_settings: { script }, ...more };
  return (await server.post("/v1/agents", agent)).body.id;
}

const open = (page: Page, path: string) => page.goto(`${server.url}/dashboard${path}`);

async function start(agent_id: string, more: Json = {}): Promise<Json> {
  const input = "How much Assam is there?";
  return (await server.post("/v1/runs?wait=60", { agent_id, input, ...more })).body;
}

/** Starts a run that waits for the output of a client tool. */
async function waitingRun(name: string, more: Json = {}): Promise<Json> {
  const tool = (await server.post("/v1/tools", { name: `count_${name.toLowerCase()}`, type: "client" })).body;
  const script = [
    { text: "I ask.", tool_calls: [{ name: tool.name, arguments: {} }] },
    { text: "There are 14 packets." },
  ];
  return start(await createScripted(script, { name, tools: [tool.id] }), more);
}

/** Answers the call that a run waits for. */
async function answer({ id, required_action }: Json): Promise<void> {
  const [call] = required_action.submit_tool_outputs.tool_calls;
  await server.post(`/v1/runs/${id}/submit_tool_outputs`, {
    tool_outputs: [{ tool_call_id: call.tool_call_id, output: 14 }],
  });
}
