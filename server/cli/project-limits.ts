import type { Command } from "commander";
import { defaultLimits, type ProjectLimits } from "../core/project-settings.ts";
import { usageError } from "./exit-code.ts";
import { option } from "./option.ts";

type Name = keyof ProjectLimits;

/** The flags as they were given, by the names of the command line. */
export type LimitFlags = Partial<Record<(typeof flags)[number]["key"], string>>;

const max = 1_000_000;

const flags = [
  { flag: "--reads-per-minute", key: "readsPerMinute", name: "reads_per_minute", what: "GETs" },
  { flag: "--run-creations-per-minute", key: "runCreationsPerMinute", name: "run_creations_per_minute", what: "runs" },
  { flag: "--writes-per-minute", key: "writesPerMinute", name: "writes_per_minute", what: "other requests" },
  { flag: "--runs-in-progress", key: "runsInProgress", name: "runs_in_progress", what: "runs at once" },
] as const satisfies { flag: string; key: string; name: Name; what: string }[];

export function addLimitOptions(command: Command): Command {
  for (const { flag, name, what } of flags)
    command.addOption(option(`${flag} <n>`, `${what}, or: off, or: default (${defaultLimits[name]})`));
  return command;
}

/** What the flags change: 0 is off, null the default. Null when there are none. */
export function readLimits(given: LimitFlags): Partial<Record<Name, number | null>> | null {
  const change = flags.flatMap(({ flag, key, name }): [Name, number | null][] => {
    const text = given[key];
    return text === undefined ? [] : [[name, readLimit(text, flag)]];
  });
  return change.length > 0 ? Object.fromEntries(change) : null;
}

function readLimit(text: string, flag: string): number | null {
  if (text === "default") return null;
  if (text === "off" || text === "0") return 0;
  if (!/^[1-9]\d{0,6}$/.test(text) || Number(text) > max)
    throw usageError(`${flag} takes a number from 1 to ${max}, or "off", or "default", not "${text}".`);
  return Number(text);
}

/** Rows of a table: each limit and what it is. */
export const limitRows = (limits: Record<Name, number | null>): [string, string][] =>
  flags.map(({ name }) => [name, wordOf(limits[name], defaultLimits[name])]);

const wordOf = (limit: number | null, usual: number): string =>
  limit === null ? `${usual} (default)` : limit === 0 ? "off" : String(limit);
