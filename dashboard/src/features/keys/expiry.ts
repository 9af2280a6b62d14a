import { formatDay } from "../../lib/format.ts";

const expiryChoices = ["never", "30d", "90d", "1y", "date"] as const;
export type ExpiryChoice = (typeof expiryChoices)[number];

/** An end as it is being chosen; `date` is a day of the reader's zone. */
export interface Expiry<Choice extends string = ExpiryChoice> {
  choice: Choice;
  date: string;
}

const day_ms = 86_400_000;
const days = { "30d": 30, "90d": 90, "1y": 365 } as const;
const names = { "30d": "In 30 days", "90d": "In 90 days", "1y": "In 1 year" } as const;

/** What may be chosen, each with the day that it comes to. */
export function expiryOptions(now: number): { value: ExpiryChoice; label: string }[] {
  const after = (["30d", "90d", "1y"] as const).map((value) => ({
    value,
    label: `${names[value]}, on ${formatDay(now + days[value] * day_ms)}`,
  }));
  return [{ value: "never", label: "Never" }, ...after, { value: "date", label: "On a date…" }];
}

/** When it ends; null is never. A date counts to the end of its day. */
export function expiryEnd({ choice, date }: Expiry, now: number): number | null {
  if (choice === "never") return null;
  if (choice === "date") return new Date(`${date}T23:59:59`).getTime();
  return now + days[choice] * day_ms;
}

/** The same as the API takes it for a new key. */
export function expirySeconds(expiry: Expiry, now: number): number | undefined {
  const end = expiryEnd(expiry, now);
  return end === null ? undefined : Math.max(1, Math.round((end - now) / 1000));
}

/** What is wrong with a date. */
export function expiryFault(expiry: Expiry, now: number): string | null {
  if (expiry.choice !== "date") return null;
  const end = expiryEnd(expiry, now);
  if (end === null || Number.isNaN(end)) return "Choose a date.";
  if (end <= now) return "This day is in the past. Choose a later one.";
  return end - now > 3650 * day_ms ? "Ten years from now at most." : null;
}
