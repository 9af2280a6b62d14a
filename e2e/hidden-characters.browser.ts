import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, type Page, test } from "@playwright/test";
import { type Json, type Runnel, startRunnel } from "./harness.ts";
import { expectAccessible, expectToFit, signInBeforeEach } from "./page-checks.ts";

// Invisible and bidirectional characters in the data of other people: a page names them, and they reorder no other
// text.
let server: Runnel;
let site: Server;
let shown = "";
test.beforeAll(async () => {
  server = await startRunnel();
  site = createServer((_, response) => response.writeHead(200, { "content-type": "text/html" }).end(shown));
  await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", () => resolve()));
  await server.command("projects", "origins", "default", "--origins", origin());
});
test.afterAll(async () => {
  site.close();
  await server[Symbol.asyncDispose]();
});
test.use({ viewport: { width: 1440, height: 900 } });
signInBeforeEach(() => server);

const origin = (): string => `http://127.0.0.1:${(site.address() as AddressInfo).port}`;

/** Ends otherwise when read from right to left after the mark. */
const withBidiOverride = (name: string) => `${name} \u202egnp.exe`;
const named = (name: string) => `${name} ‹U+202E›gnp.exe`;
const answer = [
  `The file is ${withBidiOverride("invoice")} and **${withBidiOverride("bold")}**, \`${withBidiOverride("code")}\`.`,
  "pass\u200bword, \u2066isolated\u2069, end\u200f. 👩‍👩‍👧 می‌خواهم",
  "```js\nif (isAdmin\u202e) { // \u2066allowed\n```",
  `| ${withBidiOverride("cell")} |\n|---|\n| ${withBidiOverride("row")} |`,
  "[https://bank.example](https://evil.example/login) [your bank](https://evil.example) https://plain.example/",
].join("\n\n");

test("no page of the dashboard shows a character that reorders its text or is invisible", async ({ page }) => {
  test.setTimeout(240_000);
  const ids = await fill();
  const pages = [
    "overview",
    "runs",
    "approvals",
    "threads",
    "agents",
    "tools",
    "memory",
    "files",
    "suites",
    "keys",
    "webhooks",
    "schedules",
    "settings?tab=audit",
    "playground",
    `playground?agent=${ids.agent}&thread=${ids.thread}`,
    ...["output", "messages", "events", "raw"].map((tab) => `runs/${ids.run}?step=run&tab=${tab}`),
    ...["output", "messages", "request", "raw"].map((tab) => `runs/${ids.run}?step=0&tab=${tab}`),
    ...["arguments", "output", "raw"].map((tab) => `runs/${ids.run}?step=1&tab=${tab}`),
    `runs/${ids.waiting}?step=run`,
    `runs/${ids.run}/diff/${ids.waiting}`,
    `threads/${ids.thread}`,
    ...["", "?tab=versions", "?tab=runs"].map((tab) => `agents/${ids.agent}${tab}`),
    `memory/${ids.store}`,
    `memory/${ids.store}?tab=search`,
    `memory/${ids.values}`,
    `tools/${ids.tool}`,
    `schedules/${ids.schedule}`,
    `keys/${ids.key}`,
    `suites/${ids.suite}`,
  ];
  let seen = 0;
  const faults: string[] = [];
  for (const path of pages)
    await test.step(path, async () => {
      await page.goto(`${server.url}/dashboard/${path}`);
      await expect(page.locator("h1").first()).toBeVisible();
      if (!/^(files|settings|webhooks)/.test(path)) await expect(page.locator("body")).toContainText("‹U+202E›");
      const { hidden, marks } = await lookThrough(page);
      faults.push(...hidden.map((each) => `${path}: ${each}`));
      seen += marks;
    });
  expect(faults).toEqual([]);
  expect(seen).toBeGreaterThan(pages.length);

  await test.step("neither does the palette", async () => {
    await page.goto(`${server.url}/dashboard/overview`);
    await expect(page.locator("h1").first()).toBeVisible();
    await page.keyboard.press("ControlOrMeta+k");
    await page.keyboard.type("Agent");
    await expect(page.getByRole("option", { name: named("Agent") }).first()).toBeVisible();
    expect((await lookThrough(page)).hidden).toEqual([]);
  });
});

