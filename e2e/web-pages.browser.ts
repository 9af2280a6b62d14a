import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, type Page, test } from "@playwright/test";
import { createScripted, createTool } from "./fixtures.ts";
import { type Runnel, startRunnel } from "./harness.ts";

// Pages of other sites in a real browser: their rights with a client token, and the limits of CORS.
let server: Runnel;
let site: Server;
let other: Server;
test.beforeAll(async () => {
  server = await startRunnel();
  [site, other] = await Promise.all([serveEmptyPage(), serveEmptyPage()]);
  const named = await server.command("projects", "origins", "default", "--origins", originOf(site));
  expect(named).toMatchObject({ code: 0, stdout: `${originOf(site)}\n` });
});
test.afterAll(async () => {
  site.close();
  other.close();
  await server[Symbol.asyncDispose]();
});

/** Serves a site of its own: another port is another origin. */
function serveEmptyPage(): Promise<Server> {
  const empty = createServer((_, response) => {
    response.writeHead(200, { "content-type": "text/html" }).end("<!doctype html><title>A site</title>");
  });
  return new Promise((resolve) => empty.listen(0, "127.0.0.1", () => resolve(empty)));
}
const originOf = (of: Server): string => `http://127.0.0.1:${(of.address() as AddressInfo).port}`;

interface Visit {
  url: string;
  token: string;
  agent_id: string;
}

async function visitWith(script: object[], more: Record<string, unknown> = {}, lasts = 600): Promise<Visit> {
  const agent_id = await createScripted(server, script, more);
  const token = await makeToken(agent_id, { expires_in_seconds: lasts });
  return { url: server.url, token, agent_id };
}

async function makeToken(agent_id: string, more: object): Promise<string> {
  const made = await server.post("/v1/client_tokens", {
    agent_id,
    scopes: ["run", "read", "submit"],
    user_id: "ada",
    expires_in_seconds: 600,
    ...more,
  });
  expect(made).toMatchObject({ status: 201 });
  return made.body.token;
}

/** Starts a run in the page, which reads its stream. */
const startInPage = (page: Page, visit: Visit) =>
  page.evaluate(async ({ url, token, agent_id }) => {
    try {
      const response = await fetch(`${url}/v1/runs`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${token}`,
          "content-type": "application/json",
          "idempotency-key": crypto.randomUUID(),
        },
        body: JSON.stringify({ agent_id, input: "Hello!", stream: true }),
      });
      return { status: response.status, id: response.headers.get("x-request-id"), text: await response.text() };
    } catch (error) {
      return { status: 0, id: null, text: String(error) };
    }
  }, visit);

test("an allowed site's page starts a run and reads its stream, another site's reads nothing, and changes apply at once", async ({
  page,
}) => {
  const visit = await visitWith([{ text: "Hello to you." }]);
  await page.goto(originOf(site));
  const read = await startInPage(page, visit);
  expect(read).toMatchObject({ status: 200, id: expect.stringMatching(/^req_/) });
  expect(read.text).toContain("event: run.completed");

  await page.goto(originOf(other));
  expect(await startInPage(page, visit)).toMatchObject({ status: 0, text: expect.stringContaining("Failed to fetch") });

  await server.command("projects", "origins", "default", "--origins", `${originOf(site)},${originOf(other)}`);
  expect(await startInPage(page, visit)).toMatchObject({ status: 200 });
  await server.command("projects", "origins", "default", "--origins", originOf(site));
  expect(await startInPage(page, visit)).toMatchObject({ status: 0 });
});

test("a page reads why it is refused", async ({ page }) => {
  const visit = await visitWith([{ text: "x" }], {}, 1);
  await page.goto(originOf(site));
  await expect.poll(async () => (await startInPage(page, visit)).text).toContain('"code":"client_token_expired"');
});

/** Returns the events of the page's `EventSource` until it closes or is refused. */
const follow = (page: Page, url: string, names: string[]) =>
  page.evaluate(
    ({ url, names }) =>
      new Promise<{ events: { name: string; id: string; data: string }[]; state: number }>((resolve) => {
        const events: { name: string; id: string; data: string }[] = [];
        const source = new EventSource(url);
        for (const name of names)
          source.addEventListener(name, (event) => {
            const { data, lastEventId } = event as MessageEvent;
            if (data !== undefined) events.push({ name, id: lastEventId, data });
            // A refused browser, or one with a 204, does not reconnect; one with an expired token would, in vain.
            const isOver = name === "error" && (data !== undefined || source.readyState === EventSource.CLOSED);
            if (!isOver) return;
            source.close();
            resolve({ events, state: source.readyState });
          });
      }),
    { url, names },
  );

const names = ["run.created", "run.requires_action", "run.resumed", "token", "run.completed", "error"];

test("EventSource reads a run to its end and does not reconnect", async ({ page }) => {
  const visit = await visitWith([{ text: "Hello to you." }]);
  const run = await server.post("/v1/runs?wait=60", { agent_id: visit.agent_id, input: "Hi.", user_id: "ada" });
  await page.goto(originOf(site));
  const statuses: number[] = [];
  page.on("response", (response) => {
    if (response.url().includes("/events")) statuses.push(response.status());
  });
  const { events } = await follow(page, `${server.url}/v1/runs/${run.body.id}/events?token=${visit.token}`, names);
  expect(events.map(({ name }) => name)).toEqual(["run.created", "token", "run.completed"]);
  await expect.poll(() => statuses).toEqual([200, 204]);
  expect(server.log()).not.toContain(visit.token);
});

test("a stream whose token expires says so, and another token resumes without a gap", async ({ page }) => {
  const tool = await createTool(server, { type: "client" });
  const call = { tool_calls: [{ name: tool.name, arguments: { city: "Oslo" } }] };
  const visit = await visitWith([call, { text: "Rain." }], { tools: [tool.id] }, 8);
  const run = await server.post("/v1/runs?wait=60", { agent_id: visit.agent_id, input: "Hi.", user_id: "ada" });
  expect(run.body.status).toBe("requires_action");
  const address = `${server.url}/v1/runs/${run.body.id}/events`;
  await page.goto(originOf(site));
  const first = await follow(page, `${address}?token=${visit.token}`, names);
  expect(first.events.map(({ name }) => name)).toEqual(["run.created", "run.requires_action", "error"]);
  expect(JSON.parse(first.events.at(-1)!.data).error.code).toBe("client_token_expired");

  const [{ tool_call_id }] = run.body.required_action.submit_tool_outputs.tool_calls;
  const token = await makeToken(visit.agent_id, {});
  const submitted = await page.evaluate(
    async ({ url, token, tool_call_id }) =>
      (
        await fetch(url, {
          method: "POST",
          headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
          body: JSON.stringify({ tool_outputs: [{ tool_call_id, output: "rain" }] }),
        })
      ).status,
    { url: `${server.url}/v1/runs/${run.body.id}/submit_tool_outputs`, token, tool_call_id },
  );
  expect(submitted).toBe(200);
  const after = first.events.findLast(({ id }) => id !== "")!.id;
  const second = await follow(page, `${address}?token=${token}&starting_after=${after}`, names);
  expect(second.events.map(({ name }) => name)).toEqual(["run.resumed", "token", "run.completed"]);
});
