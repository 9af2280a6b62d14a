import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { brotliCompressSync } from "node:zlib";
import { expect, type Page, test } from "@playwright/test";
import { freePort } from "../server/testing/free-port.ts";
import { createAgent, createScripted, createTool, stubConnection } from "./fixtures.ts";
import { type Json, type Runnel, startRunnel } from "./harness.ts";
import { type ModelServer, startModelServer, wordsOf } from "./model-server.ts";
import { setUpAccount, violations } from "./page-checks.ts";

// The embedded chat on a page of another site, used in a real browser.
let model: ModelServer;
let server: Runnel;
let site: Server;
/** The page that the site shows, and the token that its server issues next. */
let shown = "";
let given: () => Promise<string> = async () => "";
test.beforeAll(async () => {
  model = startModelServer();
  server = await startRunnel({ environment: stubConnection(model.url) });
  site = createServer((request, response) => {
    if (request.method !== "POST") return response.writeHead(200, { "content-type": "text/html" }).end(shown);
    void given().then((token) =>
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ token })),
    );
  });
  await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", () => resolve()));
  await server.command("projects", "origins", "default", "--origins", origin());
});
test.afterAll(async () => {
  site.close();
  await server[Symbol.asyncDispose]();
  await model[Symbol.asyncDispose]();
});

const origin = (): string => `http://127.0.0.1:${(site.address() as AddressInfo).port}`;

async function makeToken(agent_id: string, more: Record<string, unknown> = {}): Promise<string> {
  const scopes = ["run", "read", "submit", "score", "upload"];
  const made = await server.post("/v1/client_tokens", {
    agent_id,
    scopes,
    user_id: "ada",
    expires_in_seconds: 600,
    ...more,
  });
  expect(made).toMatchObject({ status: 201 });
  return made.body.token;
}

/** Opens a page of the site with the embedded chat. */
async function open(page: Page, agent_id: string, attributes: string, more = ""): Promise<void> {
  shown = `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
    <title>Shop</title><style>body { margin: 0; padding: 12px; font-family: serif } runnel-chat { height: 520px }</style>
    <main><h1>Shop</h1><runnel-chat agent="${agent_id}" heading="Ask the shop" ${attributes}></runnel-chat></main>
    <script src="${server.url}/embed.js"></script><script>${more}</script>`;
  await page.goto(origin());
}

const chat = (page: Page) => page.locator("runnel-chat");
const status = (page: Page) => chat(page).getByRole("status");

async function say(page: Page, text: string): Promise<void> {
  await chat(page).getByLabel("Your message").fill(text);
  await chat(page).getByLabel("Your message").press("Enter");
}

async function looksWell(page: Page, name: string): Promise<void> {
  expect(await violations(page, "light", "runnel-chat")).toEqual([]);
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  expect(wide).toBe(0);
  await page.screenshot({ path: `dist/shots/embed/${name}.png` });
}

test("the script is small", async () => {
  const response = await server.fetch("/embed.js", { key: null });
  expect([response.status, response.headers.get("content-type")]).toEqual([200, expect.stringContaining("javascript")]);
  expect(brotliCompressSync(await response.arrayBuffer()).length).toBeLessThan(30_000);
});

const long = [
  "Here is **what we have**, and [where](https://example.com/shop) it is:",
  "- a red one\n- a blue one\n  1. small\n  2. large",
  "| Size | Price |\n|---|---|\n| small | `3.50` |\n| large | `7.00` |",
  "```js\nconst price = amount * 3.5; // a line that is longer than the chat is wide, so that it has to scroll by itself\n```",
  "> Prices as of today.",
  `${"A word ".repeat(120)}and ${"x".repeat(200)}.`,
].join("\n\n");

