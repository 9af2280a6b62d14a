import { afterAll, describe, expect, test } from "bun:test";
import { fileURLToPath } from "node:url";
import { createEgress } from "../../lib/egress.ts";
import { silentLog } from "../../lib/log.ts";
import { withEnoughTime } from "../../testing/enough-time.ts";
import { createMcpClient } from "./client.ts";
import { readStdioServers } from "./stdio-config.ts";
import { createStdioServers } from "./stdio-servers.ts";

const program = fileURLToPath(import.meta.resolve("../../testing/mcp-server.ts"));
const complaining = `
for (let i = 0; i < 100; i++) console.error("line " + i);
console.error("Error: \\x1b[31mno such folder /data, with " + process.env.GIVEN_TOKEN);
process.exitCode = 1;`;
const broken = `process.stderr.write("key " + process.env.GIVEN_TOKEN.slice(0, 12), () => process.exit(1));`;
const environment = {
  RUNNEL_MCP_BROKEN_COMMAND: JSON.stringify([process.execPath, "-e", broken]),
  RUNNEL_MCP_BROKEN_ENV: "GIVEN_TOKEN",
  RUNNEL_MCP_TESTS_COMMAND: JSON.stringify([process.execPath, program]),
  RUNNEL_MCP_TESTS_ENV: "GIVEN, ABSENT",
  GIVEN: "yes",
  NOT_GIVEN: "no",
  RUNNEL_MCP_ABSENT_COMMAND: "/no/such/program --at all",
  RUNNEL_MCP_COMPLAINING_COMMAND: JSON.stringify([process.execPath, "-e", complaining]),
  RUNNEL_MCP_COMPLAINING_ENV: "GIVEN_TOKEN",
  GIVEN_TOKEN: "token-of-the-program",
  RUNNEL_MCP_SILENT_COMMAND: JSON.stringify([process.execPath, "-e", "process.exit(3)"]),
};
const lines: string[] = [];
const note = (message: string, fields?: Record<string, unknown>) =>
  void lines.push(`${message} ${JSON.stringify(fields)}`);
const newStdio = (idle_ms?: number) =>
  createStdioServers({
    servers: readStdioServers(environment),
    log: { ...silentLog, info: note, warn: note },
    idle_ms,
  });
const limits = (timeout_ms = 20_000) => ({ timeout_ms, signal: new AbortController().signal });

const stdio = newStdio();
const newClient = (servers = stdio) =>
  createMcpClient({ egress: createEgress({ allow: [], loopback: false }), stdio: servers });
const client = newClient();
const call = (name: string, args = {}, by = client) =>
  by.callTool({ url: "stdio:tests", headers: {} }, name, args, limits());
afterAll(() => stdio.close());

const isAlive = (pid: number) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

test("a program is started once for all runs, and behaves like a server on the network", async () => {
  const { tools } = await client.listTools({ url: "stdio:tests", headers: {} }, null, limits());
  expect(tools.length).toBeGreaterThan(8);
  expect(await call("add", { a: 2, b: 3 })).toMatchObject({ structured: { sum: 5 } });
  const other = newClient();
  expect((await call("pid", {}, other)).text).toBe((await call("pid")).text);
});

test("it gets only the listed variables of the environment", async () => {
  process.env.RUNNEL_MASTER_KEY_OF_TEST = "secret";
  try {
    const fresh = newStdio();
    const names = (await call("environment", {}, newClient(fresh))).text.split(" ");
    await fresh.close();
    expect(names).toContain("GIVEN");
    expect(names).not.toContain("NOT_GIVEN");
    expect(names.filter((name) => /^RUNNEL_|_API_KEY$/.test(name))).toEqual([]);
  } finally {
    delete process.env.RUNNEL_MASTER_KEY_OF_TEST;
  }
});

test("a program that crashes fails the current call and is restarted for the next one", async () => {
  const fresh = newStdio();
  const by = newClient(fresh);
  const { text: first } = await call("pid", {}, by);
  await expect(call("die", {}, by)).rejects.toMatchObject({ code: "connection_lost" });
  expect((await call("pid", {}, by)).text).not.toBe(first);
  await fresh.close();
});

test("a call that takes too long is aborted, and the program continues", async () => {
  const { text: pid } = await call("pid");
  const outcome = client.callTool({ url: "stdio:tests", headers: {} }, "wait", {}, limits(100));
  await expect(outcome).rejects.toMatchObject({ code: "timeout" });
  expect((await call("pid")).text).toBe(pid);
});

