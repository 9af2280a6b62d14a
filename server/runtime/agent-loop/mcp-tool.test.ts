import { expect, test } from "bun:test";
import { stateOf, turnWithCalls } from "../../domain/__fixtures__/events.ts";
import { tool } from "../../testing/run-fixture.ts";
import type { McpClient } from "../mcp/client.ts";
import { McpFailure } from "../mcp/mcp-failure.ts";
import type { McpResult } from "../mcp/read-result.ts";
import type { ProgramFile } from "../sandbox/program.ts";
import type { ToolSecrets } from "./messages.ts";
import type { ToolContext } from "./tools/context.ts";
import { run as runMcpTool } from "./tools/mcp.ts";

const token = "token-of-the-server";
const [call] = stateOf(...turnWithCalls(["call_1", null])).calls;
const mcp = { server_url: "https://mcp.test/", tool: "read", timeout_ms: 1000, sealed: "" };
const secrets: ToolSecrets = { headers: { authorization: `Bearer ${token}` }, signing_secret: "" };

function run(callTool: () => Promise<McpResult>, given = secrets, more: Partial<ToolContext> = {}) {
  const seen: unknown[] = [];
  const client: Pick<McpClient, "callTool"> = {
    callTool(server, name, args, { timeout_ms }) {
      seen.push({ server, name, args, timeout_ms });
      return callTool();
    },
  };
  const context = {
    owner: "project",
    mcp: client,
    hidden: () => [token],
    secrets: async () => given,
    accessToken: async () => null,
    ...more,
  } as unknown as ToolContext;
  const outcome = runMcpTool(call!, { ...tool("files_read"), type: "mcp", mcp }, context, new AbortController().signal);
  return { outcome, seen };
}

const answers = (result: Partial<McpResult>) => run(async () => ({ text: "", isError: false, ...result })).outcome;
const fails = (error: Error) => run(() => Promise.reject(error)).outcome;

test("a call uses the tool's name on the server and the tool's headers", async () => {
  const { outcome, seen } = run(async () => ({ text: "hello", isError: false }));
  expect(await outcome).toEqual({ output: "hello", error: null, attempts: 1 });
  const server = { url: "https://mcp.test/", headers: secrets.headers };
  expect(seen).toEqual([{ server, name: "read", args: call!.arguments, timeout_ms: 1000 }]);
});

test("structured content is preferred to text, and secrets are hidden in both", async () => {
  expect(await answers({ text: `it is ${token}` })).toMatchObject({ output: "it is [hidden]" });
  expect(await answers({ text: "{}", structured: { key: token, n: 1 } })).toMatchObject({
    output: { key: "[hidden]", n: 1 },
  });
});

test("images of a response become files of the call, with secrets hidden", async () => {
  const kept: string[] = [];
  const keepFile = async ({ name, bytes }: ProgramFile) => {
    kept.push(Buffer.from(bytes).toString());
    return { id: "file_1", filename: name, mime_type: "image/png", bytes: bytes.length, sha256: "" };
  };
  const files = [{ name: "image-1.png", bytes: new TextEncoder().encode(`a ${token} b ${token}`) }];
  const { outcome } = run(async () => ({ text: "[image]", isError: false, files }), secrets, { keepFile });
  expect(await outcome).toMatchObject({ output: "[image]", files: [{ id: "file_1", filename: "image-1.png" }] });
  expect(kept).toEqual([`a ${"*".repeat(token.length)} b ${"*".repeat(token.length)}`]);
});

test("data that could not be stored safely is an error", async () => {
  const structured = JSON.parse('{"a": {"__proto__": 1}}');
  expect(await answers({ structured })).toMatchObject({ error: { code: "invalid_response" } });
});

test("the tool's error and the server's failure are errors for the model, with secrets hidden", async () => {
  expect(await answers({ text: `no ${token} ${"x".repeat(9000)}`, isError: true })).toMatchObject({
    output: null,
    error: { code: "mcp_error", message: `no [hidden] ${"x".repeat(4000 - 12)}` },
  });
  expect(await answers({ isError: true, structured: { reason: `no ${token}` } })).toMatchObject({
    error: { code: "mcp_error", message: '{"reason":"no [hidden]"}' },
  });
  expect(await answers({ isError: true })).toMatchObject({
    error: { code: "mcp_error", message: "The tool failed without a message." },
  });
  expect(await fails(new McpFailure("mcp_unreachable", `status 401: ${token.toUpperCase()}`))).toMatchObject({
    error: { code: "mcp_unreachable", message: "status 401: [hidden]" },
  });
});

test("an internal error is not reported as the tool's error", async () => {
  await expect(fails(new Error("a bug"))).rejects.toThrow("a bug");
});

test("if a header names a missing secret, nothing is sent", async () => {
  const { outcome, seen } = run(async () => ({ text: "", isError: false }), {
    ...secrets,
    named: { values: [], missing: ["TOKEN"] },
  });
  expect(await outcome).toMatchObject({ error: { code: "secret_not_found" }, attempts: 0 });
  expect(seen).toEqual([]);
});