test("a conversation: empty, answered, formatted, narrow and wide, light and dark, and restored after a reload", async ({
  page,
}) => {
  test.setTimeout(180_000);
  const agent_id = await createScripted(server, [{ text: long }]);
  const token = await makeToken(agent_id);
  for (const theme of ["light", "dark"]) {
    await open(page, agent_id, `token="${token}" theme="${theme}" feedback`);
    await page.evaluate(() => sessionStorage.clear());
    await page.reload();
    await expect(chat(page).getByText("Ask something to begin.")).toBeVisible();
    await looksWell(page, `empty-${theme}`);
    await say(page, "What do you have?\nAnd <b>where</b>?");
    await expect(chat(page).getByText("What do you have?")).toHaveText("What do you have?\nAnd <b>where</b>?");
    await expect(chat(page).getByRole("cell", { name: "7.00" })).toBeVisible();
    await expect(chat(page).getByRole("link", { name: "where" })).toHaveAttribute("rel", "noopener noreferrer");
    await expect(chat(page).getByRole("button", { name: "Send" })).toBeDisabled();
    for (const width of [320, 1280]) {
      await page.setViewportSize({ width, height: 720 });
      await chat(page).getByRole("cell", { name: "7.00" }).scrollIntoViewIfNeeded();
      await looksWell(page, `long-${theme}-${width}`);
    }
  }
  await page.reload();
  await expect(chat(page).getByRole("cell", { name: "7.00" })).toBeVisible();
  await expect(chat(page).getByText("What do you have?")).toHaveCount(1);
});

test("feedback is stored with its run, changed, withdrawn and restored after a reload; without the scope only the page gets it", async ({
  page,
}) => {
  const agent_id = await createScripted(server, [{ text: "It costs 7." }]);
  const token = await makeToken(agent_id);
  await open(page, agent_id, `token="${token}" theme="light" feedback`);
  await say(page, "How much?");
  const [good, bad] = ["Good answer", "Bad answer"].map((name) => chat(page).getByRole("button", { name }));
  const given = async () =>
    (await server.get(`/v1/scores?agent_id=${agent_id}`)).body.data.map(({ name, value, comment, author_id }: Json) => [
      name,
      value,
      comment,
      author_id,
    ]);
  const hears = () =>
    page.evaluate(
      () =>
        new Promise((resolve) =>
          addEventListener("runnel-feedback", (event) => resolve((event as CustomEvent).detail), { once: true }),
        ),
    );
  const told = hears();
  await bad!.click();
  expect(await told).toEqual({ run_id: expect.stringMatching(/^run_/), value: "bad", comment: "" });
  await expect(chat(page).getByText("Thank you.")).toBeVisible();
  expect(await given()).toEqual([["feedback", 0, null, "ada"]]);
  await chat(page).getByLabel("What was wrong?").fill("It is <b>8</b>.");
  await chat(page).getByRole("button", { name: "Send comment" }).click();
  await expect(chat(page).getByText("Thank you for your comment.")).toBeVisible();
  expect(await given()).toEqual([["feedback", 0, "It is <b>8</b>.", "ada"]]);
  await looksWell(page, "feedback");
  await page.reload();
  await expect(bad!).toHaveAttribute("aria-pressed", "true");
  await expect(chat(page).getByLabel("What was wrong?")).toHaveValue("It is <b>8</b>.");
  await good!.click();
  await expect(chat(page).getByText("Thank you.")).toBeVisible();
  expect(await given()).toEqual([["feedback", 1, "It is <b>8</b>.", "ada"]]);
  await good!.click();
  await expect.poll(given).toEqual([]);
  await expect(good!).toHaveAttribute("aria-pressed", "false");

  const without = await makeToken(agent_id, { scopes: ["run", "read"] });
  await open(page, agent_id, `token="${without}" theme="light" feedback thread="new"`);
  await say(page, "How much?");
  const heard = hears();
  await good!.click();
  expect(await heard).toMatchObject({ value: "good" });
  await expect(chat(page).getByLabel("What was good?")).toBeHidden();
  expect(await given()).toEqual([]);
});

