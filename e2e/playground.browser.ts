import { expect, type Locator, type Page, test } from "@playwright/test";
import { freePort } from "../server/testing/free-port.ts";
import { type Runnel, startRunnel } from "./harness.ts";
import { expectAccessible, expectToFit, fieldContent, recordFaults, setUpAccount } from "./page-checks.ts";

// The playground of the compiled executable: agents are tried as the API would run them, in a real browser.
let server: Runnel;
test.beforeAll(async () => {
  server = await startRunnel({ flags: ["--http-port", "0"] });
});
test.afterAll(() => server[Symbol.asyncDispose]());
test.use({ viewport: { width: 1440, height: 900 }, permissions: ["clipboard-read", "clipboard-write"] });

const hostile = [
  "# Title",
  "<script>document.title = 'taken'</script> <img src=x onerror=alert(1)>",
  "![a cat](https://spy.example/cat.png) [your bank](https://evil.example/login) [here](javascript:alert(1))",
  "| a | b |\n|---|---|\n| 1 | 2 |",
  "```js\nconst answer = 42;\n```",
].join("\n\n");

test("an agent is created, tried and answered, by mouse and keyboard, and a reload loses nothing of it", async ({
  page,
}) => {
  test.setTimeout(240_000); // axe checks many states in two themes.
  const complaints = recordFaults(page);
  await setUpAccount(page, server);

  await test.step("without any agent, the first is created here, with a client tool that waits for the reader", async () => {
    await page.getByRole("link", { name: "Playground" }).click();
    await expect(page.getByRole("heading", { name: "Create an agent to try" })).toBeVisible();
    await expectAccessible(page, "no agent");
    await page.getByRole("button", { name: "Create agent" }).click();
    await expect(page.getByRole("heading", { name: "Try Weather desk" })).toBeVisible();
    await expect(page).toHaveURL(/agent=agt_/);
    await expectAccessible(page, "empty");
    await expectToFit(page, "empty");
  });

  await test.step("a client tool is answered by keyboard alone, and its output is not prefilled", async () => {
    await composer(page).fill("How is the weather?");
    await page.keyboard.press("ControlOrMeta+Enter");
    await expect(lastRun(page).getByRole("status")).toHaveText("Waiting for a response");
    const output = lastRun(page).getByLabel("Output", { exact: true });
    await expect(output).toBeVisible();
    await expect(composer(page)).toBeFocused();
    await page.keyboard.press("ArrowUp");
    await expect(output).toBeFocused();
    await expect.poll(() => fieldContent(output)).toBe("");
    await expectAccessible(page, "waits for output");
    await expectToFit(page, "waits for output");
    await output.fill('{"sky": ');
    await page.keyboard.press("ControlOrMeta+Enter");
    await expect(output).toHaveAccessibleDescription(/Invalid JSON/);
    await output.fill('{"sky": "clear", "celsius": 4}');
    await page.keyboard.press("ControlOrMeta+Enter");
    await expect(lastRun(page).getByRole("status")).toHaveText("Completed");
    await expect(lastRun(page).locator("strong")).toHaveText("Your code has answered");
    await lastRun(page).locator("summary", { hasText: "get_weather" }).click();
    await expect(lastRun(page)).toContainText('"clear"');
    await expect(code(page)).toContainText("submit_tool_outputs");
    await expect(code(page)).toContainText('"celsius": 4');
    await expectAccessible(page, "answered");
  });

  await test.step("each model call shows its prompt, with the reader's outputs", async () => {
    await lastRun(page).getByRole("button", { name: "What the model was sent" }).click();
    const sent = page.getByRole("dialog", { name: "What the model was sent" });
    await expect(sent.getByRole("article", { name: "tool" })).toContainText('"celsius":4');
    await expectAccessible(page, "what the model was sent");
    await sent.getByLabel("Model call").selectOption({ index: 0 });
    await expect(sent.getByRole("article", { name: "user" })).toContainText("How is the weather?");
    await expect(sent.getByRole("article", { name: "tool" })).toHaveCount(0);
    await expect(sent.getByRole("region", { name: "Tools" })).toContainText("get_weather");
    await page.keyboard.press("Escape");
    await expect(lastRun(page).getByRole("button", { name: "What the model was sent" })).toBeFocused();
  });

  await test.step("a reload keeps the agent and the conversation, and the trace is one link away", async () => {
    const address = page.url();
    expect(address).toMatch(/thread=thr_/);
    await page.reload();
    await expect(lastRun(page).locator("strong")).toHaveText("Your code has answered");
    await expect(page.getByRole("combobox", { name: "Agent", exact: true })).toHaveValue(/agt_/);
    await lastRun(page).getByRole("link", { name: "Open trace" }).click();
    await expect(page).toHaveURL(/\/runs\/run_/);
    await page.goBack();
    await expect(lastRun(page).locator("strong")).toHaveText("Your code has answered");
  });

  const desk = await refundDesk(server);
  await test.step("an approval shows its arguments, accepts others, and a rejection gives its reason", async () => {
    await page.goto(`${server.url}/dashboard/playground?agent=${desk}`);
    await page.getByRole("button", { name: "What can you do for me?" }).click();
    const approval = lastRun(page).getByRole("article").filter({ hasText: "Approve refund_payment?" });
    await expect(approval).toContainText("84.9");
    await expect(lastRun(page).getByText("ask_photo waits for its output")).toBeVisible();
    await expectAccessible(page, "waits for two");
    await expectToFit(page, "waits for two");
    await approval.getByRole("button", { name: "Edit arguments" }).click();
    await approval.getByLabel("New arguments").fill('{"amount": 50, "order_id": "4711"}');
    await approval.getByRole("button", { name: "Approve with changes" }).click();
    await lastRun(page).getByLabel("Output", { exact: true }).fill('"The camera is off."');
    await lastRun(page).getByRole("button", { name: "Send as an error" }).click();
    await expect(lastRun(page).getByRole("status")).toHaveText("Completed");
    await expect(code(page)).toContainText('"decision": "approve"');
    await expect(code(page)).toContainText('"is_error": true');
    await composer(page).fill("Once more");
    await composer(page).press("ControlOrMeta+Enter");
    await lastRun(page).getByRole("button", { name: "Reject…" }).click();
    await lastRun(page).getByLabel("Reason").fill("Too much");
    await lastRun(page).getByRole("button", { name: "Reject call" }).click();
    await expect(lastRun(page).getByText("Rejected").first()).toBeVisible();
    await page.getByRole("button", { name: "Stop" }).click();
    await expect(lastRun(page).getByText("Cancelled", { exact: true }).first()).toBeVisible();
  });

  expect(complaints).toEqual([]);
});

