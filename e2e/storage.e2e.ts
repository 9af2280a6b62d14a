import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { EventStream } from "./event-stream.ts";
import { createAgent, createScripted, createTool, runToEnd, stubConnection } from "./fixtures.ts";
import { executable, type Json, type Runnel, runProgram, startRunnel } from "./harness.ts";
import { startModelServer } from "./model-server.ts";
import { startToolServer } from "./tool-server.ts";
import { waitUntil } from "./until.ts";

const databaseOf = (server: Runnel): string => join(server.dataDir, "runnel.db");

/** Runs a command that must succeed, and returns its JSON. */
async function json(server: Runnel, ...args: string[]): Promise<Json> {
  const { code, stdout, stderr } = await server.command(...args, "--json");
  expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: "" });
  return JSON.parse(stdout);
}

function look<T>(path: string, work: (sqlite: Database) => T): T {
  const sqlite = new Database(path, { readonly: true });
  try {
    return work(sqlite);
  } finally {
    sqlite.close();
  }
}

describe("a backup", () => {
  test("created while runs stream is complete each time, and holds every run acknowledged before it", async () => {
    await using server = await startRunnel();
    const agent_id = await createScripted(server, [{ text: "word ".repeat(40), delta_ms: 5 }]);
    const streams: EventStream[] = [];
    for (let round = 0; round < 5; round++) {
      const body = { agent_id, input: "Go", stream: true };
      const begun = await Promise.all(Array.from({ length: 5 }, () => server.stream("/v1/runs", { body })));
      await Promise.all(begun.map((stream) => stream.until("run.created")));
      streams.push(...begun);
      const file = join(server.folder, `backup-${round}.db`);
      await json(server, "backup", file);
      look(file, (sqlite) => {
        expect(sqlite.query("PRAGMA integrity_check").all()).toEqual([{ integrity_check: "ok" }]);
        const { n } = sqlite.query<{ n: number }, []>("SELECT count(*) AS n FROM runs").get()!;
        expect(n).toBe(streams.length);
        const gaps = sqlite.query("SELECT run_id FROM run_events GROUP BY run_id HAVING max(seq) <> count(*)");
        expect(gaps.all()).toEqual([]);
      });
    }
    for (const stream of streams) {
      const frames = await stream.rest();
      expect(frames.at(-1)?.event).toBe("run.completed");
    }
  });

  test("is restored over a later state: keys and finished runs are back, runs of that moment continue, and the later state is kept", async () => {
    await using model = startModelServer();
    await using tools = startToolServer();
    await using server = await startRunnel({ environment: stubConnection(model.url) });
    tools.hold();
    const tool = await createTool(server, { url: `${tools.url}/held`, idempotent: false });
    const agent_id = await createAgent(server, "turns-0", { tools: [tool.id] });
    const begun = await server.post("/v1/runs", { agent_id, input: "Go" });
    await tools.called("/held"); // In the backup the call has started, and its result is unknown.
    const file = join(server.folder, "backup.db");
    const made = await json(server, "backup", file);
    expect(made).toMatchObject({ path: file, master_key: "apart" });
    expect(statSync(file).mode & 0o777).toBe(0o600);

    const later = await runToEnd(server, await createScripted(server, [{ text: "Later." }]));
    expect((await server.command("restore", file, "--force")).code).toBe(75);
    tools.release();
    expect(await server.stop()).toBe(0);
    const refused = await server.command("restore", file);
    expect(refused).toMatchObject({ code: 1, stdout: "" });
    expect(refused.stderr).toContain("--force");

    const restored = await json(server, "restore", file, "--force");
    expect(restored).toMatchObject({ runs_in_progress: 1, master_key: "here" });
    const kept = look(restored.replaced, (sqlite) => sqlite.query("SELECT 1 FROM runs WHERE id = ?").get(later.id));
    expect(kept).not.toBeNull();
    await server.restart();
    expect((await server.get(`/v1/runs/${later.id}`)).status).toBe(404);
    await using stream = await server.stream(`/v1/runs/${begun.body.id}/events`);
    const { data } = await stream.until("run.requires_action");
    const [call] = data.required_action.submit_tool_outputs.tool_calls;
    expect(call).toMatchObject({ needs: "reconcile", name: tool.name });
    expect(tools.callsOf("/held")).toHaveLength(1);
  });

  test("never replaces a database that a server is using", async () => {
    await using server = await startRunnel();
    await using other = await startRunnel();
    for (const path of [databaseOf(other), databaseOf(server)]) {
      const { code, stderr } = await server.command("backup", path, "--force");
      expect({ code, stderr }).toEqual({
        code: 1,
        stderr: expect.stringContaining("It is no backup and is not replaced."),
      });
    }
    expect((await other.get("/v1/agents")).status).toBe(200);
    expect((await other.command("backup", join(other.folder, "backup.db"))).code).toBe(0);
  });

  test("is restored on a fresh machine: with its key everything works, without it nothing starts, and the missing key is named", async () => {
    await using tools = startToolServer();
    await using server = await startRunnel();
    const tool = await createTool(server, { url: `${tools.url}/weather`, headers: { "x-word": "sesame" } });
    const script = [{ tool_calls: [{ name: tool.name, arguments: { city: "Oslo" } }] }, { text: "Done." }];
    const agent_id = await createScripted(server, script, { tools: [tool.id] });
    const [bare, whole] = ["bare.db", "whole.db"].map((name) => join(server.folder, name)) as [string, string];
    await json(server, "backup", bare);
    expect(await json(server, "backup", whole, "--include-key")).toMatchObject({ master_key: "included" });
    const key = readFileSync(join(server.dataDir, "master.key"), "utf8").trim();
    expect(readFileSync(bare).includes(key)).toBe(false);
    await server.stop();

    rmSync(server.dataDir, { recursive: true });
    const missing = await server.command("restore", bare);
    expect(missing.code).toBe(0);
    expect(missing.stdout).toContain("ATTENTION: the secrets in it need the master key");
    const file = join(server.dataDir, "master.key");
    for (const command of [
      ["serve", "--port", "0"],
      ["models", "list"],
    ]) {
      const refused = await server.command(...command);
      expect({ command, code: refused.code, isMade: existsSync(file) }).toEqual({ command, code: 1, isMade: false });
      expect(refused.stderr).toStartWith(`${file} is missing. The secrets in the database were encrypted under`);
    }
    await server.restart({ RUNNEL_MASTER_KEY: "7".repeat(64) });
    expect(server.log()).toContain("were encrypted under another master key");
    await server.stop();
    expect(await json(server, "restore", whole, "--force")).toMatchObject({ master_key: "restored" });
    await server.restart();
    expect(await runToEnd(server, agent_id)).toMatchObject({ status: "completed", output: "Done." });
    expect(tools.callsOf("/weather")[0]!.headers["x-word"]).toBe("sesame");
  });
});