test("an answer continues where it was when the server is killed in the middle of it", async ({ page }) => {
  const flags = ["--port", String(freePort())];
  await using own = await startRunnel({ flags, environment: stubConnection(model.url) });
  await own.command("projects", "origins", "default", "--origins", origin());
  const words = wordsOf(40);
  const agent_id = await createAgent(own, "half-40-10");
  model.hold();
  const made = await own.post("/v1/client_tokens", { agent_id, scopes: ["run", "read"], expires_in_seconds: 600 });
  await open(page, agent_id, `token="${made.body.token}" server="${own.url}"`);
  await say(page, "Count.");
  await expect(chat(page).getByText(wordsOf(5))).toBeVisible();
  await own.kill9();
  model.release();
  await expect(status(page)).toHaveText("The connection is lost. Trying again.");
  await own.restart();
  await expect(status(page)).toHaveText("", { timeout: 40_000 });
  await expect(chat(page).locator(".text")).toHaveText(words);
});

test("a person approves a call, the page answers another, and both are shown", async ({ page }) => {
  const [risky, local] = [
    await createTool(server, { type: "code", source: "(args) => 'booked'", approval: "always" }),
    await createTool(server, { type: "client" }),
  ];
  const script = [
    { tool_calls: [{ name: local.name, arguments: { city: "Oslo" } }] },
    { tool_calls: [{ name: risky.name, arguments: { city: "Oslo" } }] },
    { text: "All is booked." },
  ];
  const agent_id = await createScripted(server, script, { tools: [risky.id, local.id] });
  const answers = `document.querySelector("runnel-chat").tools = { "${local.name}": ({ city }) => city + " is near" };`;
  await open(page, agent_id, `token="${await makeToken(agent_id)}" theme="light"`, answers);
  await say(page, "Book it.");
  await expect(status(page)).toHaveText("Waiting for your decision.");
  await expect(chat(page).getByText("Oslo is near")).toBeAttached();
  await looksWell(page, "approval");
  // The end of a double click, whose first click decided another call in this place.
  await chat(page).getByRole("button", { name: "Approve" }).dispatchEvent("click", { detail: 2 });
  await expect(chat(page).getByRole("button", { name: "Approve" })).toBeEnabled();
  await chat(page).getByRole("button", { name: "Approve" }).click();
  await expect(chat(page).getByText("All is booked.")).toBeVisible();
  await expect(status(page)).toHaveText("");
});

test("a tool of the page is called once, also for a subagent and after reloads; a person decides its approval too", async ({
  page,
}) => {
  const [near, risky] = [
    await createTool(server, { type: "client" }),
    await createTool(server, { type: "code", source: "(args) => 'booked'", approval: "always" }),
  ];
  // Every object inherits such a property, and no page defines such a tool.
  const inherited = await createTool(server, { type: "client", name: "valueOf" });
  const args = { city: "Oslo" };
  const below = await createScripted(
    server,
    [
      { tool_calls: [{ name: near.name, arguments: args }] },
      { tool_calls: [{ name: risky.name, arguments: args }] },
      { text: "Booked below." },
    ],
    { tools: [near.id, risky.id] },
  );
  const agent = await createTool(server, { type: "agent", agent_id: below, parameters: undefined });
  const agent_id = await createScripted(
    server,
    [
      { tool_calls: [{ name: near.name, arguments: args }] },
      { tool_calls: [{ name: agent.name, arguments: { input: "Book it." } }] },
      { tool_calls: [{ name: inherited.name, arguments: args }] },
    ],
    { tools: [near.id, agent.id, inherited.id] },
  );
  const answers = `document.querySelector("runnel-chat").tools = { "${near.name}": ({ city }) => {
    sessionStorage.calls = Number(sessionStorage.calls ?? 0) + 1;
    return city + " is near";
  } };`;
  await open(page, agent_id, `token="${await makeToken(agent_id)}"`, answers);
  const calls = () => page.evaluate(() => sessionStorage.calls);
  await say(page, "Book it.");
  for (const _ of [1, 2]) {
    await expect(status(page)).toHaveText("Waiting for your decision.");
    await expect(chat(page).getByRole("button", { name: "Approve" })).toHaveCount(1);
    expect(await calls()).toBe("2");
    await page.reload();
  }
  await chat(page).getByRole("button", { name: "Approve" }).click();
  await expect(chat(page).getByText("Booked below.")).toBeAttached();
  await expect(status(page)).toHaveText("Waiting for an answer.");
  await expect(chat(page).getByRole("alert")).toHaveCount(0);
  await expect(chat(page).getByRole("button", { name: "Approve" })).toHaveCount(0);
  expect(await calls()).toBe("2");
});