test("an agent is edited, saved, stopped, compared, and its model's text is confined to its place", async ({
  page,
}) => {
  test.setTimeout(240_000);
  const complaints = recordFaults(page);
  await using own = await startRunnel({ flags: ["--http-port", "0"] });
  const desk = await refundDesk(own);
  await setUpAccount(page, own);
  await page.goto(`${own.url}/dashboard/playground?agent=${desk}`);

  await test.step("an edit applies to the next run at once, and to all runs once it is saved", async () => {
    await page.getByRole("textbox", { name: "Instructions" }).fill("Be brief.");
    await page.getByLabel("Model", { exact: true }).fill("test/echo");
    await page.keyboard.press("Tab");
    await page.getByRole("button", { name: "Remove ask_photo" }).click();
    await composer(page).fill("What I say");
    await expect(code(page)).toContainText('"instructions": "Be brief."');
    await composer(page).press("ControlOrMeta+Enter");
    await expect(lastRun(page).getByRole("status")).toHaveText("Completed");
    expect((await own.get(`/v1/agents/${desk}`)).body).toMatchObject({ version: 1, model: "test/script" });
    await page.getByLabel("Temperature").fill("7");
    await expect(page.getByRole("button", { name: "Save as version 2" })).toBeDisabled();
    await page.getByLabel("Temperature").fill("0.2");
    await composer(page).fill("And now");
    await expect(code(page)).toContainText('"temperature": 0.2');
    await composer(page).fill("");
    await expectAccessible(page, "edited");
    await page.getByRole("button", { name: "Save as version 2" }).click();
    await expect(page.getByText("Saved as version 2")).toBeVisible();
    const { body } = await own.get(`/v1/agents/${desk}`);
    expect(body).toMatchObject({ version: 2, model: "test/echo", instructions: "Be brief." });
    expect(body.model_settings.temperature).toBe(0.2);
    expect(body.tools).toHaveLength(1);
  });

  await test.step("a model's text is Markdown and never HTML, and causes no request to another machine", async () => {
    await composer(page).fill(hostile);
    await composer(page).press("ControlOrMeta+Enter");
    await expect(lastRun(page).getByText("not loaded, from spy.example")).toBeVisible();
    const said = lastRun(page);
    await expect(said.getByRole("link", { name: /your bank/ })).toHaveAttribute("rel", "noopener noreferrer");
    await expect(said).toContainText("(evil.example)");
    await expect(said.getByRole("link", { name: "here" })).toHaveCount(0);
    await expect(said.getByRole("table")).toBeVisible();
    await said.getByRole("button", { name: "Copy code" }).click();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe("const answer = 42;");
    await expect(page).toHaveTitle(/Playground/);
    await expectAccessible(page, "markdown");
  });

  await test.step("a run is stopped while it writes", async () => {
    await page.getByRole("combobox", { name: "Agent", exact: true }).selectOption({ label: "Slow teller" });
    await composer(page).fill("Tell me.");
    await composer(page).press("ControlOrMeta+Enter");
    await expect(lastRun(page)).toContainText("Once upon");
    await expectAccessible(page, "writing");
    await page.getByRole("button", { name: "Stop" }).click();
    await expect(lastRun(page).getByText("Cancelled", { exact: true }).first()).toBeVisible();
    await expect(composer(page)).toBeEnabled();
  });

  await test.step("a failed model call shows its code, and can be retried", async () => {
    await page.getByLabel("Model", { exact: true }).fill("test/refuses-to-be");
    await composer(page).fill("Hello");
    await composer(page).press("ControlOrMeta+Enter");
    await expect(page.getByRole("alert").filter({ hasText: "The run was not started" })).toContainText(
      "model_not_available",
    );
    await page.getByLabel("Model", { exact: true }).fill("test/context-overflow");
    await page.getByRole("button", { name: "New conversation" }).click();
    await composer(page).fill("Hello");
    await composer(page).press("ControlOrMeta+Enter");
    await expect(lastRun(page)).toContainText("context_length_exceeded");
    await expectAccessible(page, "failed");
    await page.getByLabel("Model", { exact: true }).fill("test/echo");
    await lastRun(page).getByRole("button", { name: "Try again" }).click();
    await expect(lastRun(page).getByText("Completed", { exact: true }).first()).toBeVisible();
  });

  await test.step("two models get the same input, and answer side by side", async () => {
    await page.getByRole("button", { name: "New conversation" }).click();
    await page.getByRole("button", { name: "Compare two" }).click();
    await page.getByLabel("Model on the right").fill("test/refusal");
    await composer(page).fill("Same for both");
    await composer(page).press("ControlOrMeta+Enter");
    const [left, right] = ["Left", "Right"].map((side) => page.getByRole("region", { name: `${side} conversation` }));
    await expect(right!).toContainText("I can't help with that.");
    await expect(left!.getByText("Same for both")).toHaveCount(2);
    await expect(page).toHaveURL(/compare=test%2Frefusal/);
    await expectAccessible(page, "compare");
    await expectToFit(page, "compare");
    await page.reload();
    await expect(right!).toContainText("I can't help with that.");
  });

  await test.step("live data is named, and an agent of the other mode is found there", async () => {
    await page.goto(`${own.url}/dashboard/playground?agent=${desk}`);
    await expect(page.getByRole("heading", { name: "Try Refund desk" })).toBeVisible();
    await expectToFit(page, "agent");
    await page.setViewportSize({ width: 390, height: 844 });
    await page.getByRole("radio", { name: "Agent" }).check();
    await expect(page.getByRole("textbox", { name: "Instructions" })).toBeVisible();
    await expectAccessible(page, "phone agent");
    await page.getByRole("radio", { name: "Conversation" }).check();
    await expectAccessible(page, "phone conversation");
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.getByRole("button", { name: "Live", exact: true }).first().click();
    await expect(page.getByText(/Create an agent to try|This agent is test data/).first()).toBeVisible();
    await expectAccessible(page, "live");
  });

  expect(complaints).toEqual([]);
});

