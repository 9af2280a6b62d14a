import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createCertificateAuthority } from "../server/testing/certificate-authority.ts";
import { createAgent, createScripted } from "./fixtures.ts";
import { type Json, type Runnel, runCommand, startRunnel } from "./harness.ts";

// Commands beside a running server, on the same data directory.
let server: Runnel;
beforeAll(async () => {
  server = await startRunnel();
});
afterAll(() => server[Symbol.asyncDispose]());

async function json(...args: string[]): Promise<Json> {
  const { code, stdout, stderr } = await server.command(...args, "--json");
  expect({ args, code, stderr: code === 0 ? "" : stderr }).toEqual({ args, code: 0, stderr: "" });
  return JSON.parse(stdout);
}

test("a key created while the server runs is accepted at once, and a revoked one is refused at once", async () => {
  const key = await json("keys", "create", "--project", "default", "--env", "test", "--scopes", "run", "--name", "ci");
  expect(key).toMatchObject({ object: "api_key", scopes: ["run"], status: "active" });
  expect((await server.get("/v1/me", key.secret)).body).toMatchObject({ scopes: ["run"] });
  expect((await server.post("/v1/agents", {}, key.secret)).body.error.code).toBe("insufficient_scope");

  await json("keys", "revoke", key.id);
  expect((await server.get("/v1/me", key.secret)).body.error.code).toBe("key_revoked");
  const { data } = await json("keys", "list", "--project", "default", "--env", "test");
  expect(data.find(({ id }: { id: string }) => id === key.id)).toMatchObject({ status: "revoked" });
  expect(JSON.stringify(data)).not.toContain(key.secret);
});

test("revoking a key closes its open streams long before the run ends, and the run continues", async () => {
  const agent_id = await createScripted(server, [{ text: "word ".repeat(4000), delta_ms: 20 }]);
  const key = await json("keys", "create", "--env", "test", "--scopes", "run");
  await using stream = await server.stream("/v1/runs", {
    body: { agent_id, input: "Go", stream: true },
    key: key.secret,
  });
  const { data } = await stream.until("token");
  await json("keys", "revoke", key.id);
  await stream.rest();
  expect(stream.ending()).toBe("ended");
  expect(stream.frames.map(({ event }) => event)).not.toContain("run.completed");
  expect((await server.get(`/v1/runs/${data.run_id}`)).body.status).toBe("in_progress");
  await server.post(`/v1/runs/${data.run_id}/cancel`);
});

test("keys of a project see nothing of another project", async () => {
  await json("projects", "create", "second");
  expect((await json("projects", "list")).data.map(({ name }: Json) => name)).toEqual(["default", "second"]);
  const key = await json("keys", "create", "--project", "second", "--env", "test", "--scopes", "admin");
  const agent_id = await createAgent(server, "test/echo");
  expect((await server.get(`/v1/agents/${agent_id}`, key.secret)).status).toBe(404);
  expect((await server.get("/v1/agents", key.secret)).body.data).toEqual([]);
});

test("an unknown project gets no key", async () => {
  const { code, stdout, stderr } = await server.command("keys", "create", "--project", "typo");
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toContain("typo");
});

test("the doctor finds nothing wrong with a running server", async () => {
  const { stdout, code } = await server.command("doctor", "--json");
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toBeObject();
});

test("the terminal starts a run and reads its trace", async () => {
  const agent_id = await createScripted(server, [{ text: "Hello from the script." }]);
  const run = await server.command("run", agent_id, "Hi");
  expect(run).toMatchObject({ code: 0, stdout: expect.stringContaining("Hello from the script.") });
  const { body } = await server.get("/v1/runs?limit=1");
  const trace = await server.command("trace", body.data[0].id);
  expect(trace).toMatchObject({ code: 0, stdout: expect.stringContaining("model") });
});

test("the terminal gives an agent another model, and keeps its other settings", async () => {
  const script = [{ text: "Hello." }];
  const model_settings = { temperature: 0.5, script };
  const { body: agent } = await server.post("/v1/agents", {
    name: "changing",
    instructions: "Be brief.",
    model: "test/script",
    model_settings,
  });
  const used = await server.command("models", "use", "test/echo", "--agent", "changing");
  expect(used).toMatchObject({ code: 0, stdout: "changing uses test/echo from version 2 on.\n" });
  expect((await server.get(`/v1/agents/${agent.id}`)).body).toMatchObject({
    model: "test/echo",
    model_settings: { temperature: 0.5 },
    version: 2,
  });
  const unknown = await server.command("models", "use", "nowhere/model", "--agent", agent.id);
  expect(unknown).toMatchObject({ code: 1, stdout: "", stderr: expect.stringMatching(/^model: /) });
  const missing = await server.command("models", "use", "test/echo", "--agent", "other");
  expect(missing).toMatchObject({ code: 1, stdout: "", stderr: 'There is no agent "other".\n' });
  expect((await server.get(`/v1/agents/${agent.id}`)).body.version).toBe(2);
});

