import { type Command, Option } from "commander";
import { usageError } from "./exit-code.ts";

interface OptionSpec {
  /** Environment variable, if not `RUNNEL_` and the flag's name. */
  env?: string;
  default?: string | boolean | string[];
  choices?: readonly string[];
  required?: boolean;
  parse?: (value: string, previous: unknown) => unknown;
}

/** Creates a flag that can also be set by an environment variable: `--data-dir` is `RUNNEL_DATA_DIR`. */
export function option(flags: string, description: string, spec: OptionSpec = {}): Option {
  const created = new Option(flags, description);
  created.env(spec.env ?? `RUNNEL_${created.name().toUpperCase().replaceAll("-", "_")}`);
  if (spec.default !== undefined) created.default(spec.default);
  if (spec.choices) created.choices(spec.choices);
  if (spec.parse) created.argParser(spec.parse);
  if (spec.required) created.makeOptionMandatory();
  return created;
}

/** Collects the values of a repeatable flag. */
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

/** Adds the flags of commands that work on a data directory and print an object. */
export function addDataOptions(...commands: readonly Command[]): void {
  for (const command of commands) command.addOption(dataDirOption()).addOption(jsonOption());
}

/** Throws for flags that a file argument makes meaningless. Ignores variables, which may be set for other calls. */
export function refuseBeside(file: string, command: Command, names: readonly string[]): void {
  const matching = command.options.filter((option) => names.includes(option.attributeName()));
  const conflicting = matching.find((option) => command.getOptionValueSource(option.attributeName()) === "cli");
  if (conflicting)
    throw usageError(`${conflicting.long} is about a store, and ${file} is a file: give one of the two.`);
}

/**
 * Deletes variables without effect: a switch set to 0 or false, and any empty one. Otherwise the argument parser would
 * treat `RUNNEL_INSECURE_HTTP=0` as set.
 */
export function tidyEnvironment(
  command: Pick<Command, "options"> & Partial<Pick<Command, "commands">>,
  environment: Record<string, string | undefined> = process.env,
): void {
  for (const { envVar, required, optional } of command.options) {
    if (envVar === undefined) continue;
    const value = environment[envVar]?.trim();
    if (value === undefined) continue;
    const isSwitch = !required && !optional;
    if (value === "" || (isSwitch && /^(0|false|no|off)$/i.test(value))) delete environment[envVar];
  }
  for (const child of command.commands ?? []) tidyEnvironment(child, environment);
}