test("a conversation is restored after a load whose token was refused", async ({ page }) => {
  const agent_id = await createScripted(server, [{ text: "Here I am." }]);
  const token = await makeToken(agent_id);
  await open(page, agent_id, `token="${token}"`);
  await say(page, "Hello?");
  await expect(chat(page).getByText("Here I am.")).toBeVisible();
  await expect(status(page)).toHaveText("");
  await open(page, agent_id, `token="ct_test_${"x".repeat(80)}"`);
  await expect(status(page)).toHaveText("This chat is closed. Reload the page, or contact the site's owner.", {
    timeout: 40_000,
  });
  await open(page, agent_id, `token="${token}"`);
  await expect(chat(page).getByText("Here I am.")).toHaveCount(1);
});

test("a chat that is removed from its page stops reading, and continues when it is back", async ({ page }) => {
  const words = wordsOf(40);
  const agent_id = await createAgent(server, "half-40-100");
  model.hold();
  await open(page, agent_id, `token="${await makeToken(agent_id)}"`);
  await say(page, "Count.");
  await expect(chat(page).getByText(wordsOf(5))).toBeVisible();
  // A moved chat reads on without a cut; a removed one stops.
  const isCut = page.waitForEvent("requestfailed", (request) => request.url().endsWith("/v1/runs"));
  await page.evaluate(() => {
    const chat = document.querySelector("runnel-chat")!;
    document.body.append(chat);
    Object.assign(window, { chat });
  });
  await expect(chat(page).getByText(wordsOf(15))).toBeVisible();
  await page.evaluate(() => document.querySelector("runnel-chat")!.remove());
  await isCut;
  model.release();
  await page.evaluate(() => document.body.append((window as unknown as { chat: Element }).chat));
  await expect(chat(page).locator(".text")).toHaveText(words, { timeout: 20_000 });
  await expect(status(page)).toHaveText("");
  await page.emulateMedia({ colorScheme: "dark" });
  await expect(chat(page)).toHaveAttribute("data-dark");
});

test("a failure is explained in plain words, and an expired token is renewed where the page can", async ({ page }) => {
  const failing = await createScripted(server, [{ error: "It broke." }]);
  await open(page, failing, `token="${await makeToken(failing)}" theme="light"`);
  await say(page, "Go.");
  await expect(chat(page).getByRole("alert")).toHaveText("The answer could not be finished. Try again.");
  await looksWell(page, "failing-light");

  const agent_id = await createScripted(server, [{ text: "Here I am." }]);
  await open(page, agent_id, `token="ct_test_${"x".repeat(80)}" theme="dark"`);
  await say(page, "Hello?");
  await expect(chat(page).getByRole("alert")).toHaveText(
    "This chat is closed. Reload the page, or contact the site's owner.",
  );
  await looksWell(page, "failing-dark");

  const tokens = [await makeToken(agent_id, { expires_in_seconds: 1 }), await makeToken(agent_id)];
  given = async () => tokens.shift()!;
  await expect
    .poll(async () => (await server.get("/v1/runs", tokens[0])).body.error?.code)
    .toBe("client_token_expired");
  await open(page, agent_id, `token-url="/token" theme="light"`);
  await say(page, "Hello?");
  await expect(chat(page).getByRole("alert")).toBeVisible();
  await say(page, "Hello again?");
  await expect(chat(page).getByText("Here I am.")).toBeVisible();
});

