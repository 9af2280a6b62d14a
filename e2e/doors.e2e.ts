import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { npmWith } from "../scripts/npm-tool.ts";
import { pythonWith } from "../scripts/python-tool.ts";
import { inProject } from "../scripts/root.ts";
import { freePort } from "../server/testing/free-port.ts";
import { connectMcp } from "../server/testing/mcp-client.ts";
import { createAgent, createScripted, createTool, runToEnd, stubConnection } from "./fixtures.ts";
import { type CommandResult, type Json, type Runnel, runProgram, startRunnel } from "./harness.ts";
import { type ModelServer, startModelServer, wordsOf } from "./model-server.ts";

// Third-party protocols, each tested over TLS with its unmodified client.

const npmPackages = ["@a2a-js/sdk@1.3.0", "@modelcontextprotocol/inspector@2.12.0", "@modelcontextprotocol/sdk@1.32.2"];
const pythonPackages = ["mcp==2.3.0", "a2a-sdk[http-server]==1.3.0"];
const modules = await npmWith("doors-npm-2", npmPackages);
const python = await pythonWith("doors-python-1", pythonPackages);
if (!modules) console.warn("skipped: clients of the doors in TypeScript (no npm registry)");
if (!python) console.warn("skipped: clients of the doors in Python (no python3 with venv and PyPI)");