test("a run cut by the server's crash continues before the reader's eyes", async ({ page }) => {
  test.setTimeout(120_000);
  const complaints = recordFaults(page);
  const text = Array.from({ length: 30 }, (_, n) => `stone ${n}`).join(" and ");
  await using own = await startRunnel({ flags: ["--http-port", "0", "--port", String(freePort())] });
  const script = [{ text, delta_ms: 120 }];
  await own.post("/v1/agents", {
    name: "River",
    instructions: "Tell.",
    model: "test/script",
    model_settings: { script },
  });
  await setUpAccount(page, own);
  await page.getByRole("link", { name: "Playground" }).click();
  await composer(page).fill("Tell me.");
  await composer(page).press("ControlOrMeta+Enter");
  await expect(lastRun(page)).toContainText("stone 3");
  await own.kill9();
  await expect(lastRun(page).getByRole("alert")).toHaveText(/Connection lost. Resuming from \d+/);
  await expectAccessible(page, "lost");
  await own.restart();
  await expect(lastRun(page).getByRole("status")).toHaveText("Completed", { timeout: 45_000 });
  await expect(lastRun(page)).toContainText("starts this response again");
  await expect(lastRun(page).getByText(text, { exact: true })).toBeVisible();
  await expect(lastRun(page).getByRole("alert")).toBeHidden();
  // Requests in flight at the crash, and requests while the server was down.
  expect(complaints.filter((complaint) => !/net::ERR_/.test(complaint))).toEqual([]);
});

