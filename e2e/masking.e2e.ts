import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Runnel, startRunnel } from "./harness.ts";
import { meanwhile } from "./meanwhile.ts";
import { figuresAvailable, residentBytes, serverPid } from "./process-figures.ts";

// Tool outputs are searched for secrets; long outputs of one project delay no other.

const size = 4_194_000;
const filled = (piece: string): string => piece.repeat(Math.ceil(size / piece.length)).slice(0, size);
const answers: Record<string, string> = {
  "/numbers": `[${filled("1,")}1]`,
  "/html": filled(`<p>Fish &amp; chips, said <a href="/a?b=%C3%BC&amp;c=1">O&#39;Brien</a> at 100&nbsp;%.</p>\n`),
};
const tools = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch: ({ url }) => new Response(answers[new URL(url).pathname]),
});

let server: Runnel;
beforeAll(async () => {
  server = await startRunnel();
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await tools.stop(true);
});

const headers = { authorization: "Bearer canary-0123456789abcdef" };

async function makeTool(name: string, more: object): Promise<string> {
  const { status, body } = await server.post("/v1/tools", {
    name,
    url: `${tools.url.origin}/${name}`,
    headers,
    ...more,
  });
  expect(status).toBe(201);
  return body.id;
}

test("other requests get responses while a tool's output of two million numbers is masked", async () => {
  const id = await makeTool("numbers", {});
  const tried = server.post(`/v1/tools/${id}/test`, { arguments: {} });
  const { result, responses } = await meanwhile(tried, () => server.get("/healthz"));
  expect(result.body).toMatchObject({ error: null });
  // Masking on the main thread would block them until it was done: there were three.
  expect(responses).toBeGreaterThan(20);
});

test.skipIf(!figuresAvailable)(
  "two runs with ten calls of 4 MB each add at most 300 MiB",
  async () => {
    const id = await makeTool("html", { response: "text" });
    async function run(calls: number): Promise<string> {
      const script = [{ tool_calls: Array(calls).fill({ name: "html", arguments: {} }) }, { text: "Done." }];
      const { body: agent } = await server.post("/v1/agents", {
        name: "a",
        instructions: "",
        model: "test/script",
        model_settings: { script },
        tools: [id],
      });
      const body = JSON.stringify({ agent_id: agent.id, input: "Go", stream: true });
      const headers = { "content-type": "application/json" };
      return (await server.fetch("/v1/runs", { method: "POST", body, headers })).text();
    }
    await run(1); // The first call loads and compiles code that stays in memory.
    const pid = serverPid(server.dataDir);
    const before = residentBytes(pid);
    let most = before;
    const watch = setInterval(() => {
      most = Math.max(most, residentBytes(pid));
    }, 10);
    for (const events of await Promise.all([run(10), run(10)])) expect(events).toContain("event: run.completed");
    clearInterval(watch);
    expect((most - before) / 2 ** 20).toBeLessThan(300);
  },
  120_000,
);
