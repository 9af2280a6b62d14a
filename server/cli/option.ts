import { type Command, Option } from "commander";
import { usageError } from "./exit-code.ts";

interface OptionSpec {
  /** Where it is not `RUNNEL_` and the flag's name. */
  env?: string;
  default?: string | boolean | string[];
  choices?: readonly string[];
  required?: boolean;
  parse?: (value: string, previous: unknown) => unknown;
}

/** A flag that can also be given by environment: `--data-dir` is `RUNNEL_DATA_DIR`, and so on for all of them. */
export function option(flags: string, description: string, spec: OptionSpec = {}): Option {
  const made = new Option(flags, description);
  made.env(spec.env ?? `RUNNEL_${made.name().toUpperCase().replaceAll("-", "_")}`);
  if (spec.default !== undefined) made.default(spec.default);
  if (spec.choices) made.choices(spec.choices);
  if (spec.parse) made.argParser(spec.parse);
  if (spec.required) made.makeOptionMandatory();
  return made;
}

/** Collects a flag that may be given several times. */
export const collect = (value: string, previous: unknown): string[] => [
  ...(Array.isArray(previous) ? (previous as string[]) : []),
  value,
];

export const dataDirOption = () =>
  option("--data-dir <path>", "folder that holds everything", { default: "./runnel-data" });
export const configOption = () => option("--config <file>", "configuration file in TOML, with the names of flags");
export const jsonOption = () => option("--json", "print one JSON object on standard output");

export interface DataFlags {
  dataDir: string;
  json?: boolean;
}

/** Gives commands the flags of those that work on a data directory and print an object. */
export function addDataOptions(...commands: readonly Command[]): void {
  for (const command of commands) command.addOption(dataDirOption()).addOption(jsonOption());
}

/** Throws for flags that have no meaning beside a file. Variables may set them for other calls. */
export function refuseBeside(file: string, command: Command, names: readonly string[]): void {
  const given = command.options.filter((option) => names.includes(option.attributeName()));
  const refused = given.find((option) => command.getOptionValueSource(option.attributeName()) === "cli");
  if (refused) throw usageError(`${refused.long} is about a store, and ${file} is a file: give one of the two.`);
}

/**
 * Forgets variables that mean nothing: a switch that is set to 0 or false is off, and an empty value is none. To the
 * parser of arguments a variable that exists is one that is set, so `RUNNEL_INSECURE_HTTP=0` would switch it on.
 */
export function tidyEnvironment(
  command: Pick<Command, "options"> & Partial<Pick<Command, "commands">>,
  environment: Record<string, string | undefined> = process.env,
): void {
  for (const { envVar, required, optional } of command.options) {
    const value = envVar === undefined ? undefined : environment[envVar]?.trim();
    if (value === undefined) continue;
    const isSwitch = !required && !optional;
    if (value === "" || (isSwitch && /^(0|false|no|off)$/i.test(value))) delete environment[envVar!];
  }
  for (const child of command.commands ?? []) tidyEnvironment(child, environment);
}
