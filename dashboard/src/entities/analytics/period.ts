import { omitUndefined, readChoice, readForm } from "../../lib/page-search.ts";
import type { Span } from "./analytics-api.ts";

const periods = ["today", "7d", "30d"] as const;
export type Period = (typeof periods)[number];

/** Chart period in the address: a period that ends today, or a custom range of days. */
export interface PeriodSearch {
  period?: Period;
  from?: string;
  to?: string;
}

const day_ms = 86_400_000;
const longest_days = 366;

/** Length of each period in days. */
const periodLengths: Record<Period, number> = { today: 1, "7d": 7, "30d": 30 };

/** Parses the period of an address; invalid values and the default are omitted. */
export function readPeriod(search: Record<string, unknown>): PeriodSearch {
  const [from, to] = [readForm(search.from, isDay), readForm(search.to, isDay)];
  if (from && to && rangeFault(from, to) === null) return { from, to };
  const period = readChoice(search.period, periods);
  return omitUndefined({ period: period === "7d" ? undefined : period });
}

const isDay = /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/;

/** Returns the error of a custom range, or null. */
export function rangeFault(from: string, to: string): string | null {
  const length = (Date.parse(to) - Date.parse(from)) / day_ms + 1;
  if (Number.isNaN(length)) return "Choose both days.";
  if (length < 1) return "The end is before the start.";
  return length > longest_days ? "At most 366 days." : null;
}

/** Returns the days of a period in UTC, oldest first. */
export function daysOf({ period = "7d", from, to }: PeriodSearch, today: string): string[] {
  if (from && to) return daysUntil(to, Math.round((Date.parse(to) - Date.parse(from)) / day_ms) + 1);
  return daysUntil(today, periodLengths[period]);
}

/** Returns `count` days in UTC up to and including `last`, oldest first. */
export function daysUntil(last: string, count: number): string[] {
  const end = Date.parse(last);
  return Array.from({ length: count }, (_, n) => new Date(end - (count - 1 - n) * day_ms).toISOString().slice(0, 10));
}

/** Converts days to the range of a chart query. */
export const spanOf = (days: readonly string[]): Span => ({ from: days[0]!, to: days.at(-1)! });

/** Formats a range: `1 Nov to 5 Nov`. */
export function rangeWords(from: string, to: string): string {
  const word = (day: string) =>
    new Date(day).toLocaleDateString("en-GB", { day: "numeric", month: "short", timeZone: "UTC" });
  return from === to ? word(from) : `${word(from)} to ${word(to)}`;
}
