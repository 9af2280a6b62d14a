import { Database } from "bun:sqlite";
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDataDir } from "../storage/db/data-dir.ts";
import { runnel, startServer } from "../testing/command-line.ts";
import { testServiceAccount } from "../testing/service-account.ts";
import { masterKey } from "./commands/doctor.ts";

// Ends a hang only: a test starts up to ten processes. With the one that is late, Bun kills the server of the others.
setDefaultTimeout(180_000);

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

  test("init writes a configuration file that is valid, keeps one that is there, and prints it on request", async () => {
    const project = join(folder, "project");
    const file = join(project, "runnel.toml");
    const first = await runnel(["init", project]);
    expect(first).toMatchObject({ code: 0, err: "", out: expect.stringContaining(`runnel serve --config ${file}\n`) });
    if (process.platform !== "win32") expect(statSync(file).mode & 0o777).toBe(0o600);
    const text = readFileSync(file, "utf8");
    expect(await runnel(["config", "check", file])).toMatchObject({
      code: 0,
      out: `${file} is valid, with 0 settings.\n`,
    });
    writeFileSync(file, "port = 8443\n");
    expect(await runnel(["init", project])).toEqual({
      code: 1,
      out: "",
      err: expect.stringContaining(`${file} exists and was not changed.`),
    });
    expect(readFileSync(file, "utf8")).toBe("port = 8443\n");
    expect(await runnel(["init", "-"])).toEqual({ code: 0, out: text, err: "" });
    for (const below of [file, join(file, "below")]) {
      const { code, err } = await runnel(["init", below]);
      expect([code, err]).toEqual([1, expect.stringContaining("cannot be written")]);
    }
  });

  test("a setting under its old name is a warning of config check, and an error beside the new one", async () => {
    const file = join(folder, "old.toml");
    writeFileSync(file, 'log = "json"\n');
    expect(await runnel(["config", "check", file])).toMatchObject({
      code: 0,
      out: expect.stringContaining(`${file}: log is the old name of log-format`),
    });
    expect(await runnel(["serve", "--log", "json", "--log-format", "json"])).toEqual({
      code: 2,
      out: "",
      err: expect.stringMatching(/^--log is the old name of --log-format, and both/),
    });
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
