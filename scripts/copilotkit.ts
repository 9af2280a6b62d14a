// CopilotKit's React components against the executable, unmodified: the program of the documentation's page on AG-UI,
// and one with a client tool and an approval, in a real browser. Its installation takes 448 MB, so no suite runs it:
// `bun scripts/copilotkit.ts`, with dist/runnel and Chromium. If it is unavailable, it says so and exits with 0.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Browser, chromium, expect, type Page } from "@playwright/test";
import { createScripted, createTool } from "../e2e/fixtures.ts";
import { startRunnel } from "../e2e/harness.ts";
import { bundled, shownIn, writePrograms } from "../e2e/ui-clients.ts";
import { freePort } from "../server/testing/free-port.ts";
import { browserPath } from "./browser-path.ts";
import { npmWith } from "./npm-tool.ts";
import { inProject } from "./root.ts";

const version = "1.74.0";
const modules = await npmWith(`copilotkit-${version}`, [
  `@copilotkit/react-core@${version}`,
  "@ag-ui/client@0.0.59",
  "react@19.3.1",
  "react-dom@19.3.1",
  "zod@4.1.12",
]);
if (!modules) {
  console.log(`CopilotKit: skipped, since ${version} cannot be installed here (it needs the npm registry).`);
  process.exit(0);
}

const folder = mkdtempSync(join(tmpdir(), "runnel-copilotkit-"));
writePrograms(join(folder, "app"), modules, {
  "shown.jsx": shownIn("ag-ui", "jsx"),
  "page.jsx": readFileSync(inProject("scripts/copilotkit-page.jsx"), "utf8"),
});
const script = bundled(join(folder, "app"), "page.jsx");
let shown = "";
using site = Bun.serve({
  port: freePort(),
  hostname: "127.0.0.1",
  fetch: ({ url }) =>
    url.endsWith("/page.js")
      ? new Response(script, { headers: { "content-type": "text/javascript; charset=utf-8" } })
      : new Response(shown, { headers: { "content-type": "text/html; charset=utf-8" } }),
});
await using server = await startRunnel();
await server.command("projects", "origins", "default", "--origins", site.url.origin);
const browser = await chromium.launch({ executablePath: browserPath, args: ["--no-sandbox", "--disable-gpu"] });
try {
  await streams(browser);
  await callsAndAsks(browser);
  console.log(`CopilotKit ${version}: chats stream, the page's tools are called, and approvals are asked for.`);
} finally {
  await browser.close();
  rmSync(folder, { recursive: true, force: true });
}

async function opened(by: Browser, agent: string, whole: boolean): Promise<Page> {
  const asked = { agent_id: agent, scopes: ["run", "read", "submit"], user_id: "ada", expires_in_seconds: 600 };
  const { token } = (await server.post("/v1/client_tokens", asked)).body;
  shown = `<!doctype html><meta charset="utf-8"><title>Chat</title><div id="chat" style="height: 90vh"></div>
    <script>window.config = ${JSON.stringify({ url: server.url, agent, token, whole })}</script>
    <script type="module" src="/page.js"></script>`;
  const context = await by.newContext({ ignoreHTTPSErrors: true });
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  page.on("pageerror", (error) => console.error(error));
  await page.goto(site.url.origin);
  return page;
}

async function say(page: Page, text: string): Promise<void> {
  await page.getByRole("textbox").fill(text);
  await page.getByRole("textbox").press("Enter");
}

/** Runs the program that the documentation shows. */
async function streams(by: Browser): Promise<void> {
  const words = Array.from({ length: 30 }, (_, index) => `word${index}`).join(" ");
  const agent = await createScripted(server, [{ text: words, delta_ms: 100 }]);
  const page = await opened(by, agent, false);
  await say(page, "Count.");
  await expect(page.getByText("word5")).toBeVisible({ timeout: 60_000 });
  expect(await page.getByText("word29").count()).toBe(0);
  await expect(page.getByText("word29")).toBeVisible({ timeout: 60_000 });
}

async function callsAndAsks(by: Browser): Promise<void> {
  const book = await createTool(server, { name: "book", type: "code", source: "() => 'booked'", approval: "always" });
  const steps = [
    { tool_calls: [{ name: "near", arguments: { city: "Oslo" } }] },
    { tool_calls: [{ name: "book", arguments: { city: "Oslo" } }] },
    { text: "All is booked." },
  ];
  const agent = await createScripted(server, steps, { tools: [book.id] });
  const page = await opened(by, agent, true);
  await say(page, "Book it.");
  await page.getByRole("button", { name: "Approve" }).click();
  await expect(page.getByText("All is booked.")).toBeVisible({ timeout: 60_000 });
  const { body } = await server.get(`/v1/runs?agent_id=${agent}&include=messages`);
  const [run, ...others] = body.data;
  expect(others).toEqual([]);
  const calls = run.tool_calls.map(({ name, output }: { name: string; output: unknown }) => [name, output]);
  expect(calls).toEqual([
    ["near", { near: "Oslo" }],
    ["book", expect.objectContaining({ result: "booked" })],
  ]);
}