let server: Runnel;
let folder: string;
beforeAll(async () => {
  server = await startRunnel();
  folder = mkdtempSync(join(tmpdir(), "runnel-doors-"));
  writeFileSync(join(folder, "ca.pem"), server.ca ?? "");
  if (modules) symlinkSync(modules, join(folder, "node_modules"));
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

/** Returns the program of a page in a language that is only shown there. */
function shownIn(page: string, language: string): string {
  const markdown = readFileSync(inProject("server/docs/connect", `${page}.md`), "utf8");
  return new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, "m").exec(markdown)![1]!;
}

const environment = (more: Record<string, string> = {}) => ({
  PATH: process.env.PATH ?? "",
  HOME: folder,
  RUNNEL_URL: server.url,
  RUNNEL_API_KEY: server.keys.test,
  NODE_EXTRA_CA_CERTS: join(folder, "ca.pem"),
  SSL_CERT_FILE: join(folder, "ca.pem"),
  ...more,
});

async function run(
  name: string,
  source: string,
  command: string,
  more: Record<string, string> = {},
): Promise<CommandResult> {
  const path = join(folder, name);
  writeFileSync(path, source);
  return runProgram([command, path], folder, environment(more));
}

const openAgent = (doors: object, more: object = {}) =>
  createAgent(server, "test/echo", { name: "echo", doors, ...more });

describe("the programs of the pages", () => {
  let a2a: Record<string, string>;
  beforeAll(async () => {
    const id = await openAgent({ mcp: true, a2a: true });
    a2a = { A2A: `${server.url}/a2a/v1/agents/${id}` };
  });

  test.skipIf(!modules)("the official MCP client in TypeScript calls an agent", async () => {
    const { code, stdout, stderr } = await run("mcp.mjs", shownIn("mcp", "javascript"), "node");
    expect({ code, stderr, stdout }).toEqual({ code: 0, stderr: "", stdout: "[ 'echo' ]\nHello\n" });
  });

  test.skipIf(!python)("the official MCP client in Python calls an agent", async () => {
    const { code, stdout } = await run("mcp_example.py", shownIn("mcp", "py"), join(python!, "python"));
    expect({ code, stdout }).toEqual({ code: 0, stdout: "Hello\n" });
  });

  test.skipIf(!modules)("the inspector of MCP lists the tools on the command line", async () => {
    const inspector = join(modules!, "@modelcontextprotocol/inspector/clients/launcher/build/index.js");
    const asked = ["--cli", `${server.url}/mcp`, "--transport", "http", "--method", "tools/list"];
    const key = ["--header", `Authorization: Bearer ${server.keys.test}`];
    const { code, stdout, stderr } = await runProgram(["node", inspector, ...asked, ...key], folder, environment());
    expect({ code, said: code === 0 ? "" : stderr }).toEqual({ code: 0, said: "" });
    expect(JSON.parse(stdout).tools.map(({ name }: Json) => name)).toEqual(["echo"]);
  });

  test.skipIf(!modules)("the A2A client in TypeScript sends an agent a message", async () => {
    const { code, stdout, stderr } = await run("a2a.mjs", shownIn("a2a", "javascript"), "node", a2a);
    expect({ code, stderr, stdout }).toEqual({ code: 0, stderr: "", stdout: "Hello\n" });
  });

  test.skipIf(!python)("the A2A client in Python follows a task", async () => {
    const { code, stdout } = await run("a2a_example.py", shownIn("a2a", "py"), join(python!, "python"), a2a);
    expect({ code, stdout }).toEqual({ code: 0, stdout: "Hello" });
  });
});

describe("the A2A client", () => {
  test.each([
    ["TypeScript", "push.mjs", modules && "node"],
    ["Python", "push.py", python && join(python, "python")],
  ])("in %s gets the updates of its task at the address that it gave", async (_language, file, command) => {
    if (!command) return;
    const { id, name } = await createTool(server);
    const script = [{ tool_calls: [{ name, arguments: { city: "Oslo" } }] }, { text: "Sunny, then." }];
    const agent = await createScripted(server, script, { tools: [id], doors: { a2a: true } });
    const program = readFileSync(inProject("e2e/a2a", file), "utf8");
    const { code, stdout, stderr } = await run(file, program, command, { A2A: `${server.url}/a2a/v1/agents/${agent}` });
    expect({ code, stdout, stderr: code === 0 ? "" : stderr }).toEqual({
      code: 0,
      stdout: "Sunny, then.\n",
      stderr: "",
    });
  });
});

test("a runnel calls the agents of another runnel as tools", async () => {
  // Tools of a test environment may reach this machine without HTTPS; its certificate is self-signed.
  await using far = await startRunnel({ flags: ["--insecure-http"] });
  await createAgent(far, "test/echo", { name: "far_echo", doors: { mcp: true } });
  const tool = await createTool(server, {
    type: "mcp",
    parameters: undefined,
    server_url: `${far.url}/mcp`,
    headers: { authorization: `Bearer ${far.keys.test}` },
  });
  const name = `${tool.name}_far_echo`;
  const script = [{ tool_calls: [{ name, arguments: { input: "Far away." } }] }, { text: "Done." }];
  const body = await runToEnd(server, await createScripted(server, script, { tools: [tool.id] }));
  expect([body.status, body.error]).toEqual(["completed", null]);
  expect(JSON.stringify(body.tool_calls[0].output)).toContain("Far away.");
});

describe("the server is killed while a client reads", () => {
  const words = wordsOf(60);
  const startKilled = ({ url }: ModelServer) =>
    startRunnel({ flags: ["--port", String(freePort())], environment: stubConnection(url) });

  test("MCP: the repeated call gets its answer, from the run that it began", async () => {
    await using model = startModelServer();
    await using killed = await startKilled(model);
    await createAgent(killed, "half-60-10", { name: "speaker", doors: { mcp: true } });
    const fetched = (url: string | URL, init: RequestInit = {}) =>
      fetch(url, {
        ...init,
        tls: { ca: killed.ca },
        headers: { ...Object.fromEntries(new Headers(init.headers)), authorization: `Bearer ${killed.keys.test}` },
      } as RequestInit);
    await using it = await connectMcp({ url: `${killed.url}/mcp`, fetch: fetched });
    const begun = Promise.withResolvers<void>();
    const told: number[] = [];
    const onprogress = ({ progress }: { progress: number }) => {
      told.push(progress);
      begun.resolve();
    };
    const answer = it.client.callTool({ name: "speaker", arguments: { input: "Go." } }, undefined, { onprogress });
    await begun.promise;
    await killed.kill9();
    model.release();
    await killed.restart();
    const { content } = (await answer) as Json;
    expect(content).toEqual([{ type: "text", text: words }]);
    expect(told).toEqual([...new Set(told)].sort((a, b) => a - b)); // Each once, in order.
    expect((await killed.get("/v1/runs")).body.data).toMatchObject([{ status: "completed", attempt: 2 }]);
  });

  test("A2A: the task's stream is resumed, with all of its text", async () => {
    await using model = startModelServer();
    await using killed = await startKilled(model);
    const id = await createAgent(killed, "half-60-10", { doors: { a2a: true } });
    const at = `/a2a/v1/agents/${id}`;
    const message = { messageId: "m", role: "ROLE_USER", parts: [{ text: "Go." }] };
    const stream = await killed.fetch(`${at}/message:stream`, { method: "POST", body: JSON.stringify({ message }) });
    const reader = stream.body!.getReader();
    let text = "";
    while (!text.includes("artifactUpdate")) text += new TextDecoder().decode((await reader.read()).value);
    const [first] = updatesOf(text);
    await killed.kill9();
    await reader.cancel().catch(() => {});
    model.release();
    await killed.restart();
    const rest = await (await killed.fetch(`${at}/tasks/${first.task.id}:subscribe`)).text();
    const updates = updatesOf(rest);
    expect([updates[0].task.id, updates.at(-1).statusUpdate.status.state]).toEqual([
      first.task.id,
      "TASK_STATE_COMPLETED",
    ]);
    const said = updates.reduce(
      (before: string, { artifactUpdate: one }: Json) =>
        one ? (one.append ? before : "") + one.artifact.parts[0].text : before,
      "",
    );
    expect(said).toBe(words);
  });
});

const kit = "@modelcontextprotocol/conformance";

test("the applicable scenarios of MCP's conformance kit pass", async () => {
  const modules = await npmWith("mcp-conformance-0.1.16", [`${kit}@0.1.16`]);
  if (!modules) return console.warn("skipped: the conformance kit of MCP (the npm registry has none)");
  await using own = await startRunnel({ flags: ["--insecure-http"] });
  await serveKit(own);
  await using proxy = withKey(own);
  const cwd = join(folder, "conformance");
  mkdirSync(cwd);
  // The kit requires a newer Node than may be installed; Bun has all that it needs.
  const command = [process.execPath, join(modules, kit, "dist/index.js"), "server", "--url", `${proxy.url}/mcp`];
  const pass = async (): Promise<string[]> => {
    const { stdout } = await runProgram([...command, "--suite", "all", "-o", "said"], cwd, { PATH: "", HOME: cwd });
    return [...stdout.matchAll(/^✓ ([\w-]+): /gm)].map(([, name]) => name!);
  };
  const expected = [
    "dns-rebinding-protection",
    "json-schema-2020-12",
    "ping",
    "prompts-get-simple",
    "prompts-get-with-args",
    "prompts-list",
    "resources-list",
    "server-initialize",
    "server-sse-multiple-streams",
    "server-sse-polling",
    "tools-call-elicitation",
    "tools-call-error",
    "tools-call-simple-text",
    "tools-call-with-progress",
    "tools-list",
  ];
  // The kit limits each scenario to a few seconds, which are not tested here.
  const passed = new Set<string>();
  for (let time = 0; time < 3 && passed.size < expected.length; time++)
    for (const name of await pass()) passed.add(name);
  expect([...passed].sort()).toEqual(expected);
}, 180_000);

/** Creates the agents that the kit calls, with the names of its tools and prompts. */
async function serveKit(to: Runnel): Promise<void> {
  const doors = { mcp: true };
  const input_schema = { type: "object", properties: {} };
  const address = { type: "object", properties: { street: { type: "string" }, city: { type: "string" } } };
  const schema = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    $defs: { address },
    properties: { name: { type: "string" }, address: { $ref: "#/$defs/address" } },
    additionalProperties: false,
  };
  const texts = { type: "object", properties: { arg1: { type: "string" }, arg2: { type: "string" } } };
  const { id, name } = await createTool(to);
  const asks = [{ tool_calls: [{ name, arguments: { city: "Oslo" } }] }, { text: "Thanks." }];
  for (const [name, script, more] of [
    ["test_simple_text", [{ text: "This is a simple text response for testing." }], { input_schema }],
    ["test_error_handling", [{ error: "It always fails." }], { input_schema }],
    ["test_tool_with_progress", [{ text: "Done." }], { input_schema }],
    [
      "test_elicitation",
      asks,
      { tools: [id], input_schema: { type: "object", properties: { message: { type: "string" } } } },
    ],
    ["json_schema_2020_12_tool", [{ text: "Fine." }], { input_schema: schema }],
    ["test_simple_prompt", [], { instructions: "This is a simple prompt for testing." }],
    ["test_prompt_with_arguments", [], { input_schema: texts }],
  ] as [string, object[], object][])
    await createScripted(to, script, { name, doors, ...more });
}

