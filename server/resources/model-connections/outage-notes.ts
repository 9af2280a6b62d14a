import type { Outage } from "../../domain/outage.ts";
import { parsedJson } from "../../lib/json.ts";
import type { Log } from "../../lib/log.ts";
import { getMetadata, setMetadata } from "../../storage/db/metadata.ts";
import type { Db } from "../../storage/db/open.ts";

const name = "model_outages";

/** Logs outages of models, and stores those of the running process, so that `runnel doctor` sees them. */
export function createOutageNotes({ db, log, outages }: { db: Db; log: Log; outages: () => readonly Outage[] }) {
  const store = (open: readonly Outage[]): void =>
    // A full disk must not disturb the calls.
    void db.write(() => setMetadata(db.sqlite, name, JSON.stringify(open))).catch(() => {});

  return {
    changed(model: string, outage: Outage | null): void {
      if (outage)
        log.warn("a model does not answer: its circuit breaker opened", { model, error: outage.error.message });
      else log.info("a circuit breaker closed: its model answers again, or its connection has changed", { model });
      store(outages());
    },
    /** Forgets the outages of an earlier process. */
    clear(): void {
      if (storedOutages(db).length > 0) store([]);
    },
  };
}

/** Returns the outages that the last process noted; those of a process that has ended mean nothing. */
export function storedOutages({ sqlite }: Pick<Db, "sqlite">): Outage[] {
  const stored = parsedJson(getMetadata(sqlite, name) ?? "[]");
  return Array.isArray(stored) ? stored : [];
}
