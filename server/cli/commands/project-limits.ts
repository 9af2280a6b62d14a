import type { Command } from "commander";
import { type UnknownPrice, unknownPricePolicies } from "../../domain/budget-schema.ts";
import { type DayBudget, defaultLimits, type ProjectLimits } from "../../domain/project-settings.ts";
import { usageError } from "./exit-code.ts";
import { option } from "./option.ts";

type Name = keyof ProjectLimits;
type OrNull<T> = { [Field in keyof T]?: T[Field] | null };

/** The flags as given on the command line. */
export type LimitFlags = Partial<Record<(typeof flags)[number]["key"] | (typeof budgets)[number]["key"], string>> & {
  unknownPrice?: UnknownPrice;
};

/** The changes that the flags request. A limit of 0 is off, null is the default; a budget of null is none. */
interface LimitChange {
  limits?: OrNull<ProjectLimits>;
  budget_per_day?: OrNull<DayBudget>;
  unknown_price?: UnknownPrice;
}

const max = 1_000_000;

const flags = [
  { flag: "--reads-per-minute", key: "readsPerMinute", name: "reads_per_minute", what: "GETs" },
  { flag: "--run-creations-per-minute", key: "runCreationsPerMinute", name: "run_creations_per_minute", what: "runs" },
  { flag: "--writes-per-minute", key: "writesPerMinute", name: "writes_per_minute", what: "other requests" },
  { flag: "--runs-in-progress", key: "runsInProgress", name: "runs_in_progress", what: "runs at once" },
  { flag: "--children-per-run", key: "childrenPerRun", name: "children_per_run", what: "runs that come of one run" },
] as const satisfies { flag: string; key: string; name: Name; what: string }[];

const budgets = [
  { flag: "--usd-per-day", key: "usdPerDay", name: "max_cost_usd", what: "cost of models in USD", digits: 6 },
  { flag: "--tokens-per-day", key: "tokensPerDay", name: "max_total_tokens", what: "tokens of models", digits: 0 },
] as const satisfies { flag: string; key: string; name: keyof DayBudget; what: string; digits: number }[];

export function addLimitOptions(command: Command): Command {
  for (const { flag, name, what } of flags)
    command.addOption(option(`${flag} <n>`, `${what}, or: off, or: default (${defaultLimits[name]})`));
  for (const { flag, what } of budgets) command.addOption(option(`${flag} <n>`, `${what}, until 00:00 UTC, or: off`));
  const policy = "a model without a known price, where there is a budget in USD";
  return command.addOption(option("--unknown-price <policy>", policy, { choices: unknownPricePolicies }));
}

/** Returns the requested changes; null if there are none. */
export function readLimits(flagValues: LimitFlags): LimitChange | null {
  const limits = flags.flatMap(({ flag, key, name }): [Name, number | null][] => {
    const text = flagValues[key];
    return text === undefined ? [] : [[name, readLimit(text, flag)]];
  });
  const perDay = budgets.flatMap(({ flag, key, name, digits }): [keyof DayBudget, number | null][] => {
    const text = flagValues[key];
    return text === undefined ? [] : [[name, readBudget(text, flag, digits)]];
  });
  const change: LimitChange = {
    ...(limits.length > 0 && { limits: Object.fromEntries(limits) }),
    ...(perDay.length > 0 && { budget_per_day: Object.fromEntries(perDay) }),
    ...(flagValues.unknownPrice && { unknown_price: flagValues.unknownPrice }),
  };
  return Object.keys(change).length > 0 ? change : null;
}

function readLimit(text: string, flag: string): number | null {
  if (text === "default") return null;
  if (text === "off" || text === "0") return 0;
  if (!/^[1-9]\d{0,6}$/.test(text) || Number(text) > max)
    throw usageError(`${flag} takes a number from 1 to ${max}, or "off", or "default", not "${text}".`);
  return Number(text);
}

function readBudget(text: string, flag: string, digits: number): number | null {
  if (text === "off") return null;
  const [form, most] = digits > 0 ? [/^\d{1,7}(\.\d{1,6})?$/, max] : [/^\d{1,13}$/, 1e12];
  if (!form.test(text) || Number(text) === 0 || Number(text) > most)
    throw usageError(`${flag} takes a number above 0 and up to ${most}, or "off", not "${text}".`);
  return Number(text);
}

/** Returns table rows with the limits and their values. */
export const limitRows = (project: {
  limits: Record<Name, number | null>;
  budget_per_day: Record<keyof DayBudget, number | null>;
  unknown_price: UnknownPrice;
}): [string, string][] => [
  ...flags.map(({ name }): [string, string] => [name, wordOf(project.limits[name], defaultLimits[name])]),
  ["usd_per_day", String(project.budget_per_day.max_cost_usd ?? "off")],
  ["tokens_per_day", String(project.budget_per_day.max_total_tokens ?? "off")],
  ["unknown_price", project.unknown_price],
];

const wordOf = (limit: number | null, usual: number): string =>
  limit === null ? `${usual} (default)` : limit === 0 ? "off" : String(limit);
