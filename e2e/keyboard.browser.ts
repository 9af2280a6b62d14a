import { expect, type Locator, type Page, test } from "@playwright/test";
import { type Runnel, startRunnel } from "./harness.ts";
import { expectAccessible, recordFaults, setUpAccount, signInBeforeEach } from "./page-checks.ts";

// Keys of the compiled executable's dashboard pressed while a page, or a part of it, still loads.
let server: Runnel;
test.beforeAll(async () => {
  server = await startRunnel();
});
test.afterAll(() => server[Symbol.asyncDispose]());
test.use({ viewport: { width: 1440, height: 900 } });

test.describe("keys pressed early", () => {
  signInBeforeEach(() => server);

  test("text typed after ⌘K goes into the palette, however late its code loads, and never to the page", async ({
    page,
  }) => {
    await makeWaitingCall();
    const release = await hold(page, /shell-palette/);
    await page.goto(`${server.url}/dashboard/approvals`);
    const call = page.getByRole("list", { name: "Waiting calls" }).getByRole("link").first();
    await call.focus();
    const palette = page.getByRole("dialog", { name: "Search or jump to" });

    await page.keyboard.press("Control+k");
    await page.keyboard.type("a late");
    await expect(palette.getByRole("textbox")).toHaveValue("a late");
    await expect(page.getByText(/^Approving /)).toHaveCount(0);
    await expectAccessible(page, "palette under way");
    await page.keyboard.press("Escape");
    await expect(palette).toHaveCount(0);
    await expect(call).toBeFocused();

    await page.keyboard.press("Control+k");
    await page.keyboard.type("api ");
    await expect(palette.getByRole("textbox")).toHaveValue("api ");
    release();
    await expect(palette.getByRole("combobox")).toHaveValue("api ");
    await page.keyboard.type("k");
    await expect(palette.getByRole("combobox")).toHaveValue("api k");
    await page.keyboard.press("Escape");
    await expect(palette).toHaveCount(0);
    await expect(call).toBeFocused();

    await page.keyboard.press("Control+k");
    await expect(palette.getByRole("combobox")).toHaveValue("");
  });

  test("the palette returns the focus to nothing if nothing had it: no link appears over the menu", async ({
    page,
  }) => {
    await page.goto(`${server.url}/dashboard/keys`);
    await page.getByRole("heading", { name: "API keys" }).waitFor();
    await page.keyboard.press("Control+k");
    const palette = page.getByRole("dialog", { name: "Search or jump to" });
    await expect(palette).toBeVisible();
    await page.keyboard.press("Escape");
    await expect(palette).toHaveCount(0);
    await expect.poll(() => page.evaluate(() => document.activeElement?.tagName)).toBe("BODY");
    await expect(page.getByRole("link", { name: "Skip to the page" })).not.toBeInViewport();
  });

  test("⌘K takes the very next key, the first time too", async ({ page }) => {
    await page.goto(`${server.url}/dashboard/keys`);
    await page.getByRole("heading", { name: "API keys" }).waitFor();
    const focused = await page.evaluate(async () => {
      document.dispatchEvent(new KeyboardEvent("keydown", { key: "k", ctrlKey: true, cancelable: true }));
      await Promise.resolve(); // Resolves before any further key event.
      return document.activeElement?.getAttribute("aria-label");
    });
    expect(focused).toBe("Search or jump to");
    await page.keyboard.type("schedules");
    await page.keyboard.press("Enter");
    await expect(page.getByRole("heading", { name: "Schedules", level: 1 })).toBeVisible();
  });

  test("Enter before the palette's code is loaded runs the typed command", async ({ page }) => {
    const release = await hold(page, /shell-palette/);
    await page.goto(`${server.url}/dashboard/overview`);
    await expect(page.getByRole("heading", { name: "Overview" })).toBeVisible();
    await page.keyboard.press("Control+k");
    await page.keyboard.type("schedules");
    await page.keyboard.press("Enter");
    release();
    await expect(page.getByRole("heading", { name: "Schedules", level: 1 })).toBeVisible();
    await expect(page.getByRole("dialog")).toHaveCount(0);
  });

  test("no key acts on the page below a dialog that lost the focus", async ({ page }) => {
    await page.goto(`${server.url}/dashboard/keys`);
    await page.getByRole("heading", { name: "API keys" }).waitFor();
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
    // As the browser dispatches it while nothing has the focus.
    await page.evaluate(() => {
      for (const key of ["c", "g", "r"])
        document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
    });
    await expect(page.getByRole("dialog")).toHaveCount(1);
    await expect(page).toHaveURL(/\/keys$/);
  });

  test("the map of the keys can be closed before it is loaded, and then never appears", async ({ page }) => {
    const release = await hold(page, /key-map/);
    await page.goto(`${server.url}/dashboard/keys`);
    await page.getByRole("heading", { name: "API keys" }).waitFor();
    await page.keyboard.press("?");
    const map = page.getByRole("dialog", { name: "Keyboard shortcuts" });
    await expect(map).toBeVisible();
    await page.keyboard.press("c");
    await page.keyboard.press("Escape");
    await expect(map).toHaveCount(0);
    release();
    await page.keyboard.press("c");
    await expect(page.getByRole("dialog", { name: "Create key" })).toBeVisible();
    await expect(page.getByRole("dialog")).toHaveCount(1);
  });

  test("a requested create dialog opens when its page loads, however long that takes", async ({ page }) => {
    const release = await hold(page, /keys-page/);
    await page.goto(`${server.url}/dashboard/runs`);
    await choose(page, "create key");
    await expect(page).toHaveURL(/\/keys$/);
    await page.clock.setFixedTime(Date.now() + 60_000);
    release();
    await expect(page.getByRole("dialog", { name: "Create key" })).toBeVisible();
  });

  test("pressing something else meanwhile withdraws the create request", async ({ page }) => {
    const release = await hold(page, /keys-page/);
    await page.goto(`${server.url}/dashboard/runs`);
    await choose(page, "create key");
    await expect(page).toHaveURL(/\/keys$/);
    await page.keyboard.press("Shift");
    release();
    await expect(page.getByRole("heading", { name: "API keys" })).toBeVisible();
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
    await expect(page.getByRole("dialog")).toHaveCount(1);
  });
});

