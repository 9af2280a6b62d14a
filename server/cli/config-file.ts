import { readFileSync, statSync } from "node:fs";
import type { Command, Option } from "commander";
import { platform } from "../lib/platform.ts";
import { whyUnread } from "../lib/why-unread.ts";
import { type CliError, usageError } from "./exit-code.ts";
import { variableOf } from "./variables.ts";

type Environment = Record<string, string | undefined>;

/** Of a key in a configuration file: what it may be, and the variable that it stands for. */
interface Setting {
  variable: string;
  /** Why this value is refused, as the end of a sentence; null where it is taken. */
  fault(value: unknown): string | null;
}

// These say how one command is called, not how a server is set up.
const ofOneCall = new Set(["json", "config"]);

/** What a configuration file may hold: the flags of `serve` by their names, and variables in the table `environment`. */
export function configSettings(serve: Pick<Command, "options">): Map<string, Setting> {
  const flags = serve.options.filter((option) => !ofOneCall.has(option.name()));
  return new Map(flags.map((option) => [option.name(), { variable: option.envVar!, fault: faultOf(option) }]));
}

const faultOf =
  ({ required, optional, argChoices }: Option) =>
  (value: unknown): string | null => {
    if (!required && !optional) return typeof value === "boolean" ? null : "takes true or false";
    if (argChoices && !argChoices.includes(value as string)) return `takes one of ${argChoices.join(", ")}`;
    const isList = Array.isArray(value) && value.every((one) => isText(one) && !one.includes(","));
    return isList || isText(value) || Number.isFinite(value) ? null : "takes a text, a number or a list of texts";
  };

/** No variable and no path holds a zero byte. */
const isText = (value: unknown): value is string => typeof value === "string" && !value.includes("\0");

/** The variables that a configuration file (TOML) stands for. Throws with every fault that it has. */
export function readConfigFile(path: string, settings: ReadonlyMap<string, Setting>): Record<string, string> {
  const { found, faults } = lookThrough(path, settings);
  if (faults.length > 0) throw refusedFile(path, faults);
  return found;
}

interface LookedThrough {
  found: Record<string, string>;
  /** Keys and variables that do not exist, and values of the wrong kind. */
  faults: string[];
}

/** The variables that a configuration file stands for, and what is wrong with others. Throws for what is not TOML. */
export function lookThrough(path: string, settings: ReadonlyMap<string, Setting>): LookedThrough {
  const faults: string[] = [];
  const found: Record<string, string> = {};
  const { environment = {}, ...flags } = parse(path);
  for (const [key, value] of Object.entries(flags)) {
    const setting = settings.get(key);
    const fault = setting ? setting.fault(value) : "is no setting";
    if (fault) faults.push(`${key} ${fault}`);
    else found[setting!.variable] = Array.isArray(value) ? value.join(",") : String(value);
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
  return { found, faults };
}

export const refusedFile = (path: string, faults: readonly string[]): CliError =>
  usageError(`${path}:\n${faults.map((fault) => `  ${fault}`).join("\n")}`);

const longest_bytes = 128 * 1024; // What is longer is a file of another kind.
const statement_lines = 64; // Longer ones are rare, and each line costs a parse.
const endsAll = "=\n\"\"\"\n'''\n="; // Is no statement, and ends whatever text is open.

/** The lines of the statement that does not parse, from its first to where the parser stopped, which it does not tell. */
function placeOfFault(text: string): string {
  const lines = text.trimEnd().split("\n");
  const faultOf = (count: number, more = ""): string | null => faultIn([...lines.slice(0, count), more].join("\n"));
  const fault = faultOf(lines.length);
  let last = lines.length;
  // The parser stops at the first fault: every beginning that holds it fails alike, and no shorter one. But for what is
  // never closed: that is a fault of the end.
  if (faultOf(last, endsAll) === fault)
    for (let well = 0; last - well > 1; ) {
      const middle = (well + last) >> 1;
      if (faultOf(middle) === fault) last = middle;
      else well = middle;
    }
  let first = last;
  while (last - first < statement_lines && faultOf(first - 1) !== null) first--;
  return first === last ? `in line ${last}` : `in lines ${first} to ${last}`;
}

/** Why a text is not TOML; null where it is. */
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
    throw usageError(`The configuration file ${path} cannot be read: ${whyUnread(path, error)}`);
  }
  const fault = faultIn(text);
  if (fault !== null) throw usageError(`${path} is not TOML, ${placeOfFault(text)}: ${fault}`);
  return Bun.TOML.parse(text) as Record<string, unknown>;
}

// The addresses hold passwords, and RUNNEL_TLS_KEY is the name of a file.
const secret = /(?<!_TLS)_(KEY|TOKEN|SECRET|HEADERS)$|^RUNNEL_(SMTP_URL|CLUSTER)$/;

/** Whether a file sets secrets, and others can read it. */
export const hasOpenSecrets = (path: string, settings: readonly string[]): boolean =>
  settings.some((name) => secret.test(name)) && platform.modes && (statSync(path).mode & 0o077) !== 0;

/** The file that a command line or the environment names; null: none. */
export function configPathIn(args: readonly string[], environment: Environment): string | null {
  const end = args.indexOf("--");
  const flags = end < 0 ? args : args.slice(0, end);
  const at = flags.findLastIndex((arg) => arg === "--config" || arg.startsWith("--config="));
  if (at < 0) return environment.RUNNEL_CONFIG?.trim() || null;
  return flags[at] === "--config" ? (flags[at + 1] ?? null) : flags[at]!.slice("--config=".length);
}

/** Sets what a file says and the environment does not: a flag counts most, then a variable, then the file. */
export function applyConfigFile(path: string, settings: ReadonlyMap<string, Setting>, environment: Environment): void {
  for (const [name, value] of Object.entries(readConfigFile(path, settings))) environment[name] ||= value;
}
