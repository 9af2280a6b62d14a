import { describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inProject } from "../scripts/root.ts";
import { masterKeyId } from "../server/storage/db/master-key-fingerprint.ts";
import { replicaMarker } from "../server/storage/db/replica-marker.ts";
import { sqlAt, startPostgres } from "../server/testing/postgres.ts";
import { masterKey, startCluster } from "./cluster/nodes.ts";
import { stormCluster } from "./cluster/storm.ts";
import { executable, runCommand } from "./harness.ts";
import { startToolServer } from "./tool-server.ts";
import { waitUntil, withTimeout } from "./until.ts";

const cleaned = (): Record<string, string> =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("RUNNEL_"))) as Record<
    string,
    string
  >;

// Guarantees of a cluster, on the executable, with a Postgres and its synchronous standby. The long form is `npm run
// storm -- --cluster`.

describe.if(startPostgres.orSkipped("the storm over a cluster"))("a cluster", () => {
  test("loses no run, repeats no completed step and leaves no gap when leaders and Postgres die under it", async () => {
    const { counters, figures, logs } = await stormCluster({
      cell: "main,east",
      runs: 24,
      ways: ["killed", "unheard", "returned", "unheard", "paused", "failedOver"],
    });
    console.info(JSON.stringify(figures));
    expect({ counters, logs: Object.values(counters).some(Boolean) ? logs : "" }).toEqual({
      counters: {
        lost: 0,
        repeated: 0,
        unsafe: 0,
        gaps: 0,
        unfenced: 0,
        refused: 0,
        unheard: 0,
        revoked: 0,
        damaged: 0,
      },
      logs: "",
    });
    // A storm that hit nothing would pass as well.
    expect(figures).toMatchObject({ runs: 24, rounds: 6, cells: 2, revoked_keys: 6 });
    expect(figures.fenced).toBeGreaterThan(0);
    expect(figures.broken_streams).toBeGreaterThan(0);
  }, 240_000);

  test("a spare forwards requests to the current leader while its first copy is not finished", async () => {
    await using cluster = await startCluster();
    const leader = await cluster.leader();
    const [warm, cold] = cluster.nodes.filter((node) => node !== leader);
    await using sql = new Bun.SQL({ url: cluster.engine(), max: 1 });
    const [held, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const holding = sql.begin(async (transaction) => {
      await transaction`LOCK TABLE runnel_pages IN ACCESS EXCLUSIVE MODE`;
      held.resolve();
      await released.promise;
    });
    await held.promise;
    cold!.child.kill("SIGKILL");
    const copying = async () => {
      const query =
        "SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%FROM runnel_pages%'";
      return (await sqlAt(cluster.engine(), query)).map(({ pid }) => pid as number);
    };
    await waitUntil(async () => (await copying()).length > 0);
    const [first] = await copying();
    leader.child.kill("SIGKILL");
    await waitUntil(async () => (await cluster.leader()) === warm);
    await waitUntil(async () => (await cluster.request(cold!.url, "/v1/me").catch(() => null))?.ok === true);
    expect(await copying()).toContain(first!); // The spare still has its copy.
    released.resolve();
    await holding;
  }, 180_000);

  test("a stopping spare takes no new requests, and returns the responses to the forwarded ones", async () => {
    await using cluster = await startCluster({ nodes: 2, lease_s: 20 });
    await using slow = startToolServer();
    slow.hold();
    const leader = await cluster.leader();
    const spare = cluster.nodes.find((node) => node !== leader)!;
    const { child, url } = spare;
    const post = async (path: string, body: object) =>
      await (await cluster.request(url, path, { method: "POST", body: JSON.stringify(body) })).json();
    const tool = await post("/v1/tools", { name: "slow", url: `${slow.url}/held` });
    const agent = await post("/v1/agents", {
      name: "slow",
      instructions: "",
      model: "test/script",
      tools: [tool.id],
      model_settings: { script: [{ tool_calls: [{ name: "slow", arguments: {} }] }, { text: "It is done." }] },
    });
    const run = post("/v1/runs?wait=60", { agent_id: agent.id, input: "Go." });
    await slow.called("/held");
    child.kill("SIGTERM");
    await waitUntil(() =>
      cluster.request(url, "/v1/me").then(
        () => false,
        () => true,
      ),
    );
    slow.release();
    expect(await run).toMatchObject({ status: "completed", output: "It is done." });
    expect(await child.exited).toBe(0);
  }, 180_000);

  test("the leader runs commands that carry the master key, and no others", async () => {
    await using cluster = await startCluster({ nodes: 2, lease_s: 20 });
    const run = (args: string[], env: Record<string, string> = {}) =>
      runCommand(args, {
        env: { ...cleaned(), RUNNEL_CLUSTER: cluster.url, RUNNEL_MASTER_KEY: masterKey, ...env },
      });
    const made = await run(["keys", "create", "--scopes", "read"], { RUNNEL_KEY_NAME: "by the leader" });
    expect(made).toMatchObject({ code: 0, stderr: "" });
    const asked = async (secret: string) => {
      const headers = { authorization: `Bearer ${secret}` };
      return await Promise.all(cluster.nodes.map(async ({ url }) => (await fetch(`${url}/v1/me`, { headers })).status));
    };
    expect(await asked(made.stdout.trim())).toEqual([200, 200]);
    const { data } = JSON.parse((await run(["keys", "list", "--json"])).stdout);
    const { id } = data.find(({ name }: { name: string }) => name === "by the leader");
    expect(await run(["keys", "revoke", id])).toMatchObject({ code: 0, stdout: `${id} is revoked.\n` });
    expect(await asked(made.stdout.trim())).toEqual([401, 401]);

    expect((await run(["projects", "create", "gone"])).code).toBe(0);
    expect(await run(["projects", "delete", "gone"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--yes"),
    });
    expect(await run(["projects", "delete", "gone", "--yes"])).toMatchObject({ code: 0, stdout: "gone is deleted.\n" });
    const model = ["models", "add", "local", "--base-url", "http://127.0.0.1:1/v1"];
    expect(await run(model, { RUNNEL_MODEL_API_KEY: "sk-of-a-model" })).toMatchObject({ code: 0 });
    expect((await run(["models", "list"])).stdout).toContain("http://127.0.0.1:1/v1");
    expect(await run(["admin", "create", "ada@example.com"])).toMatchObject({
      code: 2,
      stderr: "Give the password by RUNNEL_PASSWORD.\n",
    });
    expect(await run(["admin", "create", "ada@example.com"], { RUNNEL_PASSWORD: "a long passphrase" })).toMatchObject({
      code: 0,
    });
    expect(await run(["keys", "revoke", "key_none"])).toMatchObject({
      code: 1,
      stdout: "",
      stderr: "There is no key key_none.\n",
    });

    const post = async (path: string, body: object) => {
      const answer = await cluster.request(cluster.nodes[1]!.url, path, { method: "POST", body: JSON.stringify(body) });
      expect(answer.status).toBe(201);
      return await answer.json();
    };
    const model_settings = { script: [{ text: "one two three four five six", delta_ms: 100 }] };
    const agent = { name: "a", instructions: "", model: "test/script", model_settings };
    const agent_id = (await post("/v1/agents", agent)).id;
    const followed = await post("/v1/runs", { agent_id, input: "Count." });
    const logs = await run(["logs", "--run", followed.id, "--follow", "--json"]);
    const types = logs.stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line).message);
    expect([logs.code, types[0], types.at(-1)]).toEqual([0, "run.created", "run.completed"]);
    expect(await run(["logs", "--run", `run_${"0".repeat(26)}`])).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringContaining("There is no run"),
    });

    const folder = mkdtempSync(join(tmpdir(), "runnel-cluster-commands-"));
    const backup = join(folder, "backup.db");
    const written = await run(["backup", backup, "--json"]);
    expect(JSON.parse(written.stdout)).toMatchObject({ path: backup, master_key: "apart", bytes: expect.any(Number) });
    expect(await run(["backup", "verify", backup])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("is whole"),
    });
    expect(await run(["backup", backup])).toMatchObject({ code: 1, stderr: expect.stringContaining("exists") });
    expect((await run(["backup", backup, "--force", "--include-key"])).stdout).toContain("The master key is in it");
    const restored = join(folder, "restored");
    expect((await run(["restore", backup, "--data-dir", restored], { RUNNEL_MASTER_KEY: "" })).code).toBe(0);
    writeFileSync(join(restored, replicaMarker), "{}");
    expect(await run(["restore", backup, "--data-dir", restored])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("belongs to a node of a cluster"),
    });
    rmSync(folder, { recursive: true });

    const top = JSON.parse((await run(["top", "--json", "--interval", "0.2"])).stdout);
    expect(top.database.bytes).toBeGreaterThan(0);
    const nowhere = { RUNNEL_DATA_DIR: join(tmpdir(), "no-such-folder") };
    const { healthy, findings } = JSON.parse((await run(["doctor", "--json"], nowhere)).stdout);
    expect({ healthy, checks: findings.map(({ check }: { check: string }) => check) }).toMatchObject({
      healthy: true,
      checks: expect.arrayContaining(["cluster", "leader", "leader's integrity", "leader's sandbox"]),
    });

    expect(await run(["keys", "list"], { RUNNEL_MASTER_KEY: "2".repeat(64) })).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringContaining("not signed with this cluster's RUNNEL_MASTER_KEY"),
    });
    expect(await run(["keys", "list"], { RUNNEL_MASTER_KEY: "" })).toMatchObject({ code: 78 });
    expect(await run(["keys", "list", "--cell", "other"])).toMatchObject({
      code: 78,
      stderr: expect.stringContaining('No node leads the cell "other"'),
    });
  }, 180_000);

  test("a node that cannot join exits within 20 seconds with code 78 and one line that says why", async () => {
    await using postgres = await startPostgres();
    const { url } = postgres.primary;
    const root = mkdtempSync(join(tmpdir(), "runnel-refused-"));
    const ownKey = "1".repeat(64);
    let folders = 0;
    const start = async (
      cluster: string,
      { flags = [] as string[], key = ownKey, folder = `data-${++folders}` } = {},
    ) => {
      const dataDir = join(root, folder);
      const args = ["serve", "--port", "0", "--data-dir", dataDir, "--cluster", cluster, ...flags];
      const begun = performance.now();
      const { code, stderr } = await runCommand(args, { env: { ...cleaned(), RUNNEL_MASTER_KEY: key } });
      const seconds = (performance.now() - begun) / 1000;
      return { code, said: stderr.trim(), lines: stderr.trim().split("\n").length, isSoon: seconds < 20 };
    };
    const refused = (said: string, code = 78) => ({
      code,
      said: expect.stringContaining(said),
      lines: 1,
      isSoon: true,
    });
    const plain = ["--insecure-http"];

    await sqlAt(url, "CREATE ROLE locked LOGIN PASSWORD 'right'");
    await postgres.primary.requirePasswordOf("locked");
    const locked = (password: string) => url.replace("runnel@", `locked:${password}@`);
    expect(await start("nonsense", { flags: plain })).toEqual(refused("--cluster takes postgres://"));
    expect(await start(url, { flags: plain, key: "" })).toEqual(refused("RUNNEL_MASTER_KEY"));
    expect(await start(url.replace("runnel@", "nobody@"), { flags: plain })).toEqual(refused("nobody"));
    const wrong = await start(locked("wr0ng-s3cret"), { flags: plain });
    expect(wrong).toEqual(refused("locked"));
    expect(wrong.said).not.toContain("wr0ng-s3cret");
    expect(await start(locked("100%"), { flags: plain })).toEqual(refused("as %25"));
    expect(await start(`${url}?sslmode=sure`, { flags: plain })).toEqual(refused("sslmode"));
    expect(await start(url.replace("/postgres", "/none"), { flags: plain })).toEqual(refused("none"));
    expect(await start("postgres://runnel@127.0.0.1:1/postgres", { flags: plain })).toEqual(
      refused("The engine cannot be used"),
    );
    expect(await start(url, { flags: [...plain, "--cell", "No Cell"] })).toEqual(refused("--cell takes", 2));
    expect(await start(url, { flags: ["--domain", "api.example.com"] })).toEqual(
      refused("--domain and --cluster exclude each other", 2),
    );

    // Leftovers of other nodes.
    await sqlAt(url, "CREATE DATABASE taken");
    const taken = url.replace("/postgres", "/taken");
    const asked = await runCommand(["cluster", "status", "--cluster", taken], { env: cleaned() });
    expect(asked).toMatchObject({ code: 0, stdout: expect.stringContaining("There is no cell yet.") });
    const keyId = masterKeyId(Uint8Array.fromHex(ownKey));
    for (const [cell, id, version] of [
      ["theirs", "another", 1],
      ["newer", keyId, 9999],
      ["older", keyId, 1],
    ])
      await sqlAt(
        taken,
        `INSERT INTO runnel_cells
           (id, leader, address, certificate, epoch, lease_until, head, base, base_epoch, master_key_id, version)
         VALUES ('${cell}', 'gone', '', '', 1, '-infinity', 5, 5, 1, '${id}', ${version})`,
      );
    const inCell = (cell: string) => [...plain, "--cell", cell];
    expect(await start(taken, { flags: inCell("theirs") })).toEqual(refused("another RUNNEL_MASTER_KEY"));
    expect(await start(taken, { flags: inCell("newer") })).toEqual(refused("of a newer runnel"));
    const own = join(root, "own");
    expect((await runCommand(["projects", "create", "mine", "--data-dir", own], { env: cleaned() })).code).toBe(0);
    expect(await start(taken, { flags: inCell("older"), folder: "own" })).toEqual(refused("a database of its own"));
    const status = await runCommand(["cluster", "status", "--cluster", taken, "--json"], { env: cleaned() });
    expect(JSON.parse(status.stdout).cells).toContainEqual(expect.objectContaining({ cell: "older", leader: null }));

    await sqlAt(url, "CREATE TABLE runnel_cells (id text)");
    await sqlAt(url, "CREATE TABLE runnel_nodes (id text)");
    expect(await start(url, { flags: plain })).toEqual(refused("another version of runnel"));
    rmSync(root, { recursive: true });
  }, 180_000);

  test("the guide's cluster survives kill -9 of its leader at the one address that it prints", async () => {
    const env = { ...cleaned(), RUNNEL_EXECUTABLE: executable };
    const child = Bun.spawn([process.execPath, inProject("scripts/cluster.ts")], {
      env,
      stdin: "ignore",
      stdout: "pipe",
      stderr: "inherit",
    });
    let [said, isOver, wake] = ["", false, Promise.withResolvers<void>()];
    const reading = (async () => {
      for await (const piece of child.stdout.pipeThrough(new TextDecoderStream())) {
        said += piece;
        wake.resolve();
        wake = Promise.withResolvers();
      }
      isOver = true;
      wake.resolve();
    })();
    const leaders = () => [...said.matchAll(/leads \(process (\d+)\)/g)].map(([, pid]) => Number(pid));
    const led = async (times: number): Promise<void> => {
      while (leaders().length < times && !isOver) await wake.promise;
    };
    try {
      await withTimeout(led(1), "the guide's cluster has a leader", 150_000);
      const lines = said.split("\n").map((line) => line.trim());
      const typed = (program: string) => lines.find((line) => line.startsWith(program))!;
      const type = async (line: string) => {
        const shell = Bun.spawn(["sh", "-c", line], { env, stdin: "ignore", stdout: "pipe", stderr: "inherit" });
        return await new Response(shell.stdout).text();
      };
      const ask = typed("curl");
      const answered = () => waitUntil(async () => (await type(ask)).includes('"project":"default"'));
      await answered();
      const [, url] = /(postgres:\S+)/.exec(typed("export RUNNEL_CLUSTER="))!;
      const status = await runCommand(["cluster", "status"], { env: { ...cleaned(), RUNNEL_CLUSTER: url! } });
      expect(status).toMatchObject({ code: 0, stdout: expect.stringContaining("main") });

      const told = leaders();
      Bun.spawnSync(["kill", "-9", String(told.at(-1))]); // On a busy machine the leader may just have been replaced.
      await withTimeout(led(told.length + 1), "another one leads");
      expect(leaders().at(-1)).not.toBe(told.at(-1));
      await answered();
    } finally {
      child.kill("SIGINT");
      await child.exited;
      await reading;
    }
    expect(child.exitCode).toBe(0);
  }, 240_000);
});
