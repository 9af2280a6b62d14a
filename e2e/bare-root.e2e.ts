import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pythonWith } from "../scripts/python-tool.ts";
import { inProject } from "../scripts/root.ts";
import { freePort } from "../server/testing/free-port.ts";
import { canEnterRoots, canLayOver, makeBareRoot, runOverSystem } from "./bare-root.ts";
import { executable, firstLine, type Json, runProgram } from "./harness.ts";
import { waitUntil } from "./until.ts";

const version = "5.2.5";
const programs = await pythonWith(`moto-${version}`, [`moto[server]==${version}`]);
if (!canEnterRoots) console.warn("skipped: root file systems can be made and entered by root alone");
if (programs === null) console.warn(`skipped: no moto ${version} here, the server that backups are sent to`);

/** Number of scrapes, five seconds apart and each limited to five seconds; `SCRAPES=12` takes a minute. */
const scrapes = Number(process.env.SCRAPES ?? 4);

/** Lets a real Prometheus scrape a server under load. Throws if a scrape fails or an alert fires. */
async function scrapedUnderLoad(server: string, ca_file: string, work: () => Promise<Json>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "runnel-scraped-"));
  const documented = (name: string) => readFileSync(inProject("server/docs/files", name), "utf8");
  const job = {
    job_name: "runnel",
    scheme: "https",
    tls_config: { ca_file },
    authorization: { credentials: "scrape" },
    static_configs: [{ targets: [new URL(server).host] }],
  };
  const config = { global: { scrape_interval: "5s" }, rule_files: ["alerts.yml"], scrape_configs: [job] };
  writeFileSync(join(folder, "alerts.yml"), documented("runnel-alerts.yml"));
  writeFileSync(join(folder, "prometheus.json"), JSON.stringify(config)); // JSON is valid YAML.
  const address = `127.0.0.1:${freePort()}`;
  const flags = ["--config.file=prometheus.json", "--storage.tsdb.path=tsdb", `--web.listen-address=${address}`];
  const prometheus = Bun.spawn(["prometheus", ...flags, "--log.level=error"], {
    cwd: folder,
    stdin: "ignore",
    stdout: "ignore",
    stderr: "inherit",
  });
  const ask = async (query: string): Promise<number | undefined> => {
    const answer = await fetch(`http://${address}/api/v1/query?query=${encodeURIComponent(query)}`).catch(() => null);
    const found: Json = await answer?.json().catch(() => null);
    return found?.data?.result?.[0] && Number(found.data.result[0].value[1]);
  };
  let working = true;
  const load = (async () => {
    for (; working; await Bun.sleep(20)) {
      const { status, error } = await work();
      // A fast machine starts more runs per minute than the default limit.
      expect(status ?? error.code).toBeOneOf(["completed", "rate_limited"]);
    }
  })();
  try {
    await waitUntil(async () => ((await ask("sum_over_time(up[10m])")) ?? 0) >= scrapes);
    expect(await ask("min_over_time(up[10m])")).toBe(1);
    expect(await ask('sum(runnel_runs_ended_total{status="completed"})')).toBeGreaterThan(1);
    expect(await ask('count(ALERTS{alertstate="firing"})')).toBeUndefined();
  } finally {
    working = false;
    prometheus.kill();
    await Promise.all([prometheus.exited, load]);
    rmSync(folder, { recursive: true });
  }
}

test("it is not installed into a missing root folder", async () => {
  const root = join(tmpdir(), "runnel-no-root");
  const { code, stderr } = await runProgram([executable, "install", "--root", root], "/", { PATH: process.env.PATH! });
  expect({ code, stderr, made: existsSync(root) }).toEqual({
    code: 1,
    stderr: `There is no folder ${root}.\n`,
    made: false,
  });
});

test.skipIf(!canLayOver)("it installs itself without systemd, for example while an image is built", async () => {
  const { code, stdout, stderr } = await runOverSystem(
    '"$1" install; cat /etc/systemd/system/runnel.service; id -u runnel',
    [executable],
  );
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toStartWith("Installed /usr/local/bin/runnel and /etc/systemd/system/runnel.service.");
  expect(stdout).toContain("ExecStart=/usr/local/bin/runnel serve");
  expect(stdout).toMatch(/^\d+\n$/m);
});

describe.skipIf(!canEnterRoots || programs === null)("on a root file system that holds only the executable", () => {
  const bucket = "backups";
  const endpoint = `http://127.0.0.1:${freePort()}`;
  const settings = {
    AWS_ACCESS_KEY_ID: "id",
    AWS_SECRET_ACCESS_KEY: "secret",
    AWS_ENDPOINT_URL: endpoint,
    RUNNEL_BACKUP_TO: `s3://${bucket}/here`,
    RUNNEL_BACKUP_KEY: "5a".repeat(32),
    RUNNEL_SANDBOX: "strict",
    RUNNEL_METRICS_TOKEN: "scrape",
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
    await waitUntil(answers);
    expect((await fetch(`${endpoint}/${bucket}`, { method: "PUT" })).status).toBe(200);
  }, 180_000);
  afterAll(async () => {
    store.kill();
    await store.exited;
  });

  const greeting = async ({ stdout }: { stdout: ReadableStream<Uint8Array> }): Promise<Json> =>
    JSON.parse(await firstLine(stdout));

  test("it is installed, serves as an unprivileged user on a read-only root, jails code, is healthy, is scraped by a real Prometheus under load, and is restored from its backup elsewhere", async () => {
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
        ...init,
        tls,
        headers: { authorization: `Bearer ${keys.test}`, "content-type": "application/json" },
      });
    const json = async (path: string, body: object): Promise<Json> =>
      await (await ask(path, { method: "POST", body: JSON.stringify(body) })).json();
    const agent = await json("/v1/agents", { name: "echo", instructions: "Here.", model: "test/echo" });
    expect((await json("/v1/runs?wait=60", { agent_id: agent.id, input: "Hello" })).status).toBe("completed");

    const scrape = async (): Promise<string> =>
      await (await fetch(`${address}/metrics`, { tls, headers: { authorization: "Bearer scrape" } })).text();
    expect(await scrape()).toContain('runnel_runs_ended_total{environment="test",status="completed"');
    if (Bun.which("prometheus") === null)
      console.warn("skipped: no prometheus here, which scrapes the server under load");
    else
      await scrapedUnderLoad(address, join(here.data, "tls/cert.pem"), () =>
        json("/v1/runs?wait=60", { agent_id: agent.id, input: "Hello" }),
      );
    await waitUntil(async () => /^runnel_backup_last_success_timestamp_seconds [1-9]/m.test(await scrape()));

    // Runs a command inside the root.
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
  }, 180_000);
});
