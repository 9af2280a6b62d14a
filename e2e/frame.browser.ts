import { expect, type Page, test } from "@playwright/test";
import { followRequests } from "./at-rest.ts";
import { type Runnel, startRunnel } from "./harness.ts";
import { expectAccessible, recordFaults, setUpAccount } from "./page-checks.ts";

// The frame of every page of the compiled executable's dashboard: keys, palette, mode, lost connection.
let server: Runnel;
test.beforeAll(async () => {
  server = await startRunnel();
});
test.afterAll(() => server[Symbol.asyncDispose]());

test("by keyboard alone a person navigates, finds and opens anything, and switches project and mode", async ({
  page,
}) => {
  test.setTimeout(300_000);
  const complaints = recordFaults(page);
  const atRest = followRequests(page);
  const palette = page.getByRole("dialog", { name: "Search or jump to" });
  const agent = await makeAgent("Refund desk");
  const run = await makeRun(agent);
  await setUpAccount(page, server);
  await expect(page.getByRole("heading", { name: "First steps" })).toBeVisible();

  await test.step("g and a letter open a page, and the focus moves along", async () => {
    for (const [key, title] of [
      ["o", "Overview"],
      ["r", "Runs"],
      ["k", "API keys"],
      ["p", "Playground"],
      ["a", "Approvals"],
    ]) {
      const heading = page.getByRole("heading", { name: title!, level: 1 });
      // The two keys count as one within a second, which a busy machine may miss.
      await expect(async () => {
        await page.keyboard.press("g");
        await page.keyboard.press(key!);
        await expect(heading).toBeVisible({ timeout: 2000 });
      }).toPass({ timeout: 30_000 });
      if (key !== "p") await expect(heading).toBeFocused();
      await blur(page);
    }
  });

  await test.step("? shows the keys, and Escape returns the focus", async () => {
    await page.keyboard.press("?");
    const map = page.getByRole("dialog", { name: "Keyboard shortcuts" });
    await expect(map.getByText("Fork from the selected step")).toBeVisible();
    await expectAccessible(page, "key map");
    await page.keyboard.press("Escape");
    await expect(map).toBeHidden();
  });

  await test.step("a failed load in the frame is reported, and the page stays", async () => {
    await page.route(/key-map/, (route) => route.abort("internetdisconnected"));
    await page.reload();
    const heading = page.getByRole("heading", { level: 1 });
    await expect(heading).toBeVisible();
    const title = (await heading.textContent()) ?? "";
    await page.keyboard.press("?");
    await expect(page.getByText("A part of the page could not be loaded").first()).toBeVisible();
    await expect(heading).toHaveText(title);
    // A toast blocks nothing, though its role is that of a dialog.
    await page.keyboard.press("Control+k");
    await expect(palette).toBeVisible();
    await page.keyboard.press("Escape");
    await expect(palette).toBeHidden();
    await page.unroute(/key-map/);
    await page.reload();
    await expect(heading).toBeVisible();
    for (const complaint of complaints.splice(0)) expect(complaint).toMatch(/key-map/);
  });

  await test.step("typing in a field writes letters: no single key acts then", async () => {
    await page.goto(`${server.url}/dashboard/keys`);
    const search = page.getByRole("searchbox", { name: "Search keys" });
    await expect(search).toBeVisible();
    await page.keyboard.press("/");
    await expect(search).toBeFocused();
    await page.keyboard.type("?cgrj");
    await expect(search).toHaveValue("?cgrj");
    await expect(page).toHaveURL(/\/keys/);
    await expect(page.getByRole("dialog")).toHaveCount(0);
    await blur(page);
  });

  await test.step("the palette navigates, acts, and remembers", async () => {
    await page.keyboard.press("Control+k");
    await expect(palette.getByRole("combobox")).toBeFocused();
    await expectAccessible(page, "palette");
    await page.keyboard.type("refund");
    await page.keyboard.press("Enter");
    await expect(page).toHaveURL(new RegExp(`/agents/${agent}`));
    await expect(page).toHaveTitle(/Refund desk/);

    await page.keyboard.press("Control+k");
    await page.keyboard.type("create key");
    await page.keyboard.press("Enter");
    await expect(page.getByRole("dialog", { name: "Create key" })).toBeVisible();
    await expect(palette).toBeHidden(); // A palette that is still closing opens with its text.
    await page.keyboard.press("Escape");

    await page.keyboard.press("Control+k");
    await expect(
      palette.getByRole("group", { name: "Recent" }).getByRole("option", { name: /Refund desk/ }),
    ).toBeVisible();
    await expect(palette.getByRole("group")).toHaveText([/^Go to/, /^ActionsSearch this page\/?Create key/, /^Recent/]);
    await page.keyboard.press("Escape");
    await expect(palette).toBeHidden();
  });

  await test.step("a pasted id opens its item, and an invalid one gets a message", async () => {
    await page.getByRole("button", { name: "Search or jump to" }).first().click();
    await page.keyboard.type("zzzz");
    await expect(palette.getByText("No results")).toBeVisible();
    await palette.getByRole("combobox").fill(run);
    await page.keyboard.press("Enter");
    await expect(page).toHaveURL(new RegExp(`/runs/${run}`));
  });

  await test.step("words find runs and everything else on the server, by their kind and by keyboard", async () => {
    await server.post("/v1/tools", { name: "find_umbrella", type: "client", description: "Looks it up." });
    await server.post("/v1/runs?wait=60", { agent_id: agent, input: "Where is my green umbrella?" });
    await page.getByRole("button", { name: "Search or jump to" }).first().click();
    const found = palette.getByRole("option", { name: /umbrella/i });
    // Both are indexed within four seconds, later on a busy machine. An unchanged text is not searched again, so two
    // alternate.
    const texts = ["umbrel", "umbrell"];
    let tries = 0;
    await expect(async () => {
      await palette.getByRole("combobox").fill(texts[tries++ % 2]!);
      await expect(found).toHaveCount(2, { timeout: 5000 });
    }).toPass({ timeout: 60_000 });
    await palette.getByRole("combobox").fill(texts[tries % 2]!);
    await expect(found).toHaveCount(2);
    await expect(palette.getByRole("group")).toHaveText([/^Toolsfind_umbrella/, /^RunsWhere is my green umbrella/]);
    await expectAccessible(page, "palette found");
    // Results that arrive select the first one again.
    const ofRun = palette.getByRole("option", { name: /green umbrella/ });
    await expect(async () => {
      await atRest();
      await page.keyboard.press("ArrowDown");
      await expect(ofRun).toHaveAttribute("data-highlighted", "", { timeout: 1000 });
    }).toPass({ timeout: 30_000 });
    await page.keyboard.press("Enter");
    await expect(page).toHaveURL(/\/runs\/run_/);
    await expect(page.getByText("Where is my green umbrella?").first()).toBeVisible();
  });

  await test.step("the id of a request or a tool call opens its run, and that of a file its row", async () => {
    const { waiting, request, call } = await makeWaitingRun();
    for (const [id, noun] of [
      [request, "request"],
      [call, "tool call"],
    ]) {
      await paste(page, id!);
      await palette.getByRole("option", { name: `Open the run of this ${noun}` }).click();
      await expect(page).toHaveURL(new RegExp(`/runs/${waiting}`));
      await page.goto(`${server.url}/dashboard/keys`);
    }
    const file = await makeFile("manual.txt");
    await makeFile("other.txt");
    await paste(page, file);
    await palette.getByRole("option", { name: "Open file" }).click();
    await expect(page.getByRole("row", { name: /manual\.txt/ })).toBeVisible();
    await expect(page.getByRole("row", { name: /other\.txt/ })).toBeHidden();
    await page.getByRole("button", { name: "Clear the file filter" }).click();
    await expect(page.getByRole("row", { name: /other\.txt/ })).toBeVisible();
  });

  await test.step("the id of a request that created no run leads to its change", async () => {
    const answer = await server.fetch("/v1/tools", {
      method: "POST",
      body: JSON.stringify({ name: "lookup_order", type: "client", description: "Looks up." }),
    });
    await paste(page, answer.headers.get("x-request-id") ?? "");
    await palette.getByRole("option", { name: "Search the audit log" }).click();
    const log = page.getByRole("table", { name: "Audit log" });
    await expect(log.getByRole("row", { name: /created the tool lookup_order/ })).toBeVisible();
    await expect(log.getByRole("row")).toHaveCount(2);
    await expect(page.getByRole("button", { name: "Clear the request filter" })).toBeVisible();
  });

  await test.step("the other mode keeps the page, but not an id", async () => {
    await page.goto(`${server.url}/dashboard/runs/${run}`);
    await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
    await expect(page.getByRole("heading", { name: "Refund desk" })).toBeVisible();
    await page.keyboard.press("Control+k");
    await expect(palette.getByRole("combobox")).toBeFocused();
    await page.keyboard.type("live data");
    await page.keyboard.press("Enter");
    await expect(page.locator("html")).toHaveAttribute("data-mode", "live");
    await expect(page).toHaveURL(/\/live\/runs$/);
    await page.goto(`${server.url}/dashboard/runs?agent=${agent}&status=failed`);
    await page.getByRole("button", { name: "Test", exact: true }).first().click();
    await expect(page).toHaveURL(/\/test\/runs\?status=failed$/);
  });

  await test.step("one of many projects is found by search", async () => {
    for (let n = 1; n <= 7; n++) expect((await server.command("projects", "create", `shop-${n}`)).code).toBe(0);
    await page.goto(`${server.url}/dashboard/keys`);
    await page.getByRole("button", { name: /^Project default/ }).click();
    const projects = page.getByRole("dialog", { name: "Switch project" });
    await expect(projects.getByRole("combobox", { name: "Find a project" })).toBeFocused();
    await expect(projects.getByRole("option")).toHaveCount(8);
    await expectAccessible(page, "projects");
    await page.keyboard.type("none of them");
    await expect(projects.getByText("No results.")).toBeVisible();
    await projects.getByRole("combobox").fill("shop 5");
    await page.keyboard.press("Enter");
    await expect(page.getByRole("button", { name: /^Project shop-5/ })).toBeVisible();
    await expect(page).toHaveURL(/\/keys$/);
  });

  await test.step("single keys can be switched off; the palette stays", async () => {
    await page.evaluate(() => localStorage.setItem("runnel.keys", "off"));
    await blur(page);
    await page.keyboard.press("g");
    await page.keyboard.press("o");
    await page.keyboard.press("?");
    await page.keyboard.press("Control+k");
    await expect(palette).toBeVisible();
    await expect(page.getByRole("dialog")).toHaveCount(1);
    await expect(page).toHaveURL(/\/keys$/);
    await page.keyboard.press("Escape");
  });

  await test.step("a lost connection is announced, and the message disappears when the server responds again", async () => {
    await page.goto(`${server.url}/dashboard/overview`);
    await expect(page.getByRole("heading", { name: "Overview" })).toBeVisible();
    await atRest(); // Lazily loaded parts are there.
    await page.context().setOffline(true);
    const banner = page.getByRole("alert").filter({ hasText: "What you see may be out of date." });
    await expect(banner).toBeVisible({ timeout: 40_000 });
    await expectAccessible(page, "offline");
    await page.context().setOffline(false);
    await expect(banner).toBeHidden({ timeout: 20_000 });
  });

  expect(complaints).toEqual([]);
});

