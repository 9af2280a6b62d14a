import cronstrue from "cronstrue";

/** A cron expression as people say it: “At 09:00, Monday through Friday”. Null for what is none of five fields. */
export function cronWords(cron: string): string | null {
  if (cron.trim().split(/\s+/).length !== 5) return null;
  try {
    return cronstrue.toString(cron, { use24HourTimeFormat: true });
  } catch {
    return null;
  }
}
