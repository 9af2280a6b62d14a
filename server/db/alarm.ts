import type { Log } from "../lib/log.ts";
import { isDamage, restoreHint } from "./damage.ts";

/** Remembers that the database was found damaged, and says so once, loudly. */
export interface Alarm {
  isWhole(): boolean;
  sound(reason: string): void;
}

export function createAlarm(database: string, log: Log): Alarm {
  let whole = true;
  return {
    isWhole: () => whole,
    sound(reason) {
      if (!whole) return;
      whole = false;
      log.error(`the database is damaged: stop the server. ${restoreHint(database)}`, { path: database, reason });
    },
  };
}

/** Whichever part meets the damage, it logs what it met: so the log is where it is heard of. */
export function alarmed(log: Log, alarm: Alarm): Log {
  const hear = (fields?: Record<string, unknown>) => {
    const error = fields?.error;
    if (isDamage(error)) alarm.sound((error as Error).message);
  };
  return {
    info: log.info,
    warn(message, fields) {
      log.warn(message, fields);
      hear(fields);
    },
    error(message, fields) {
      log.error(message, fields);
      hear(fields);
    },
  };
}