test("images are chosen, dropped and removed, scaled down, and sent with the message; other files are refused", async ({
  page,
}) => {
  const agent_id = await createScripted(server, [{ text: "A red square." }]);
  const token = await makeToken(agent_id);
  await open(page, agent_id, `token="${token}" theme="light" images`);
  const png = Buffer.from(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    "base64",
  );
  const picker = chat(page).locator("input[type=file]");
  await picker.setInputFiles([
    { name: "small.png", mimeType: "image/png", buffer: png },
    { name: "notes.txt", mimeType: "text/plain", buffer: Buffer.from("Not an image.") },
  ]);
  await expect(status(page)).toContainText("Only images can be sent");
  await chat(page).getByRole("button", { name: "Remove small.png" }).click();
  await expect(chat(page).getByRole("button", { name: "Send" })).toBeDisabled();
  // Noise, which no format compresses: several megabytes.
  await page.evaluate(async () => {
    const canvas = new OffscreenCanvas(1600, 1600);
    const context = canvas.getContext("2d")!;
    const image = context.createImageData(1600, 1600);
    for (let at = 0; at < image.data.length; at += 65_536)
      crypto.getRandomValues(new Uint8Array(image.data.buffer, at, Math.min(65_536, image.data.length - at)));
    context.putImageData(image, 0, 0);
    const transfer = new DataTransfer();
    transfer.items.add(new File([await canvas.convertToBlob()], "noise.png", { type: "image/png" }));
    document
      .querySelector("runnel-chat")!
      .dispatchEvent(new DragEvent("drop", { dataTransfer: transfer, bubbles: true, cancelable: true }));
  });
  await expect(chat(page).getByRole("button", { name: "Remove noise.png" })).toBeVisible();
  await looksWell(page, "images-chosen");
  await say(page, "What is it?");
  await expect(chat(page).getByText("A red square.")).toBeVisible();
  await expect(chat(page).locator(".turn img")).toBeVisible();
  await looksWell(page, "images-sent");
  const [run] = (await server.get(`/v1/runs?agent_id=${agent_id}`)).body.data;
  const [text, image] = run.input[0].content;
  expect([text, image]).toEqual([
    { type: "text", text: "What is it?" },
    { type: "image", file_id: expect.stringMatching(/^file_/) },
  ]);
  // Another visitor cannot open the image, and this one sees it again after a reload.
  const grace = await makeToken(agent_id, { user_id: "grace" });
  expect((await server.fetch(`/v1/files/${image.file_id}/content`, { key: grace })).status).toBe(404);
  await page.reload();
  await expect(chat(page).locator(".turn img")).toBeVisible();
  const width = await chat(page)
    .locator(".turn img")
    .evaluate((shown) => (shown as HTMLImageElement).naturalWidth);
  expect(width).toBeGreaterThan(100);
});

