import { expect, test } from "bun:test";
import { createEgress } from "../../lib/egress.ts";
import { silentLog } from "../../lib/log.ts";
import { createMcpClient } from "./client.ts";
import { createStdioServers } from "./stdio-servers.ts";

/** Returns a client of a program that answers each request with `say(message, answer)`. */
function clientOf(say: string) {
  const program = `
    const write = (text) => process.stdout.write(text);
    const answer = (id, result) => write(JSON.stringify({ jsonrpc: "2.0", id, result }) + "\\n");
    const say = ${say};
    let text = "";
    process.stdin.on("data", (chunk) => {
      text += chunk;
      const lines = text.split("\\n");
      text = lines.pop();
      for (const line of lines) {
        const message = JSON.parse(line);
        const { id, method, params } = message;
        if (method === "initialize") {
          write("Starting the server on stdio\\n{not JSON}\\n\\n");
          const serverInfo = { name: "noisy", version: "1" };
          answer(id, { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo });
        } else if (id !== undefined) say(message, (result) => answer(id, result), write);
      }
    });`;
  const servers = { noisy: { command: process.execPath, args: ["-e", program], env: {} } };
  const stdio = createStdioServers({ servers, log: silentLog });
  const client = createMcpClient({ egress: createEgress({ allow: [], loopback: false }), stdio });
  const limits = { timeout_ms: 20_000, signal: new AbortController().signal };
  const at = { url: "stdio:noisy", headers: {} };
  return {
    list: () => client.listTools(at, null, limits),
    call: () => client.callTool(at, "t", {}, limits),
    [Symbol.asyncDispose]: () => stdio.close(),
  };
}

test("a program that writes other lines than messages on its output is understood all the same", async () => {
  await using noisy = clientOf(`(message, answer, write) => {
    write("[MCP] " + message.method + " requested\\r\\n{\\"level\\":\\"info\\"}\\nnull\\n[]\\n");
    answer({ content: [{ type: "text", text: "heard" }] });
  }`);
  expect((await noisy.call()).text).toBe("heard");
  expect((await noisy.call()).text).toBe("heard");
});

test("a message that comes in pieces, cut inside of a letter, is understood", async () => {
  await using noisy = clientOf(`({ id }, answer, write) => {
    const bytes = Buffer.from(JSON.stringify({ jsonrpc: "2.0", id, result: { content: [{ type: "text", text: "schön" }] } }) + "\\r\\n");
    const at = bytes.indexOf(0xc3) + 1;
    write(bytes.subarray(0, at));
    setTimeout(() => write(bytes.subarray(at)), 20);
  }`);
  expect((await noisy.call()).text).toBe("schön");
});

test("a broken schema of outputs does not keep a tool away", async () => {
  await using noisy = clientOf(`(message, answer) => answer({ tools: [
    { name: "a", inputSchema: { type: "object" }, outputSchema: { type: "object", properties: { x: { $ref: "#/$defs/Missing" } } } },
    { name: "b", inputSchema: { type: "object" }, outputSchema: "none" },
  ] })`);
  const { tools, skipped } = await noisy.list();
  expect([tools.map(({ name }) => name), skipped]).toEqual([["a", "b"], []]);
});