test("a draft stays: over a reload, another page, and other people's changes", async ({ page }) => {
  test.setTimeout(180_000);
  const complaints = recordFaults(page);
  await using own = await startRunnel({ flags: ["--http-port", "0"] });
  const desk = await refundDesk(own);
  await setUpAccount(page, own);
  const go = (name: string) => page.getByRole("link", { name, exact: true }).click();
  const say = async (text: string) => {
    await composer(page).fill(text);
    await composer(page).press("ControlOrMeta+Enter");
  };

  await test.step("the selected agent and the input stay when another person creates a newer agent", async () => {
    await go("Playground");
    await expect(page).toHaveURL(new RegExp(`agent=${desk}`));
    await composer(page).fill("Where is");
    await own.post("/v1/agents", { name: "Echo", instructions: "Say it.", model: "test/echo" });
    await page.reload();
    await expect(page.getByRole("heading", { name: "Try Refund desk" })).toBeVisible();
    await expect(composer(page)).toHaveValue("Where is");
    await go("Runs");
    await expect(page).toHaveURL(/\/runs$/);
    await page.goBack();
    await expect(composer(page)).toHaveValue("Where is");
  });

  await test.step("a half-written answer is restored after another page, until it is sent", async () => {
    await say("Where is my order?");
    const output = lastRun(page).getByLabel("Output", { exact: true });
    await output.fill('{"photo": ');
    await go("Runs");
    await expect(page).toHaveURL(/\/runs$/);
    await page.goBack();
    await expect.poll(() => fieldContent(output)).toBe('{"photo": ');
    await output.fill('{"photo": "a.png"}');
    await output.press("ControlOrMeta+Enter");
    await expect(output).toBeHidden();
    // As the list and the trace count it: waiting is no work.
    await expect(lastRun(page).getByTitle(/^Worked .+ · Waited /)).toBeVisible();
    const kept = await page.evaluate(() => Object.keys(sessionStorage).filter((key) => key.includes(".answer.")));
    expect(kept).toEqual([]);
  });

  await test.step("the side bar leads to a new conversation, with the newest agent", async () => {
    await go("Playground");
    await expect(page.getByRole("heading", { name: "Try Echo" })).toBeVisible();
    await say("One");
    await expect(lastRun(page).getByRole("status")).toHaveText("Completed");
    await expect(page).toHaveURL(/thread=thr_/);
    await go("Playground");
    await expect(page.getByRole("heading", { name: "Try Echo" })).toBeVisible();
    await expect(page).not.toHaveURL(/thread=/);
    await expect(page).toHaveURL(/agent=agt_/);
  });

  await test.step("a conversation that fails to load keeps its address, and loads on retry; a deleted one disappears", async () => {
    await say("Two");
    await expect(lastRun(page).getByRole("status")).toHaveText("Completed");
    await expect(page).toHaveURL(/thread=thr_/);
    const address = page.url();
    await page.route(/\/runs\?thread_id=/, (route) => route.abort());
    await page.reload();
    const alert = page.getByRole("alert").filter({ hasText: "The conversation cannot be shown" });
    await expect(alert).toContainText("unreachable");
    await expect(page.getByText("The conversation is still loading.")).toBeVisible();
    await expectAccessible(page, "unread");
    await page.unroute(/\/runs\?thread_id=/);
    await alert.getByRole("button", { name: "Try again" }).click();
    await expect(lastRun(page)).toContainText("Two");
    expect(page.url()).toBe(address);
    await own.fetch(`/v1/threads/${new URL(address).searchParams.get("thread")}`, { method: "DELETE" });
    await page.reload();
    await expect(page.getByRole("heading", { name: "Try Echo" })).toBeVisible();
    await expect(page).not.toHaveURL(/thread=/);
  });

  await test.step("a version saved by another person is announced, and the draft continues on it", async () => {
    const path = `/v1/agents/${new URL(page.url()).searchParams.get("agent")}`;
    const instructions = page.getByRole("textbox", { name: "Instructions" });
    await instructions.fill("Say it twice.");
    await own.fetch(path, { method: "PATCH", body: JSON.stringify({ max_turns: 7, expected_version: 1 }) });
    await page.getByRole("button", { name: "Save as version 2" }).click();
    const alert = page.getByRole("alert").filter({ hasText: "Someone saved version 2 meanwhile" });
    await expect(alert).toContainText("They changed: model calls. You changed: instructions. Both can be saved");
    await expectAccessible(page, "other version");
    await expectToFit(page, "other version");
    await page.reload();
    await expect.poll(() => fieldContent(instructions)).toBe("Say it twice.");
    await alert.getByRole("button", { name: "Keep mine on version 2" }).click();
    await expect(page.getByLabel("Max model calls")).toHaveValue("7");
    await page.getByRole("button", { name: "Save as version 3" }).click();
    await expect(page.getByText("Saved as version 3")).toBeVisible();
    expect((await own.get(path)).body).toMatchObject({ version: 3, max_turns: 7, instructions: "Say it twice." });
    await expect(alert).toBeHidden();
    await expect(page.getByText("Version 3", { exact: true })).toBeVisible();
  });

  // Requests that the test blocked.
  expect(complaints.filter((complaint) => !/net::ERR_FAILED/.test(complaint))).toEqual([]);
});