test("documents are chosen, dropped, pasted and removed, given to the run, shown after a reload, and given to the next run too", async ({
  page,
}) => {
  const agent_id = await createAgent(server, "test/echo");
  await open(page, agent_id, `token="${await makeToken(agent_id)}" theme="light" files`);
  const picker = chat(page).locator("input[type=file]");
  const text = (name: string, content = "The code is 4711.") => ({
    name,
    mimeType: "text/plain",
    buffer: Buffer.from(content),
  });
  await picker.setInputFiles([text("gone.txt"), text("program.exe"), text("empty.md", "")]);
  await expect(status(page)).toContainText("Only images and documents can be sent");
  await chat(page).getByRole("button", { name: "Remove gone.txt" }).click();
  await expect(chat(page).getByRole("button", { name: "Send" })).toBeDisabled();
  const name = "<img src=x onerror=alert(1)>**bold**.txt";
  await picker.setInputFiles([text(name)]);
  for (const [kind, of] of [
    ["drop", "runnel-chat"],
    ["paste", "textarea"],
  ] as const)
    await page.evaluate(
      ([kind, of]) => {
        const transfer = new DataTransfer();
        transfer.items.add(new File([`By ${kind}.`], `${kind}.md`));
        const chat = document.querySelector("runnel-chat")!;
        const target = of === "textarea" ? chat.shadowRoot!.querySelector("textarea")! : chat;
        const how = { bubbles: true, cancelable: true };
        target.dispatchEvent(
          kind === "drop"
            ? new DragEvent("drop", { ...how, dataTransfer: transfer })
            : new ClipboardEvent("paste", { ...how, clipboardData: transfer }),
        );
      },
      [kind, of] as const,
    );
  await expect(chat(page).getByRole("button", { name: "Remove paste.md" })).toBeVisible();
  await looksWell(page, "documents-chosen");
  await say(page, "What is the code?");
  await expect(chat(page).locator(".text")).toHaveText("What is the code?");
  await expect(chat(page).locator(".turn .document")).toHaveText([name, "drop.md", "paste.md"]);
  await looksWell(page, "documents-sent");
  const runs = async () => (await server.get(`/v1/runs?agent_id=${agent_id}`)).body.data;
  const [first] = await runs();
  expect(first.file_ids).toHaveLength(3);
  const files = await Promise.all(first.file_ids.map((id: string) => server.get(`/v1/files/${id}`)));
  expect(files.map(({ body }) => [body.purpose, body.expires_at])).toEqual(Array(3).fill(["attachment", null]));
  await page.reload();
  await expect(chat(page).locator(".turn .document")).toHaveText([name, "drop.md", "paste.md"]);
  await say(page, "And again?");
  await expect(chat(page).locator(".text").last()).toHaveText("And again?");
  await expect(chat(page).locator(".turn .document")).toHaveCount(3);
  expect((await runs())[0].file_ids).toEqual(first.file_ids);
  // One of them is deleted: the conversation continues.
  await server.fetch(`/v1/files/${first.file_ids[0]}`, { method: "DELETE" });
  await say(page, "Without it?");
  await expect(chat(page).locator(".text").last()).toHaveText("Without it?");

  const without = await makeToken(agent_id, { scopes: ["run", "read"] });
  await open(page, agent_id, `token="${without}" theme="light" files thread="new"`);
  await picker.setInputFiles([text("kept.txt")]);
  await say(page, "May I?");
  await expect(chat(page).getByRole("alert")).toHaveText("This chat may not do that.");
  await expect(chat(page).getByRole("button", { name: "Remove kept.txt" })).toBeVisible();
});

test("stopping ends the run", async ({ page }) => {
  const tool = await createTool(server, { type: "client" });
  const script = [{ tool_calls: [{ name: tool.name, arguments: { city: "Oslo" } }] }, { text: "Never." }];
  const agent_id = await createScripted(server, script, { tools: [tool.id] });
  await open(page, agent_id, `token="${await makeToken(agent_id)}"`);
  await say(page, "Go.");
  await expect(status(page)).toHaveText("Waiting for an answer.");
  await chat(page).getByRole("button", { name: "Stop" }).click();
  await expect(chat(page).getByText("Stopped.")).toBeVisible();
  await expect(chat(page).getByRole("button", { name: "Send" })).toBeVisible();

  // Pressed before there is a run, it ends the run as soon as there is one.
  const asked = Promise.withResolvers<void>();
  const pressed = Promise.withResolvers<void>();
  given = async () => {
    asked.resolve();
    await pressed.promise;
    return makeToken(agent_id);
  };
  await open(page, agent_id, `token-url="/token" thread="new"`);
  await say(page, "Go.");
  await asked.promise;
  await chat(page).getByRole("button", { name: "Stop" }).click();
  pressed.resolve();
  await expect(chat(page).getByText("Stopped.")).toBeVisible();
});

