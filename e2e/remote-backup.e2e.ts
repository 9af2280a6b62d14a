import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { npmWith } from "../scripts/npm-tool.ts";
import { pythonWith } from "../scripts/python-tool.ts";
import { inProject } from "../scripts/root.ts";
import { freePort } from "../server/testing/free-port.ts";
import { createAgent } from "./fixtures.ts";
import { type Runnel, runCommand, startRunnel } from "./harness.ts";
import { waitUntil } from "./until.ts";

const version = "5.2.5";
const programs = await pythonWith(`moto-${version}`, [`moto[server]==${version}`]);
if (programs === null) console.warn(`skipped: no moto ${version} here, the server that backups are sent to`);

const litestreamPackage = "@flydotio/litestream-linux-x64"; // Litestream 0.3.13 as an npm package.
const packages =
  process.platform === "linux" && process.arch === "x64"
    ? await npmWith("litestream-1.0.1", [`${litestreamPackage}@1.0.1`])
    : null;
if (packages === null) console.warn("skipped: no litestream here, which copies a database as it changes");

/** Returns the key that decrypts its stored secrets on another machine. */
const masterKeyOf = ({ dataDir }: Runnel) => ({ RUNNEL_MASTER_KEY: readFileSync(join(dataDir, "master.key"), "utf8") });

