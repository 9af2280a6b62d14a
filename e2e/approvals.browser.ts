import { expect, type Page, test } from "@playwright/test";
import { type Json, type Runnel, startRunnel } from "./harness.ts";
import { account, expectAccessible, expectToFit, fieldContent, recordFaults, setUpAccount } from "./page-checks.ts";
import { startToolServer } from "./tool-server.ts";

// The inbox of the compiled executable: requests of runs to people, answered in a real browser.
let server: Runnel;
test.beforeAll(async () => {
  server = await startRunnel();
});
test.afterAll(() => server[Symbol.asyncDispose]());
test.use({ viewport: { width: 1440, height: 900 } });

const reason = "The parcel is already on its way.";

test("every request of a run to a person is answered in the inbox, the longest waiting first", async ({ page }) => {
  test.setTimeout(420_000); // axe checks many states in two themes.
  await setUpAccount(page, server);
  await page.goto("about:blank");
  const unknown = await test.step("a crash leaves a call with an unknown outcome", brokenCall);
  const complaints = recordFaults(page);
  await page.goto(`${server.url}/dashboard/runs`);

  const address = await tool("change_address", { approval: "always" });
  const stock = await tool("ask_stock", {});
  const orders = await agent("Order changes", [address], { address: "Main Street 12", notify: true });
  const shelves = await agent("Shelves", [stock], { address: "Hall 4" });
  const first = await start(orders, "Please ship it to my office instead");

  await test.step("the inbox lists requests in the order of their arrival, and the side bar counts them", async () => {
    await page.getByRole("link", { name: /^Approvals/ }).click();
    await expect(page).toHaveURL(/\/approvals$/);
    await expect(cards(page)).toHaveCount(2);
    await expect(cards(page).nth(0)).toContainText("Did refund take effect?");
    await expect(cards(page).nth(1)).toContainText("Order changes · Please ship it to my office instead");
    await expect(cards(page).nth(1).getByLabel("Arguments")).toContainText("Main Street 12");
    await expect(page.getByRole("link", { name: "Approvals , 2 waiting" })).toBeVisible();
  });

  const [second, third] =
    await test.step("a request that arrives while the page is open is appended at the end", async () => {
      await expect(page.getByText("Auto-refresh", { exact: true }).last()).toBeVisible();
      const second = await start(shelves, "Is there Assam 500 g?");
      const third = await start(orders, "To my neighbour instead");
      await expect(cards(page)).toHaveCount(4);
      await expect(cards(page).nth(2)).toContainText("ask_stock waits for its output");
      await expectAccessible(page, "inbox");
      await expectToFit(page, "inbox");
      return [second, third];
    });

  await test.step("a filter shows one kind, and its address can be saved", async () => {
    await page.getByRole("button", { name: "Needs", exact: true }).click();
    await page.getByRole("menuitemradio", { name: "Client output" }).click();
    await expect(page).toHaveURL(/needs=output/);
    await expect(cards(page)).toHaveCount(1);
    await page.getByRole("button", { name: "Clear the needs filter" }).click();
    await expect(cards(page)).toHaveCount(4);
  });

  await test.step("outputs that an application owes are counted separately", async () => {
    await expect(page.getByRole("link", { name: "Approvals , 3 waiting · 1 client output" })).toBeVisible();
  });

  await test.step("an approval by a can be undone for a moment, and stays visible meanwhile", async () => {
    const card = cards(page).nth(1);
    await card.getByRole("link").focus();
    await page.keyboard.press("a");
    await expect(card.getByText("Approving change_address in 5 seconds.")).toBeVisible();
    await expect(card.getByLabel("Arguments")).toContainText("Main Street 12");
    await expectAccessible(page, "undo");
    await page.keyboard.press("u");
    await expect(card.getByText("Approving change_address in 5 seconds.")).toBeHidden();
    await card.getByRole("button", { name: "Reject…" }).click();
    await expect(card.getByLabel("Arguments")).toContainText("Main Street 12");
    await card.getByRole("button", { name: "Back" }).click();
    expect((await read(first)).required_action.submit_tool_outputs.tool_calls).toMatchObject([{ needs: "approval" }]);
    await page.evaluate(() => (document.activeElement as HTMLElement).blur());
  });

  await test.step("j moves to a call, a approves it, and the focus moves to the next", async () => {
    await page.keyboard.press("a"); // Approves nothing, because nothing is selected.
    await expect(cards(page).nth(0).getByRole("link")).toBeFocused();
    await page.keyboard.press("j");
    await page.keyboard.press("a");
    await expect(cards(page).filter({ hasText: "ask_stock" }).getByRole("link")).toBeFocused();
    // The next call is of a client tool, whose output the run now requires.
    expect(await ended(first)).toMatchObject({ status: "requires_action" });
    await expect(cards(page)).toHaveCount(4);
  });

  await test.step("the output of a client tool is not prefilled", async () => {
    const card = cards(page).filter({ hasText: "ask_stock" });
    await expect.poll(() => fieldContent(card.getByLabel("Output"))).toBe("");
    await card.getByRole("button", { name: "Send output" }).click();
    await expect(card.getByText("Enter a JSON value.")).toBeVisible();
    await card.getByLabel("Output").fill('{"in_stock": 3}');
    await page.keyboard.press("Control+Enter");
    await expect(card).toBeHidden();
    expect((await ended(second)).tool_calls[0]).toMatchObject({ status: "completed", output: { in_stock: 3 } });
  });

  await test.step("a call is rejected with a reason, which the model reads", async () => {
    const card = cards(page).filter({ hasText: "To my neighbour instead" });
    await card.getByRole("link").focus();
    await page.keyboard.press("r");
    await expect(card.getByLabel("Reason")).toBeFocused();
    await page.keyboard.type(reason);
    await expectAccessible(page, "reject");
    await page.keyboard.press("Enter");
    await expect(card).toBeHidden();
    expect((await ended(third)).messages.at(-2).content).toContain(reason);
  });

  await test.step("an unknown outcome is resolved in one of three ways", async () => {
    const card = cards(page).filter({ hasText: "Did refund take effect?" });
    await expect(card.getByRole("button", { name: "Continue the run" })).toBeDisabled();
    await card.getByRole("radio", { name: /It took effect/ }).check();
    await card.getByLabel("Result of the call").fill('{"refunded": 36.9}');
    await expectAccessible(page, "unknown outcome");
    await card.getByRole("button", { name: "Continue the run" }).click();
    await expect(card).toBeHidden();
    expect((await ended(unknown)).tool_calls[0]).toMatchObject({ output: { refunded: 36.9 } });
  });

  await test.step("arguments can be changed before a call is approved", async () => {
    const run = await start(orders, "Somewhere else");
    const card = cards(page).filter({ hasText: "Somewhere else" });
    await card.getByRole("button", { name: "Edit arguments" }).click();
    await card.getByLabel("New arguments").fill('{"address": "Side Street 3"}');
    await card.getByRole("button", { name: "Approve with changes" }).click();
    await expect(card.getByText("change_address waits for its output")).toBeVisible();
    await expect(card.getByLabel("Arguments")).toContainText("Side Street 3");
    await answer(run, { output: "done" });
  });

  await test.step("a request that another person answers meanwhile keeps its place, and says so", async () => {
    const gone = cards(page).filter({ hasText: "Somewhere else" });
    await expect(gone).toContainText("was answered elsewhere");
    await gone.getByRole("button", { name: "Remove from the list" }).click();
    await expect(gone).toBeHidden();
  });

  await test.step("of two concurrent answers the first wins, and the second gets a friendly message", async () => {
    const run = await start(orders, "At once");
    const card = cards(page).filter({ hasText: "At once" });
    await expect(card.getByRole("button", { name: "Approve" })).toBeVisible();
    await page.route("**/submit_tool_outputs", async (route) => {
      await server.post(`/v1/runs/${run}/cancel`, {});
      await route.continue();
    });
    await card.getByRole("button", { name: "Approve" }).click();
    await expect(card.getByText("Already resolved")).toBeVisible();
    await expectAccessible(page, "too late");
    await page.unroute("**/submit_tool_outputs");
    await card.getByRole("button", { name: "Remove from the list" }).click();
  });

  await test.step("a trace names the person who decided in the dashboard, or the key that decided by API", async () => {
    const inbox = page.url();
    const keyed = await start(orders, "By a program");
    await answer(keyed, { decision: "approve" });
    await page.goto(`${server.url}/dashboard/runs/${third}?step=1`);
    await expect(page.getByText(`Rejected by ${account.email}`)).toBeVisible();
    await page.goto(`${server.url}/dashboard/runs/${keyed}?step=1`);
    await expect(page.getByText("Approved with the API key")).toBeVisible();
    await answer(keyed, { output: "done" });
    await page.goto(inbox);
  });

  await test.step("an empty inbox explains its purpose", async () => {
    await answer(first, { output: "done" });
    await page.reload();
    await expect(page.getByRole("heading", { name: "Nothing is waiting for you" })).toBeVisible();
    await expect(page.getByRole("link", { name: "Approvals", exact: true })).toBeVisible();
    await expectAccessible(page, "empty");
  });

  expect(complaints).toEqual([]);
});

