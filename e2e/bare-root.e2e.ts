import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { pythonWith } from "../scripts/python-tool.ts";
import { canEnterRoots, makeBareRoot } from "./bare-root.ts";
import { freePort } from "./free-port.ts";
import { firstLine, type Json } from "./harness.ts";
import { until } from "./until.ts";

const version = "5.2.5";
const programs = await pythonWith(`moto-${version}`, [`moto[server]==${version}`]);
if (!canEnterRoots) console.warn("skipped: root file systems can be made and entered by root alone");
if (programs === null) console.warn(`skipped: no moto ${version} here, the server that backups are sent to`);

describe.skipIf(!canEnterRoots || programs === null)("on a root file system with nothing but the executable", () => {
  const bucket = "backups";
  const endpoint = `http://127.0.0.1:${freePort()}`;
  const settings = {
    ...{ AWS_ACCESS_KEY_ID: "id", AWS_SECRET_ACCESS_KEY: "secret", AWS_ENDPOINT_URL: endpoint },
    ...{ RUNNEL_BACKUP_TO: `s3://${bucket}/here`, RUNNEL_BACKUP_KEY: "5a".repeat(32) },
    ...{ RUNNEL_SANDBOX: "strict", RUNNEL_METRICS_TOKEN: "scrape" },
  };
  let store: Bun.Subprocess;

  beforeAll(async () => {
    const silent = { stdio: ["ignore", "ignore", "ignore"] as ["ignore", "ignore", "ignore"] };
    store = Bun.spawn([join(programs!, "moto_server"), "-p", new URL(endpoint).port], silent);
    const answers = () =>
      fetch(endpoint).then(
        () => true,
        () => false,
      );
    await until(answers);
    expect((await fetch(`${endpoint}/${bucket}`, { method: "PUT" })).status).toBe(200);
  }, 60_000);
  afterAll(async () => {
    store.kill();
    await store.exited;
  });

  const greeting = async ({ stdout }: { stdout: ReadableStream<Uint8Array> }): Promise<Json> =>
    JSON.parse(await firstLine(stdout));

  test("it is installed, serves as nobody from a root that cannot be written to, jails code, is well, is measured, and comes back from its backup elsewhere", async () => {
    using here = makeBareRoot();
    expect(statSync(join(here.root, "usr/local/bin/runnel")).mode & 0o777).toBe(0o755);
    expect(statSync(join(here.root, "etc/runnel/runnel.env")).mode & 0o777).toBe(0o600);
    const unit = readFileSync(join(here.root, "etc/systemd/system/runnel.service"), "utf8");
    expect(unit).toContain("ExecStart=/usr/local/bin/runnel serve");

    const server = here.enter(["serve", "--port", "0", "--json"], settings);
    const { address, keys } = await greeting(server);
    const tls = { ca: readFileSync(join(here.data, "tls/cert.pem"), "utf8") };
    const ask = (path: string, init: RequestInit = {}) =>
      fetch(`${address}${path}`, {
        ...{ ...init, tls },
        headers: { authorization: `Bearer ${keys.test}`, "content-type": "application/json" },
      });
    const json = async (path: string, body: object): Promise<Json> =>
      await (await ask(path, { method: "POST", body: JSON.stringify(body) })).json();
    const agent = await json("/v1/agents", { name: "echo", instructions: "Here.", model: "test/echo" });
    expect((await json("/v1/runs?wait=30", { agent_id: agent.id, input: "Hello" })).status).toBe("completed");

    const scrape = async (): Promise<string> =>
      await (await fetch(`${address}/metrics`, { tls, headers: { authorization: "Bearer scrape" } })).text();
    expect(await scrape()).toContain('runnel_runs_ended_total{environment="test",status="completed"');
    await until(async () => /^runnel_backup_last_success_timestamp_seconds [1-9]/m.test(await scrape()));

    // Commands of its own, inside.
    expect(await here.run(["health"])).toMatchObject({ code: 0, stdout: "ready\n" });
    const doctor = await here.run(["doctor", "--json"], settings);
    const findings: Json[] = JSON.parse(doctor.stdout).findings;
    const failed = findings.filter(({ result }) => result === "fail");
    expect({ code: doctor.code, failed }).toEqual({ code: 0, failed: [] });
    for (const check of ["sandbox", "backups", "embedding"])
      expect(findings.find((finding) => finding.check === check)).toMatchObject({ result: "ok" });
    server.kill("SIGTERM");
    expect(await server.exited).toBe(0);

    using elsewhere = makeBareRoot();
    const restored = await elsewhere.run(["restore", "--from", settings.RUNNEL_BACKUP_TO, "--json"], settings);
    expect({ code: restored.code, stderr: restored.stderr }).toEqual({ code: 0, stderr: "" });
    expect(existsSync(join(elsewhere.data, "runnel.db"))).toBe(true);
    const masterKey = readFileSync(join(here.data, "master.key"), "utf8");
    const copy = elsewhere.enter(["serve", "--port", "0", "--json"], { ...settings, RUNNEL_MASTER_KEY: masterKey });
    const there = await greeting(copy);
    const trusted = { ca: readFileSync(join(elsewhere.data, "tls/cert.pem"), "utf8") };
    const headers = { authorization: `Bearer ${keys.test}` };
    expect((await fetch(`${there.address}/v1/me`, { tls: trusted, headers })).status).toBe(200);
    copy.kill("SIGTERM");
    expect(await copy.exited).toBe(0);
  }, 90_000);
});