test("a call waits until its node holds the lease, and is not sent if its caller has gone", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const asked: AbortSignal[] = [];
  const leading = (signal: AbortSignal) => {
    asked.push(signal);
    return promise;
  };
  const fresh = createStdioServers({ servers: readStdioServers(environment), log: silentLog, leading });
  const by = newClient(fresh);
  await withEnoughTime(1, async (timeout_ms) => {
    const given = by.callTool({ url: "stdio:tests", headers: {} }, "pid", {}, limits(timeout_ms));
    await expect(given).rejects.toMatchObject({ code: "timeout", request: "not_sent" });
    return asked.length || null; // None: the deadline passed before the call was sent.
  });
  const done = call("pid", {}, by).then(({ text }) => text);
  while (asked.length < 2) await Bun.sleep(1);
  const waits = await Promise.race([done, new Promise((free) => setImmediate(free, "waits"))]);
  expect([waits, asked[0]!.aborted]).toEqual(["waits", true]);
  resolve();
  expect(await done).toMatch(/^\d+$/);
  await fresh.close();
});

test("an idle program is stopped, and all are stopped at the end", async () => {
  const fresh = newStdio(1);
  const pid = Number((await call("pid", {}, newClient(fresh))).text);
  while (isAlive(pid)) await Bun.sleep(5);
  const again = Number((await call("pid", {}, newClient(fresh))).text);
  await fresh.close();
  while (isAlive(again)) await Bun.sleep(5);
});

test.each([
  ["is configured by nobody", "stdio:other"],
  ["has the name of something else", "stdio:constructor"],
  ["does not exist", "stdio:absent"],
  ["ends at once", "stdio:silent"],
])("a program that %s is an error", async (_, url) => {
  await expect(client.callTool({ url, headers: {} }, "add", {}, limits())).rejects.toMatchObject({
    code: "mcp_unreachable",
  });
});

test("a program that did not start, or exited, is an error with its last stderr lines, with secrets hidden", async () => {
  const failure = (url: string, tool = "add") =>
    client.callTool({ url, headers: {} }, tool, {}, limits()).catch(({ message }) => message);
  expect(await failure("stdio:complaining")).toBe(
    "The process of stdio:complaining did not start. It wrote: line 96\nline 97\nline 98\nline 99\nError: [31mno such folder /data, with [hidden]",
  );
  expect(await failure("stdio:broken")).toBe("The process of stdio:broken did not start. It wrote: key [hidden]");
  expect(await failure("stdio:absent")).toBe("The process of stdio:absent did not start (ENOENT).");
  expect(await failure("stdio:silent")).toBe("The process of stdio:silent did not start.");
  const fresh = newStdio();
  const died = await newClient(fresh)
    .callTool({ url: "stdio:tests", headers: {} }, "die", {}, limits())
    .catch(({ message }) => message);
  expect(died).toBe("The process of stdio:tests ended before it answered. It wrote: ready");
  await fresh.close();
});

test("a program's stderr is logged", async () => {
  await call("pid");
  while (!lines.join("\n").includes("ready")) await Bun.sleep(1); // Its response comes through another pipe.
});

describe("configuration", () => {
  const command = (text: string) => readStdioServers({ RUNNEL_MCP_MY_FILES_COMMAND: text });

  test("is a list of texts, or plain words", () => {
    const server = { my_files: { command: "npx", args: ["-y", "a server"], env: {} } };
    expect(command('["npx", "-y", "a server"]')).toEqual(server);
    expect(command(" npx -y server ")).toEqual({ my_files: { ...server.my_files, args: ["-y", "server"] } });
    expect(command("")).toEqual({});
  });

  test.each(['npx "a b"', "a | b", "echo $HOME", '["a", 1]', "[]", '["a"', '[""]'])("%s is refused", (text) => {
    expect(() => command(text)).toThrow("RUNNEL_MCP_MY_FILES_COMMAND");
  });

  test.each(["RUNNEL_MASTER_KEY", "OPENAI_API_KEY", "ANTHROPIC_API_KEY"])("%s is passed to no program", (name) => {
    const environment = { RUNNEL_MCP_A_COMMAND: "a", RUNNEL_MCP_A_ENV: `X ${name}`, [name]: "secret" };
    expect(() => readStdioServers(environment)).toThrow(name);
  });
});
