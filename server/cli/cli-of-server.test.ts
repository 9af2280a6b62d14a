import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createCertificateAuthority } from "../testing/certificate-authority.ts";
import { bearer, environment, main, parsed, runnel, startServer } from "../testing/command-line.ts";

// Ends a hang only: a test starts up to ten processes. With the one that is late, Bun kills the server of the others.
setDefaultTimeout(180_000);

describe("a server", () => {
  let folder: string;
  let data: string;
  let server: Awaited<ReturnType<typeof startServer>>;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "runnel-cli-"));
    data = join(folder, "data");
    server = await startServer(data);
  });
  afterAll(async () => {
    await server.stop();
    rmSync(folder, { recursive: true });
  });
  const cli = (...args: string[]) =>
    runnel([...args, "--data-dir", data], { RUNNEL_API_KEY: server.greeting.keys!.test });

  test("prints at its first start a key per environment that works over TLS, and a set-up link", async () => {
    const { keys, address, setup_link, project, cacert } = server.greeting;
    expect([project, cacert]).toEqual(["default", join(data, "tls/cert.pem")]);
    for (const environment of ["test", "live"] as const) {
      const answer = await server.get("/v1/me", bearer(keys![environment]));
      expect([answer.status, (await parsed(answer)).environment]).toEqual([200, environment]);
    }
    expect(setup_link).toStartWith(`${address}/dashboard/setup#`);
    await expect(fetch(`${address}/healthz`, { keepalive: false })).rejects.toThrow();
  });

  test("keeps its secrets readable by their owner only", () => {
    for (const name of ["", "runnel.db", "master.key", "tls/key.pem", "server.json"])
      expect([name, statSync(join(data, name)).mode & 0o077]).toEqual([name, 0]);
  });

  test("makes a second one exit with 75", async () => {
    const second = await runnel(["serve", "--port", "0", "--data-dir", data]);
    expect([second.code, second.err]).toEqual([75, expect.stringContaining(data)]);
  });

  test("accepts and refuses keys as soon as the command line creates and revokes them", async () => {
    const key = JSON.parse((await cli("keys", "create", "--json")).out);
    expect((await server.get("/v1/me", bearer(key.secret))).status).toBe(200);
    expect((await cli("keys", "revoke", key.id)).code).toBe(0);
    expect((await server.get("/v1/me", bearer(key.secret))).status).toBe(401);
  });

  test("is found healthy by the doctor", async () => {
    const { code, out } = await cli("doctor", "--json");
    const { findings } = JSON.parse(out);
    expect([code, findings.filter(({ result }: { result: string }) => result === "fail")]).toEqual([0, []]);
    // The check after a crash does not wait for a mail server.
    const mail = { RUNNEL_SMTP_URL: "smtp://127.0.0.1:9", RUNNEL_MAIL_FROM: "runnel@example.com", RUNNEL_PROT: "1" };
    const machine = await runnel(["doctor", "--machine", "--json", "--data-dir", data], mail);
    const checks = JSON.parse(machine.out).findings.map(({ check }: { check: string }) => check);
    expect([machine.code, checks.slice(0, 4), checks.at(-1)]).toEqual([
      0,
      ["data directory", "lock", "database", "integrity"],
      "sandbox",
    ]);
    expect(findings).toContainEqual({ check: "lock", result: "ok", detail: "held: a server runs" });
    const ollama = findings.find(({ check }: { check: string }) => check === "ollama");
    expect(ollama).toMatchObject({ result: "ok", detail: expect.stringContaining("11434") });
  });

  test("is shown by top, with its activity between two scrapes", async () => {
    const [{ code, out }, people] = await Promise.all([
      cli("top", "--json", "--interval", "0.5"),
      cli("top", "--interval", "0.1"),
    ]);
    expect(code).toBe(0);
    // Each command sends two requests, and may see those of the other.
    expect(JSON.parse(out)).toMatchObject({ runs: { in_progress: 0, queued: 0 }, webhooks: { pending: 0 } });
    expect(JSON.parse(out).requests.per_second).toBeGreaterThan(0);
    expect(people).toMatchObject({ code: 0, out: expect.stringContaining("0 in progress") });
    expect((await cli("top", "--interval", "soon")).code).toBe(2);
  });

  test("fails the doctor with 1 for each incomplete or unreachable setting, and gets a warning for an unreachable Ollama", async () => {
    const nowhere = "127.0.0.1:9";
    const whole = { RUNNEL_OIDC_CLIENT_ID: "runnel", RUNNEL_OIDC_CLIENT_SECRET: "secret" };
    const OLLAMA_BASE_URL = `http://${nowhere}/v1`;
    const settings: Record<string, Record<string, string>> = {
      configuration: { RUNNEL_CONFIG: join(folder, "none.toml") },
      "sign-in": { ...whole, RUNNEL_OIDC_ALLOWED_DOMAINS: "example.com" },
      mail: { RUNNEL_SMTP_URL: "smtps://mail.example.com" },
      backups: { RUNNEL_BACKUP_TO: "/backups" },
      collector: { RUNNEL_OTLP_ENDPOINT: "collector" },
    };
    const unreached: Record<string, Record<string, string>> = {
      "sign-in": { ...whole, RUNNEL_OIDC_ISSUER: `http://${nowhere}` },
      mail: { RUNNEL_SMTP_URL: `smtp://${nowhere}`, RUNNEL_MAIL_FROM: "runnel@example.com" },
    };
    for (const each of [settings, unreached]) {
      const environment = Object.assign({ OLLAMA_BASE_URL }, ...Object.values(each));
      const { code, out } = await runnel(["doctor", "--json", "--data-dir", data], environment);
      const { findings } = JSON.parse(out);
      const failed = findings.filter(({ result }: { result: string }) => result === "fail");
      expect([code, failed.map(({ check }: { check: string }) => check).sort()]).toEqual([1, Object.keys(each).sort()]);
      expect(out).not.toContain("secret");
      expect(findings).toContainEqual({
        check: "ollama",
        result: "warn",
        detail: `nothing listens at ${OLLAMA_BASE_URL}: models ollama/… are not available`,
      });
    }
  });

  test("gets from the doctor all faults that would prevent its next start, and the certificate that it would use", async () => {
    const examined = async (environment: Record<string, string>, ...flags: string[]) => {
      const { code, out } = await runnel(["doctor", ...flags, "--json", "--data-dir", data], environment);
      const findings: { check: string; result: string; detail: string }[] = JSON.parse(out).findings;
      return { code, of: (name: string) => findings.filter(({ check }) => check === name) };
    };
    const unreadable = {
      RUNNEL_PROT: "8443",
      RUNNEL_HANDOVER: "", // No setting, and no typing error.
      RUNNEL_AUDIT_DAYS: "30",
      RUNNEL_TLS_CERT: "cert.pem",
      RUNNEL_LOCAL_ACCOUNTS: "maybe",
      RUNNEL_EGRESS_ALLOW: "%%%",
      RUNNEL_BACKUP_KEEP: "3",
      RUNNEL_MODEL_X_BASE_URL: "http://127.0.0.1:9/v1",
      RUNNEL_MODEL_X_MAX_CONCURRENT: "many",
      RUNNEL_MCP_X_COMMAND: '["half',
    };
    const found = await examined(unreadable);
    expect([found.code, found.of("settings").map(({ detail }) => detail.split(" ")[0]!)]).toEqual([
      1,
      [
        "--local-accounts",
        "--tls-cert",
        "Egress",
        "--backup-keep",
        "RUNNEL_MCP_X_COMMAND",
        "RUNNEL_AUDIT_DAYS",
        "nothing",
      ],
    ]);
    expect(found.of("settings").at(-2)).toMatchObject({
      result: "warn",
      detail: expect.stringContaining("is the old name of RUNNEL_AUDIT_RETENTION_DAYS"),
    });
    expect(found.of("settings").at(-1)).toMatchObject({ result: "warn", detail: "nothing reads RUNNEL_PROT" });
    expect(found.of("models")).toMatchObject([
      { result: "fail", detail: expect.stringContaining("RUNNEL_MODEL_X_MAX_CONCURRENT") },
    ]);
    const strict = { RUNNEL_MODEL_X_BASE_URL: "127.0.0.1:9/v1", RUNNEL_MASTER_KEY: "abc" };
    expect(await runnel(["serve", "--data-dir", data], strict)).toEqual({
      code: 2,
      out: "",
      err: expect.stringMatching(/^RUNNEL_MASTER_KEY [^\n]+\nRUNNEL_MODEL_X_BASE_URL [^\n]+\n$/),
    });
    for (const [variable, value] of Object.entries(strict))
      expect(await runnel(["serve", "--data-dir", data], { [variable]: value })).toEqual({
        code: 2,
        out: "",
        err: expect.stringMatching(new RegExp(`^${variable} [^\\n]+\\n$`)), // One line without a stack.
      });
    expect(found.of("open files")).toMatchObject([{ result: "ok" }]);

    const [cert, key] = [join(folder, "cert.pem"), join(folder, "key.pem")];
    const files = { RUNNEL_TLS_CERT: cert, RUNNEL_TLS_KEY: key };
    const missing = await examined(files);
    const gone = {
      check: "certificate",
      result: "fail",
      detail: `--tls-cert ${cert} cannot be read: there is no file ${cert}.`,
    };
    expect([missing.code, missing.of("certificate")]).toEqual([1, [gone]]);
    // The certificate is examined without the model and the network, which take a second each time.
    const certificate = async (environment: Record<string, string>) =>
      (await examined(environment, "--machine")).of("certificate");
    const before = join(folder, "before-the-first-start");
    const first = await runnel(["doctor", "--machine", "--json", "--data-dir", before], files);
    expect(JSON.parse(first.out).findings).toContainEqual(gone);
    const { issue } = await createCertificateAuthority();
    const pair = await issue({ names: ["localhost"], to: Date.now() + 5 * 86_400_000 });
    writeFileSync(cert, pair.cert);
    writeFileSync(key, pair.key);
    expect(await certificate(files)).toMatchObject([
      { result: "warn", detail: expect.stringContaining(`renew ${cert}`) },
    ]);
    expect(await certificate({ RUNNEL_DOMAIN: "a.example.com" })).toMatchObject([
      { result: "warn", detail: expect.stringContaining("none for a.example.com") },
    ]);
    const authority = { RUNNEL_DOMAIN: "a.example.com", RUNNEL_ACME_CACERT: join(folder, "none.pem") };
    expect(await certificate(authority)).toMatchObject([
      { result: "fail", detail: expect.stringContaining("none.pem") },
    ]);
    expect(await certificate({ RUNNEL_TRUSTED_PROXIES: "127.0.0.1" })).toMatchObject([
      { result: "ok", detail: expect.stringContaining("plain HTTP") },
    ]);
  });

  test("has the journal of a run printed for people and programs, also while the run is in progress", async () => {
    const headers = { authorization: `Bearer ${server.greeting.keys!.test}`, "content-type": "application/json" };
    const post = async (path: string, body: object) =>
      await parsed(await server.get(path, { method: "POST", headers, body: JSON.stringify(body) }));
    const script = [{ tool_calls: [{ name: "ask", arguments: {} }] }, { text: "Done." }];
    const tool = await post("/v1/tools", {
      name: "ask",
      type: "client",
      description: "Asks.",
      parameters: { type: "object" },
    });
    const definition = { name: "logged", instructions: "", model: "test/script", tools: [tool.id] };
    const agent = await post("/v1/agents", { ...definition, model_settings: { script } });
    const run = await post("/v1/runs?wait=60", { agent_id: agent.id, input: "Hello" });
    expect(run.status).toBe("requires_action");
    const following = runnel(["logs", "--run", run.id, "--follow", "--json", "--data-dir", data]);
    const [{ tool_call_id: id }] = run.required_action.submit_tool_outputs.tool_calls;
    await post(`/v1/runs/${run.id}/submit_tool_outputs`, { tool_outputs: [{ tool_call_id: id, output: "Yes" }] });
    const { code, out } = await following;
    const lines = out
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect([code, lines[0].message, lines.at(-1).message]).toEqual([0, "run.created", "run.completed"]);
    expect(lines.map(({ seq }) => seq)).toEqual(lines.map((_, index) => index + 1));
    expect(lines[0]).toMatchObject({ level: "info", run_id: run.id, time: expect.stringMatching(/^20\d\d-.*Z$/) });
    expect((await cli("logs", "--run", run.id)).out.split("\n")[0]).toMatch(
      /^[\d:.]{12} info {2}run\.created run_id="run_/,
    );
    expect((await cli("logs", "--run", "run_00000000000000000000000000")).code).toBe(1);
    expect((await cli("logs", "--run", "something")).code).toBe(2);
  });

  test("signs in an account that the command line created, with a cookie for HTTPS only", async () => {
    const credentials = { email: "ada@example.com", password: "correct horse battery" };
    const link = await cli("admin", "setup-link");
    expect(link.out).toStartWith(`${server.greeting.address}/dashboard/setup#`);
    expect(
      (
        await runnel(["admin", "create", credentials.email, "--data-dir", data], {
          RUNNEL_PASSWORD: credentials.password,
        })
      ).code,
    ).toBe(0);
    expect((await cli("admin", "setup-link")).code).toBe(2);
    const viewer = await runnel(
      ["admin", "create", "v@example.com", "--role", "viewer", "--json", "--data-dir", data],
      {
        RUNNEL_PASSWORD: credentials.password,
      },
    );
    expect(JSON.parse(viewer.out)).toMatchObject({ email: "v@example.com", role: "viewer" });
    const login = (body: object) =>
      server.get("/console/api/login", {
        method: "POST",
        headers: { "content-type": "application/json", "x-runnel-console": "1", origin: server.greeting.address },
        body: JSON.stringify(body),
      });
    const answer = await login(credentials);
    const cookie = answer.headers.get("set-cookie");
    expect([answer.status, cookie]).toEqual([200, expect.stringContaining("__Host-runnel=")]);
    const session = await server.get("/console/api/session", { headers: { cookie: cookie!.split(";")[0]! } });
    const { projects } = await parsed(session);
    const runs = `/console/api/${projects[0].id}/test/runs`;
    expect((await server.get(runs, { headers: { cookie: cookie!.split(";")[0]! } })).status).toBe(200);
    expect((await server.get("/v1/runs", { headers: { cookie: cookie!.split(";")[0]! } })).status).toBe(401);
    expect((await server.get(runs, bearer(server.greeting.keys!.test))).status).toBe(401);
    const reset = await runnel(["admin", "reset-password", credentials.email, "--data-dir", data], {
      RUNNEL_PASSWORD: "another long password",
    });
    expect(reset.code).toBe(0);
    expect((await server.get("/console/api/session", { headers: { cookie: cookie!.split(";")[0]! } })).status).toBe(
      401,
    );
  });

  test("redirects / to the dashboard and sends no HSTS with its own certificate", async () => {
    const answer = await server.get("/");
    expect([answer.status, answer.headers.get("location")]).toEqual([302, "/dashboard"]);
    const page = await server.get("/dashboard");
    expect([page.status, page.headers.get("strict-transport-security")]).toEqual([200, null]);
    expect(page.headers.get("content-security-policy")).toContain("default-src 'none'");
  });

  const create = async (path: string, body: object) => {
    const { headers } = bearer(server.greeting.keys!.test);
    const answer = await server.get(path, {
      method: "POST",
      headers: { ...headers, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    const made = await parsed(answer);
    expect([answer.status, made]).toEqual([201, expect.anything()]);
    return made as { id: string };
  };

  test("runs an agent for the command line, which streams its answer and shows its trace", async () => {
    const agent = await create("/v1/agents", { name: "echo", instructions: "Repeat.", model: "test/echo" });
    const said = await cli("run", "echo", "hello there");
    expect([said.code, said.out]).toEqual([0, expect.stringContaining("hello there")]);
    const run = /run_\w+/.exec(said.err)![0];
    const { out } = await cli("trace", run);
    expect(out).toMatch(new RegExp(`^${run}  completed  .*\\n└─ 0 model_call `));
    expect(JSON.parse((await cli("trace", run, "--json")).out)).toMatchObject({
      run_id: run,
      steps: [{ step_index: 0 }],
    });
    const json = await cli("run", agent.id, "once more", "--json");
    expect(JSON.parse(json.out)).toMatchObject({ status: "completed", agent_id: agent.id });
  });

  test("gets the output of a client tool from the command line, which without one prints what the run waits for", async () => {
    const parameters = { type: "object", properties: {} };
    const tool = await create("/v1/tools", { name: "clock", description: "The time.", parameters, type: "client" });
    const script = [{ tool_calls: [{ name: "clock", arguments: {} }] }, { text: "It is noon." }];
    const agent = await create("/v1/agents", {
      name: "watch",
      instructions: "Say the time.",
      model: "test/script",
      model_settings: { script },
      tools: [tool.id],
    });
    const said = await cli("run", agent.id, "What time is it?", "--output", 'clock="12:00"');
    expect([said.code, said.out]).toEqual([0, "It is noon.\n"]);
    expect(said.err).toContain("→ clock {}");
    const waiting = await cli("run", agent.id, "What time is it?");
    expect([waiting.code, waiting.err]).toEqual([1, expect.stringContaining("waits for the tool clock (call_")]);
  });

  test("makes the command line exit with 1 and the reason if a run fails", async () => {
    const agent = await create("/v1/agents", {
      name: "broken",
      instructions: "Fail.",
      model: "test/script",
      model_settings: { script: [{ error: "the model is out of order" }] },
    });
    const said = await cli("run", agent.id, "x");
    expect([said.code, said.err]).toEqual([1, expect.stringContaining("model_error")]);
  });

  test("cancels a run at Ctrl-C", async () => {
    const script = [{ text: "a b c d e f g h i j", delta_ms: 5_000 }];
    const agent = await create("/v1/agents", {
      name: "slow",
      instructions: "Wait.",
      model: "test/script",
      model_settings: { script },
    });
    const child = Bun.spawn([process.execPath, main, "run", agent.id, "x", "--data-dir", data], {
      env: { ...environment, RUNNEL_API_KEY: server.greeting.keys!.test },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    });
    const reader = child.stderr.getReader();
    const first = new TextDecoder().decode((await reader.read()).value);
    child.kill("SIGINT");
    expect(await child.exited).toBe(1);
    const run = await server.get(`/v1/runs/${/run_\w+/.exec(first)![0]}`, bearer(server.greeting.keys!.test));
    expect((await parsed(run)).status).toBe("cancelled");
  });
});