const cards = (page: Page) => page.getByRole("list", { name: "Waiting calls" }).locator("> li");

/** Returns a run whose process died during the tool call. */
async function brokenCall(): Promise<string> {
  await using tools = startToolServer();
  const refund = await tool("refund", { type: "http", url: `${tools.url}/slow/60000`, timeout_ms: 120_000 });
  const run = await start(await agent("Refund desk", [refund], { address: "Mill Lane 1" }), "Both mugs are broken", 0);
  await tools.called("/slow/60000");
  await server.kill9();
  await server.restart();
  await expect.poll(async () => (await read(run)).status).toBe("requires_action");
  return run;
}

async function tool(name: string, more: Record<string, unknown>): Promise<string> {
  const made = await server.post("/v1/tools", {
    name,
    type: "client",
    description: "Does it.",
    parameters: { type: "object", properties: { address: { type: "string" } } },
    ...more,
  });
  expect(made.status).toBe(201);
  return made.body.id;
}

async function agent(name: string, tools: string[], args: object): Promise<string> {
  const called = (await server.get(`/v1/tools/${tools[0]}`)).body.name;
  const script = [{ text: "I see to it.", tool_calls: [{ name: called, arguments: args }] }, { text: "Done." }];
  const definition = { name, instructions: "Help.", model: "test/script", tools, model_settings: { script } };
  const made = await server.post("/v1/agents", definition);
  expect(made.status).toBe(201);
  return made.body.id;
}

async function start(agent_id: string, input: string, wait = 60): Promise<string> {
  const made = await server.post(`/v1/runs?wait=${wait}`, { agent_id, input });
  expect(made.status).toBe(201);
  return made.body.id;
}

const read = async (id: string): Promise<Json> => (await server.get(`/v1/runs/${id}`)).body;

/** Returns the run once it is no longer working. */
async function ended(id: string): Promise<Json> {
  await expect.poll(async () => (await read(id)).status).not.toBe("in_progress");
  return read(id);
}

/** Answers the only call of a run, as another person would. */
async function answer(id: string, said: object): Promise<void> {
  const [call] = (await ended(id)).required_action.submit_tool_outputs.tool_calls;
  const tool_outputs = [{ tool_call_id: call.tool_call_id, ...said }];
  expect((await server.post(`/v1/runs/${id}/submit_tool_outputs`, { tool_outputs })).status).toBe(200);
}
