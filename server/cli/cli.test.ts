import { Database } from "bun:sqlite";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDataDir } from "../storage/db/data-dir.ts";
import { createCertificateAuthority } from "../testing/certificate-authority.ts";
import { testServiceAccount } from "../testing/service-account.ts";
import { masterKey } from "./commands/doctor.ts";
import { type StartupBanner, startupBanner } from "./serve/startup-banner.ts";

// Ends a hang only: a test starts up to ten processes. With the one that is late, Bun kills the server of the others.
setDefaultTimeout(180_000);

const main = join(import.meta.dir, "../main.ts");
const environment = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("RUNNEL_")));

interface Said {
  code: number;
  out: string;
  err: string;
}

/** Runs the real command line to its end. */
async function runnel(args: string[], env: Record<string, string> = {}): Promise<Said> {
  const child = Bun.spawn([process.execPath, main, ...args], {
    env: { ...environment, ...env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return { code, out, err };
}

/** Starts a server and waits for its banner on standard output. */
async function startServer(dataDir: string, args: string[] = []) {
  // These tests run no programs, and testing the sandbox would take a second for each server.
  const fixed = ["--json", "--port", "0", "--workers", "0", "--sandbox", "off"];
  const child = Bun.spawn([process.execPath, main, "serve", ...fixed, "--data-dir", dataDir, ...args], {
    env: environment,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const log = readLog(child.stderr);
  const { value } = await child.stdout.getReader().read();
  if (!value) throw new Error(`The server said nothing: ${await log.whole}`);
  const greeting = JSON.parse(new TextDecoder().decode(value)) as StartupBanner;
  const ca = greeting.cacert ? readFileSync(greeting.cacert, "utf8") : undefined;
  return {
    child,
    greeting,
    log,
    get: (path: string, init: RequestInit = {}) =>
      fetch(`${greeting.address}${path}`, {
        keepalive: false,
        redirect: "manual",
        ...(ca && { tls: { ca } }),
        ...init,
      }),
    stop: async () => {
      child.kill("SIGTERM");
      return await child.exited;
    },
  };
}

/** Reads a log as it is written; `holds` waits for a word in it. */
function readLog(stream: ReadableStream<Uint8Array>) {
  let text = "";
  const waiting = new Map<string, () => void>();
  const whole = (async () => {
    for await (const chunk of stream) {
      text += new TextDecoder().decode(chunk);
      for (const [word, resolve] of waiting) if (text.includes(word)) resolve();
    }
    return text;
  })();
  const holds = (word: string) =>
    new Promise<void>((resolve) => (text.includes(word) ? resolve() : void waiting.set(word, resolve)));
  return { whole, holds };
}

// biome-ignore lint/suspicious/noExplicitAny: a test asks for fields that the types of the server do not promise.
const parsed = async (answer: Response): Promise<any> => JSON.parse(await answer.text());

const bearer = (key: string | undefined) => ({ headers: { authorization: `Bearer ${key}` } });

describe("without a server", () => {
  let folder: string;
  let data: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "runnel-cli-"));
    data = join(folder, "data");
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  test("version and --version print the version and exit with 0", async () => {
    const [command, flag] = await Promise.all([runnel(["version"]), runnel(["--version"])]);
    expect(command).toEqual({ code: 0, out: expect.stringMatching(/^runnel \d+\.\d+\.\d+ \(commit /), err: "" });
    expect(flag).toEqual(command);
  });

  test("without a command it prints the help and exits with 0", async () => {
    const [bare, help] = await Promise.all([runnel([]), runnel(["--help"])]);
    expect(bare).toEqual({ code: 0, out: expect.stringContaining("\n  serve [options] "), err: "" });
    expect(help).toEqual(bare);
  });

  test("a flag without a command is refused, with the command that takes it", async () => {
    const [port, other] = await Promise.all([runnel(["--port", "8080"]), runnel(["--nonsense=1"])]);
    expect(port).toEqual({ code: 2, out: "", err: expect.stringContaining('Did you mean "runnel serve --port"?') });
    expect(other).toEqual({ code: 2, out: "", err: expect.stringContaining("Unknown option --nonsense without") });
  });

  test("a usage error exits with 2 and is explained on standard error", async () => {
    for (const args of [
      ["nonsense"],
      ["--nonsense"],
      ["serve", "nonsense"],
      ["keys", "create", "--env", "prod"],
      ["keys", "create", "--name", "", "--data-dir", data],
      ["keys", "create", "--name", "a\u001b[2K", "--data-dir", data],
      ["keys", "create", "--name", "x".repeat(129), "--data-dir", data],
      ["keys", "create", "--cidrs", "10.0.0.0/99", "--data-dir", data],
      ["keys", "create", "--agents", "agt_nope", "--data-dir", data],
      ["backup", "a.db", "--to", "s3://bucket/folder", "--data-dir", data],
      ["backup", "a.db", "--keep", "3", "--data-dir", data],
      ["restore", "a.db", "--from", "s3://bucket/folder", "--data-dir", data],
      ["serve", "--insecure-http", "--host", "0.0.0.0"],
      ["serve", "--public-url", "https://*.example"],
      ["serve", "--public-url", "https://a b.example"],
      ["serve", "--public-url", "https://a.example:99999"],
    ]) {
      const { code, out, err } = await runnel([...args, ...(args[0] === "serve" ? ["--data-dir", data] : [])]);
      expect([args, code, out]).toEqual([args, 2, ""]);
      expect(err).not.toContain("    at ");
      expect(err.length).toBeGreaterThan(10);
    }
  });

  test("runs and traces are kept for ever, unless the project sets a number of days", async () => {
    const where = ["--data-dir", data];
    await runnel(["projects", "create", "shop", ...where]);
    const retention = (...args: string[]) => runnel(["projects", "retention", "shop", ...args, ...where]);
    const changed = await retention("--env", "live", "--runs-days", "365", "--traces-days", "30", "--json");
    const live = { runs_days: 365, traces_days: 30 };
    const untouched = { runs_days: null, traces_days: null };
    expect(JSON.parse(changed.out)).toEqual({ project: "shop", retention: { test: untouched, live } });
    expect((await retention("--env", "live", "--runs-days", "forever")).code).toBe(0);
    const listed = JSON.parse((await runnel(["projects", "list", "--json", ...where])).out);
    expect(listed.data[0].retention).toEqual({ test: untouched, live: { ...live, runs_days: null } });
    expect((await retention()).out).toMatch(/test +everything\nlive +runs for ever, traces 30 days/);
    for (const args of [
      ["--runs-days", "9"],
      ["--env", "live", "--runs-days", "0"],
      ["--env", "test", "--traces-days", "x"],
    ])
      expect([args, (await retention(...args)).code]).toEqual([args, 2]);
    expect((await runnel(["projects", "retention", "none", ...where])).code).toBe(1);
    const moved = await runnel(["projects", "move", "shop", "--to", "east", ...where]);
    expect([moved.code, moved.err]).toEqual([
      1,
      "Only projects of a cluster have cells. --cluster and RUNNEL_MASTER_KEY say of which.\n",
    ]);
    const within = await runnel(["projects", "move", "shop", "--to", "east", "--within", "soon", ...where]);
    expect([within.code, within.err]).toEqual([2, '--within takes 1 to 9999 seconds, not "soon".\n']);
  });

  test("no page may send requests, unless the project lists its origin", async () => {
    const where = ["--data-dir", data];
    await runnel(["projects", "create", "web", ...where]);
    const origins = (...args: string[]) => runnel(["projects", "origins", "web", ...args, ...where]);
    expect((await origins()).out.trim()).toBe("No pages may ask.");
    const [first, second] = ["https://a.example", "http://localhost:5173"];
    const changed = await origins("--origins", `${first},${second},${first}`, "--json");
    expect(JSON.parse(changed.out)).toEqual({ project: "web", origins: [first, second] });
    for (const wrong of ["*", "https://*.example", `${first},https://b.example/`, "http://b.example"])
      expect([wrong, (await origins("--origins", wrong)).code]).toEqual([wrong, 1]);
    expect((await origins()).out.trim().split("\n")).toEqual([first, second]);
    expect((await origins("--origins", "none")).out.trim()).toBe("No pages may ask.");
  });

  test("projects and keys are created, listed and revoked; the secret is shown once", async () => {
    const where = ["--data-dir", data];
    const missing = await runnel(["keys", "list", ...where]);
    expect([missing.code, missing.err]).toEqual([1, expect.stringContaining("There is no data directory")]);
    expect((await runnel(["projects", "create", "shop"], { RUNNEL_DATA_DIR: data })).code).toBe(0);
    const refused = await runnel(["keys", "create", "--project", "other", ...where]);
    expect([refused.code, refused.err]).toEqual([1, expect.stringContaining("--create-project")]);
    const made = await runnel([
      "keys",
      "create",
      "--project",
      "shop",
      "--env",
      "live",
      "--scopes",
      "read,run",
      "--json",
      ...where,
    ]);
    const key = JSON.parse(made.out) as { id: string; secret: string };
    const { secret } = key; // Read first: the matcher below replaces it.
    expect(key).toMatchObject({
      environment: "live",
      scopes: ["read", "run"],
      secret: expect.stringMatching(/^sk_live_/),
    });
    await runnel(["keys", "create", "--project", "shop", "--env", "live", ...where]);
    expect((await runnel(["keys", "revoke", key.id, ...where])).code).toBe(0);
    const listed = await runnel(["keys", "list", "--project", "shop", "--env", "live", ...where]);
    expect(listed.out).toMatch(new RegExp(`${key.id}.*revoked`));
    expect(listed.out).not.toContain(secret);
  });

  test("an archived project gets no new key, and no project can have another's id as its name", async () => {
    const where = ["--data-dir", data];
    const { id } = JSON.parse((await runnel(["projects", "create", "one", "--json", ...where])).out);
    await runnel(["projects", "create", "two", ...where]);
    const renamed = await runnel(["projects", "rename", "two", id, ...where]);
    expect([renamed.code, renamed.err]).toEqual([1, expect.stringContaining("look like an id")]);
    await runnel(["projects", "archive", id, ...where]);
    const refused = await runnel(["keys", "create", "--project", "one", ...where]);
    expect([refused.code, refused.out, refused.err]).toEqual([1, "", expect.stringContaining("archived")]);
  });

  test("every command exits with 78 if the database is newer than the executable", async () => {
    await runnel(["projects", "create", "shop", "--data-dir", data]);
    const db = new Database(join(data, "runnel.db"));
    db.run("PRAGMA user_version = 9999");
    db.close();
    for (const command of [
      ["serve", "--port", "0"],
      ["keys", "list"],
    ]) {
      const { code, err } = await runnel([...command, "--data-dir", data]);
      expect([command, code]).toEqual([command, 78]);
      expect(err).toContain("9999");
    }
    expect((await runnel(["doctor", "--machine", "--data-dir", data])).code).toBe(1);
  });

  test("a configuration file named by RUNNEL_CONFIG applies to every command", async () => {
    const file = join(folder, "runnel.toml");
    const env = { RUNNEL_CONFIG: file };
    writeFileSync(file, `data-dir = ${JSON.stringify(join(folder, "configured"))}\n`);
    expect((await runnel(["projects", "create", "acme", "--json"], env)).code).toBe(0);
    expect(statSync(join(folder, "configured", "runnel.db")).isFile()).toBe(true);
    expect(await runnel(["config", "check", file])).toMatchObject({
      code: 0,
      out: `${file} is valid, with 1 setting.\n`,
    });

    writeFileSync(file, `port = 8443\noidc-issuer = "https://id.example.com"\noidc-client-id = "runnel"\n`);
    expect(await runnel(["config", "check", file, "--json"])).toMatchObject({
      code: 0, // The secret may come from a variable.
      out: expect.stringContaining("also needs --oidc-client-secret"),
    });
    writeFileSync(file, 'port = "https"\nworkers = "many"\npublic-url = "example.com"\noidc-name = "Example"\n');
    const refused = await runnel(["config", "check", file]);
    expect([refused.code, refused.err.split("\n").slice(1, -1)]).toEqual([
      2,
      [
        expect.stringContaining("--port takes a number"),
        expect.stringContaining("--workers takes a number"),
        expect.stringContaining("--public-url takes an origin"),
        expect.stringContaining("also needs --oidc-issuer, --oidc-client-id, and --oidc-client-secret"),
      ],
    ]);

    writeFileSync(file, "prot = 8443\n");
    for (const command of [["serve"], ["projects", "list"], ["config", "check", file]])
      expect(await runnel(command, env)).toEqual({ code: 2, out: "", err: `${file}:\n  prot is no setting\n` });
  });

  test("the doctor reports a missing or wrong master key", async () => {
    const server = await startServer(data);
    await server.stop();
    const found = (env: Record<string, string> = {}) =>
      masterKey(openDataDir(data, { lock: false, create: false }), env);
    const file = join(data, "master.key");
    const key = readFileSync(file, "utf8");
    expect(found()).toBe("in master.key");
    rmSync(file);
    const { code, out } = await runnel(["doctor", "--machine", "--json", "--data-dir", data]);
    const finding = JSON.parse(out).findings.find(({ check }: { check: string }) => check === "master key");
    expect([code, finding]).toMatchObject([1, { result: "fail", ...(found() as object) }]);
    expect(finding.detail).toContain("need the master key");
    expect(found({ RUNNEL_MASTER_KEY: key })).toBe("from the environment");
    expect(found({ RUNNEL_MASTER_KEY: "7".repeat(64) })).toMatchObject({
      result: "fail",
      detail: expect.stringContaining("this one is"),
    });
  });

  test("a model's key is stored encrypted and never shown", async () => {
    const where = ["--data-dir", data];
    const canary = "sk-canary-0123456789abcdef";
    const added = await runnel(["models", "add", "openai", "--json", ...where], { RUNNEL_MODEL_API_KEY: canary });
    expect(JSON.parse(added.out)).toEqual({ name: "openai", provider: "openai", base_url: null });
    const listed = await runnel(["models", "list", ...where]);
    expect(listed.out).toMatch(/openai +openai +stored/);
    expect(added.out + listed.out + readFileSync(join(data, "runnel.db"), "latin1")).not.toContain(canary);
    expect((await runnel(["models", "remove", "openai", ...where])).code).toBe(0);
    expect((await runnel(["models", "remove", "openai", ...where])).code).toBe(1);
  });

  test("a connection's own models are listed, it is edited by version, and tested line by line", async () => {
    const where = ["--data-dir", data];
    const canary = "sk-canary-0123456789abcdef";
    const chunk = (delta: object, finish_reason: string | null = null) =>
      `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
    using model = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      async fetch(request) {
        if (request.method === "GET")
          return Response.json({ data: [{ id: "llama-70b", max_model_len: 8192 }, { id: "text-embedding-x" }] });
        const body = (await request.json()) as { tools?: unknown };
        if (body.tools) return Response.json({ error: { message: "No tools\u202e here" } }, { status: 400 });
        const text = `${chunk({ content: "ready" })}${chunk({}, "stop")}data: [DONE]\n\n`;
        return new Response(text, { headers: { "content-type": "text/event-stream" } });
      },
    });
    const address = ["--base-url", `http://127.0.0.1:${model.port}`];
    await runnel(["connections", "add", "local", ...address, ...where], { RUNNEL_MODEL_API_KEY: canary });
    const listed = await runnel(["models", "list", "--connection", "local", "--search", "lama", ...where]);
    expect(listed.out).toMatch(/local +openai_compatible +http:\S+ +stored +2/);
    expect(listed.out).toMatch(/openai_compatible\/local\/llama-70b +8192/);
    expect(listed.out).not.toContain("embedding");
    const edited = await runnel(["connections", "edit", "local", "--max-concurrent", "3", "--json", ...where]);
    expect(JSON.parse(edited.out)).toMatchObject({ version: 2, max_concurrent: 3, has_key: true });
    const stale = await runnel([
      "connections",
      "edit",
      "local",
      "--max-concurrent",
      "none",
      "--expected-version",
      "1",
      ...where,
    ]);
    expect([stale.code, stale.err]).toMatchObject([1, expect.stringContaining("at version 2")]);
    const at = [...address.slice(0, 1), `http://127.0.0.1:${model.port}/v1`];
    expect((await runnel(["connections", "edit", "local", ...at, ...where])).code).toBe(0);
    const tested = await runnel(["connections", "test", "local", "--model", "m", "--only", "tools", ...where]);
    expect(tested).toMatchObject({ code: 0 });
    expect(tested.out).toMatch(/^yes +Reachable\n(.*\n)*yes +Streaming\nno +Tools +.*No tools� here/);
    expect((await runnel(["connections", "list", ...where])).out).toMatch(/local .* worked 20/);
    expect(listed.out + edited.out + tested.out).not.toContain("canary");
    for (const wrong of [["--only", "magic"], ["--model"]])
      expect((await runnel(["connections", "test", "local", ...wrong, ...where])).code).toBe(2);
    expect((await runnel(["connections", "edit", "local", ...where])).code).toBe(2);
    expect((await runnel(["connections", "edit", "ollama", "--max-concurrent", "1", ...where])).code).toBe(1);
    expect((await runnel(["connections", "remove", "local", ...where])).code).toBe(0);
  });

  test("the credentials of a cloud are stored encrypted and never shown", async () => {
    const where = ["--data-dir", data];
    const { account } = testServiceAccount();
    const file = join(data, "..", "key.json");
    writeFileSync(file, JSON.stringify(account));
    const env = {
      RUNNEL_MODEL_SECRET_ACCESS_KEY: "canary-secret-0123456789",
      RUNNEL_MODEL_SESSION_TOKEN: "canary-session",
    };
    const aws = ["bedrock", "--region", "eu-west-1", "--access-key-id", "AKIDCANARY0123456789"];
    const added = [
      await runnel(["models", "add", ...aws, "--json", ...where], env),
      await runnel(["models", "add", "vertex", "--service-account", file, "--location", "eu", "--json", ...where]),
    ];
    expect(added.map(({ out }) => JSON.parse(out))).toEqual([
      { name: "bedrock", provider: "bedrock", base_url: null, region: "eu-west-1" },
      { name: "vertex", provider: "vertex", base_url: null, location: "eu" },
    ]);
    const gone = await runnel(["models", "add", "vertex", "--service-account", `${file}.gone`, ...where]);
    expect([gone.code, gone.err]).toMatchObject([2, expect.stringContaining("there is no file")]);
    const listed = await runnel(["models", "list", "--json", ...where]);
    expect(listed.out).toContain("eu-west-1");
    const edited = await runnel(["connections", "edit", "bedrock", "--region", "us-east-1", "--json", ...where]);
    expect(JSON.parse(edited.out)).toMatchObject({ version: 2, region: "us-east-1", has_key: true });
    const stored = readFileSync(join(data, "runnel.db"), "latin1");
    expect(edited.out).not.toMatch(/canary/i);
    expect(added.map(({ out }) => out).join("") + listed.out + stored).not.toMatch(/canary|PRIVATE KEY/i);
    for (const name of ["bedrock", "vertex"]) expect((await runnel(["models", "remove", name, ...where])).code).toBe(0);
  });

  test("a model's price is set, shown as one's own, and taken back", async () => {
    const prices = (...args: string[]) => runnel(["models", "prices", ...args, "--data-dir", data]);
    expect((await prices("set", "ollama/*", "--input", "0", "--output", "0.5")).code).toBe(0);
    expect((await prices("list")).out).toMatch(/ollama\/\* +0 +0 +0.5 +\S+ +set by you/);
    const { data: listed } = JSON.parse((await prices("list", "--json")).out);
    expect(listed.find(({ model }: { model: string }) => model === "openai/gpt-4.1")).toMatchObject({
      input: 2,
      cached_input: 0.5,
      output: 8,
      context_window: 1_047_576,
      as_of: "2026-09-23",
      source: "built_in",
      reference: "https://developers.openai.com/api/docs/pricing",
    });
    for (const wrong of [
      ["openai/gpt-5", "--input", "-1", "--output", "1"],
      ["openai/gpt-5", "--input", "1"],
    ])
      expect((await prices("set", ...wrong)).code).toBe(2);
    expect((await prices("set", "gpt-5", "--input", "1", "--output", "1")).code).toBe(1);
    expect((await prices("reset", "ollama/*")).code).toBe(0);
    expect((await prices("reset", "ollama/*")).code).toBe(1);
  });

  test("the table of list prices is replaced by a file, refused whole with its faults, and taken back", async () => {
    const update = (...args: string[]) => runnel(["models", "update", ...args, "--data-dir", data]);
    const file = join(data, "prices.json");
    const write = (...models: object[]) => writeFileSync(file, JSON.stringify({ as_of: "2026-01-15", models }));
    const ages = async () => {
      const { findings } = JSON.parse((await runnel(["doctor", "--machine", "--json", "--data-dir", data])).out);
      return findings.find(({ check }: { check: string }) => check === "prices");
    };
    const set = ["models", "prices", "set", "ollama/m", "--input", "1", "--output", "1", "--data-dir", data];
    expect((await runnel(set)).code).toBe(0);
    expect(await ages()).toMatchObject({
      detail: expect.stringMatching(/^\d+ models of 2026-09-23, \d+ days old, built in/),
    });
    write({ id: "openai/gpt-9", input: 7, output: 70 });
    expect(await update(file)).toMatchObject({ code: 0, out: "1 model of 2026-01-15, from prices.json.\n" });
    expect((await runnel(["models", "prices", "list", "--data-dir", data])).out).toMatch(
      /openai\/gpt-9 +7 +7 +70 +\d+ +2026-01-15 +your table +prices.json/,
    );
    expect(await ages()).toMatchObject({ result: "warn", detail: expect.stringContaining("runnel models update") });
    write({ id: "openai/gpt-9", input: 7, output: 70 }, { id: "openai/b", input: "7", output: -1 });
    const refused = await update(file);
    expect([refused.code, refused.out]).toEqual([1, ""]);
    for (const fault of ["models[1].input must be a number", "models[1].output must be a number"])
      expect(refused.err).toContain(fault);
    expect((await update("http://169.254.169.254/prices.json")).code).toBe(1);
    for (const wrong of [[], [file, "--reset"]]) expect((await update(...wrong)).code).toBe(2);
    expect((await update(`${file}.none`)).code).toBe(1);
    expect((await update("--reset")).code).toBe(0);
    expect((await update("--reset")).code).toBe(1);
    expect(await ages()).toMatchObject({ detail: expect.stringContaining("built in") });
  });
});

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
      "sign-in": { ...whole, RUNNEL_OIDC_DOMAINS: "example.com" },
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
      ["--local-accounts", "--tls-cert", "Egress", "--backup-keep", "RUNNEL_MCP_X_COMMAND", "nothing"],
    ]);
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
    expect(await certificate({ RUNNEL_TRUST_PROXY: "127.0.0.1" })).toMatchObject([
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
    const [{ id }] = run.required_action.submit_tool_outputs.tool_calls;
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

describe("a separate server", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "runnel-cli-"));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  test("ends its streams with a comment on SIGTERM and exits with 0; the next start prints addresses and no keys", async () => {
    const data = join(folder, "data");
    const server = await startServer(data);
    const post = { ...bearer(server.greeting.keys!.test), method: "POST" };
    const json = (body: object) => ({
      ...post,
      headers: { ...post.headers, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    const script = [{ text: "a b c d e f g h i j", delta_ms: 60_000 }];
    const slow = { name: "slow", instructions: "Wait.", model: "test/script", model_settings: { script } };
    const agent = await parsed(await server.get("/v1/agents", json(slow)));
    const stream = await server.get("/v1/runs", json({ agent_id: agent.id, input: "x", stream: true }));
    const reader = stream.body!.getReader();
    await reader.read();
    const ended = server.stop();
    let [rest, done] = ["", false];
    while (!done) {
      const chunk = await reader.read();
      rest += new TextDecoder().decode(chunk.value);
      done = chunk.done;
    }
    expect(await ended).toBe(0);
    expect(rest).toMatch(/: [^\n]+\n\n$/);
    expect(await server.log.whole).not.toContain(server.greeting.keys!.test);

    const again = await startServer(data);
    expect(again.greeting).toMatchObject({ keys: null, setup_link: null, recovered_runs: 1 });
    expect(await again.stop()).toBe(0);
  });

  test("exits at once on a second signal", async () => {
    const server = await startServer(join(folder, "data"), ["--insecure-http"]);
    // A request whose body never ends keeps the server from stopping.
    const held = await Bun.connect({
      hostname: "127.0.0.1",
      port: Number(new URL(server.greeting.address).port),
      socket: { data() {} },
    });
    held.write(
      `POST /v1/agents HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${server.greeting.keys!.test}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{`,
    );
    await server.get("/healthz"); // The response proves that the data sent before was read.
    server.child.kill("SIGTERM");
    await server.log.holds("stopping");
    server.child.kill("SIGTERM");
    expect(await server.child.exited).toBe(1);
    held.end();
  });

  test("is reached by this machine's commands although its certificate is for another name", async () => {
    const { ca, issue } = await createCertificateAuthority();
    const pair = await issue({ names: ["runs.example.com"] });
    const [cert, key, authority] = ["cert", "key", "ca"].map((name) => join(folder, `${name}.pem`)) as string[];
    writeFileSync(cert!, pair.cert);
    writeFileSync(key!, pair.key);
    writeFileSync(authority!, ca);
    const data = join(folder, "named");
    const named = await startServer(data, ["--host", "0.0.0.0", "--tls-cert", cert!, "--tls-key", key!]);
    const RUNNEL_METRICS_TOKEN = "not for who cannot prove to be the server";
    for (const command of [["health"], ["top", "--json", "--interval", "0.1"]])
      expect(await runnel([...command, "--data-dir", data], { RUNNEL_METRICS_TOKEN })).toMatchObject({ code: 0 });
    // The name is verified if a key would be sent.
    const url = named.greeting.address;
    for (const flags of [[], ["--url", url], ["--url", url, "--cacert", authority!]]) {
      const env = { RUNNEL_API_KEY: named.greeting.keys!.test };
      const refused = await runnel(["trace", "run_00000000000000000000000000", "--data-dir", data, ...flags], env);
      expect(refused).toMatchObject({
        code: 1,
        err: expect.stringContaining("--url with the name of its certificate"),
      });
    }
    expect((await runnel(["health", "--url", url])).code).toBe(1);
    await named.stop();
  });

  test("prints working addresses at a first start behind a proxy, and keeps its first keys despite plain HTTP requests", async () => {
    const { ca, issue } = await createCertificateAuthority();
    const authority = join(folder, "proxy-ca.pem");
    writeFileSync(authority, ca);
    let behind = "";
    /** Forwards a request as the proxy does: by default as an HTTPS request from the address of its peer. */
    const forward = async (request: Request, peer: string, claims: Record<string, string> = {}) => {
      const { pathname, search } = new URL(request.url);
      const headers = new Headers(request.headers);
      const said = { "x-forwarded-proto": "https", "x-forwarded-for": peer, ...claims };
      for (const [name, value] of Object.entries(said)) headers.set(name, value);
      return await fetch(`${behind}${pathname}${search}`, { headers, redirect: "manual", keepalive: false });
    };
    await using proxy = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      tls: await issue({ names: ["127.0.0.1"] }),
      fetch: (request, own) => forward(request, own.requestIP(request)!.address),
    });
    const data = join(folder, "first-behind-proxy");
    const server = await startServer(data, ["--trust-proxy", "127.0.0.1", "--public-url", proxy.url.origin]);
    const { address, keys } = server.greeting;
    behind = address;
    const ask = (url: string, key?: string) => fetch(url, { ...(key && bearer(key)), tls: { ca }, keepalive: false });
    const codeOf = async (answer: Response) => [answer.status, (await parsed(answer)).error?.code];

    const text = startupBanner(server.greeting);
    const [, key, url] = /Bearer (\w+)" (\S+)/.exec(text)!;
    expect((await ask(url!, key!)).status).toBe(200);
    const [link] = /https:\S+\/dashboard\/setup#\S+/.exec(text)!;
    expect((await ask(link)).status).toBe(200);
    expect(text).not.toContain(address);
    const another = await runnel(["admin", "setup-link", "--data-dir", data]);
    expect(another.out).toStartWith(`${proxy.url.origin}/dashboard/setup#`);
    const command = ["trace", "run_00000000000000000000000000", "--data-dir", data, "--cacert", authority];
    const asked = await runnel(command, { RUNNEL_API_KEY: keys!.live });
    expect(asked.err).toContain("There is nothing with this id.");

    // Direct requests from this machine are refused and logged, and both keys stay valid.
    for (const secret of [keys!.live, keys!.test, keys!.live])
      expect(await codeOf(await server.get("/v1/me", bearer(secret)))).toEqual([403, "https_required"]);
    await server.log.holds("from this machine and was kept");
    const me = `${proxy.url.origin}/v1/me`;
    for (const secret of [keys!.live, keys!.test]) expect((await ask(me, secret)).status).toBe(200);

    // Plain HTTP from elsewhere, according to the proxy: the last admin key stays, any other live key is revoked.
    const made = await runnel(["keys", "create", "--env", "live", "--scopes", "run", "--json", "--data-dir", data]);
    const other: string = JSON.parse(made.out).secret;
    const inClear = { "x-forwarded-proto": "http" };
    for (const secret of [keys!.live, other])
      expect(await codeOf(await forward(new Request(me, bearer(secret)), "203.0.113.7", inClear))).toEqual([
        403,
        "https_required",
      ]);
    await server.log.holds("because it is the last admin key");
    await server.log.holds("in clear text and was revoked");
    expect((await ask(me, keys!.live)).status).toBe(200);
    const revoked = await ask(me, other);
    expect(revoked.status).toBe(401);
    expect((await parsed(revoked)).error).toMatchObject({ code: "key_revoked", details: { reason: "exposed" } });
    expect(await server.stop()).toBe(0);
    expect(await server.log.whole).not.toContain(keys!.live);
  });

  test("accepts plain HTTP on loopback if allowed, and behind a proxy only requests that came by HTTPS", async () => {
    const plain = await startServer(join(folder, "plain"), ["--insecure-http"]);
    expect(plain.greeting.address).toStartWith("http://127.0.0.1:");
    expect((await plain.get("/v1/me", bearer(plain.greeting.keys!.test))).status).toBe(200);
    await plain.stop();
    const proxied = await startServer(join(folder, "proxied"), ["--trust-proxy", "127.0.0.1"]);
    const key = bearer(proxied.greeting.keys!.test);
    const refused = await proxied.get("/v1/me", key);
    expect([refused.status, (await parsed(refused)).error.code]).toEqual([403, "https_required"]);
    const forwarded = { headers: { ...key.headers, "x-forwarded-proto": "https", "x-forwarded-for": "192.0.2.7" } };
    expect((await proxied.get("/v1/me", forwarded)).status).toBe(200);
    for (const host of ["a", "hq", "abc", "a:8080"]) {
      const short = { headers: { ...forwarded.headers, host } };
      expect([host, (await proxied.get("/v1/me", short)).status]).toEqual([host, 200]);
    }
    // Commands and Prometheus on this machine reach it without the proxy.
    for (const command of [["health"], ["top", "--json", "--interval", "0.1"]])
      expect(await runnel([...command, "--data-dir", join(folder, "proxied")])).toMatchObject({ code: 0 });
    expect((await proxied.get("/metrics")).status).toBe(200);
    expect((await proxied.get("/metrics", { headers: { ...forwarded.headers, authorization: "" } })).status).toBe(401);
    await proxied.stop();
  });
});
