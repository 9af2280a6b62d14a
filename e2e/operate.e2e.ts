import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inProject } from "../scripts/root.ts";
import { createCertificateAuthority } from "../server/testing/certificate-authority.ts";
import { freePort } from "../server/testing/free-port.ts";
import { openStream } from "./event-stream.ts";
import { faultsOfDashboard } from "./grafana.ts";
import { executable, type Json, type Runnel, runProgram, startRunnel } from "./harness.ts";
import { waitUntil } from "./until.ts";

// Files that the documentation tells operators to save are checked by the programs that read them, if installed.

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "runnel-operate-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Returns the only block of a page in a language. */
function blockOf(page: string, language: string): string {
  const markdown = readFileSync(inProject(`server/docs/${page}.md`), "utf8");
  const blocks = [...markdown.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, "gm"))];
  expect(blocks).toHaveLength(1);
  return blocks[0]![1]!;
}

test.skipIf(Bun.which("systemd-analyze") === null)("systemd accepts the documentation's unit", async () => {
  const file = join(folder, "runnel.service");
  const verified = async (unit: string) => {
    writeFileSync(file, unit.replaceAll("/usr/local/bin/runnel", executable));
    return await runProgram(["systemd-analyze", "verify", "--man=no", file], folder, { PATH: process.env.PATH! });
  };
  const unit = readFileSync(inProject("server/docs/files/runnel.service"), "utf8");
  expect(await verified(unit)).toEqual({ code: 0, stdout: "", stderr: "" });
  expect((await verified(unit.replace("KillMode", "KilMode"))).stderr).toContain("KilMode");
});

const authority = await createCertificateAuthority();

/** Starts nginx with the documentation's block in front of a server. */
async function startNginx(server: Runnel) {
  const [port, certificate, key, config] = [
    freePort(),
    join(folder, "cert.pem"),
    join(folder, "key.pem"),
    "nginx.conf",
  ];
  const pair = await authority.issue({ names: ["localhost"] });
  writeFileSync(certificate, pair.cert);
  writeFileSync(key, pair.key);
  const block = blockOf("operate/https", "nginx")
    .replace("listen 443", `listen 127.0.0.1:${port}`)
    .replace("runs.example.com;", "localhost;")
    .replace("/etc/ssl/runs.example.com.pem", certificate)
    .replace("/etc/ssl/runs.example.com.key", key)
    .replace("http://127.0.0.1:8443", server.url);
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  );
  const http = ["access_log off;", ...temporary, block].join("\n");
  writeFileSync(
    join(folder, config),
    `daemon off;\nmaster_process off;\npid ${folder}/pid;\nerror_log ${folder}/log;\nevents {}\nhttp {\n${http}\n}\n`,
  );
  const child = Bun.spawn(["nginx", "-p", folder, "-e", join(folder, "log"), "-c", config], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  const url = `https://localhost:${port}`;
  const send = (path: string, init: RequestInit = {}): Promise<Response> =>
    fetch(url + path, {
      ...init,
      headers: { authorization: `Bearer ${server.keys.test}`, ...init.headers },
      tls: { ca: authority.ca },
    } as RequestInit);
  while (!(await send("/healthz").catch(() => null))) {
    if (child.exitCode !== null) throw new Error(`nginx ended: ${readFileSync(join(folder, "log"), "utf8")}`);
    await Bun.sleep(20);
  }
  return {
    url,
    send,
    async [Symbol.asyncDispose]() {
      child.kill();
      await child.exited;
    },
  };
}