test("a message waits for its turn while another page of the same conversation is being answered", async ({ page }) => {
  const agent_id = await createScripted(server, [{ text: wordsOf(30), delta_ms: 80 }]);
  const thread = (await server.post("/v1/threads", { user_id: "ada" })).body.id;
  const attributes = `token="${await makeToken(agent_id)}" thread="${thread}"`;
  const other = await page.context().newPage();
  for (const one of [page, other]) {
    await open(one, agent_id, attributes);
    await expect(chat(one).getByText("Ask something to begin.")).toBeVisible();
  }
  await say(page, "Count.");
  await expect(chat(page).getByText(wordsOf(3))).toBeVisible();
  await say(other, "Once more.");
  await expect(status(other)).toHaveText("Waiting for its turn.");
  for (const one of [page, other])
    await expect(chat(one).locator(".text")).toHaveText(wordsOf(30), { timeout: 20_000 });
  await other.close();
});

test("a token that expires in the middle of an answer is replaced by the page, and no character is lost or doubled", async ({
  page,
}) => {
  const words = Array.from({ length: 60 }, (_, index) => `word${index}`).join(" ");
  const agent_id = await createScripted(server, [{ text: words, delta_ms: 100 }]);
  const tokens = [await makeToken(agent_id, { expires_in_seconds: 2 }), await makeToken(agent_id)];
  const renew = `document.querySelector("runnel-chat").addEventListener("token-expired", ({ target }) => {
    document.title = "renewed";
    target.setAttribute("token", "${tokens[1]}");
  });`;
  await open(page, agent_id, `token="${tokens[0]}" theme="light"`, renew);
  await say(page, "Count.");
  await expect(chat(page).getByText("word5 ")).toBeVisible();
  await expect(page).toHaveTitle("renewed", { timeout: 20_000 });
  await expect(status(page)).toHaveText("", { timeout: 40_000 });
  await expect(chat(page).locator(".text")).toHaveText(words);
});

