import { afterAll, beforeAll, expect, test } from "bun:test";
import { createEgress } from "../../lib/egress.ts";
import { silentLog } from "../../lib/log.ts";
import { removeProxyEnvironment } from "../../lib/proxy.ts";
import { startFeaturesServer } from "../../testing/mcp-features-server.ts";
import { startMcpServer } from "../../testing/mcp-server.ts";
import { createMcpClient } from "./client.ts";
import type { McpProgress } from "./progress.ts";
import { createStdioServers } from "./stdio-servers.ts";

removeProxyEnvironment();

let http: ReturnType<typeof startFeaturesServer>;
let at: { url: string; headers: Record<string, string> };
beforeAll(() => {
  http = startFeaturesServer();
  at = { url: http.url, headers: {} };
});
const stdio = createStdioServers({ servers: {}, log: silentLog });
const client = createMcpClient({ egress: createEgress({ allow: [], loopback: true }), stdio });
afterAll(async () => {
  await client.close();
  await http[Symbol.asyncDispose]();
});

const limits = (timeout_ms = 20_000) => ({ timeout_ms, signal: new AbortController().signal });

test("resources and prompts of a server are tools of it", async () => {
  const { tools, skipped } = await client.listTools(at, null, limits());
  expect(skipped).toEqual([]);
  expect(tools.map(({ name, operation, as_task }) => [name, operation ?? as_task ?? "tool"])).toEqual([
    ["docs.find", "tool"],
    ["count", true],
    ["list_resources", "list_resources"],
    ["read_resource", "read_resource"],
    ["get_prompt", "get_prompt"],
  ]);
  const prompt = tools.at(-1)!;
  expect(prompt.description).toContain("- review(code, style?): Reviews code.");
  expect(prompt.parameters).toMatchObject({ properties: { name: { enum: ["review"] } }, required: ["name"] });
  expect((await client.listTools(at, ["read_resource"], limits())).tools.map(({ name }) => name)).toEqual([
    "read_resource",
  ]);
});

test("a model lists resources and templates, and reads texts and files", async () => {
  const list = await client.callTool(at, { operation: "list_resources" }, {}, limits());
  expect(list.structured).toEqual({
    resources: [
      { uri: "docs://readme", name: "readme", description: "Read me first.", mimeType: "text/plain" },
      { uri: "docs://picture", name: "picture" },
    ],
    templates: [{ uriTemplate: "users://{id}", name: "user" }],
  });
  const read = (uri: string) => client.callTool(at, { operation: "read_resource" }, { uri }, limits());
  expect((await read("docs://readme")).text).toBe("Hello.");
  expect((await read("users://7")).text).toBe("User 7.");
  expect(await read("docs://picture")).toMatchObject({ text: "[file image/png, 2 KB, kept as file-1.png]" });
  await expect(read("docs://none")).rejects.toMatchObject({ code: "mcp_error" });
});

test("a model gets a prompt with its arguments", async () => {
  const args = { name: "review", arguments: { code: "x = 1" } };
  expect((await client.callTool(at, { operation: "get_prompt" }, args, limits())).text).toBe("Review x = 1");
});

test("a tool that its server runs only as a task is called so, and waited for", async () => {
  const count = (to: number) => client.callTool(at, { tool: "count", as_task: true }, { to }, limits());
  expect(await count(7)).toEqual({ text: "7", isError: false });
  expect(await count(0)).toEqual({ text: "0", isError: true });
});

test("a tool whose name has dots is called by it", async () => {
  expect((await client.callTool(at, "docs.find", {}, limits())).text).toBe("found");
});

test("progress restarts the timeout of a call, and is passed on", async () => {
  await using server = startMcpServer();
  const told: McpProgress[] = [];
  const onProgress = (progress: McpProgress) => void told.push(progress);
  const call = (args: object) =>
    client.callTool({ url: server.url, headers: {} }, "progress", { ...args }, limits(3000), { onProgress });
  expect((await call({ steps: 5, step_ms: 700 })).text).toBe("done");
  expect(told).toEqual([1, 2, 3, 4, 5].map((progress) => ({ progress, total: 5, message: "Working" })));
  await expect(call({ steps: 1, step_ms: 20_000 })).rejects.toMatchObject({ code: "timeout" });
});

test("a server's notice that its tools changed reaches the client", async () => {
  await using server = startMcpServer();
  let changes = 0;
  const onListChanged = () => void changes++;
  await client.callTool({ url: server.url, headers: {} }, "change_list", {}, limits(), { onListChanged });
  expect(changes).toBe(1);
});

test("only elicitation is declared, and only where a user can be asked", async () => {
  await using server = startMcpServer();
  const askingClient = createMcpClient({ egress: createEgress({ allow: [], loopback: true }), stdio, elicits: true });
  const declared = async (by: typeof client) =>
    (await by.callTool({ url: server.url, headers: {} }, "capabilities", {}, limits())).text;
  expect([await declared(client), await declared(askingClient)]).toEqual([
    "{}",
    '{"elicitation":{"form":{},"url":{}}}',
  ]);
  await askingClient.close();
});
