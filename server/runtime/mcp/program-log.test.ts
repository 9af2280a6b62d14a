import { expect, test } from "bun:test";
import { createEgress } from "../../lib/egress.ts";
import { silentLog } from "../../lib/log.ts";
import { createMcpClient } from "./client.ts";
import { createProgramLog } from "./program-log.ts";
import { createStdioServers } from "./stdio-servers.ts";

type Line = [level: string, message: string, fields: Record<string, unknown> | undefined];

function record() {
  const lines: Line[] = [];
  const at = (level: string) => (message: string, fields?: Record<string, unknown>) =>
    void lines.push([level, message, fields]);
  return { lines, log: { info: at("info"), warn: at("warn"), error: at("error") } };
}

const secret = "token-of-the-program";

function programLog(now = () => 0) {
  const { lines, log } = record();
  return { lines, ...createProgramLog({ name: "files", log, secrets: [secret], now }) };
}

test("a program's stderr is logged in whole lines under its name, and a secret cut by two writes is hidden", () => {
  const { lines, hear, end } = programLog();
  hear(Buffer.from("opened /srv\nwith token-of-"));
  hear(Buffer.from("the-program\nand"));
  hear(Buffer.from(" more"));
  end();
  expect(lines).toEqual([
    ["info", "MCP server wrote", { server: "files", text: "opened /srv" }],
    ["info", "MCP server wrote", { server: "files", text: "with [hidden]" }],
    ["info", "MCP server wrote", { server: "files", text: "and more" }],
  ]);
});

test("each line of a write is logged, and a line that is too long says that it was cut", () => {
  const { lines, hear, say } = programLog();
  hear(Buffer.from(`first\r\n${"x".repeat(5000)}\nlast`));
  hear(Buffer.from("\n"));
  say({ level: "info", message: "y".repeat(5000) });
  expect(lines.map(([, , fields]) => fields!.text)).toEqual([
    "first",
    `${"x".repeat(4096)} … [the rest of the line is left out]`,
    "last",
    `${"y".repeat(4096)} … [the rest of the line is left out]`,
  ]);
});

test("a program that only returns to the line's start, as progress bars do, is logged", () => {
  const { lines, hear } = programLog();
  for (const text of ["10 %\r", "20 %\r", "30 %\r"]) hear(Buffer.from(text));
  expect(lines.map(([, , fields]) => fields!.text)).toEqual(["10 %", "20 %"]);
});

test.each([4090, 4096, 4100])("no part of a secret is shown where a long line is cut (%d)", (before) => {
  const { lines, hear, end } = programLog();
  const text = `${"x".repeat(before)}${secret} and ${"y".repeat(3000)}`;
  for (let at = 0; at < text.length; at += 100) hear(Buffer.from(text.slice(at, at + 100)));
  end();
  const shown = JSON.stringify(lines);
  expect(shown).toContain("xxx");
  for (let at = 0; at + 4 <= secret.length; at++) expect(shown).not.toContain(secret.slice(at, at + 4));
});

test("a secret of several lines is hidden, and so is one that the end cuts", () => {
  const { lines, log } = record();
  const several = "-----BEGIN KEY-----\nMIIEvQIBADANBg\n-----END KEY-----";
  const { hear, end } = createProgramLog({ name: "files", log, secrets: [several], now: () => 0 });
  hear(Buffer.from(`key ${several.slice(0, 25)}`));
  hear(Buffer.from(`${several.slice(25)} read\nand ${several.slice(0, 30)}`));
  end();
  expect(lines.map(([, , fields]) => fields!.text)).toEqual(["key [hidden] read", "and [hidden]"]);
});

test("short lines are not logged in any number", () => {
  const { lines, hear } = programLog();
  for (let time = 0; time < 100; time++) hear(Buffer.from("x\n".repeat(100)));
  expect(lines.length).toBe(256);
});

test("log messages have the program's level, and those that matter are warnings", () => {
  const { lines, say } = programLog();
  say({ level: "notice", message: "indexed 3 files" });
  say({ level: "critical", message: `disk full ${secret}` });
  expect(lines).toEqual([
    ["info", "MCP server logged", { server: "files", server_level: "notice", text: "indexed 3 files" }],
    ["warn", "MCP server logged", { server: "files", server_level: "critical", text: "disk full [hidden]" }],
  ]);
});

test("a flood is left out for a minute, and logging goes on after it", () => {
  let now = 0;
  const { lines, hear, say } = programLog(() => now);
  for (let time = 0; time < 1000; time++) hear(Buffer.from(`${"x".repeat(500)}\n`));
  const characters = lines.reduce((sum, [, , fields]) => sum + String(fields!.text).length, 0);
  expect(characters).toBeLessThan(17_000);
  expect(lines.at(-1)![2]!.text).toEndWith("[more of it is left out for a minute]");
  const before = lines.length;
  say({ level: "error", message: "unheard" });
  expect(lines.length).toBe(before);
  now = 60_000;
  say({ level: "error", message: "heard again" });
  expect(lines.at(-1)![2]!.text).toBe("heard again");
});

test("a line without end is not held for ever", () => {
  const { lines, hear } = programLog();
  for (let time = 0; time < 20; time++) hear(Buffer.from(`x${" ".repeat(999)}`));
  expect(lines.length).toBe(1);
  expect(lines[0]![2]!.text).toEndWith(" … [the rest of the line is left out]");
});

test("messages of a program are in the server's log, and not in the run that calls at that time", async () => {
  const program = `
    const send = (message) => console.log(JSON.stringify({ jsonrpc: "2.0", ...message }));
    require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
      const { id, method, params } = JSON.parse(line);
      if (method === "initialize") {
        const serverInfo = { name: "logs", version: "1" };
        send({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {}, logging: {} }, serverInfo } });
      } else if (method === "tools/call") {
        send({ method: "notifications/message", params: { level: "error", logger: "db", data: { lost: process.env.TOKEN } } });
        send({ id, result: { content: [{ type: "text", text: "done" }] } });
      }
    });`;
  const { lines, log } = record();
  const servers = { logs: { command: process.execPath, args: ["-e", program], env: { TOKEN: secret } } };
  const stdio = createStdioServers({ servers, log: { ...silentLog, ...log } });
  const client = createMcpClient({ egress: createEgress({ allow: [], loopback: false }), stdio });
  const inRun: unknown[] = [];
  const limits = { timeout_ms: 20_000, signal: new AbortController().signal };
  const hooks = { onLog: (said: unknown) => void inRun.push(said) };
  await client.callTool({ url: "stdio:logs", headers: {} }, "t", {}, limits, hooks);
  expect(inRun).toEqual([]);
  expect(lines).toContainEqual([
    "warn",
    "MCP server logged",
    { server: "logs", server_level: "error", text: '{"lost":"[hidden]"}' },
  ]);
  await stdio.close();
});
