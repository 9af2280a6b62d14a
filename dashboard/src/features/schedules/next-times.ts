import { Cron } from "croner";

const shownTimes = 5;

/**
 * Returns the next times of a cron expression in a time zone, computed like the server. Null if it is invalid, empty if
 * it never fires.
 */
export function nextTimes(cron: string, timezone: string, after: number): number[] | null {
  try {
    const plan = new Cron(cron.trim(), { timezone, mode: "5-part", fixedTimeRule: "no-wildcard" });
    return plan.nextRuns(shownTimes, new Date(after)).map((time) => time.getTime());
  } catch {
    return null;
  }
}

/** Formats a time in a zone: `Mon 23 Nov 2026, 09:00`. */
export function zoneTime(at: number, timeZone: string): string {
  const date = new Date(at);
  const day = date.toLocaleDateString("en-GB", {
    timeZone,
    weekday: "short",
    day: "numeric",
    month: "short",
    year: "numeric",
  });
  const clock = date.toLocaleTimeString("en-GB", { timeZone, hour: "2-digit", minute: "2-digit" });
  return `${day.replace(",", "")}, ${clock}`;
}