test("without a mouse an agent is created, run, inspected, forked and approved", async ({ page }) => {
  test.setTimeout(240_000);
  const complaints = recordFaults(page);
  await using own = await startRunnel();
  await own.post("/v1/tools", {
    name: "refund",
    type: "code",
    description: "Refunds an order.",
    source: "() => 'refunded'",
    approval: "always",
  });
  await setUpAccount(page, own);
  await page.goto(`${own.url}/dashboard/overview`);

  await test.step("an agent is created, with a tool that needs approval", async () => {
    await choose(page, "create agent");
    await expect(page.getByRole("heading", { name: "Create agent" })).toBeVisible();
    await tabTo(page, page.getByLabel("Name", { exact: true }));
    await page.keyboard.type("Refund desk");
    await tabTo(page, page.getByRole("textbox", { name: "Instructions" }));
    await page.keyboard.type("Refund what broke.");
    await tabTo(page, page.getByRole("combobox", { name: "Model" }));
    await page.keyboard.press("ControlOrMeta+a");
    await page.keyboard.type("test/script");
    await page.keyboard.press("Escape");
    await tabTo(page, page.getByRole("checkbox", { name: /refund/ }));
    await page.keyboard.press("Space");
    await tabTo(page, page.getByRole("button", { name: "Generate an example with the selected tools" }), "Shift+Tab");
    await page.keyboard.press("Enter");
    await expect(page.getByRole("textbox", { name: "Text" }).first()).toBeFocused(); // The button is gone.
    await page.keyboard.press("ControlOrMeta+Enter");
    await expect(page.getByRole("heading", { name: "Refund desk" })).toBeVisible();
  });

  await test.step("it is run in the playground, up to its approval", async () => {
    await tabTo(page, page.getByRole("link", { name: "Open in playground" }));
    await page.keyboard.press("Enter");
    await expect(page.getByRole("heading", { name: "Try Refund desk" })).toBeVisible();
    await tabTo(page, page.getByRole("textbox", { name: "Message to the agent" }));
    await page.keyboard.type("Both mugs came broken.");
    await page.keyboard.press("ControlOrMeta+Enter");
    await expect(page.getByText("Approve refund?")).toBeVisible();
  });

  const run = await test.step("its trace is walked through step by step", async () => {
    await tabTo(page, page.getByRole("link", { name: "Open trace" }));
    await page.keyboard.press("Enter");
    await expect(page).toHaveURL(/\/runs\/run_/);
    await tabTo(page, page.getByRole("tree"));
    await page.keyboard.press("Home");
    await page.keyboard.press("ArrowDown");
    await expect(page.getByRole("treeitem", { name: /test\/script/ }).first()).toBeFocused();
    return new URL(page.url()).pathname;
  });

  await test.step("f forks it from there", async () => {
    await page.keyboard.press("f");
    const create = page.getByRole("button", { name: "Create fork" });
    await tabTo(page, create);
    await page.keyboard.press("Enter");
    await expect(page.getByText(/^Fork at step/)).toBeVisible();
    expect(new URL(page.url()).pathname).not.toBe(run);
  });

  await test.step("g a leads to both approvals, and a answers the first", async () => {
    await page.keyboard.press("g");
    await page.keyboard.press("a");
    const cards = page.getByRole("list", { name: "Waiting calls" }).locator("> li");
    await expect(cards).toHaveCount(2);
    await page.keyboard.press("j");
    await page.keyboard.press("a");
    await expect(cards).toHaveCount(1);
    await expect
      .poll(async () => (await own.get("/v1/runs")).body.data.map(({ status }: { status: string }) => status).sort())
      .toEqual(["completed", "requires_action"]);
  });

  expect(complaints).toEqual([]);
});

