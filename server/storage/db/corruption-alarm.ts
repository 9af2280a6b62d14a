import type { Log } from "../../lib/log.ts";
import { isCorrupt, restoreHint } from "./corruption.ts";

/** Remembers that the database is corrupt, and logs that once as an error. */
export interface CorruptionAlarm {
  isWhole(): boolean;
  sound(reason: string): void;
}

export function createCorruptionAlarm(database: string, log: Log): CorruptionAlarm {
  let isIntact = true;
  return {
    isWhole: () => isIntact,
    sound(reason) {
      if (!isIntact) return;
      isIntact = false;
      log.error(`the database is damaged: stop the server. ${restoreHint(database)}`, { path: database, reason });
    },
  };
}

/** Wraps the log so that every logged SQLite corruption error raises the alarm: each module logs what it meets. */
export function alarmed(log: Log, alarm: CorruptionAlarm): Log {
  const hear = (fields?: Record<string, unknown>) => {
    const error = fields?.error;
    if (isCorrupt(error)) alarm.sound((error as Error).message);
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