test.skipIf(Bun.which("nginx") === null)(
  "behind nginx as documented, a stream is passed on at once, large files are accepted, and the dashboard accepts changes",
  async () => {
    await using server = await startRunnel({ flags: ["--trusted-proxies", "127.0.0.1"] });
    await using nginx = await startNginx(server);
    const post = (path: string, body: object, headers: Record<string, string> = {}, signal?: AbortSignal) =>
      nginx.send(path, {
        method: "POST",
        body: JSON.stringify(body),
        signal,
        headers: { "content-type": "application/json", ...headers },
      });
    const create = async (path: string, body: object): Promise<Json> => {
      const answer = await post(path, body);
      expect(answer.status).toBe(201);
      return await answer.json();
    };

    // Events read while the run waits were not buffered.
    const tool = await create("/v1/tools", { name: "ask", type: "client" });
    const script = [{ tool_calls: [{ name: "ask", arguments: {} }] }, { text: "Thank you." }];
    const model = { model: "test/script", model_settings: { script } };
    const agent = await create("/v1/agents", { name: "Clerk", instructions: "Ask.", tools: [tool.id], ...model });
    const body = { agent_id: agent.id, input: "Go on.", stream: true };
    const stream = await openStream((signal) => post("/v1/runs", body, {}, signal));
    const { data } = await stream.until("run.requires_action");
    const [call] = data.required_action.submit_tool_outputs.tool_calls;
    const answers = { tool_outputs: [{ tool_call_id: call.tool_call_id, output: "Yes." }] };
    expect((await post(`/v1/runs/${data.run_id}/submit_tool_outputs`, answers)).status).toBe(200);
    expect((await stream.until("run.completed")).data.output).toBe("Thank you.");

    const form = new FormData();
    form.append("purpose", "attachment");
    form.append("file", new File([new Uint8Array(3_000_000)], "large.bin"));
    const file = await nginx.send("/v1/files", { method: "POST", body: form });
    expect(await file.json()).toMatchObject({ bytes: 3_000_000, status: "ready" });

    // A request through the proxy does not count as local. A direct one does.
    expect((await nginx.send("/metrics")).status).toBe(401);
    expect((await fetch(`${server.url}/metrics`)).status).toBe(200);
    expect(await server.command("health")).toMatchObject({ code: 0, stdout: "ready\n" });

    const [, token] = server.setupUrl.split("#");
    const account = { token, email: "ana@example.com", password: "correct horse battery" };
    const ofDashboard = { origin: nginx.url, "sec-fetch-site": "same-origin", "x-runnel-console": "1" };
    expect((await post("/console/api/setup", account, ofDashboard)).status).toBe(201);
  },
);

const documented = (name: string): string => readFileSync(inProject("server/docs/files", name), "utf8");

/** Saves a file of the documentation, changed, in this test's folder. */
const savedAs = (name: string, change = (text: string) => text): void =>
  writeFileSync(join(folder, name), change(documented(name)));

const promtool = (args: string) => runProgram(["sh", "-c", `promtool ${args}`], folder, { PATH: process.env.PATH! });

/** Adapts the documented scrape configuration to this server. */
const at = (server: Runnel) => (text: string) =>
  text
    .replace("/etc/prometheus/runnel.pem", join(server.dataDir, "tls/cert.pem"))
    .replace("localhost:8443", new URL(server.url).host);