/** Presses Tab until this element, or one inside, has the focus. */
async function tabTo(page: Page, target: Locator, key = "Tab"): Promise<void> {
  await target.waitFor();
  for (let presses = 0; presses < 120; presses++) {
    const has = await target.evaluate((element) => element.contains(document.activeElement));
    if (has) return;
    await page.keyboard.press(key);
  }
  throw new Error(`${target} is not reached by ${key}.`);
}

/** Runs a command of the palette as soon as the palette is loaded. */
async function choose(page: Page, command: string): Promise<void> {
  await page.getByRole("heading", { level: 1 }).waitFor();
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Search or jump to" }).fill(command);
  await page.keyboard.press("Enter");
}

/** Holds the page's requests to these addresses until the returned function is called. */
async function hold(page: Page, addresses: RegExp): Promise<() => void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  await page.route(addresses, async (route) => {
    await promise;
    await route.continue();
  });
  return resolve;
}

async function makeWaitingCall(): Promise<void> {
  const { body: tool } = await server.post("/v1/tools", {
    name: "refund",
    type: "client",
    description: "Refunds.",
    approval: "always",
  });
  const script = [{ tool_calls: [{ name: "refund", arguments: {} }] }, { text: "Done." }];
  const { body: agent } = await server.post("/v1/agents", {
    name: "Desk",
    instructions: "x",
    model: "test/script",
    model_settings: { script },
    tools: [tool.id],
  });
  const { status, body } = await server.post("/v1/runs?wait=60", { agent_id: agent.id, input: "Both mugs broke." });
  expect([status, body.status]).toEqual([201, "requires_action"]);
}
