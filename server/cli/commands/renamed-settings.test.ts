import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { flagsFrom } from "../serve/check-settings.ts";
import { serveCommand } from "../serve/serve-command.ts";
import { applyConfigFile, configSettings, inspectConfigFile } from "./config-file.ts";
import { isSwitch, variableNameOf } from "./option.ts";
import { renamedSettings, renameFlags, renameSettings, renameVariables } from "./renamed-settings.ts";

const folder = mkdtempSync(join(tmpdir(), "runnel-renamed-"));
afterAll(() => rmSync(folder, { recursive: true }));

const settings = configSettings(serveCommand());
const write = (text: string): string => {
  const path = join(folder, "runnel.toml");
  writeFileSync(path, text);
  return path;
};

/** Every renamed setting with a value: as typed, and as the value of a variable. */
const examples = renamedSettings.map((setting) => {
  const option = serveCommand().options.find(({ long }) => long === `--${setting.name}`)!;
  const isOldSwitch = isSwitch(option) || setting.valueOfSwitch !== undefined;
  const value = option.argChoices?.at(-1) ?? "1";
  return { ...setting, typed: isOldSwitch ? [] : [value], value: isOldSwitch ? "true" : value };
});

describe("a setting under its old name", () => {
  test.each(examples)("works as a flag: --$old", ({ old, name, typed, valueOfSwitch }) => {
    const renamed = valueOfSwitch === undefined ? [`--${name}`, ...typed] : [`--${name}=${valueOfSwitch}`];
    expect(renameFlags(["serve", `--${old}`, ...typed, "--port", "0"])).toEqual({
      args: ["serve", ...renamed, "--port", "0"],
      warnings: [expect.stringContaining(`--${old} is the old name of --${name}`)],
    });
    if (typed.length > 0)
      expect(renameFlags(["serve", `--${old}=${typed}`]).args).toEqual(["serve", `--${name}=${typed}`]);
  });

  test.each(examples)("works as a variable: $old", ({ old, name, value, valueOfSwitch = value }) => {
    const environment: Record<string, string> = { [variableNameOf(old)]: value };
    expect(renameVariables(environment)).toEqual([
      expect.stringContaining(`${variableNameOf(old)} is the old name of ${variableNameOf(name)}`),
    ]);
    expect(environment).toEqual({ [variableNameOf(name)]: valueOfSwitch });
  });

  test.each(examples)("works in the configuration file: $old", ({ old, name, value, valueOfSwitch = value }) => {
    const path = write(`${old} = ${value === "true" ? value : JSON.stringify(value)}`);
    const environment = {};
    const warnings = applyConfigFile(path, settings, environment);
    expect(warnings).toEqual([expect.stringContaining(`${path}: ${old} is the old name of ${name}`)]);
    expect(environment).toEqual({ [variableNameOf(name)]: valueOfSwitch });
  });

  test.each(examples)("is refused beside the new one: $old and $name", ({ old, name, typed, value }) => {
    const said = `${old} is the old name of`;
    expect(() => renameFlags(["serve", `--${old}`, ...typed, `--${name}`, ...typed])).toThrow(`--${said}`);
    const toml = value === "true" ? value : JSON.stringify(value);
    const { faults } = inspectConfigFile(write(`${old} = ${toml}\n${name} = ${toml}`), settings);
    expect(faults[0]).toStartWith(said);
  });
});

test.each(examples)(
  "the variable of the new name counts beside that of the old one: $old and $name",
  ({ old, name }) => {
    const environment = { [variableNameOf(old)]: "2", [variableNameOf(name)]: "1" };
    expect(renameVariables(environment)).toEqual([
      expect.stringContaining(`${variableNameOf(old)} is the old name of`),
    ]);
    expect(environment).toEqual({ [variableNameOf(name)]: "1" });
  },
);

test("an old variable wins over the configuration file, as the new one does", () => {
  const environment: Record<string, string> = { RUNNEL_LOG: "json" };
  renameVariables(environment);
  applyConfigFile(write('log-format = "pretty"'), settings, environment);
  expect(flagsFrom(serveCommand(), environment).logFormat).toBe("json");
});

test("an old variable that is empty, and an old switch that is off, change nothing", () => {
  const environment = { RUNNEL_LOG: " ", RUNNEL_KEEP_EXPOSED_KEYS: "0" };
  expect(renameVariables(environment)).toEqual([]);
  expect(environment as object).toEqual({});
  expect(renameSettings({ "keep-exposed-keys": false })).toEqual({ warnings: [], faults: [] });
  expect(flagsFrom(serveCommand(), environment).revokeExposedKeys).toBe("on");
});

test("each old name leads to an existing flag, and is none itself", () => {
  const flags = serveCommand().options.map((option) => option.name());
  expect(renamedSettings.filter(({ name }) => !flags.includes(name))).toEqual([]);
  expect(renamedSettings.filter(({ old }) => flags.includes(old))).toEqual([]);
});