describe.skipIf(Bun.which("promtool") === null)("Prometheus", () => {
  test("accepts the metrics, the alert rules and the queries of the dashboard", async () => {
    await using server = await startRunnel();
    const agent = await server.post("/v1/agents", { name: "Echo", instructions: "", model: "test/echo" });
    await server.post("/v1/runs?wait=60", { agent_id: agent.body.id, input: "Hi" });
    const text = await (await server.fetch("/metrics", { key: null })).text();
    writeFileSync(join(folder, "metrics.txt"), text);
    expect(await promtool("check metrics < metrics.txt")).toEqual({ code: 0, stdout: "", stderr: "" });
    savedAs("runnel-alerts.yml");
    savedAs("prometheus.yml", at(server));
    // Checks the named rule files as well.
    expect(await promtool("check config prometheus.yml")).toMatchObject({ code: 0 });

    const { panels } = JSON.parse(documented("runnel-grafana.json"));
    const queries: string[] = panels.flatMap(({ targets = [] }: Json) => targets.map(({ expr }: Json) => expr));
    const rules = queries.map((expr, index) => ({
      record: `panel_${index}`,
      expr: expr.replaceAll("$__rate_interval", "5m"),
    }));
    writeFileSync(join(folder, "panels.json"), JSON.stringify({ groups: [{ name: "panels", rules }] }));
    expect(await promtool("check rules panels.json")).toMatchObject({ code: 0 });

    // A missing metric would be an empty panel, or an alert that never fires.
    const measured = new Set([...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name!));
    const asked = [...queries, documented("runnel-alerts.yml")].flatMap(
      (query) => query.match(/\b(?:runnel|process|http_server)_[a-z_]+/g) ?? [],
    );
    const known = (name: string) => measured.has(name) || measured.has(name.replace(/_(bucket|count|sum)$/, ""));
    expect(asked.length).toBeGreaterThan(30);
    expect(asked.filter((name) => !known(name))).toEqual([]);
  });

  // In promtool's notation: the first value, the step per five minutes, and the number of steps.
  const calm: Record<string, string> = {
    'up{job="runnel"}': "1x600",
    runnel_disk_free_bytes: "50000000000x600",
    'runnel_runs_ended_total{status="completed"}': "0+20x600",
    'runnel_runs_ended_total{status="failed"}': "0+1x600",
    'runnel_model_calls_total{provider="openai",outcome="completed"}': "0+20x600",
    'runnel_model_calls_total{provider="openai",outcome="retried"}': "0+1x600",
    runnel_queue_oldest_seconds: "2x600",
    runnel_webhook_deliveries_pending: "10x600",
    runnel_webhooks_disabled: "1x600",
    'runnel_db_commit_duration_seconds_bucket{le="0.1"}': "0+100x600",
    'runnel_db_commit_duration_seconds_bucket{le="0.5"}': "0+100x600",
    'runnel_db_commit_duration_seconds_bucket{le="+Inf"}': "0+100x600",
    runnel_event_loop_lag_seconds: "0.1x600",
    'process_open_fds{job="runnel"}': "100x600",
    'process_max_fds{job="runnel"}': "1000x600",
    runnel_backup_last_success_timestamp_seconds: "0+300x600",
    runnel_backup_failures_total: "2x600",
  };
  const faults: [alert: string, series: Record<string, string>][] = [
    ["RunnelDown", { 'up{job="runnel"}': "0x600" }],
    ["RunnelDiskNearlyFull", { runnel_disk_free_bytes: "900000000x600" }],
    ["RunnelRunsFail", { 'runnel_runs_ended_total{status="failed"}': "0+10x600" }],
    ["RunnelModelCallsFail", { 'runnel_model_calls_total{provider="openai",outcome="retried"}': "0+15x600" }],
    ["RunnelQueueStuck", { runnel_queue_oldest_seconds: "0+300x600" }],
    ["RunnelWebhooksWait", { runnel_webhook_deliveries_pending: "2000x600" }],
    ["RunnelWebhookDisabled", { runnel_webhooks_disabled: "1x590 2x10" }],
    ["RunnelSlowCommits", { 'runnel_db_commit_duration_seconds_bucket{le="0.1"}': "0+90x600" }],
    ["RunnelMainThreadBlocked", { runnel_event_loop_lag_seconds: "2x600" }],
    ["RunnelFewFileDescriptors", { 'process_open_fds{job="runnel"}': "900x600" }],
    ["RunnelBackupOld", { runnel_backup_last_success_timestamp_seconds: "300x600" }],
    ["RunnelBackupOld", { runnel_backup_failures_total: "0+0.5x600" }],
  ];

  test("fires each alert if its condition holds, and none otherwise", async () => {
    savedAs("runnel-alerts.yml");
    const firing = (series: Record<string, string>, alerts: readonly string[]) => ({
      interval: "5m",
      input_series: Object.entries({ ...calm, ...series }).map(([series, values]) => ({ series, values })),
      promql_expr_test: [
        {
          expr: 'count by (alertname) (ALERTS{alertstate="firing"})',
          eval_time: "50h", // A backup is outdated after two days.
          exp_samples: alerts.map((alert) => ({ labels: `{alertname="${alert}"}`, value: 1 })),
        },
      ],
    });
    const tests = [firing({}, []), ...faults.map(([alert, series]) => firing(series, [alert]))];
    const whole = { rule_files: ["runnel-alerts.yml"], evaluation_interval: "5m", tests };
    writeFileSync(join(folder, "tests.json"), JSON.stringify(whole));
    expect(await promtool("test rules tests.json")).toMatchObject({ code: 0, stderr: "" });
    const rules = [...documented("runnel-alerts.yml").matchAll(/- alert: (\w+)/g)].map(([, name]) => name!);
    expect([...new Set(faults.map(([alert]) => alert))]).toEqual(rules);
  });

  test("scrapes a server with the documented configuration, from this machine without and from elsewhere with the token", async () => {
    await using server = await startRunnel({ environment: { RUNNEL_METRICS_TOKEN: "of the operator" } });
    const agent = await server.post("/v1/agents", { name: "Echo", instructions: "", model: "test/echo" });
    savedAs("runnel-alerts.yml");
    savedAs("prometheus.yml", (text) => `global: { scrape_interval: 1s }\n${at(server)(text)}`);
    const address = `127.0.0.1:${freePort()}`;
    const flags = ["--config.file=prometheus.yml", "--storage.tsdb.path=tsdb", `--web.listen-address=${address}`];
    const child = Bun.spawn(["prometheus", ...flags, "--log.level=error"], {
      cwd: folder,
      stdin: "ignore",
      stdout: "ignore",
      stderr: "inherit",
    });
    const ask = async (query: string): Promise<number | undefined> => {
      const url = `http://${address}/api/v1/query?query=${encodeURIComponent(query)}`;
      const found = await fetch(url)
        .then((response) => response.json())
        .catch(() => null); // It does not listen yet, or reports that it is not ready.
      return found?.data?.result?.[0] && Number(found.data.result[0].value[1]);
    };
    try {
      await waitUntil(async () => (await ask("up")) === 1);
      for (let i = 0; i < 20; i++) await server.post("/v1/runs?wait=60", { agent_id: agent.body.id, input: "Hi" });
      await waitUntil(async () => (await ask('sum(runnel_runs_ended_total{status="completed"})')) === 20);
      expect(await ask('count(ALERTS{alertstate="firing"})')).toBeUndefined();
    } finally {
      child.kill();
      await child.exited;
    }
    const remote = (token: string) =>
      server.fetch("/metrics", { key: token, headers: { "x-forwarded-for": "203.0.113.7" } });
    expect([(await remote("of the operator")).status, (await remote(server.keys.live)).status]).toEqual([200, 401]);
  });
});