describe("a file that is no backup", () => {
  test("is refused with one line and its reason, and the database stays", async () => {
    await using server = await startRunnel();
    await server.stop();
    const [text, newer] = ["text", "newer.db"].map((name) => join(server.folder, name)) as [string, string];
    writeFileSync(text, "This is not a database.".repeat(300));
    await json(server, "backup", newer);
    const sqlite = new Database(newer);
    sqlite.run("PRAGMA user_version = 999");
    sqlite.close();
    const before = Bun.hash(readFileSync(databaseOf(server)));
    for (const [file, code, says] of [
      [text, 1, "is not a database"],
      [newer, 78, "version 999"],
      [join(server.folder, "none"), 1, "There is no backup"],
    ] as const) {
      const ended = await server.command("restore", file, "--force");
      expect({ file, code: ended.code, lines: ended.stderr.trim().split("\n").length }).toEqual({
        file,
        code,
        lines: 1,
      });
      expect(ended.stderr).toContain(says);
      const elsewhere = join(server.folder, "new");
      const command = [executable, "restore", file, "--data-dir", elsewhere];
      expect(await runProgram(command, server.folder, {})).toMatchObject({
        code,
        stderr: expect.stringContaining(says),
      });
      expect(existsSync(elsewhere)).toBe(false);
    }
    expect(Bun.hash(readFileSync(databaseOf(server)))).toBe(before);
    expect(readdirSync(server.dataDir).filter((name) => /replaced|restoring/.test(name))).toEqual([]);
  });
});