/**
 * Adds a key, which the kit cannot send, and forwards everything else unchanged. The proxy's own Origin is replaced by
 * the server's.
 */
function withKey(to: Runnel) {
  const listening = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    async fetch(request) {
      const { pathname, origin } = new URL(request.url);
      const headers = new Headers(request.headers);
      headers.set("authorization", `Bearer ${to.keys.test}`);
      if (headers.get("origin") === origin && origin === listening.url.origin) headers.set("origin", to.url);
      headers.delete("host");
      const { method, signal } = request;
      const body = request.body === null ? null : await request.arrayBuffer();
      const answer = await fetch(to.url + pathname, { method, headers, body, signal });
      return new Response(answer.body, answer);
    },
  });
  return { url: listening.url.origin, [Symbol.asyncDispose]: () => listening.stop(true) };
}

/** Returns the complete messages of a stream. */
const updatesOf = (text: string): Json[] =>
  text
    .split("\n\n")
    .slice(0, -1)
    .flatMap((block) => /^data: (.*)$/m.exec(block)?.[1] ?? [])
    .map((data) => JSON.parse(data));

test("without HTTPS a protocol is open to this machine, like the API", async () => {
  await using plain = await startRunnel({ flags: ["--insecure-http"] });
  await createAgent(plain, "test/echo", { name: "echo", doors: { mcp: true } });
  const fetched = (url: string | URL, init: RequestInit = {}) =>
    fetch(url, {
      ...init,
      headers: { ...Object.fromEntries(new Headers(init.headers)), authorization: `Bearer ${plain.keys.test}` },
    });
  await using it = await connectMcp({ url: `${plain.url}/mcp`, fetch: fetched });
  const { content } = (await it.client.callTool({ name: "echo", arguments: { input: "Hi" } })) as Json;
  expect(content).toEqual([{ type: "text", text: "Hi" }]);
});