describe("Grafana's dashboard", () => {
  const file = documented("runnel-grafana.json");

  test("is valid by Grafana's own schema, which finds misspelt names at any depth", async () => {
    const faults = await faultsOfDashboard(file);
    if (faults === null) return console.warn("skipped: the schema of Grafana (no npm registry)");
    expect(faults).toBe("");
    for (const [right, wrong] of [
      ['"schemaVersion"', '"schemaVersions"'],
      ['"type": "datasource"', '"type": "data"'],
      ['"gridPos"', '"grid"'],
      ['"unit"', '"units"'],
      ['"colorMode": "none"', '"colorMode": "nothing"'],
      ['"displayMode"', '"mode"'],
      ['"expr"', '"query"'],
    ] as const)
      expect({ wrong, found: await faultsOfDashboard(file.replace(right, wrong)) }).toEqual({
        wrong,
        found: expect.stringContaining("error TS"),
      });
  });

  test("arranges its panels without overlap, within Grafana's 24 columns, each with its own id", () => {
    const { panels } = JSON.parse(file) as { panels: { id: number; gridPos: Record<"x" | "y" | "w" | "h", number> }[] };
    const taken = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, at) => `${x + (at % w)} ${y + Math.floor(at / w)}`),
    );
    expect(new Set(taken).size).toBe(taken.length);
    expect(Math.max(...panels.map(({ gridPos: { x, w } }) => x + w))).toBe(24);
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  });
});
