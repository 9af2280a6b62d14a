/**
 * Measures how soon the compiled executable's dashboard is interactive: `bun scripts/bench/dashboard.ts [ROUNDS]`. A
 * signed-in person opens a page in a browser with an empty cache; the page is *interactive* once its first rows are
 * shown and a click on a link of the side bar has had an effect. It reports, and tests nothing: see README.md.
 */
import { loadavg } from "node:os";
import { type Browser, chromium } from "playwright";
import { type Runnel, startRunnel } from "../../e2e/harness.ts";
import { browserPath } from "../browser-path.ts";
import { median } from "./processes.ts";

const rounds = Number(process.argv[2] ?? 15);

/** Milliseconds since the start of the navigation, and bytes transferred until then. */
interface Visit {
  painted: number;
  rows: number;
  interactive: number;
  requests: number;
  kilobytes: number;
}

await using server = await startRunnel();
const traces = await storeRuns(server);
const browser = await chromium.launch({
  executablePath: browserPath,
  args: ["--no-sandbox", "--disable-gpu"],
});
try {
  const signedIn = await signIn(browser, server);
  console.error(`load average ${loadavg()[0]?.toFixed(1)}, ${rounds} rounds`);
  const pages = {
    overview: "/overview",
    runs: "/runs",
    "a trace of 24 steps": `/runs/${traces.short}`,
    "5,000 mixed steps": `/runs/${traces.mixed}`,
    "5,000 equal calls": `/runs/${traces.equal}`,
  };
  for (const path of Object.values(pages)) await visit(path, signedIn); // Warms up the server and the browser.
  const visits = Object.keys(pages).map((name) => ({ name, each: [] as Visit[] }));
  for (let round = 0; round < rounds; round++)
    for (const { name, each } of visits) each.push(await visit(pages[name as keyof typeof pages], signedIn));
  console.table(Object.fromEntries(visits.map(({ name, each }) => [name, summaryOf(each)])));
} finally {
  await browser.close();
}

/** Stores fifty runs for the lists, one of 24 steps, and two of about 5,000, and returns the ids. */
async function storeRuns(server: Runnel): Promise<{ short: string; mixed: string; equal: string }> {
  const make = async (path: string, body: object): Promise<{ id: string }> => (await server.post(path, body)).body;
  const agent = (name: string, model: string, more = {}) =>
    make("/v1/agents", { name, instructions: "Be brief.", model, ...more });
  const echo = await agent("Clerk", "test/echo");
  for (let count = 0; count < 50; count++)
    await make("/v1/runs?wait=20", { agent_id: echo.id, input: `Where is order ${4711 + count}?` });
  // No server listens there: each call fails at once, and the model calls again.
  const dead = "http://127.0.0.1:59999/";
  using tools = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => Response.json({ sky: "clear", celsius: 4 }) });
  const tool = (name: string, url: string) =>
    make("/v1/tools", { name, description: "Looks.", type: "http", url, retries: 0, parameters: { type: "object" } });
  const [look, find, broken] = [
    await tool("look", tools.url.href),
    await tool("find", tools.url.href),
    await tool("broken", dead),
  ];
  const run = async (name: string, model: string, more: object): Promise<string> => {
    const { id: agent_id } = await agent(name, model, more);
    return await ended(server, (await make("/v1/runs?wait=20", { agent_id, input: "Look." })).id);
  };
  const long = (names: readonly string[]) => ({
    max_turns: 200,
    tools: [look.id, find.id, broken.id],
    model_settings: { script: scriptOf(names) },
  });
  return {
    short: await run("Looker", "test/loops-forever", { tools: [broken.id], max_turns: 12 }),
    mixed: await run("Mixed", "test/script", long(["look", "find", "look", "find", "broken"])),
    equal: await run("Equal", "test/script", long(["look"])),
  };
}

/** Returns turns of 25 calls each, of these tools in rotation: about 5,000 steps. */
function scriptOf(names: readonly string[]): object[] {
  const calls = (turn: number) =>
    Array.from({ length: 25 }, (_, call) => ({
      name: names[call % names.length],
      arguments: { city: "Oslo", turn, call },
    }));
  return Array.from({ length: 193 }, (_, turn) =>
    turn === 192 ? { text: "Finished." } : { text: `Now part ${turn}.`, tool_calls: calls(turn) },
  );
}

async function ended(server: Runnel, id: string): Promise<string> {
  for (;;) {
    await Bun.sleep(200);
    const { body } = await server.get(`/v1/runs/${id}?exclude=messages,tool_calls`);
    if (!["queued", "in_progress"].includes(body.status)) return id;
  }
}

type SignedIn = Awaited<ReturnType<typeof signIn>>;

/** Returns the browser state of a signed-in person. */
async function signIn(browser: Browser, server: Runnel) {
  const context = await browser.newContext({ ignoreHTTPSErrors: true });
  const page = await context.newPage();
  await page.goto(server.setupUrl);
  await page.getByLabel("Email").fill("owner@example.com");
  await page.getByLabel("Password", { exact: true }).fill("a rather long password");
  await page.getByLabel("Repeat the password").fill("a rather long password");
  await page.getByRole("button", { name: "Create account" }).click();
  await page.getByRole("heading", { name: "First steps" }).waitFor();
  const state = await context.storageState();
  await context.close();
  return state;
}

/** Visits once with an empty cache. The page times itself, so that the test driver's time is not included. */
async function visit(path: string, storageState: SignedIn): Promise<Visit> {
  const context = await browser.newContext({ ignoreHTTPSErrors: true, storageState });
  const page = await context.newPage();
  await page.addInitScript(measureInPage);
  await page.goto(`${server.url}/dashboard${path}`, { waitUntil: "commit" });
  const handle = await page.waitForFunction(() => (window as unknown as { visit?: Visit }).visit);
  const seen = (await handle.jsonValue()) as Visit;
  await context.close();
  return seen;
}

/** Runs in the page, before all of its own scripts. */
function measureInPage(): void {
  let rows = 0;
  const look = () => {
    const heading = document.querySelector("h1")?.textContent;
    if (rows === 0) {
      const isThere = document.querySelector("main [data-row], main [role=treeitem], main table tbody tr, main figure");
      const link = document.querySelector<HTMLElement>('a[href$="/agents"]');
      if (!isThere || !link) return;
      rows = performance.now();
      link.click();
    } else if (heading === "Agents") {
      observer.disconnect();
      // The rows found in the document are painted one frame later.
      requestAnimationFrame(() => setTimeout(() => Object.assign(window, { visit: told(rows, performance.now()) })));
    }
  };
  const told = (rows: number, interactive: number): Visit => {
    const entries = [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")];
    const sent = (entries as PerformanceResourceTiming[]).filter(({ responseEnd }) => responseEnd <= rows);
    const bytes = sent.reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0);
    const painted = performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0;
    return { painted, rows, interactive, requests: sent.length, kilobytes: bytes / 1000 };
  };
  const observer = new MutationObserver(look);
  observer.observe(document, { childList: true, subtree: true });
}

function summaryOf(visits: readonly Visit[]): Record<string, string> {
  const middle = (field: keyof Visit) => median(visits.map((visit) => visit[field]));
  const all = visits.map(({ interactive }) => interactive);
  return {
    "first paint, ms": middle("painted").toFixed(0),
    "rows, ms": middle("rows").toFixed(0),
    "interactive, ms": `${middle("interactive").toFixed(0)} (${Math.min(...all).toFixed(0)}–${Math.max(...all).toFixed(0)})`,
    requests: middle("requests").toFixed(0),
    "kB sent": middle("kilobytes").toFixed(0),
  };
}