test.describe("the chat's own page", () => {
  /** Creates a chat page of an agent and returns its address. */
  async function makePage(script: object[], body: object = {}, more: Record<string, unknown> = {}): Promise<string> {
    const agent_id = await createScripted(server, script, more);
    const made = await server.put(`/v1/agents/${agent_id}/chat_page`, {
      access: "link",
      title: "Ask the shop",
      ...body,
    });
    expect(made).toMatchObject({ status: 200 });
    return made.body.url;
  }

  const themes = ["light", "dark"] as const;

  test("a visitor talks, finds the conversation again after a reload, and another visitor finds none", async ({
    page,
    browser,
  }) => {
    test.setTimeout(120_000);
    const url = await makePage([{ text: long }]);
    const wrong: string[] = [];
    page.on("console", (message) => message.type() === "error" && wrong.push(message.text()));
    for (const colorScheme of themes) {
      await page.emulateMedia({ colorScheme });
      await page.context().clearCookies();
      await page.goto("about:blank");
      await page.goto(url);
      await expect(page.getByRole("heading", { name: "Ask the shop" })).toBeVisible();
      await expect(chat(page).getByText("Ask something to begin.")).toBeVisible();
      for (const width of [390, 1240]) {
        await page.setViewportSize({ width, height: 780 });
        await pageLooksWell(page, `page-empty-${colorScheme}-${width}`);
      }
      await say(page, "What do you have?");
      await expect(chat(page).getByRole("cell", { name: "7.00" })).toBeVisible();
      await expect(status(page)).toHaveText("");
      for (const width of [390, 1240]) {
        await page.setViewportSize({ width, height: 780 });
        await pageLooksWell(page, `page-long-${colorScheme}-${width}`);
      }
    }
    await chat(page).getByRole("button", { name: "Good answer" }).click();
    await expect(chat(page).getByText("Thank you.")).toBeVisible();
    for (const colorScheme of themes) {
      await page.emulateMedia({ colorScheme });
      for (const width of [390, 1240]) {
        await page.setViewportSize({ width, height: 780 });
        await pageLooksWell(page, `page-feedback-${colorScheme}-${width}`);
      }
    }
    await page.reload();
    await expect(chat(page).getByRole("cell", { name: "7.00" })).toBeVisible();
    await expect(chat(page).getByRole("button", { name: "Good answer" })).toHaveAttribute("aria-pressed", "true");
    const other = await (await browser.newContext({ ignoreHTTPSErrors: true })).newPage();
    await other.goto(url);
    await expect(chat(other).getByText("Ask something to begin.")).toBeVisible();
    await other.context().close();
    await page.getByRole("button", { name: "New conversation" }).click();
    await expect(chat(page).getByText("Ask something to begin.")).toBeVisible();
    await say(page, "And now?");
    await expect(chat(page).getByRole("cell", { name: "7.00" })).toBeVisible();
    expect(wrong).toEqual([]); // Includes violations of the page's policy.
  });

  test("a page that takes files gives each visitor their own quota", async ({ page, browser }) => {
    const url = await makePage([{ text: "Read." }], { files: true });
    await page.goto(url);
    const picker = chat(page).locator("input[type=file]");
    await picker.setInputFiles([
      {
        name: "A long name of a document that somebody scanned, final version 2 (copy).pdf.txt",
        mimeType: "text/plain",
        buffer: Buffer.from("Mine."),
      },
    ]);
    await say(page, "Read it.");
    await expect(chat(page).getByText("Read.", { exact: true })).toBeVisible();
    for (const colorScheme of themes)
      for (const width of [390, 1240]) {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width, height: 780 });
        await picker.setInputFiles([{ name: "next.csv", mimeType: "text/csv", buffer: Buffer.from("a,b") }]);
        await chat(page).getByRole("button", { name: "Good answer" }).scrollIntoViewIfNeeded();
        await pageLooksWell(page, `page-documents-${colorScheme}-${width}`);
      }
    await page.reload();
    await expect(chat(page).locator(".turn .document")).toHaveText(/^A long name/);
    const other = await (await browser.newContext({ ignoreHTTPSErrors: true })).newPage();
    const closed = await makePage([{ text: "Hi." }]);
    await other.goto(closed);
    await expect(chat(other).getByLabel("Your message")).toBeVisible();
    await expect(chat(other).getByRole("button", { name: "Add file" })).toBeHidden();
    await other.context().close();
  });

  test("missing pages, replaced links and failures are explained in plain words", async ({ page }) => {
    const url = await makePage([{ error: "It broke." }]);
    for (const colorScheme of themes) {
      await page.emulateMedia({ colorScheme });
      await page.goto("about:blank");
      await page.goto(`${url}x`);
      await expect(page.getByRole("alert")).toContainText("There is no such chat.");
      await pageLooksWell(page, `page-none-${colorScheme}`);
      await page.goto("about:blank");
      await page.goto(url);
      await say(page, "Go.");
      await expect(chat(page).getByRole("alert")).toHaveText("The answer could not be finished. Try again.");
      await pageLooksWell(page, `page-failing-${colorScheme}`);
    }
    await server.post(`/v1/agents/${new URL(url).pathname.split("/")[2]}/chat_page/rotate`, {});
    await say(page, "Still there?");
    await expect(chat(page).getByRole("alert").last()).toContainText("This chat is closed.", { timeout: 20_000 });
  });

  test("a page for members requires signing in, and admits members", async ({ page }) => {
    const url = await makePage([{ text: "Hi, member." }], { access: "members" });
    await page.goto(url);
    await expect(page.getByRole("alert")).toContainText("people who are signed in");
    await expect(page.getByRole("link", { name: "Sign in" })).toHaveAttribute("href", "/dashboard/login");
    await pageLooksWell(page, "page-members");
    await setUpAccount(page, server);
    await page.goto(url);
    await say(page, "Hello?");
    await expect(chat(page).getByText("Hi, member.")).toBeVisible();
    await page.reload();
    await expect(chat(page).getByText("Hi, member.")).toBeVisible();
  });

  async function pageLooksWell(page: Page, name: string): Promise<void> {
    const scheme = await page.evaluate(() => (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"));
    expect(await violations(page, scheme)).toEqual([]);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    expect(wide).toBe(0);
    await page.screenshot({ path: `dist/shots/embed/${name}.png` });
  }
});