test("runs here are of the user that the reader names, and a message sent too early goes out as soon as it can", async ({
  page,
}) => {
  await using own = await startRunnel({ flags: ["--http-port", "0"] });
  await setUpAccount(page, own);
  const { body: agent } = await own.post("/v1/agents", {
    name: "Parrot",
    instructions: "Repeat.",
    model: "test/echo",
  });
  const newest = async () => (await own.get(`/v1/runs?agent_id=${agent.id}&limit=1`)).body.data[0];

  await test.step("the user is in the request and the code, and stays over a reload", async () => {
    await page.goto(`${own.url}/dashboard/playground?agent=${agent.id}`);
    await page.getByLabel("User", { exact: true }).fill("ada");
    await composer(page).fill("Hello");
    await expect(code(page)).toContainText('"user_id": "ada"');
    await composer(page).press("ControlOrMeta+Enter");
    await expect(lastRun(page).getByRole("status")).toHaveText("Completed");
    expect(await newest()).toMatchObject({ user_id: "ada" });
    await page.reload();
    await expect(page.getByLabel("User", { exact: true })).toHaveValue("ada");
    await page.getByLabel("User", { exact: true }).fill("");
    await expect(code(page)).not.toContainText("user_id");
  });

  await test.step("while the conversation is loading, ⌘↵ waits for it", async () => {
    const gate = Promise.withResolvers<void>();
    await page.route(/threads\/thr_/, async (route) => {
      await gate.promise;
      await route.continue();
    });
    await page.reload();
    await composer(page).fill("Early");
    await composer(page).press("ControlOrMeta+Enter");
    await expect(page.getByText("Sends after the conversation is here")).toBeVisible();
    await expect(composer(page)).toHaveValue("Early");
    gate.resolve();
    await expect(lastRun(page)).toContainText("Early");
    await expect(composer(page)).toHaveValue("");
    await page.unrouteAll({ behavior: "wait" });
    const { thread_id } = await newest();
    expect((await own.get(`/v1/runs?thread_id=${thread_id}`)).body.data).toHaveLength(2);
  });

  await test.step("a message that was changed meanwhile waits for another ⌘↵", async () => {
    const gate = Promise.withResolvers<void>();
    await page.route(/threads\/thr_/, async (route) => {
      await gate.promise;
      await route.continue();
    });
    await page.reload();
    await composer(page).fill("First");
    await composer(page).press("ControlOrMeta+Enter");
    await composer(page).fill("First thought");
    await expect(page.getByText("Sends after the conversation is here")).toHaveCount(0);
    gate.resolve();
    await expect(lastRun(page)).toContainText("Early");
    await expect(page.getByRole("button", { name: "Send", exact: true })).toBeEnabled();
    await expect(composer(page)).toHaveValue("First thought");
    await page.unrouteAll({ behavior: "wait" });
  });
});