test("the terminal reads a run's journal, a sample of the server's work, and a configuration file", async () => {
  const agent_id = await createScripted(server, [{ text: "Hello." }]);
  const { body: run } = await server.post("/v1/runs?wait=60", { agent_id, input: "Hi" });
  const { stdout } = await server.command("logs", "--run", run.id, "--json");
  const lines = stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(lines.map(({ message }) => message)).toEqual([
    "run.created",
    "step.started",
    "step.completed",
    "run.completed",
  ]);

  const top = await server.command("top", "--json", "--interval", "0.2");
  expect({ code: top.code, runs: JSON.parse(top.stdout).runs }).toMatchObject({ code: 0, runs: { in_progress: 0 } });

  const file = join(server.folder, "runnel.toml");
  writeFileSync(file, 'log-format = "json"\nport = 0\n');
  expect((await runCommand(["config", "check", file])).stdout).toBe(`${file} is valid, with 2 settings.\n`);
  writeFileSync(file, 'log = "json"\nport = "any"\n');
  const refused = await runCommand(["config", "check", file]);
  expect(refused).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining("--port takes a number") });
});

test("an operator's certificate authority is trusted if NODE_EXTRA_CA_CERTS names it", async () => {
  const { ca, issue } = await createCertificateAuthority();
  const file = join(server.folder, "authority.pem");
  writeFileSync(file, ca);
  using issuer = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    tls: await issue({ names: ["127.0.0.1"] }),
    fetch: (): Response => Response.json({ issuer: issuer.url.origin }),
  });
  const client = { RUNNEL_OIDC_CLIENT_ID: "runnel", RUNNEL_OIDC_CLIENT_SECRET: "secret" };
  const env = { PATH: process.env.PATH!, ...client, RUNNEL_OIDC_ISSUER: issuer.url.origin };
  const signIn = async (more: Record<string, string>): Promise<Json> => {
    const { stdout } = await runCommand(["doctor", "--json", "--data-dir", server.dataDir], {
      env: { ...env, ...more },
    });
    return JSON.parse(stdout).findings.find(({ check }: Json) => check === "sign-in");
  };
  expect((await signIn({})).detail).toContain("unable to verify");
  expect((await signIn({ NODE_EXTRA_CA_CERTS: file })).detail).toStartWith(`at ${issuer.url.origin}`);
});

test("the version names the commit and the date, from any folder", async () => {
  const { code, stdout } = await runCommand(["version"]);
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^runnel \d+\.\d+\.\d+ .*commit .+/) });
  expect((await runCommand(["--version"])).stdout).toContain(stdout.trim().split(" ")[1]!);
});

test("a second server on the same data directory exits with 75", async () => {
  const { code, stderr } = await server.command("serve", "--port", "0");
  expect({ code, stderr }).toEqual({ code: 75, stderr: expect.stringContaining(server.dataDir) });
});

test("without a command the executable prints its help, and leaves no data", async () => {
  const folder = mkdtempSync(join(tmpdir(), "runnel-e2e-"));
  try {
    const { code, stdout, stderr } = await runCommand([], { cwd: folder });
    expect({ code, stderr, files: readdirSync(folder) }).toEqual({ code: 0, stderr: "", files: [] });
    expect(stdout).toStartWith("Usage: runnel ");
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("an unknown command or flag is a usage error, code 2", async () => {
  for (const args of [
    ["nonsense"],
    ["--port", "0"],
    ["serve", "--nonsense"],
    ["serve", "--port", "99999999"],
    ["keys"],
  ])
    expect({ args, code: (await runCommand(args)).code }).toEqual({ args, code: 2 });
});

test("a database of a newer runnel is not touched, and the command exits with 78", async () => {
  await using other = await startRunnel();
  expect(await other.stop()).toBe(0);
  const db = new Database(join(other.dataDir, "runnel.db"));
  db.run("PRAGMA user_version = 9999");
  db.close();
  const { code, stderr } = await other.command("serve", "--port", "0");
  expect({ code, stderr }).toEqual({ code: 78, stderr: expect.stringContaining("9999") });
});

test("secrets are stored in folders and files that only their owner can read", () => {
  expect(statSync(server.dataDir).mode & 0o777).toBe(0o700);
  for (const path of new Bun.Glob("**/*").scanSync({ cwd: server.dataDir }))
    if (!path.startsWith("lib/") && !path.endsWith("cert.pem"))
      expect({ path, mode: statSync(join(server.dataDir, path)).mode & 0o077 }).toEqual({ path, mode: 0 });
});

test("files in the working directory neither configure the server nor run in it", async () => {
  const folder = mkdtempSync(join(tmpdir(), "runnel-e2e-"));
  try {
    await Bun.write(join(folder, "bunfig.toml"), 'preload = ["./evil.ts"]');
    await Bun.write(join(folder, "evil.ts"), "process.exit(9);");
    await Bun.write(join(folder, ".env"), "RUNNEL_DATA_DIR=/nonexistent/x");
    const { code, stdout } = await runCommand(["version"], { cwd: folder });
    expect({ code, evil: stdout.includes("evil") }).toEqual({ code: 0, evil: false });
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("the documentation and the licenses are read from the executable, without a server", async () => {
  const page = await runCommand(["docs", "streaming"]);
  expect([page.code, page.stdout.split("\n")[0], page.stderr]).toEqual([0, "# Streaming", ""]);
  const found = await runCommand(["docs", "single", "sign-on"]);
  expect([found.code, found.stdout.split("\t")[0], found.stderr]).toEqual([0, "operate/sign-in", ""]);
  const none = await runCommand(["docs", "zzzzzzzz"]);
  expect([none.code, none.stderr]).toEqual([2, expect.stringContaining('There is no page "zzzzzzzz".')]);
  const licenses = await runCommand(["licenses"]);
  expect([licenses.code, licenses.stderr]).toEqual([0, ""]);
  for (const carried of ["Apache License", "\nBun 1.", "\npyodide ", "\nreact ", "\nsqlite-vec "])
    expect(licenses.stdout).toContain(carried);
});
