import { expect, type Locator, type Page, test } from "@playwright/test";
import { type Json, type Runnel, startRunnel } from "./harness.ts";
import { expectAccessible, fieldContent, signInBeforeEach } from "./page-checks.ts";

// Decisions about waiting calls, in a real browser: made on purpose, never by typing.
let server: Runnel;
test.beforeAll(async () => {
  server = await startRunnel();
});
test.afterAll(() => server[Symbol.asyncDispose]());
test.use({ viewport: { width: 1440, height: 900 } });
signInBeforeEach(() => server);

test("text typed in the playground when an approval arrives stays in its field, and approves nothing", async ({
  page,
}) => {
  const agent = await makeAgent("Typing", { slow: true });
  await page.goto(`${server.url}/dashboard/playground?agent=${agent}`);
  const composer = page.getByRole("textbox", { name: "Message to the agent" });
  await composer.fill("Begin");
  await composer.press("ControlOrMeta+Enter");
  await expect(page.getByText("One moment")).toBeVisible();
  await page.keyboard.type("What I write");
  const title = page.getByRole("heading", { name: /^Approve wipe/ }).first();
  await expect(title).toBeVisible();
  await page.keyboard.type(" goes on\n as if nothing had come");
  await expect(composer).toBeFocused();
  await expect(composer).toHaveValue("What I write goes on\n as if nothing had come");
  expect(await waitingCalls(agent)).toHaveLength(2);

  await test.step("one key moves the focus to the call, and another to its button", async () => {
    await page.keyboard.press("ControlOrMeta+Home");
    await page.keyboard.press("ArrowUp");
    await expect(title).toBeFocused();
    await expectAccessible(page, "title of a call");
    for (const key of [" ", "Enter", "ControlOrMeta+Enter", "a"]) await page.keyboard.press(key);
    expect(await waitingCalls(agent)).toHaveLength(2);
    await page.keyboard.press("Tab");
    await expect(page.getByRole("region", { name: "Arguments" }).or(approve(page)).first()).toBeFocused();
  });

  await test.step("after a decision the focus is on the next call, and not on its button", async () => {
    await approve(page).first().focus();
    await page.keyboard.press("Enter");
    await expect(approve(page)).toHaveCount(1);
    await expect(page.getByRole("heading", { name: /^Approve wipe/ })).toBeFocused();
    for (const key of ["Enter", " "]) await page.keyboard.press(key);
    expect(await waitingCalls(agent)).toHaveLength(1);
  });

  await test.step("the caret in a field of one call stays while another client answers other calls", async () => {
    await composer.focus();
    await page.keyboard.press("End");
    const [call] = await waitingCalls(agent);
    await answer(agent, call.tool_call_id);
    await expect(title).toBeHidden();
    await expect(composer).toBeFocused();
  });
});

test("of two waiting calls, text typed for one stays when the other disappears, and decides nothing when its own call does", async ({
  page,
}) => {
  const [first, second, third] = [await makeAgent("Alpha"), await makeAgent("Beta"), await makeAgent("Gamma")];
  for (const agent of [first, second, third]) await start(agent);
  await page.goto(`${server.url}/dashboard/approvals`);
  const entry = (name: string) =>
    page.getByRole("list", { name: "Waiting calls" }).locator("> li").filter({ hasText: name }).first();
  const reason = entry("Beta").getByLabel("Reason");

  await test.step("an approval that is sent after its few seconds takes the focus from no field", async () => {
    await entry("Alpha").getByRole("link").focus();
    await page.keyboard.press("a");
    await expect(page.getByText("Approving wipe in 5 seconds.")).toBeVisible();
    await entry("Beta").getByRole("button", { name: "Reject…" }).click();
    await expect(reason).toBeFocused();
    await page.keyboard.type("It is");
    await expect.poll(async () => (await waitingCalls(first)).length).toBe(1);
    await expect(page.getByText("Approving wipe in 5 seconds.")).toBeHidden();
    await page.keyboard.type(" a");
    await expect(reason).toBeFocused();
    await expect(reason).toHaveValue("It is a");
  });

  await test.step("a field that disappears while a person types in it leaves no key that decides", async () => {
    for (const { tool_call_id: id } of await waitingCalls(second)) await answer(second, id);
    await expect(entry("Beta").getByText("was answered elsewhere").first()).toBeVisible();
    await page.keyboard.type(" major plan, jar\n jaa");
    await expect(page.getByText("Approving wipe in 5 seconds.")).toBeHidden();
    await expect(page.getByLabel("Reason")).toBeHidden();
    await expect(page).toHaveURL(/\/approvals$/);
    expect(await waitingCalls(third)).toHaveLength(2);
  });

  await test.step("after a deliberate move of the focus the keys work again", async () => {
    await entry("Gamma").getByRole("link").focus();
    await page.keyboard.press("Tab");
    await page.keyboard.press("r");
    await expect(entry("Gamma").getByLabel("Reason")).toBeFocused();
  });
});

