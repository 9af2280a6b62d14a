import { afterAll, beforeAll, expect, test } from "bun:test";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { networkInterfaces, tmpdir } from "node:os";
import { join } from "node:path";
import { inProject } from "../scripts/root.ts";
import { nodeForTypeScript } from "./doc-examples.ts";
import { executable, firstLine, type Json } from "./harness.ts";

// `runnel dev`: a server for the person at this machine, without a certificate, a password or a value to copy.

const folder = mkdtempSync(join(tmpdir(), "runnel-dev-"));
const dataDir = join(folder, "runnel-data");
const environment = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^RUNNEL_|_API_KEY$|_proxy$|^BUN_/i.test(name)),
);

interface Started {
  child: Bun.Subprocess<"ignore", "pipe", Bun.BunFile>;
  line: Json;
}

async function start(...flags: string[]): Promise<Started> {
  const child = Bun.spawn([executable, "dev", "--port", "0", "--json", ...flags], {
    cwd: folder,
    env: environment,
    stdin: "ignore",
    stdout: "pipe",
    stderr: Bun.file(join(folder, "log")),
  });
  return { child, line: JSON.parse(await firstLine(child.stdout)) };
}

async function end({ child }: Started, signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
  child.kill(signal);
  await child.exited;
}

/** Runs a program in the folder of the data, without any setting. */
async function type(command: string[], env = environment) {
  const child = Bun.spawn(command, { cwd: folder, env, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const [stdout, stderr, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { stdout, stderr, code };
}

let server: Started;
beforeAll(async () => {
  server = await start();
});
afterAll(async () => {
  await end(server);
  rmSync(folder, { recursive: true, force: true });
});

test("its agent is run without a key, an address or a certificate being named", async () => {
  const { stdout, stderr, code } = await type([executable, "run", "guide", "What can I do in Oslo today?"]);
  expect({ stdout, code }).toEqual({
    stdout: "It is 21 degrees and sunny in Oslo, so take the ferry to the islands.\n",
    code: 0,
  });
  expect(stderr).toContain('→ get_weather {"city":"Oslo"}');
});

test("a run of the agent searches its memory", async () => {
  const { api_key } = server.line.development;
  const headers = { authorization: `Bearer ${api_key}`, "content-type": "application/json" };
  const [agent] = (await (await fetch(`${server.line.api_url}/agents?name=guide`, { headers })).json()).data;
  const body = JSON.stringify({ agent_id: agent.id, input: "Which tickets are there for the ferry?" });
  const run = await (await fetch(`${server.line.api_url}/runs?wait=60`, { method: "POST", headers, body })).json();
  const { data } = await (await fetch(`${server.line.api_url}/runs/${run.id}/events?limit=100`, { headers })).json();
  const retrieved = data.find(({ event, type: kind }: Json) => [event, kind].includes("memory.retrieved"));
  expect(JSON.stringify(retrieved)).toContain("ticket");
});

test("it listens on loopback alone", async () => {
  const { port } = new URL(server.line.address);
  expect(server.line.address).toStartWith("http://127.0.0.1:");
  const others = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  for (const { address, family, internal } of others)
    if (!internal && family === "IPv4")
      await expect(fetch(`http://${address}:${port}/v1/me`), address).rejects.toThrow("Unable to connect");
});

/** Starts the server again, whose link was not opened yet. */
async function startAgain(): Promise<Json> {
  await end(server);
  server = await start();
  return server.line.development;
}

test("its link signs in once, and not a second time", async () => {
  const { sign_in_link } = await startAgain();
  const first = await fetch(sign_in_link, { redirect: "manual" });
  expect([first.status, first.headers.get("location")]).toEqual([303, "/dashboard"]);
  const cookie = first.headers.get("set-cookie")!.split(";")[0]!;
  const session = await fetch(`${server.line.address}/console/api/session`, { headers: { cookie } });
  expect((await session.json()).user).toMatchObject({ role: "owner" });
  const second = await fetch(sign_in_link, { redirect: "manual" });
  expect([second.headers.get("location"), second.headers.get("set-cookie")]).toEqual([
    "/dashboard/login?refused=link",
    null,
  ]);
});

test("files with its key are readable by their owner alone", () => {
  for (const name of ["server.json", "developer.key"])
    expect((statSync(join(dataDir, name)).mode & 0o777).toString(8), name).toBe("600");
});

test.skipIf(!(await nodeForTypeScript()))("the TypeScript client finds the server and its key beside it", async () => {
  symlinkSync(inProject("server/sdks"), join(folder, "sdks"));
  writeFileSync(
    join(folder, "program.mts"),
    `import { Client } from "./sdks/typescript/client.ts";
     const client = new Client();
     process.stdout.write([client.baseUrl, (await client.json("GET", "/v1/me")).environment].join(" "));`,
  );
  const node = (await nodeForTypeScript())!;
  expect(await type([...node, "program.mts"])).toMatchObject({ stdout: `${server.line.address} test`, code: 0 });
  const elsewhere = await type([...node, "program.mts"], { ...environment, RUNNEL_URL: "http://127.0.0.1:9" });
  expect(elsewhere.stderr, "the key is not sent to another server").toContain("An API key is missing");
  // A folder of others, such as a cloned repository, cannot name the address that a key of the user is sent to.
  const foreign = join(folder, "foreign");
  mkdirSync(foreign);
  const file = { ...JSON.parse(readFileSync(join(dataDir, "server.json"), "utf8")), address: "https://example.com" };
  for (const [mode, address] of [
    [0o600, "https://example.com"],
    [0o644, server.line.address],
  ] as const) {
    writeFileSync(join(foreign, "server.json"), JSON.stringify({ ...file, address }));
    chmodSync(join(foreign, "server.json"), mode);
    const ignored = await type([...node, "program.mts"], { ...environment, RUNNEL_DATA_DIR: foreign });
    expect(ignored.stderr, address).toContain("An API key is missing");
  }
});

test("after kill -9 its key, its agent and its account are the same, and a new link signs in", async () => {
  const before = server.line;
  await end(server, "SIGKILL");
  server = await start();
  expect(server.line.development.api_key).toBe(before.development.api_key);
  expect(server.line.development.sign_in_link).not.toBe(before.development.sign_in_link);
  const headers = { authorization: `Bearer ${before.development.api_key}` };
  const { data } = await (await fetch(`${server.line.api_url}/agents`, { headers })).json();
  expect(data.map(({ name }: Json) => name)).toEqual(["guide"]);
  const { status } = await fetch(server.line.development.sign_in_link, { redirect: "manual" });
  expect(status).toBe(303);
});

test("a key that was revoked is replaced at the next start", async () => {
  const revoked = server.line.development.api_key;
  // The last admin key cannot be revoked.
  await type([executable, "keys", "create", "--env", "test", "--scopes", "admin", "--name", "other"]);
  const { stdout } = await type([executable, "keys", "list", "--env", "test", "--json"]);
  const { id } = JSON.parse(stdout).data.find(({ name, status }: Json) => name === "runnel dev" && status === "active");
  expect(await type([executable, "keys", "revoke", id])).toMatchObject({ stderr: "", code: 0 });
  await end(server);
  server = await start();
  expect(server.line.development.api_key).not.toBe(revoked);
  expect(readFileSync(join(dataDir, "developer.key"), "utf8")).toBe(`${server.line.development.api_key}\n`);
  expect((await type([executable, "run", "guide", "Hello"])).code).toBe(0);
});

test("a key whose secret is lost is revoked at the next start, and no other one", async () => {
  const lost = server.line.development.api_key;
  const { stdout: own } = await type([executable, "keys", "create", "--env", "test", "--scopes", "read", "--json"]);
  await end(server);
  rmSync(join(dataDir, "developer.key"));
  server = await start();
  const { stdout } = await type([executable, "keys", "list", "--env", "test", "--json"]);
  const active: Json[] = JSON.parse(stdout).data.filter(({ status }: Json) => status === "active");
  expect(active.filter(({ name }) => name === "runnel dev")).toHaveLength(1);
  const statusOf = async (key: string) =>
    (await fetch(`${server.line.api_url}/me`, { headers: { authorization: `Bearer ${key}` } })).status;
  expect([await statusOf(lost), await statusOf(JSON.parse(own).secret)]).toEqual([401, 200]);
});

test("a port or a folder that is taken is refused with the way out", async () => {
  const taken = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  const refused = await type([executable, "dev", "--port", String(taken.port), "--data-dir", join(folder, "taken")]);
  expect(refused).toMatchObject({ stdout: "", code: 1 });
  expect(refused.stderr).toContain(`Port ${taken.port} of 127.0.0.1 is taken. --port gives another one`);
  taken.stop(true);
  const second = await type([executable, "dev", "--port", "0"]);
  expect(second).toMatchObject({ stdout: "", code: 75 });
  expect(second.stderr).toContain(`is in use by another runnel at ${server.line.address}`);
});

test("on data with agents of its own, the first one is named, and no other is made", async () => {
  const other = join(folder, "other");
  const first = await start("--data-dir", other);
  const headers = { authorization: `Bearer ${first.line.development.api_key}`, "content-type": "application/json" };
  const [{ id }] = (await (await fetch(`${first.line.api_url}/agents`, { headers })).json()).data;
  await fetch(`${first.line.api_url}/agents/${id}`, { method: "DELETE", headers });
  const body = JSON.stringify({ name: "mine", instructions: "Be brief.", model: "test/echo" });
  await fetch(`${first.line.api_url}/agents`, { method: "POST", headers, body });
  await end(first);
  const again = await start("--data-dir", other);
  expect(again.line.development.agent).toBe("mine");
  await end(again);
});

test("serve on the same data shows a link for the first account, and neither the key nor a session of dev is left", async () => {
  const { sign_in_link, api_key } = await startAgain();
  const signedIn = await fetch(sign_in_link, { redirect: "manual" });
  const cookie = signedIn.headers.get("set-cookie")!.split(";")[0]!;
  await end(server);
  const child = Bun.spawn([executable, "serve", "--port", "0", "--json", "--insecure-http"], {
    cwd: folder,
    env: environment,
    stdin: "ignore",
    stdout: "pipe",
    stderr: Bun.file(join(folder, "log")),
  });
  const line: Json = JSON.parse(await firstLine(child.stdout));
  expect(JSON.stringify(line)).not.toContain(api_key);
  expect(readFileSync(join(dataDir, "server.json"), "utf8")).not.toContain("api_key");
  expect(line.setup_link).toContain("/dashboard/setup#");
  expect((await fetch(`${line.address}/console/api/session`, { headers: { cookie } })).status).toBe(401);
  const { pathname } = new URL(sign_in_link);
  const response = await fetch(`${line.address}${pathname}`, { redirect: "manual" });
  expect([response.status, response.headers.get("set-cookie")]).toEqual([404, null]);
  await end({ child, line });
  server = await start();
});

test("two of them on one machine keep their sessions apart", async () => {
  const other = await start("--data-dir", join(folder, "neighbour"));
  const links = [await startAgain(), other.line.development].map(({ sign_in_link }: Json) => sign_in_link as string);
  const signedIn = await Promise.all(links.map((link) => fetch(link, { redirect: "manual" })));
  // As a browser keeps them, which takes no notice of the port.
  const jar = new Map(
    signedIn.map(({ headers }) => headers.get("set-cookie")!.split(";")[0]!.split("=") as [string, string]),
  );
  const cookie = [...jar].map((pair) => pair.join("=")).join("; ");
  for (const { line } of [server, other]) {
    const session = await fetch(`${line.address}/console/api/session`, { headers: { cookie } });
    expect([line.address, session.status]).toEqual([line.address, 200]);
  }
  await end(other);
});