/** Opens the palette and enters an id. */
async function paste(page: Page, id: string): Promise<void> {
  await page.getByRole("button", { name: "Search or jump to" }).first().click();
  await page.getByRole("dialog", { name: "Search or jump to" }).getByRole("combobox").fill(id);
}

const blur = (page: Page) => page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());

async function makeAgent(name: string): Promise<string> {
  const { body } = await server.post("/v1/agents", { name, instructions: "x", model: "test/echo" });
  return body.id;
}

async function makeRun(agent_id: string): Promise<string> {
  const { body } = await server.post("/v1/runs?wait=60", { agent_id, input: "Hello." });
  return body.id;
}

/** Creates a run that waits for its client, and returns its id, its request's id and its call's id. */
async function makeWaitingRun(): Promise<{ waiting: string; request: string; call: string }> {
  const { body: tool } = await server.post("/v1/tools", { name: "ask_owner", type: "client", description: "Asks." });
  const script = [{ tool_calls: [{ name: "ask_owner", arguments: {} }] }, { text: "Done." }];
  const { body: agent } = await server.post("/v1/agents", {
    name: "Asking",
    instructions: "x",
    model: "test/script",
    model_settings: { script },
    tools: [tool.id],
  });
  const { body: run, headers } = await server.post("/v1/runs?wait=60", { agent_id: agent.id, input: "Go." });
  const [call] = run.required_action.submit_tool_outputs.tool_calls;
  return { waiting: run.id, request: headers.get("x-request-id") ?? "", call: call.tool_call_id };
}

async function makeFile(filename: string): Promise<string> {
  const content_base64 = Buffer.from("Tea is brewed at 80 degrees.").toString("base64");
  const { body } = await server.post("/v1/files", { filename, purpose: "attachment", content_base64 });
  return body.id;
}