/** Creates an agent whose first model call makes two requests to a person at once, and one that writes slowly. */
async function refundDesk(server: Runnel): Promise<string> {
  const object = { type: "object", properties: { order_id: { type: "string" }, amount: { type: "number" } } };
  const photo = await server.post("/v1/tools", { name: "ask_photo", type: "client", parameters: object });
  const source = "(args) => ({ refunded: args.amount })";
  const refund = { name: "refund_payment", type: "code", source, parameters: object, approval: "always" };
  const asks = [
    { name: "ask_photo", arguments: { order_id: "4711" } },
    { name: "refund_payment", arguments: { order_id: "4711", amount: 84.9 } },
  ];
  const script = [
    { text: "Under policy 3.2 you get a full refund. I am asking you for a photo.", tool_calls: asks },
    { text: "Done." },
  ];
  const slow = [{ text: "Once upon a time there was a river. ".repeat(40), delta_ms: 150 }];
  await server.post("/v1/agents", {
    name: "Slow teller",
    instructions: "Tell.",
    model: "test/script",
    model_settings: { script: slow },
  });
  const agent = await server.post("/v1/agents", {
    name: "Refund desk",
    instructions: "Follow the policies.",
    model: "test/script",
    model_settings: { script },
    tools: [photo.body.id, (await server.post("/v1/tools", refund)).body.id],
  });
  return agent.body.id;
}

const composer = (page: Page): Locator => page.getByRole("textbox", { name: "Message to the agent" });

const lastRun = (page: Page): Locator => page.getByRole("article", { name: "Run", exact: true }).last();

const code = (page: Page): Locator => page.getByRole("complementary", { name: "Code" });
