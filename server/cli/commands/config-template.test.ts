import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { flagsFrom, settingFaults } from "../serve/check-settings.ts";
import { serveCommand } from "../serve/serve-command.ts";
import { variables } from "../serve/variables.ts";
import { configSettings, inspectConfigFile, readConfigFile } from "./config-file.ts";
import { configTemplate } from "./config-template.ts";

const folder = mkdtempSync(join(tmpdir(), "runnel-template-"));
afterAll(() => rmSync(folder, { recursive: true }));

const serve = serveCommand();
const template = configTemplate(serve);
const settings = configSettings(serve);
const setting = /^#(?=[\w-]+ = )/;
const lines = template.split("\n");

const write = (text: string): string => {
  const path = join(folder, "runnel.toml");
  writeFileSync(path, text);
  return path;
};
const uncommented = (isWanted: (line: string) => boolean): string =>
  lines.map((line) => (setting.test(line) && isWanted(line) ? line.replace(setting, "") : line)).join("\n");

describe("the configuration file of init", () => {
  test("sets nothing as it is", () => {
    expect(inspectConfigFile(write(template), settings)).toEqual({ found: {}, faults: [], warnings: [] });
  });

  test("has every flag of serve and every variable without a flag once, each with an explanation above it", () => {
    const names = lines.flatMap((line) => /^#([\w-]+) = /.exec(line)?.[1] ?? []);
    const ofFile = variables.filter(({ isEarly }) => !isEarly).map(({ name }) => name.replace("<NAME>", "NAME"));
    expect(names.toSorted()).toEqual([...settings.keys(), ...ofFile].sort());
    const unexplained = lines.filter((line, at) => setting.test(line) && !/^# [A-Z].*\.$/.test(lines[at - 1]!));
    expect(unexplained).toEqual([]);
  });

  test("is valid with every line uncommented", () => {
    const found = readConfigFile(write(uncommented(() => true)), settings);
    expect(Object.keys(found).sort()).toEqual(
      [
        ...[...settings.values()].map(({ variable }) => variable),
        ...variables.filter(({ isEarly }) => !isEarly).map(({ name }) => name.replace("<NAME>", "NAME")),
      ].sort(),
    );
  });

  test.each(lines.filter((line) => /^#[a-z-]+ = /.test(line)))("has no fault with this line alone: %s", (line) => {
    const found = readConfigFile(write(uncommented((other) => other === line)), settings);
    expect(Object.keys(found)).toHaveLength(1);
    expect(settingFaults(serve, found).filter(({ isCertain }) => isCertain)).toEqual([]);
  });

  test("shows the real default of each setting that has one", () => {
    const withDefault = serve.options.filter(
      (option) => option.defaultValue !== undefined || (!option.required && !option.optional),
    );
    const found = readConfigFile(
      write(uncommented((line) => withDefault.some((option) => line.startsWith(`#${option.name()} = `)))),
      settings,
    );
    expect(Object.keys(found).length).toBeGreaterThan(10);
    expect(flagsFrom(serve, found)).toEqual(flagsFrom(serve, {}));
  });
});
