import { formatDay } from "../../lib/format.ts";

const expiryChoices = ["never", "30d", "90d", "1y", "date"] as const;
export type ExpiryChoice = (typeof expiryChoices)[number];

/** The form's choice of an expiry. `date` is a day in the person's time zone. */
export interface Expiry<Choice extends string = ExpiryChoice> {
  choice: Choice;
  date: string;
}

const day_ms = 86_400_000;
const days = { "30d": 30, "90d": 90, "1y": 365 } as const;
const names = { "30d": "In 30 days", "90d": "In 90 days", "1y": "In 1 year" } as const;

/** Returns the choices. Each fixed time is labelled with its resulting day. */
export function expiryOptions(now: number): { value: ExpiryChoice; label: string }[] {
  const after = (["30d", "90d", "1y"] as const).map((value) => ({
    value,
    label: `${names[value]}, on ${formatDay(now + days[value] * day_ms)}`,
  }));
  return [{ value: "never", label: "Never" }, ...after, { value: "date", label: "On a date…" }];
}

/** Returns the time of expiry in ms, or null for never. A date lasts until the end of its day. */
export function expiryEnd({ choice, date }: Expiry, now: number): number | null {
  if (choice === "never") return null;
  if (choice === "date") return new Date(`${date}T23:59:59`).getTime();
  return now + days[choice] * day_ms;
}

/** Returns the expiry as the API's `expires_in_seconds`, or undefined for never. */
export function expirySeconds(expiry: Expiry, now: number): number | undefined {
  const end = expiryEnd(expiry, now);
  return end === null ? undefined : Math.max(1, Math.round((end - now) / 1000));
}

/** Returns why the chosen date is invalid, or null if it is valid. */
export function expiryFault(expiry: Expiry, now: number): string | null {
  if (expiry.choice !== "date") return null;
  const end = expiryEnd(expiry, now);
  if (end === null || Number.isNaN(end)) return "Choose a date.";
  if (end <= now) return "This day is in the past. Choose a later one.";
  return end - now > 3650 * day_ms ? "Ten years from now at most." : null;
}
