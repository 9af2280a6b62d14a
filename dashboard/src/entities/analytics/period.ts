import { given, readChoice, readForm } from "../../lib/page-search.ts";
import type { Span } from "./analytics-api.ts";

const periods = ["today", "7d", "30d"] as const;
export type Period = (typeof periods)[number];

/** The time of a page of charts, as its address holds it: a period that ends today, or the days of a custom range. */
export interface PeriodSearch {
  period?: Period;
  from?: string;
  to?: string;
}

const day_ms = 86_400_000;
const longest_days = 366;

/** How many days a period has. */
const periodLengths: Record<Period, number> = { today: 1, "7d": 7, "30d": 30 };

/** Of an address; what is none is left out, and so is what goes without saying. */
export function readPeriod(search: Record<string, unknown>): PeriodSearch {
  const [from, to] = [readForm(search.from, isDay), readForm(search.to, isDay)];
  if (from && to && rangeFault(from, to) === null) return { from, to };
  const period = readChoice(search.period, periods);
  return given({ period: period === "7d" ? undefined : period });
}

const isDay = /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/;

/** What is wrong with a custom range of days, or null. */
export function rangeFault(from: string, to: string): string | null {
  const length = (Date.parse(to) - Date.parse(from)) / day_ms + 1;
  if (Number.isNaN(length)) return "Choose both days.";
  if (length < 1) return "The end is before the start.";
  return length > longest_days ? "At most 366 days." : null;
}

/** The days of a period in UTC, the oldest first. */
export function daysOf({ period = "7d", from, to }: PeriodSearch, today: string): string[] {
  if (from && to) return daysUntil(to, Math.round((Date.parse(to) - Date.parse(from)) / day_ms) + 1);
  return daysUntil(today, periodLengths[period]);
}

/** So many days in UTC, the oldest first; `last` is among them. */
export function daysUntil(last: string, count: number): string[] {
  const end = Date.parse(last);
  return Array.from({ length: count }, (_, n) => new Date(end - (count - 1 - n) * day_ms).toISOString().slice(0, 10));
}

/** Days as charts ask for them. */
export const spanOf = (days: readonly string[]): Span => ({ from: days[0]!, to: days.at(-1)! });

/** `1 Nov to 5 Nov`. */
export function rangeWords(from: string, to: string): string {
  const word = (day: string) =>
    new Date(day).toLocaleDateString("en-GB", { day: "numeric", month: "short", timeZone: "UTC" });
  return from === to ? word(from) : `${word(from)} to ${word(to)}`;
}
