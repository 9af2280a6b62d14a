import { afterAll, expect, test } from "bun:test";
import { createEgress } from "../../lib/egress.ts";
import { parseExact } from "../../lib/exact-numbers.ts";
import { silentLog } from "../../lib/log.ts";
import { removeProxyEnvironment } from "../../lib/proxy.ts";
import { createMcpClient } from "./client.ts";
import { createStdioServers } from "./stdio-servers.ts";

removeProxyEnvironment();

// These servers echo numbers byte for byte.
const schema = '{"type":"object","properties":{"number":{"type":"integer","maximum":9223372036854775807}}}';
const answerTo = (body: string): string | null => {
  const [, id] = /"id":(\d+)/.exec(body) ?? [];
  if (id === undefined) return null;
  const [, args] = /"arguments":(\{.*?\})[,}]/.exec(body) ?? [];
  const started =
    '{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"exact","version":"1"}}';
  const listed = `{"tools":[{"name":"echo","inputSchema":${schema}}]}`;
  const echoed = `{"content":[],"structuredContent":{"got":${args}, "left": 0.1234567890123456789}}`;
  const result = body.includes('"initialize"') ? started : body.includes('"tools/list"') ? listed : echoed;
  return `{"jsonrpc":"2.0","id":${id},"result":${result}}`;
};

const forms: Record<string, (json: string) => [type: string, body: string]> = {
  "in JSON": (json) => ["application/json", json],
  "in JSON over lines": (json) => ["application/json", json.replaceAll(",", ",\n  ")],
  "streaming, in an event": (json) => ["text/event-stream", `: hello\n\nevent: message\ndata: ${json}\n\n`],
  "streaming, in lines of an event": (json) => [
    "text/event-stream",
    `data: ${json.replaceAll(",", ",\r\ndata: ")}\r\n\r\n`,
  ],
};

const network = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  async fetch(request) {
    if (request.method !== "POST") return new Response(null, { status: 405 });
    const json = answerTo(await request.text());
    if (json === null) return new Response(null, { status: 202 });
    const form = decodeURIComponent(new URL(request.url).pathname.slice(1));
    const [type, body] = forms[form]!(json);
    return new Response(body, { headers: { "content-type": type } });
  },
});

const program = `
const answerTo = ${answerTo};
const schema = '${schema}';
require("readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const json = answerTo(line);
  if (json) console.log(json);
});`;
const servers = { exact: { command: process.execPath, args: ["-e", program], env: {} } };
const stdio = createStdioServers({ servers, log: silentLog });
const client = createMcpClient({ egress: createEgress({ allow: [], loopback: true }), stdio });
afterAll(async () => {
  await client.close();
  await stdio.close();
  await network.stop(true);
});
const limits = () => ({ timeout_ms: 20_000, signal: new AbortController().signal });

const addresses = [
  ...Object.keys(forms).map((form) => [form, `http://127.0.0.1:${network.port}/${encodeURIComponent(form)}`]),
  ["as a program", "stdio:exact"],
];

test.each(addresses)(
  "a server %s gets all digits of arguments, and the digits of its data and schemas are kept",
  async (_, url) => {
    const server = { url: url!, headers: {} };
    const { tools } = await client.listTools(server, null, limits());
    expect(JSON.stringify(tools[0]!.parameters)).toBe(schema);
    const args = '{"number":2512292042121000001,"of":[-9007199254740993,7]}';
    const { structured } = await client.callTool(server, "echo", parseExact(args), limits());
    expect(JSON.stringify(structured)).toBe(`{"got":${args},"left":0.1234567890123456789}`);
  },
);
