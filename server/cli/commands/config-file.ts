import { readFileSync, statSync } from "node:fs";
import type { Command, Option } from "commander";
import { describeFsError } from "../../lib/describe-fs-error.ts";
import { platform } from "../../lib/platform.ts";
import { requireValue } from "../../lib/require-value.ts";
import { variableOf } from "../serve/variables.ts";
import { type CliError, usageError } from "./exit-code.ts";
import { isSwitch } from "./option.ts";
import { renameSettings } from "./renamed-settings.ts";

type Environment = Record<string, string | undefined>;

/** A key of the configuration file: its validation and its environment variable. */
interface Setting {
  variable: string;
  /** Returns why the value is refused, as the end of a sentence; null if it is valid. */
  fault(value: unknown): string | null;
}

// These flags concern one call of the command, not the server.
const ofOneCall = new Set(["json", "config"]);

/** True if a flag of `serve` is a key of configuration files. */
export const isKey = (option: Option): boolean => !option.hidden && !ofOneCall.has(option.name());

/**
 * Returns the keys of a configuration file: the flags of `serve`. The table `environment` has variables without a flag.
 */
export function configSettings(serve: Pick<Command, "options">): Map<string, Setting> {
  return new Map(
    serve.options.filter(isKey).map((option) => {
      const name = option.name();
      return [name, { variable: requireValue(option.envVar, name), fault: faultOf(option) }];
    }),
  );
}

const faultOf =
  (option: Option) =>
  (value: unknown): string | null => {
    if (isSwitch(option)) return typeof value === "boolean" ? null : "takes true or false";
    const { argChoices } = option;
    if (argChoices && !argChoices.includes(value as string)) return `takes one of ${argChoices.join(", ")}`;
    const isList = Array.isArray(value) && value.every((one) => isText(one) && !one.includes(","));
    return isList || isText(value) || Number.isFinite(value) ? null : "takes a text, a number or a list of texts";
  };

/** False for a zero byte, which neither variables nor paths may contain. */
const isText = (value: unknown): value is string => typeof value === "string" && !value.includes("\0");

/** Reads a configuration file (TOML) and returns its variables. Throws with all of its faults. */
export function readConfigFile(path: string, settings: ReadonlyMap<string, Setting>): Record<string, string> {
  const { found, faults } = inspectConfigFile(path, settings);
  if (faults.length > 0) throw refusedFile(path, faults);
  return found;
}

interface ConfigInspection {
  found: Record<string, string>;
  /** Unknown keys and variables, and values of a wrong type. */
  faults: string[];
  /** Keys under their old names. */
  warnings: string[];
}

/** Reads a configuration file and returns its variables and faults. Throws if it is not TOML. */
export function inspectConfigFile(path: string, settings: ReadonlyMap<string, Setting>): ConfigInspection {
  const found: Record<string, string> = {};
  const { environment = {}, ...flags } = parse(path);
  const { warnings, faults } = renameSettings(flags);
  for (const [key, value] of Object.entries(flags)) {
    const setting = settings.get(key);
    const fault = setting ? setting.fault(value) : "is no setting";
    if (!setting || fault) faults.push(`${key} ${fault}`);
    else found[setting.variable] = Array.isArray(value) ? value.join(",") : String(value);
  }
  if (typeof environment !== "object" || environment === null || Array.isArray(environment))
    faults.push("environment is no table");
  else
    for (const [name, value] of Object.entries(environment)) {
      const variable = variableOf(name);
      if (!variable || variable.isEarly) faults.push(`environment.${name} is no variable without a flag`);
      else if (!isText(value)) faults.push(`environment.${name} takes a text`);
      else found[name] = value;
    }
  return { found, faults, warnings: warnings.map((warning) => `${path}: ${warning}`) };
}

export const refusedFile = (path: string, faults: readonly string[]): CliError =>
  usageError(`${path}:\n${faults.map((fault) => `  ${fault}`).join("\n")}`);

const longest_bytes = 128 * 1024; // A larger file is of another kind.
const statement_lines = 64; // Longer statements are rare, and each line costs a parse.
const terminator = "=\n\"\"\"\n'''\n="; // Not a valid statement; closes any open string.

/** Returns the lines of the statement that does not parse; Bun's parser reports no position. */
function locateFault(text: string): string {
  const lines = text.trimEnd().split("\n");
  const faultOf = (count: number, more = ""): string | null => faultIn([...lines.slice(0, count), more].join("\n"));
  const fault = faultOf(lines.length);
  let last = lines.length;
  // The parser stops at the first fault: every prefix that contains it fails with the same message, and no shorter one
  // does. The exception is an unclosed string, whose fault is at the end.
  if (faultOf(last, terminator) === fault)
    for (let well = 0; last - well > 1; ) {
      const middle = (well + last) >> 1;
      if (faultOf(middle) === fault) last = middle;
      else well = middle;
    }
  let first = last;
  while (last - first < statement_lines && faultOf(first - 1) !== null) first--;
  return first === last ? `in line ${last}` : `in lines ${first} to ${last}`;
}

/** Returns why a text is not TOML; null if it is. */
function faultIn(text: string): string | null {
  try {
    Bun.TOML.parse(text);
    return null;
  } catch (error) {
    return (error instanceof Error ? error.message : String(error)).replace(/^TOML Parse error: /, "");
  }
}

function parse(path: string): Record<string, unknown> {
  let text: string;
  try {
    const status = statSync(path);
    if (status.isFile() && status.size > longest_bytes) throw new Error(`it has more than ${longest_bytes / 1024} KB.`);
    text = readFileSync(path, "utf8");
  } catch (error) {
    throw usageError(`The configuration file ${path} cannot be read: ${describeFsError(path, error)}`);
  }
  const fault = faultIn(text);
  if (fault !== null) throw usageError(`${path} is not TOML, ${locateFault(text)}: ${fault}`);
  return Bun.TOML.parse(text) as Record<string, unknown>;
}

// Two of the URLs contain passwords. RUNNEL_TLS_KEY is a path, not a secret.
const secret = /(?<!_TLS)_(KEY|TOKEN|SECRET|HEADERS)$|^RUNNEL_(SMTP_URL|CLUSTER)$/;

/** True if a file sets secrets and other users can read it. */
export const hasOpenSecrets = (path: string, settings: readonly string[]): boolean =>
  settings.some((name) => secret.test(name)) && platform.modes && (statSync(path).mode & 0o077) !== 0;

/** Returns the configuration file of a command line or environment; null if there is none. */
export function configPathIn(args: readonly string[], environment: Environment): string | null {
  const end = args.indexOf("--");
  const flags = end < 0 ? args : args.slice(0, end);
  const at = flags.findLastIndex((arg) => arg === "--config" || arg.startsWith("--config="));
  const flag = flags[at];
  if (flag === undefined) return environment.RUNNEL_CONFIG?.trim() || null;
  return flag === "--config" ? (flags[at + 1] ?? null) : flag.slice("--config=".length);
}

/**
 * Sets variables from a file unless they are set: flags take precedence over variables, and variables over the file.
 * Returns warnings about keys under their old names.
 */
export function applyConfigFile(
  path: string,
  settings: ReadonlyMap<string, Setting>,
  environment: Environment,
): string[] {
  const { found, faults, warnings } = inspectConfigFile(path, settings);
  if (faults.length > 0) throw refusedFile(path, faults);
  for (const [name, value] of Object.entries(found)) environment[name] ||= value;
  return warnings;
}
