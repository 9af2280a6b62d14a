import { type Locator, type Page, expect as plain, test } from "@playwright/test";
import { startMcpServer } from "../server/testing/mcp-server.ts";
import { createScripted } from "./fixtures.ts";
import { type Json, type Runnel, startRunnel } from "./harness.ts";
import { expectAccessible, expectToFit, signInBeforeEach, violations } from "./page-checks.ts";

const expect = plain.configure({ timeout: 60_000 });

// Questions of MCP servers to the user, answered in the playground and in the chat element.
let server: Runnel;
const mcp = startMcpServer();
/** A page of another site, which has the chat element. */
let shown = "";
const site = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch: () => new Response(shown, { headers: { "content-type": "text/html" } }),
});
test.beforeAll(async () => {
  server = await startRunnel();
});
test.afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await mcp[Symbol.asyncDispose]();
  await site.stop(true);
});
test.setTimeout(300_000);
signInBeforeEach(() => server);

const requestedSchema = {
  type: "object",
  properties: {
    name: { type: "string", title: "Your name", description: "As on the passport." },
    age: { type: "integer", title: "Age", minimum: 1 },
    size: { type: "string", title: "Size", enum: ["s", "l"], enumNames: ["Small", "Large"] },
    news: { type: "boolean", title: "Send me news" },
    note: { type: "string", title: `Note_${"without_end".repeat(12)}`, description: "x".repeat(120) },
  },
  required: ["name", "age", "size", "news"],
};
const form = { message: "Who is travelling?", requestedSchema };
const address = {
  message: "Sign in to go on.",
  mode: "url",
  url: "https://bank.example.com/sign-in?next=1",
  elicitationId: "e1",
};

let count = 0;

/** Creates an agent whose run asks the user this. */
async function asking(question: object): Promise<string> {
  const name = `q${++count}`;
  const { body } = await server.post("/v1/tools", { name, type: "mcp", server_url: mcp.url });
  const script = [{ tool_calls: [{ name: `${name}_elicit`, arguments: question }] }, { text: "It is done." }];
  return createScripted(server, script, { tools: [body.id] });
}

/** Returns what the MCP server got as the answer of this agent's newest run. */
async function answerOf(agent_id: string): Promise<Json> {
  const { body } = await server.get(`/v1/runs?agent_id=${agent_id}&limit=1`);
  const run = await server.get(`/v1/runs/${body.data[0].id}`);
  return JSON.parse(run.body.tool_calls[0].output);
}

async function fillIn(place: Locator): Promise<void> {
  await place.getByLabel("Age", { exact: true }).fill("41");
  await place.getByRole("combobox").selectOption({ label: "Large" });
}
const answered = { action: "accept", content: { name: "Ada", age: 41, size: "l", news: false } };

const shownRun = (page: Page): Locator => page.getByRole("article", { name: "Run" });

/** Shows a question in the playground. */
async function askInPlayground(page: Page, agent_id: string, message: string): Promise<void> {
  await page.goto(`${server.url}/dashboard/playground?agent=${agent_id}`);
  await page.getByRole("textbox", { name: "Message to the agent" }).fill("Go");
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await expect(shownRun(page).getByText(message)).toBeVisible();
}

test("in the playground a form is filled in: what is missing is said, and empty fields are left out", async ({
  page,
}) => {
  const agent = await asking(form);
  await askInPlayground(page, agent, form.message);
  await expectAccessible(page, "question in the playground");
  await expectToFit(page, "question in the playground");
  await fillIn(shownRun(page));
  await shownRun(page).getByRole("button", { name: "Send" }).click();
  await expect(page.getByLabel("Your name")).toHaveAttribute("aria-invalid", "true");
  await expect(page.getByLabel("Age", { exact: true })).toHaveValue("41");
  await page.getByLabel("Your name").fill("Ada");
  await shownRun(page).getByRole("button", { name: "Send" }).click();
  await expect(shownRun(page).getByText("It is done.")).toBeVisible();
  expect(await answerOf(agent)).toEqual(answered);
});

const endings = [
  ["Decline", "decline"],
  ["Cancel", "cancel"],
] as const;