test("a double click approves one call, and not the one that takes its place", async ({ page }) => {
  const agent = await makeAgent("Twice");
  const run = await start(agent);
  await page.goto(`${server.url}/dashboard/runs/${run}?step=run`);
  await expect(approve(page)).toHaveCount(2);
  const box = (await approve(page).first().boundingBox())!;
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  await page.mouse.move(x, y);
  await page.mouse.down({ clickCount: 1 });
  await page.mouse.up({ clickCount: 1 });
  await expect(approve(page)).toHaveCount(1);
  const next = (await approve(page).first().boundingBox())!;
  await page.mouse.move(next.x + next.width / 2, next.y + next.height / 2);
  await page.mouse.down({ clickCount: 2 });
  await page.mouse.up({ clickCount: 2 });
  expect(await waitingCalls(agent)).toHaveLength(1);
  await page.mouse.down({ clickCount: 1 });
  await page.mouse.up({ clickCount: 1 });
  await expect.poll(async () => (await waitingCalls(agent)).length).toBe(0);
});

test("the field of an output keeps the caret when another client answers the call before it", async ({ page }) => {
  const agent = await makeAgent("Outputs", { type: "client" });
  await page.goto(`${server.url}/dashboard/playground?agent=${agent}`);
  const composer = page.getByRole("textbox", { name: "Message to the agent" });
  await composer.fill("Begin");
  await composer.press("ControlOrMeta+Enter");
  await expect(page.getByText("ask waits for its output")).toHaveCount(2);
  await expect(composer).toBeFocused();
  const output = page.getByLabel("Output", { exact: true });
  await page.keyboard.press("ArrowUp");
  await expect(output.first()).toBeFocused();
  await output.nth(1).click();
  await page.keyboard.type("1");
  const [call] = await waitingCalls(agent);
  await answer(agent, call.tool_call_id, { output: "elsewhere" });
  await expect(output).toHaveCount(1);
  await page.keyboard.type("23");
  await expect(output).toBeFocused();
  await expect.poll(() => fieldContent(output)).toBe("123");
});

const approve = (page: Page): Locator => page.getByRole("button", { name: "Approve", exact: true });

/** Creates an agent whose first answer calls one tool twice; a slow one writes text before. */
async function makeAgent(name: string, { slow = false, type = "code" } = {}): Promise<string> {
  const called = type === "code" ? "wipe" : "ask";
  const made = await server.post("/v1/tools", {
    name: called,
    type,
    parameters: { type: "object", properties: { disk: { type: "string" } } },
    ...(type === "code" && { source: "() => 'wiped'", approval: "always" }),
  });
  const listed = await server.get("/v1/tools");
  const tool = made.body.id ?? listed.body.data.find((each: Json) => each.name === called).id;
  const tool_calls = ["a", "b"].map((disk) => ({ name: called, arguments: { disk } }));
  const first = slow ? { text: "One moment, please wait for me now.", delta_ms: 300 } : { text: "One moment." };
  const script = [{ ...first, tool_calls }, { text: "Done." }];
  const { body } = await server.post("/v1/agents", {
    name,
    instructions: "Wipe.",
    model: "test/script",
    model_settings: { script },
    tools: [tool],
  });
  return body.id;
}

async function start(agent_id: string): Promise<string> {
  const { body } = await server.post("/v1/runs?wait=60", { agent_id, input: "Wipe them." });
  expect(body.status).toBe("requires_action");
  return body.id;
}

const runOf = async (agent: string): Promise<Json> =>
  (await server.get(`/v1/runs/${(await server.get(`/v1/runs?agent_id=${agent}`)).body.data[0].id}`)).body;

const waitingCalls = async (agent: string): Promise<Json[]> =>
  (await runOf(agent)).required_action?.submit_tool_outputs.tool_calls ?? [];

/** Answers a call as another person would. */
async function answer(agent: string, tool_call_id: string, said: object = { decision: "reject" }): Promise<void> {
  const { id } = await runOf(agent);
  const { status } = await server.post(`/v1/runs/${id}/submit_tool_outputs`, {
    tool_outputs: [{ tool_call_id, ...said }],
  });
  expect(status).toBe(200);
}