describe("a start", () => {
  const spoiled: [what: string, spoil: (path: string) => void, says: string, code: number][] = [
    ["an empty file", (path) => writeFileSync(path, ""), "is empty", 1],
    ["a text", (path) => writeFileSync(path, "Dear diary, ".repeat(999)), "is not a database", 1],
    ["a folder", (path) => mkdirSync(path), "is not a file", 1],
    ["a database that lost its second half", halve, "is damaged", 1],
  ];

  test.each(spoiled)(
    "with %s for a database exits with one line that says what to do, and deletes nothing",
    async (_, spoil, says, code) => {
      await using server = await startRunnel();
      await server.kill9();
      const path = databaseOf(server);
      for (const part of ["-wal", "-shm"]) rmSync(path + part, { force: true });
      const good = readFileSync(path);
      rmSync(path);
      writeFileSync(path, good);
      if (says === "is not a file") rmSync(path);
      spoil(path);
      const size = statSync(path).size;
      for (const command of [
        ["serve", "--port", "0"],
        ["keys", "list"],
        ["backup", join(server.folder, "copy.db")],
      ]) {
        const ended = await server.command(...command);
        if (command[0] === "keys" && says === "is damaged") continue; // It reads an undamaged part.
        expect({ command, code: ended.code, stderr: ended.stderr }).toMatchObject({ code });
        expect(ended.stderr.trim().split("\n")).toHaveLength(1);
        expect(ended.stderr).toContain(path);
        expect(ended.stderr).toContain(says);
        expect(ended.stderr).toContain("runnel restore FILE --force --data-dir");
      }
      expect(statSync(path).size).toBe(size);
      expect(existsSync(join(server.folder, "copy.db"))).toBe(false);
    },
  );

  test("after a crash scrubs a large database while its runs continue, and reports damage", async () => {
    await using server = await startRunnel();
    await server.kill9();
    const path = databaseOf(server);
    enlarge(path, 80);
    scribble(path, (page) => page.includes("page of the large one 40000"));
    await server.restart();
    expect((await server.get("/v1/agents")).status).toBe(200);
    await waitUntil(async () => (await server.get("/readyz", null)).status !== 200);
    const { status, body } = await server.get("/readyz", null);
    expect({ status, integrity: body.checks.integrity }).toEqual({ status: 503, integrity: false });
    expect(server.log()).toContain("the database is damaged");
    expect(server.log()).toContain("runnel restore FILE --force");
  });
});

test("damage found while the server runs is an error of that request alone, and is logged prominently", async () => {
  await using server = await startRunnel();
  const ids: string[] = [];
  for (const name of ["first", "second"]) {
    const text = `${`the ${name} `.repeat(2000)}needle ${name}`;
    ids.push((await runToEnd(server, await createScripted(server, [{ text }]))).id);
  }
  await server.stop(); // A regular stop, so that nothing is checked at the next start.
  // Pages with a piece of the long text only, which no other row uses.
  scribble(
    databaseOf(server),
    (page) => page.subarray(0, 40).includes("the first") && page.subarray(-40).includes("the first"),
  );
  await server.restart();

  const broken = await server.get(`/v1/runs/${ids[0]}`);
  expect(broken).toMatchObject({ status: 500, body: { error: { type: "api_error", code: "internal_error" } } });
  expect(broken.body.request_id).toStartWith("req_");
  expect((await server.get(`/v1/runs/${ids[1]}`)).body).toMatchObject({ status: "completed" });
  expect((await server.get("/readyz", null)).status).toBe(503);
  expect(server.log().split("the database is damaged")).toHaveLength(2);
  expect(server.isAlive()).toBe(true);
});

function halve(path: string): void {
  const bytes = readFileSync(path);
  writeFileSync(path, bytes.subarray(0, Math.floor(bytes.length / 8192) * 4096));
}

/** Overwrites pages, as a dying disk does. */
function scribble(path: string, isMeant: (page: Buffer) => boolean): void {
  const bytes = readFileSync(path);
  const pages = Array.from({ length: bytes.length / 4096 }, (_, n) => bytes.subarray(n * 4096, (n + 1) * 4096));
  const meant = pages.filter(isMeant);
  expect(meant.length).toBeGreaterThan(0);
  for (const page of meant) page.fill(0xa5);
  writeFileSync(path, bytes);
}

function enlarge(path: string, megabytes: number): void {
  const sqlite = new Database(path);
  const insert = sqlite.query("INSERT INTO facts (name, value) VALUES (?, ?)");
  sqlite.transaction(() => {
    for (let n = 0; n < megabytes * 1000; n++) insert.run(`page of the large one ${n}`, "x".repeat(1000));
  })();
  sqlite.run("PRAGMA wal_checkpoint(TRUNCATE)");
  sqlite.close();
}