for (const [act, action] of endings)
  test(`in the playground a question ends with ${act}, and the run goes on`, async ({ page }) => {
    const agent = await asking(form);
    await askInPlayground(page, agent, form.message);
    await page.getByRole("button", { name: act, exact: true }).click();
    await expect(shownRun(page).getByText("It is done.")).toBeVisible();
    expect(await answerOf(agent)).toEqual({ action });
  });

test("in the playground an address is shown whole before it is opened, and Continue goes on", async ({ page }) => {
  const agent = await asking(address);
  await askInPlayground(page, agent, address.message);
  const link = page.getByRole("link", { name: "bank.example.com" });
  await expect(link).toHaveAttribute("href", address.url);
  await expect(link).toHaveAttribute("rel", "noopener noreferrer");
  await expect(page.getByText(address.url, { exact: true })).toBeVisible();
  await expectAccessible(page, "address in the playground");
  await page.getByRole("button", { name: "Continue", exact: true }).click();
  await expect(shownRun(page).getByText("It is done.")).toBeVisible();
  expect(await answerOf(agent)).toEqual({ action: "accept" });
});

test("in the playground an address that may imitate another one has a warning", async ({ page }) => {
  const agent = await asking({ ...address, url: "https://b\u00e4nk.example.com/sign-in" });
  await askInPlayground(page, agent, address.message);
  await expect(shownRun(page).getByText("other alphabets")).toBeVisible();
  await expect(page.getByRole("link", { name: "xn--bnk-qla.example.com" })).toBeVisible();
  await expectAccessible(page, "warning of an address");
  await page.getByRole("button", { name: "Decline", exact: true }).click();
});

/** Opens a page with the chat element for a user, and asks. */
async function askInChat(page: Page, agent_id: string, message: string): Promise<void> {
  const { body } = await server.post("/v1/client_tokens", {
    agent_id,
    scopes: ["run", "read", "submit"],
    user_id: "ada",
    expires_in_seconds: 600,
  });
  shown = `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
    <title>Travel</title><main><h1>Travel</h1><runnel-chat agent="${agent_id}" heading="Ask" token="${body.token}"
    style="height: 520px"></runnel-chat></main><script src="${server.url}/embed.js"></script>`;
  await page.goto(site.url.origin);
  await page.evaluate(() => sessionStorage.clear());
  await page.reload();
  await page.getByLabel("Your message").fill("Go");
  await page.getByLabel("Your message").press("Enter");
  await expect(page.getByText(message, { exact: true })).toBeVisible();
}

test("in the chat element a form is filled in, declined and cancelled, and an address is opened", async ({
  context,
}) => {
  const page = await context.newPage(); // A page of another site, which may ask the server.
  await server.command("projects", "origins", "default", "--origins", site.url.origin);
  const done = page.getByText("It is done.");
  const question = page.locator("form.question");

  await test.step("a required field that is empty keeps the form", async () => {
    const agent = await asking(form);
    await askInChat(page, agent, form.message);
    expect(await violations(page, "light", "runnel-chat")).toEqual([]);
    await fillIn(question);
    await question.getByRole("button", { name: "Send" }).click();
    await expect(question.getByLabel("Your name")).toBeFocused();
    await expect(done).toHaveCount(0);
    await question.getByLabel("Your name").fill("Ada");
    await question.getByRole("button", { name: "Send" }).click();
    await expect(done).toBeVisible();
    expect(await answerOf(agent)).toEqual(answered);
  });

  for (const [act, action] of endings)
    await test.step(act, async () => {
      const agent = await asking(form);
      await askInChat(page, agent, form.message);
      await question.getByRole("button", { name: act }).click();
      await expect(done).toBeVisible();
      expect(await answerOf(agent)).toEqual({ action });
    });

  await test.step("an address", async () => {
    const agent = await asking(address);
    await askInChat(page, agent, address.message);
    await expect(question.getByRole("link", { name: "bank.example.com" })).toHaveAttribute("href", address.url);
    await expect(question.getByText(address.url, { exact: true })).toBeVisible();
    await question.getByRole("button", { name: "Continue" }).click();
    await expect(done).toBeVisible();
    expect(await answerOf(agent)).toEqual({ action: "accept" });
  });
});