test("an answer shows the targets of its links, and hidden characters by their names; legitimate ones stay", async ({
  page,
}) => {
  const { thread, agent } = await fill();
  await page.goto(`${server.url}/dashboard/playground?agent=${agent}&thread=${thread}`);
  const said = page.getByRole("article", { name: "Run", exact: true }).last();
  await expect(said).toContainText(
    "The file is invoice ‹U+202E›gnp.exe and bold ‹U+202E›gnp.exe, code ‹U+202E›gnp.exe.",
  );
  await expect(said).toContainText("pass‹U+200B›word, ‹U+2066›isolated‹U+2069›, end‹U+200F›. 👩‍👩‍👧 می‌خواهم");
  await expect(said).toContainText("if (isAdmin‹U+202E›) { // ‹U+2066›allowed");
  await expect(said).toContainText("https://bank.example (opens in a new tab) (evil.example)");
  for (const [width, name] of [
    [1440, "wide"],
    [390, "narrow"],
  ] as const) {
    await page.setViewportSize({ width, height: 900 });
    for (const theme of ["light", "dark"]) {
      await page.locator("html").evaluate((html, value) => html.setAttribute("data-theme", value), theme);
      await page.screenshot({ path: `dist/shots/hidden/playground-${name}-${theme}.png` });
    }
  }
  await page.setViewportSize({ width: 1440, height: 900 });
  await expectAccessible(page, "hidden characters");
  await expectToFit(page, "hidden characters");
});

test("a field lists its hidden characters, and an editor names them in place", async ({ page }) => {
  const { agent } = await fill();
  await page.goto(`${server.url}/dashboard/agents/${agent}`);
  await expect(page.getByLabel("Name", { exact: true })).toHaveAccessibleDescription(/not visible: ‹U\+202E›/);
  const instructions = page.getByRole("textbox", { name: "Instructions" });
  await expect(instructions.locator(".cm-specialChar").first()).toHaveText("‹U+202E›");
  await expectAccessible(page, "fields with hidden characters");
});