describe.skipIf(programs === null)("a backup in an object store", () => {
  const bucket = "backups";
  const endpoint = `http://127.0.0.1:${freePort()}`;
  const access = { AWS_ACCESS_KEY_ID: "id", AWS_SECRET_ACCESS_KEY: "secret", AWS_ENDPOINT_URL: endpoint };
  const key = Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("hex");
  const client = new Bun.S3Client({ accessKeyId: "id", secretAccessKey: "secret", endpoint, bucket });
  const to = (folder: string) => `s3://${bucket}/${folder}`;
  let store: Bun.Subprocess;
  let folder: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "runnel-remote-"));
    store = Bun.spawn([join(programs!, "moto_server"), "-p", new URL(endpoint).port], {
      stdio: ["ignore", "ignore", "ignore"],
    });
    await waitUntil(() =>
      fetch(endpoint).then(
        () => true,
        () => false,
      ),
    );
    expect((await fetch(`${endpoint}/${bucket}`, { method: "PUT" })).status).toBe(200);
  }, 180_000);
  afterAll(async () => {
    store.kill();
    await store.exited;
    rmSync(folder, { recursive: true });
  });

  const runnel = async (args: string[], environment: Record<string, string> = {}) => {
    const ended = await runCommand([...args, "--json"], {
      env: { PATH: process.env.PATH!, ...access, ...environment },
    });
    return { ...ended, json: ended.stdout ? JSON.parse(ended.stdout) : null };
  };

  test("is restored, is complete on another machine, and its encrypted values stay secret without the key", async () => {
    await using server = await startRunnel();
    const agent_id = await createAgent(server, "test/echo", { instructions: "A secret recipe." });
    const backup = ["backup", "--data-dir", server.dataDir, "--to", to("acme")];
    writeFileSync(join(server.dataDir, "backup-999999999.db"), "What a backup that was killed has left.");
    const { code, stderr, json } = await runnel(backup, { RUNNEL_BACKUP_KEY: key });
    expect({ code, stderr, encrypted: json?.encrypted }).toEqual({ code: 0, stderr: "", encrypted: true });
    expect(json.stored.name).toMatch(/^runnel-.*Z\.db\.gz\.age$/);
    expect(readdirSync(server.dataDir).filter((name) => name.startsWith("backup-"))).toEqual([]);
    expect(await client.file(`acme/${json.stored.name}`).text()).toStartWith("age-encryption.org/v1\n-> scrypt");

    const elsewhere = join(folder, "elsewhere");
    const restore = ["restore", "--from", to("acme"), "--data-dir", elsewhere];
    expect(await runnel(restore)).toMatchObject({ code: 2, stderr: expect.stringContaining("set RUNNEL_BACKUP_KEY") });
    const wrong = await runnel(restore, { RUNNEL_BACKUP_KEY: "0".repeat(64) });
    expect({ code: wrong.code, isThere: existsSync(elsewhere) }).toEqual({ code: 1, isThere: false });
    expect(await runnel(["backup", "verify", to("acme")], { RUNNEL_BACKUP_KEY: key })).toMatchObject({ code: 0 });
    expect(await runnel(restore, { RUNNEL_BACKUP_KEY: key })).toMatchObject({ code: 0, stderr: "" });
    await server.stop();
    await using copy = await startRunnel({ dataDir: elsewhere, keys: server.keys, environment: masterKeyOf(server) });
    expect((await copy.get(`/v1/agents/${agent_id}`)).body.instructions).toBe("A secret recipe.");
  });

  test("that is larger than one part is uploaded in several, and restored whole", async () => {
    await using server = await startRunnel();
    const bytes = new Uint8Array(12_000_000);
    for (let at = 0; at < bytes.length; at += 65_536) crypto.getRandomValues(bytes.subarray(at, at + 65_536));
    const form = new FormData();
    form.append("purpose", "attachment");
    form.append("file", new File([bytes], "random.bin"));
    const { id } = await (await server.fetch("/v1/files", { method: "POST", body: form })).json();
    const { json } = await runnel(["backup", "--data-dir", server.dataDir, "--to", to("large")], {
      RUNNEL_BACKUP_KEY: key,
    });
    // The ETag of a multipart object ends with the number of parts.
    const { etag } = await client.file(`large/${json.stored.name}`).stat();
    expect(etag).toMatch(/-[2-9]"?$/);
    const elsewhere = join(folder, "large");
    const restored = await runnel(["restore", "--from", to("large"), "--data-dir", elsewhere], {
      RUNNEL_BACKUP_KEY: key,
    });
    expect(restored).toMatchObject({ code: 0, stderr: "" });
    await using copy = await startRunnel({ dataDir: elsewhere, keys: server.keys, environment: masterKeyOf(server) });
    const content = await (await copy.fetch(`/v1/files/${id}/content`)).arrayBuffer();
    expect(Buffer.from(content).equals(bytes)).toBe(true);
  }, 180_000);

  test("whose restore dies after the download changes nothing, and the next start removes its rest", async () => {
    await using server = await startRunnel();
    const backup = await runnel(["backup", "--data-dir", server.dataDir, "--to", to("cut")]);
    expect(backup.json.stored.name).toMatch(/^runnel-/);
    const later = await createAgent(server, "test/echo");
    await server.stop();
    const ofRestore = () => readdirSync(server.dataDir).filter((name) => /\.(fetched|restor)/.test(name));
    const restore = ["restore", "--from", to("cut"), "--data-dir", server.dataDir, "--force"];
    expect((await runnel(restore, { RUNNEL_FAILPOINT: "mid_restore" })).code).toBe(128 + 9);
    expect(ofRestore()).toContain("runnel.db.fetched");
    await server.restart();
    expect(ofRestore()).toEqual([]);
    expect((await server.get(`/v1/agents/${later}`)).status).toBe(200);
  }, 90_000);

  test("counts as retained, and none is made while the newest is recent", async () => {
    await using server = await startRunnel();
    const backup = ["backup", "--data-dir", server.dataDir, "--to", to("kept")];
    const names: string[] = [];
    for (let i = 0; i < 3; i++) names.push((await runnel([...backup, "--keep", "2"])).json.stored.name);
    const { json } = await runnel([...backup, "--if-older", "1h"]);
    expect(json).toMatchObject({ stored: null, newest: { name: names[2] } });
    const there = await client.list({ prefix: "kept/" });
    expect(there.contents?.map(({ key }) => key.slice("kept/".length))).toEqual(names.slice(1));
    expect(await runnel(["backup", "verify", `${to("kept")}/${names[1]}`])).toMatchObject({ code: 0 });
    expect((await runnel(["backup", "verify", `${to("kept")}/${names[0]}`])).code).toBe(1);
  });

  test("that is damaged is detected by verify, in the store and on the disk", async () => {
    await using server = await startRunnel();
    const file = join(folder, "whole.db");
    expect((await runnel(["backup", file, "--data-dir", server.dataDir])).code).toBe(0);
    expect((await runnel(["backup", "verify", file])).json).toMatchObject({ whole: true });
    const handle = openSync(file, "r+");
    writeSync(handle, Buffer.alloc(4096, 0xff), 0, 4096, 8 * 4096);
    closeSync(handle);
    expect((await runnel(["backup", "verify", file])).code).toBe(1);
    const { json } = await runnel(["backup", "--data-dir", server.dataDir, "--to", to("damaged")]);
    const path = `damaged/${json.stored.name}`;
    const bytes = new Uint8Array(await client.file(path).arrayBuffer());
    bytes[bytes.length >> 1]! ^= 0xff;
    await client.file(path).write(bytes);
    expect((await runnel(["backup", "verify", to("damaged")])).code).toBe(1);
  });

  test.skipIf(packages === null)(
    "Litestream beside a storm of runs, as documented, loses the last moments at a kill -9 with the disk",
    async () => {
      await using server = await startRunnel();
      const attempt = mkdtempSync(join(folder, "litestream-"));
      const config = join(attempt, "litestream.yml");
      const documented = readFileSync(inProject("server/docs/files/litestream.yml"), "utf8");
      const database = join(server.dataDir, "runnel.db");
      const own = {
        "/data/runnel.db": database,
        "http://store:9000": endpoint,
        "bucket: runnel": `bucket: ${bucket}`,
        "path: litestream": `path: ${basename(attempt)}`,
      };
      writeFileSync(
        config,
        Object.entries(own).reduce((text, [from, to]) => text.replace(from, to), documented),
      );
      const program = join(packages!, litestreamPackage, "litestream");
      const env = { LITESTREAM_ACCESS_KEY_ID: "id", LITESTREAM_SECRET_ACCESS_KEY: "secret" };
      const log = Bun.file(join(attempt, "litestream.log"));
      const beside = Bun.spawn([program, "replicate", "-config", config], { env, stdout: log, stderr: log });
      /** Returns the number of WAL segments that it has uploaded. */
      const sent = async (): Promise<number> =>
        ((await client.list({ prefix: `${basename(attempt)}/` })).contents ?? []).filter(({ key }) =>
          key.includes("/wal/"),
        ).length;
      await waitUntil(async () => (await sent()) > 0);

      const agent_id = await createAgent(server, "test/echo");
      const told = new Map<string, number>();
      let storming = true;
      const storm = Array.from({ length: 3 }, async () => {
        while (storming) {
          const answer = await server.post("/v1/runs", { agent_id, input: "x".repeat(2000) }).catch(() => null);
          if (answer?.status === 201) told.set(answer.body.id, performance.now());
        }
      });
      // Segments arrive about one per second: records the time of each.
      const arrivals: number[] = [];
      for (let known = await sent(); arrivals.length < 4; ) {
        const at = performance.now();
        const now = await sent();
        for (; known < now; known++) arrivals.push(at);
        await Bun.sleep(20);
      }
      beside.kill("SIGKILL");
      await server.kill9();
      storming = false;
      await Promise.all(storm);
      const key = masterKeyOf(server);
      rmSync(server.dataDir, { recursive: true });

      const elsewhere = join(attempt, "restored");
      mkdirSync(elsewhere, { mode: 0o700 });
      const restored = join(elsewhere, "runnel.db");
      const restore = Bun.spawnSync([program, "restore", "-config", config, "-o", restored, database], { env });
      expect(restore.exitCode).toBe(0);
      const sqlite = new Database(restored);
      const there = new Set(
        sqlite
          .query<{ id: string }, []>("SELECT id FROM runs")
          .all()
          .map(({ id }) => id),
      );
      sqlite.close();
      const lost = [...told].filter(([id]) => !there.has(id)).map(([, at]) => at);
      expect(there.size).toBeGreaterThan(0);
      // The last segments may have been read before the latest runs were stored; earlier runs are there.
      expect(Math.min(...lost)).toBeGreaterThan(arrivals.at(-3)!);
      await using copy = await startRunnel({ dataDir: elsewhere, keys: server.keys, environment: key });
      expect((await copy.get(`/v1/runs/${[...there][0]}`)).status).toBe(200);
      expect(await copy.command("doctor")).toMatchObject({ code: 0 });
    },
    // Litestream may upload an incomplete database if it checkpoints during a write:
    // https://github.com/benbjohnson/litestream/pull/1337
    { timeout: 60_000, retry: 2 },
  );

  test.each([
    [["--to", "backups/acme"], {}, 2, "s3://bucket/folder"],
    [["--to", "s3://backups/acme"], { AWS_ACCESS_KEY_ID: "" }, 2, "AWS_ACCESS_KEY_ID"],
    [["--to", "s3://backups/acme"], { RUNNEL_BACKUP_KEY: "abc" }, 2, "64 hexadecimal digits"],
    [["--to", "s3://backups/acme", "--keep", "0"], {}, 2, "--keep takes"],
    [["--to", "s3://no-such-bucket/acme"], {}, 1, "cannot be used"],
    [["--to", "s3://backups/acme"], { AWS_ENDPOINT_URL: "http://127.0.0.1:1" }, 1, "cannot be used"],
    [[], {}, 2, "Say where the backup goes"],
  ] as [string[], Record<string, string>, number, string][])(
    "is refused as %j with %j",
    async (args, environment, code, said) => {
      await using server = await startRunnel();
      const ended = await runnel(["backup", "--data-dir", server.dataDir, ...args], environment);
      expect({ code: ended.code, stderr: ended.stderr }).toEqual({ code, stderr: expect.stringContaining(said) });
    },
  );
});
