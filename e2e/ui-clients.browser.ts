import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, type Page, test } from "@playwright/test";
import { inProject } from "../scripts/root.ts";
import { freePort } from "../server/testing/free-port.ts";
import { createAgent, createScripted, createTool, stubConnection } from "./fixtures.ts";
import { type Runnel, startRunnel } from "./harness.ts";
import { type ModelServer, startModelServer, wordsOf } from "./model-server.ts";
import { bundled, shownIn, uiModules, writePrograms } from "./ui-clients.ts";

// The real `useChat` on a page of another site, with a client token, in a real browser.
let model: ModelServer;
let server: Runnel;
let site: Server;
let script = "";
let shown = "";
const folder = mkdtempSync(join(tmpdir(), "runnel-ui-"));
test.beforeAll(async () => {
  const modules = await uiModules();
  test.info().skip(modules === null, "the AI SDK is not to be had");
  writePrograms(join(folder, "app"), modules!, {
    "ui-shown.jsx": shownIn("ai-sdk-ui", "jsx"),
    "ui-chat.jsx": own("ui-chat.jsx"),
    "ui-page.jsx": own("ui-page.jsx"),
  });
  script = bundled(join(folder, "app"), "ui-page.jsx");
  model = startModelServer();
  server = await startRunnel({ flags: ["--port", String(freePort())], environment: stubConnection(model.url) });
  site = createServer((request, response) => {
    const isScript = request.url === "/page.js";
    response
      .writeHead(200, { "content-type": `${isScript ? "text/javascript" : "text/html"}; charset=utf-8` })
      .end(isScript ? script : shown);
  });
  await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", () => resolve()));
  await server.command("projects", "origins", "default", "--origins", origin());
});
test.afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  site?.close();
  await server?.[Symbol.asyncDispose]();
  await model?.[Symbol.asyncDispose]();
});

const own = (name: string): string => readFileSync(inProject("e2e", name), "utf8");
const origin = (): string => `http://127.0.0.1:${(site.address() as AddressInfo).port}`;

async function open(page: Page, agent: string, whole: boolean): Promise<void> {
  const asked = { agent_id: agent, scopes: ["run", "read", "submit"], user_id: "ada", expires_in_seconds: 600 };
  const { token } = (await server.post("/v1/client_tokens", asked)).body;
  const config = { url: server.url, agent, token, id: crypto.randomUUID(), whole };
  shown = `<!doctype html><meta charset="utf-8"><title>Chat</title><div id="chat"></div>
    <script>window.config = ${JSON.stringify(config)}</script><script type="module" src="/page.js"></script>`;
  await page.goto(origin());
}

async function say(page: Page, text: string): Promise<void> {
  await page.getByLabel("Message").fill(text);
  await page.getByLabel("Message").press("Enter");
}

test("an answer is complete and not doubled after a reload in its middle and after the server is killed", async ({
  page,
}) => {
  const words = wordsOf(40);
  const agent = await createAgent(server, "half-40-100");
  model.hold();
  await open(page, agent, false);
  await say(page, "Count.");
  await expect(page.getByText(wordsOf(5))).toBeVisible();
  await page.reload();
  await expect(page.getByText(wordsOf(15))).toBeVisible();
  await server.kill9();
  await server.restart();
  await page.reload();
  await expect(page.getByText(wordsOf(15))).toBeVisible();
  model.release();
  await expect(page.locator("p")).toHaveText(["user: Count.", `assistant: ${words}`], { timeout: 30_000 });
  // Its last text arrives before its end is recorded.
  const runs = async () => {
    const { body } = await server.get(`/v1/runs?agent_id=${agent}`);
    return body.data.map(({ output, attempt }: { output: string; attempt: number }) => [output, attempt]);
  };
  await expect.poll(runs).toEqual([[words, 2]]);
});

const status = (page: Page) => page.getByRole("status");

test("tools of the page are called, a person approves, and the run continues", async ({ page }) => {
  const [near, far, book] = [
    await createTool(server, { name: "near", type: "client" }),
    await createTool(server, { name: "far", type: "client" }),
    await createTool(server, { name: "book", type: "code", source: "(args) => 'booked'", approval: "always" }),
  ];
  const city = { arguments: { city: "Oslo" } };
  const steps = [
    {
      reasoning: "Look.",
      tool_calls: [
        { name: "near", ...city },
        { name: "far", ...city },
      ],
    },
    { tool_calls: [{ name: "book", ...city }] },
    { tool_calls: [{ name: "book", ...city }] },
    { text: "All is booked." },
  ];
  const agent = await createScripted(server, steps, { tools: [near, far, book].map(({ id }) => id) });
  await open(page, agent, true);
  await say(page, "Book it.");
  await page.getByRole("button", { name: "Approve" }).click();
  await expect(page.getByText('tool-book output-available {"result":"booked"')).toBeVisible();
  await page.reload(); // The second decision is requested again.
  await page.getByRole("button", { name: "Reject" }).click();
  await expect(page.getByText("All is booked.")).toHaveCount(1);
  await expect(page.getByText('tool-near output-available {"near":"Oslo"}')).toHaveCount(1);
  await expect(page.getByText("tool-far output-error Too far.")).toHaveCount(1);
  await expect(page.getByText("tool-book output-denied")).toHaveCount(1);
  await expect(page.getByRole("region", { name: "assistant" })).toHaveCount(1);
  await expect(status(page)).toHaveText("ready");
  const { body } = await server.get(`/v1/runs?agent_id=${agent}`);
  expect(body.data).toHaveLength(1);
});

test("a failure is an error, a run is stopped, and an answer is regenerated", async ({ page }) => {
  await open(page, await createScripted(server, [{ error: "It broke." }]), true);
  await say(page, "Go.");
  await expect(page.getByRole("alert")).toContainText("It broke.");
  const agent = await createAgent(server, "half-20-0");
  model.hold();
  await open(page, agent, true);
  await say(page, "Go.");
  await expect(page.getByText(wordsOf(5))).toBeVisible();
  await page.getByRole("button", { name: "Stop" }).click();
  await expect(status(page)).toHaveText("ready");
  model.release();
  await page.getByRole("button", { name: "Again" }).click();
  await expect(page.getByText(wordsOf(20))).toBeVisible();
  await expect(status(page)).toHaveText("ready"); // Its last text arrives before its end is recorded.
  await expect(page.getByRole("region", { name: "assistant" })).toHaveCount(1);
  const { body } = await server.get(`/v1/runs?agent_id=${agent}`);
  const states = body.data.map((run: { status: string; thread_id: string }) => [run.status, run.thread_id]);
  expect(states.map(([state]: string[]) => state)).toEqual(["completed", "cancelled"]);
  expect(states[0][1]).not.toBe(states[1][1]);
});
