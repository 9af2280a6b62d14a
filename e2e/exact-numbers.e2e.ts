import { afterAll, beforeAll, expect, test } from "bun:test";
import { createAgent, createTool, stubConnection } from "./fixtures.ts";
import { type Runnel, startRunnel } from "./harness.ts";

// The executable with its threads, its jail and its own model protocol: no step may parse a number.

const given = '{"order_id":2512292042121000001,"of":[-9007199254740993,0.5]}';
const result = '{"order_id":1199783456789012345,"total":1e400}';
let name = "";
const sent: Record<"model" | "tool", string[]> = { model: [], tool: [] };
const chunk = (delta: object, finish_reason: string) =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason }] })}\n\ndata: [DONE]\n\n`;

const outside = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  async fetch(request) {
    const { pathname } = new URL(request.url);
    const body = await request.text();
    if (pathname === "/tool") {
      sent.tool.push(body);
      return new Response(result, { headers: { "content-type": "application/json" } });
    }
    sent.model.push(body);
    const asks = !body.includes('"role":"tool"') && name !== "";
    const call = { index: 0, id: "call_1", function: { name, arguments: given } };
    const said = asks ? chunk({ tool_calls: [call] }, "tool_calls") : chunk({ content: given }, "stop");
    return new Response(said, { headers: { "content-type": "text/event-stream" } });
  },
});
const address = `http://127.0.0.1:${outside.port}`;

let server: Runnel;
beforeAll(async () => {
  server = await startRunnel({ environment: stubConnection(`${address}/v1`) });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await outside.stop(true);
});

async function send(method: string, path: string, body?: string | FormData, headers: Record<string, string> = {}) {
  const all: Record<string, string> = { authorization: `Bearer ${server.keys.test}`, ...headers };
  if (typeof body === "string") all["content-type"] = "application/json";
  const response = await server.fetch(path, { method, body, headers: all });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

const start = async (agent_id: string, more = "") =>
  (await send("POST", "/v1/runs?wait=60", `{"agent_id":"${agent_id}","input":"Go."${more}}`)).text;
const toolMessage = () => JSON.parse(sent.model.at(-1)!).messages.at(-1);

const parameters = { type: "object" };

test("a tool gets the model's digits, the model gets the tool's, and every reader and replay has both", async () => {
  name = "look";
  const tool = await createTool(server, { name, parameters, url: `${address}/tool` });
  const agent = await createAgent(server, "gpt", { tools: [tool.id] });
  const run = await start(agent);
  expect(sent.tool).toEqual([given]);
  expect(toolMessage()).toMatchObject({ role: "tool", content: result });
  const id = JSON.parse(run).id;
  const places = [
    run,
    (await send("GET", `/v1/runs/${id}`)).text,
    (await send("GET", `/v1/runs/${id}/events`)).text,
    (await send("GET", `/v1/traces/${id}?include=raw`)).text,
    (await send("POST", `/v1/runs/${id}/replay`, '{"mode":"strict"}')).text,
    (await send("POST", `/v1/runs/${id}/fork?wait=60`, '{"step_index":1,"tools":"recorded_only"}')).text,
  ];
  for (const place of places) for (const digits of [given, result]) expect(place).toContain(digits);
  expect(sent.tool).toHaveLength(1);
});

test("a JavaScript program in the jail gets all digits, and returns them", async () => {
  name = "compute";
  const source = "({ order_id, of }) => ({ next: order_id + 1n, of })";
  const tool = await createTool(server, { name, parameters, type: "code", language: "javascript", source });
  const run = await start(await createAgent(server, "gpt", { tools: [tool.id] }));
  expect(run).toContain('"result":{"next":2512292042121000002,"of":[-9007199254740993,0.5]}');
  expect(toolMessage().content).toContain('"next":2512292042121000002');
});

test("an answer in JSON keeps its digits, and clients of MCP read them", async () => {
  name = "";
  const doors = { mcp: true };
  const agent = await createAgent(server, "gpt", { name: "exact", output_schema: { type: "object" }, doors });
  expect(await start(agent)).toContain(`"output_json":${given}`);
  const message = (id: number, method: string, params: string) =>
    `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${params}}`;
  const accept = { accept: "application/json, text/event-stream" };
  const about = '{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}';
  const { headers } = await send("POST", "/mcp", message(1, "initialize", about), accept);
  const session = { ...accept, "mcp-session-id": headers.get("mcp-session-id")! };
  const mcp = await send(
    "POST",
    "/mcp",
    message(2, "tools/call", '{"name":"exact","arguments":{"input":"Go."}}'),
    session,
  );
  expect(mcp.text).toContain(`"structuredContent":${given}`);
});

test("values of a memory store and JSON that is uploaded keep their digits", async () => {
  const memory = await server.post("/v1/memory", { name: "Notes", kind: "kv" });
  const path = `/v1/memory/${memory.body.id}/keys/k`;
  expect((await send("PUT", path, `{"value":${given}}`)).text).toContain(`"value":${given},`);
  expect((await send("GET", path)).text).toContain(`"value":${given},`);
  const form = new FormData();
  form.set("file", new File([`{"invoice":${result}}`], "invoice.json", { type: "application/json" }));
  form.set("purpose", "attachment");
  const file = await send("POST", "/v1/files", form);
  const agent = await createAgent(server, "gpt");
  const { id } = JSON.parse(file.text);
  await start(agent, `,"file_ids":["${id}"]`);
  expect(sent.model.at(-1)).toContain("1199783456789012345");
  expect((await send("GET", `/v1/files/${id}/content`)).text).toBe(`{"invoice":${result}}`);
});
