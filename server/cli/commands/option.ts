import { type Command, Option } from "commander";
import { usageError } from "./exit-code.ts";

interface OptionSpec {
  /** Environment variable, if not `RUNNEL_` and the flag's name. */
  env?: string;
  default?: string | boolean | string[];
  /** Describes the default, where it depends on something else. */
  defaultText?: string;
  /** A value to show, as typed. */
  example?: string;
  choices?: readonly string[];
  required?: boolean;
  parse?: (value: string, previous: unknown) => unknown;
}

/** A flag with an example of its value. */
class Flag extends Option {
  example: string | undefined;
}

/** Returns the environment variable of a flag: `data-dir` gives `RUNNEL_DATA_DIR`. */
export const variableNameOf = (flag: string): string => `RUNNEL_${flag.toUpperCase().replaceAll("-", "_")}`;

/** Creates a flag that can also be set by an environment variable: `--data-dir` is `RUNNEL_DATA_DIR`. */
export function option(flags: string, description: string, spec: OptionSpec = {}): Option {
  const created = new Flag(flags, description);
  created.env(spec.env ?? variableNameOf(created.name()));
  created.default(spec.default, spec.defaultText);
  created.example = spec.example;
  if (spec.choices) created.choices(spec.choices);
  if (spec.parse) created.argParser(spec.parse);
  if (spec.required) created.makeOptionMandatory();
  return created;
}

/** True for a flag without a value. */
export const isSwitch = ({ required, optional }: Option): boolean => !required && !optional;

/** Returns the example of a flag's value, as typed; undefined if it has none. */
export const exampleOf = (option: Option): string | undefined => (option instanceof Flag ? option.example : undefined);

/** Returns a flag's default in words, or as typed; undefined if it has none. */
export const defaultOf = ({ defaultValue, defaultValueDescription }: Option): string | undefined =>
  defaultValueDescription ?? (defaultValue === undefined || defaultValue === "" ? undefined : String(defaultValue));

/** Returns the description of a flag in `--help`, with its values, default, example and variable. */
export function describeFlag(option: Option): string {
  const facts = {
    values: option.argChoices?.join(", "),
    default: defaultOf(option),
    example: exampleOf(option),
    env: option.envVar,
  };
  const told = Object.entries(facts).flatMap(([name, fact]) => (fact === undefined ? [] : [`${name}: ${fact}`]));
  return told.length > 0 ? `${option.description} (${told.join("; ")})` : option.description;
}

/** Collects the values of a repeatable flag. */
export const collect = (value: string, previous: unknown): string[] => [
  ...(Array.isArray(previous) ? (previous as string[]) : []),
  value,
];

export const dataDirOption = () =>
  option("--data-dir <path>", "folder of the database, its files, keys and certificates", { default: "./runnel-data" });
export const configOption = () =>
  option("--config <file>", "configuration file in TOML. Its keys are the names of the flags of serve", {
    example: "/etc/runnel/runnel.toml",
  });
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

/** True for the values with which the variable of a switch leaves it off. */
export const isOff = (value: string): boolean => /^(0|false|no|off)$/i.test(value.trim());

/**
 * Deletes variables without effect: a switch set to 0 or false, and any empty one. Otherwise the argument parser would
 * treat `RUNNEL_INSECURE_HTTP=0` as set.
 */
export function tidyEnvironment(
  command: Pick<Command, "options"> & Partial<Pick<Command, "commands">>,
  environment: Record<string, string | undefined> = process.env,
): void {
  for (const option of command.options) {
    if (option.envVar === undefined) continue;
    const value = environment[option.envVar]?.trim();
    if (value === undefined) continue;
    if (value === "" || (isSwitch(option) && isOff(value))) delete environment[option.envVar];
  }
  for (const child of command.commands ?? []) tidyEnvironment(child, environment);
}