test("the embedded chat names them too, and shows a link's target", async ({ browser }) => {
  const page = await browser.newPage({ ignoreHTTPSErrors: true }); // A page of another site, which calls this server.
  const { agent: agent_id } = await fill();
  const scopes = ["run", "read", "submit"];
  const { body } = await server.post("/v1/client_tokens", {
    agent_id,
    scopes,
    user_id: "ada",
    expires_in_seconds: 600,
  });
  shown = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Shop</title>
    <main><h1>Shop</h1><runnel-chat agent="${agent_id}" token="${body.token}" heading="${withBidiOverride("Shop")}"></runnel-chat></main>
    <script src="${server.url}/embed.js"></script>`;
  await page.goto(origin());
  const chat = page.locator("runnel-chat");
  await chat.getByLabel("Your message").fill(withBidiOverride("What I say"));
  await chat.getByLabel("Your message").press("Enter");
  await chat.getByRole("button", { name: "Approve" }).first().click();
  await expect(chat.getByText("The file is")).toHaveText(
    "The file is invoice ‹U+202E›gnp.exe and bold ‹U+202E›gnp.exe, code ‹U+202E›gnp.exe.",
  );
  await expect(chat).toContainText(named("What I say"));
  await expect(chat).toContainText(
    "https://bank.example (evil.example) your bank (evil.example) https://plain.example/",
  );
  await expect(chat).not.toContainText("(plain.example)");
  for (const theme of ["light", "dark"]) {
    await chat.evaluate((element, value) => element.setAttribute("theme", value), theme);
    await page.screenshot({ path: `dist/shots/hidden/chat-${theme}.png` });
  }
  expect((await lookThrough(page)).hidden).toEqual([]);
  await page.close();
});

/**
 * Returns texts and attributes of a page with a hidden character, shadow roots included, and the number of named ones.
 */
const lookThrough = (page: Page) =>
  page.evaluate(() => {
    const isHidden = (text: string) => /[\u061c\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/.test(text);
    const hidden: string[] = isHidden(document.title) ? [`title: ${document.title}`] : [];
    let marks = 0;
    const look = (root: Document | ShadowRoot) => {
      for (const element of root.querySelectorAll("*")) {
        if (element.shadowRoot) look(element.shadowRoot);
        if (/^(SCRIPT|STYLE|RUNNEL-CHAT)$/.test(element.tagName)) continue;
        for (const name of ["title", "aria-label", "alt", "placeholder", "aria-description"]) {
          const text = element.getAttribute(name) ?? "";
          if (isHidden(text)) hidden.push(`${name}: ${text}`);
        }
        // A field keeps its content unchanged, because it is sent, and lists the characters below.
        if (/^(TEXTAREA|INPUT)$/.test(element.tagName)) continue;
        for (const node of element.childNodes) {
          if (node.nodeType !== Node.TEXT_NODE) continue;
          marks += node.nodeValue!.split("‹U+").length - 1;
          if (isHidden(node.nodeValue!)) hidden.push(`${element.tagName}: ${node.nodeValue}`);
        }
      }
    };
    look(document);
    return { hidden, marks };
  });

let filled: Record<string, string> | null = null;

/** Creates items of every kind with such characters in each name and text. */
async function fill(): Promise<Record<string, string>> {
  if (filled) return filled;
  const make = async (path: string, body: Json): Promise<Json> => {
    const made = await server.post(path, body);
    expect(made.status, `POST ${path}: ${JSON.stringify(made.body)}`).toBeLessThan(300);
    return made.body;
  };
  const parameters = {
    type: "object",
    properties: { file: { type: "string", description: withBidiOverride("File") } },
  };
  const tool = await make("/v1/tools", {
    name: "open_file",
    type: "code",
    description: withBidiOverride("Opens"),
    parameters,
    approval: "always",
    source: `() => ({ opened: ${JSON.stringify(withBidiOverride("output"))}, [${JSON.stringify(withBidiOverride("field"))}]: 1 })`,
  });
  const tool_calls = [
    { name: "open_file", arguments: { file: withBidiOverride("argument"), [withBidiOverride("key")]: 1 } },
  ];
  const script = [
    { text: withBidiOverride("First"), reasoning: withBidiOverride("Thought"), tool_calls },
    { text: answer },
  ];
  const agent = await make("/v1/agents", {
    name: withBidiOverride("Agent"),
    description: withBidiOverride("About"),
    instructions: withBidiOverride("Instructions"),
    model: "test/script",
    model_settings: { script },
    tools: [tool.id],
  });
  const thread = await make("/v1/threads", {
    title: withBidiOverride("Thread"),
    metadata: { of: withBidiOverride("metadata") },
  });
  const run = await make("/v1/runs?wait=60", {
    agent_id: agent.id,
    input: withBidiOverride("Input"),
    thread_id: thread.id,
    user_id: "user",
    metadata: { of: withBidiOverride("metadata") },
  });
  const [call] = run.required_action.submit_tool_outputs.tool_calls;
  await make(`/v1/runs/${run.id}/submit_tool_outputs`, {
    tool_outputs: [{ tool_call_id: call.tool_call_id, decision: "approve" }],
  });
  await expect.poll(async () => (await server.get(`/v1/runs/${run.id}`)).body.status).toBe("completed");
  const waiting = await make("/v1/runs?wait=60", { agent_id: agent.id, input: withBidiOverride("Waits") });
  const store = await make("/v1/memory", { name: withBidiOverride("Store"), kind: "vector" });
  const values = await make("/v1/memory", { name: withBidiOverride("Values"), kind: "kv" });
  await make(`/v1/memory/${store.id}/entries`, { text: withBidiOverride("Entry") });
  await server.fetch(`/v1/memory/${values.id}/keys/${encodeURIComponent(withBidiOverride("Key"))}`, {
    method: "PUT",
    body: JSON.stringify({ value: withBidiOverride("Value") }),
    headers: { "content-type": "application/json" },
  });
  const schedule = await make("/v1/schedules", {
    name: withBidiOverride("Schedule"),
    agent_id: agent.id,
    cron: "0 4 * * *",
    timezone: "UTC",
    input: withBidiOverride("Planned"),
  });
  const key = await make("/v1/api_keys", { name: withBidiOverride("API key"), scopes: ["read"] });
  const suite = await make("/v1/suites", { name: withBidiOverride("Suite"), run_ids: [run.id] });
  filled = {
    agent: agent.id,
    tool: tool.id,
    thread: thread.id,
    run: run.id,
    waiting: waiting.id,
    store: store.id,
    values: values.id,
    schedule: schedule.id,
    key: key.id,
    suite: suite.id,
  };
  return filled;
}
