import cronstrue from "cronstrue";

/**
 * Describes a cron expression: “At 09:00, Monday through Friday”. Null if it does not have five fields or cannot be
 * parsed.
 */
export function cronWords(cron: string): string | null {
  if (cron.trim().split(/\s+/).length !== 5) return null;
  try {
    return cronstrue.toString(cron, { use24HourTimeFormat: true });
  } catch {
    return null;
  }
}
