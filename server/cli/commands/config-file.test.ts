import { afterAll, describe, expect, spyOn, test } from "bun:test";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { serveCommand } from "../serve/serve-command.ts";
import { variables } from "../serve/variables.ts";
import { applyConfigFile, configPathIn, configSettings, hasOpenSecrets, readConfigFile } from "./config-file.ts";

const folder = mkdtempSync(join(tmpdir(), "runnel-config-"));
afterAll(() => rmSync(folder, { recursive: true }));

const path = join(folder, "runnel.toml");
const settings = configSettings(serveCommand());
const reading = (text: string) => {
  writeFileSync(path, text);
  return readConfigFile(path, settings);
};

describe("a configuration file", () => {
  test("may contain every flag of serve, and every variable without a flag", () => {
    const flags = serveCommand().options.filter(({ long }) => !["--json", "--config"].includes(long!));
    const lines = flags.map((option) => {
      const isSwitch = !option.required && !option.optional;
      return `${option.name()} = ${isSwitch ? "true" : JSON.stringify(option.argChoices?.[0] ?? "1")}`;
    });
    const chosen = ["RUNNEL_MODEL_MY_SERVER_BASE_URL", "AWS_SECRET_ACCESS_KEY", "OTEL_EXPORTER_OTLP_HEADERS"];
    const told = variables.filter(({ name, isEarly }) => !isEarly && !name.includes("<")).map(({ name }) => name);
    const others = [...new Set([...chosen, ...told])];
    const table = others.map((name) => `${name} = "x"`);
    const found = reading([...lines, "[environment]", ...table].join("\n"));
    expect(Object.keys(found).sort()).toEqual([...flags.map(({ envVar }) => envVar!), ...others].sort());
  });

  test("sets the same values as variables do", () => {
    const found = reading(
      'port = 8080\ntrusted-proxies = ["10.0.0.0/8", "::1"]\ninsecure-http = false\nlog-format = "json"',
    );
    expect(found).toEqual({
      RUNNEL_PORT: "8080",
      RUNNEL_TRUSTED_PROXIES: "10.0.0.0/8,::1",
      RUNNEL_INSECURE_HTTP: "false",
      RUNNEL_LOG_FORMAT: "json",
    });
  });

  test("yields to a variable with a value, and overrides an empty one", () => {
    reading('port = 8080\nhost = "0.0.0.0"\ninsecure-http = true');
    const environment = { RUNNEL_PORT: "9090", RUNNEL_HOST: "", RUNNEL_INSECURE_HTTP: "0" };
    applyConfigFile(path, settings, environment);
    expect(environment).toEqual({ RUNNEL_PORT: "9090", RUNNEL_HOST: "0.0.0.0", RUNNEL_INSECURE_HTTP: "0" });
  });

  test("is refused with all of its faults at once", () => {
    const text =
      'prot = 1\njson = true\nlog-format = "xml"\ninsecure-http = "yes"\nhost = { a = 1 }\n[environment]\nPATH = "x"\nOPENAI_API_KEY = 1';
    const faults = [
      "prot is no setting",
      "json is no setting",
      "log-format takes one of",
      "insecure-http takes true or false",
    ];
    faults.push("host takes a text", "environment.PATH is no variable", "environment.OPENAI_API_KEY takes a text");
    for (const fault of faults) expect(() => reading(text)).toThrow(fault);
  });

  test.each([
    ["port = ", "is not TOML, in line 1:"],
    ['domain = [\n  "a",\n]\n\nport = \nhost = "b"', "is not TOML, in line 5:"],
    ['domain = [\n  "a",\n]\ntrusted-proxies = [\n  "b",\nhost = "c"\n', "is not TOML, in lines 4 to 6:"],
    ['domain = [\n  "a",\n]\nlog-format = "json"\ntrusted-proxies = [\n  "b",\n\n', "is not TOML, in lines 5 to 6:"],
    ['domain = [\n  "a",\n]\nport = 1\nhost = """b\nlog-format = "json"\n', "is not TOML, in lines 5 to 6:"],
    ["port = 1\nport = 2", "is not TOML, in line 2:"],
    ["environment = 1", "environment is no table"],
    ['[environment]\nBUN_CONFIG_MAX_HTTP_REQUESTS = "9"', "environment.BUN_CONFIG_MAX_HTTP_REQUESTS is no variable"],
    ["environment = [1]", "environment is no table"],
    ['domain = ["a,b"]', "domain takes a text"],
    ["port = nan", "port takes a text, a number"],
    ["audit-retention-days = inf", "audit-retention-days takes a text, a number"],
    ['data-dir = "a\\u0000b"', "data-dir takes a text"],
    ['domain = ["a\\u0000b"]', "domain takes a text"],
    ['[environment]\nOPENAI_API_KEY = "a\\u0000b"', "environment.OPENAI_API_KEY takes a text"],
    ["[".repeat(100_000), "is not TOML"],
  ])("is refused as %j", (text, fault) => {
    expect(() => reading(text)).toThrow(fault);
  });

  test("of a hundred kilobytes is parsed few times to find the line of its fault; a larger one is refused unread", () => {
    const lines = Array.from({ length: 3000 }, (_, count) => `OPENAI_API_KEY_${count} = "a secret"`);
    using parse = spyOn(Bun.TOML, "parse");
    expect(() => reading(lines.with(2000, "port = ").join("\n"))).toThrow("is not TOML, in line 2001:");
    expect(parse.mock.calls.length).toBeLessThan(20);
    parse.mockClear();
    expect(() => reading(`# ${"x".repeat(200_000)}`)).toThrow(`${path} cannot be read: it has more than 128 KB.`);
    expect(parse).not.toHaveBeenCalled();
  });

  test("is refused if it is missing", () => {
    const none = join(folder, "none.toml");
    for (const [file, why] of [
      [none, `there is no file ${none}.`],
      [folder, "it is a directory."],
    ] as const)
      expect(() => readConfigFile(file, settings)).toThrow(`The configuration file ${file} cannot be read: ${why}`);
  });

  test.skipIf(process.platform === "win32")("with secrets must be readable by its owner only", () => {
    const found = Object.keys(reading('[environment]\nOPENAI_API_KEY = "x"'));
    chmodSync(path, 0o640);
    const secrets = [
      ...found,
      "RUNNEL_SMTP_URL",
      "RUNNEL_CLUSTER",
      "OTEL_EXPORTER_OTLP_HEADERS",
      "RUNNEL_METRICS_TOKEN",
    ];
    expect([...secrets, "RUNNEL_PORT", "RUNNEL_TLS_KEY"].filter((name) => hasOpenSecrets(path, [name]))).toEqual(
      secrets,
    );
    chmodSync(path, 0o600);
    expect(hasOpenSecrets(path, found)).toBe(false);
  });
});

test.each([
  [["serve", "--config", "a.toml"], "a.toml"],
  [["--config=b.toml"], "b.toml"],
  [["serve", "--config", "a.toml", "--config=b.toml"], "b.toml"],
  [["serve"], "of-the-environment.toml"],
  [["run", "--", "--config", "no.toml"], "of-the-environment.toml"],
] as const)("%j names its file", (args, expected) => {
  expect(configPathIn(args, { RUNNEL_CONFIG: "of-the-environment.toml" })).toBe(expected);
});
