import type { Log } from "../lib/log.ts";
import type { createNamedSignals } from "../lib/named-signals.ts";
import { settledWithin } from "../lib/settled-within.ts";
import type { Part } from "./part.ts";

const stopping_ms = 8000; // Less than a stop of the server has.

interface Needs {
  log: Log;
  /** The streams of projects, and what waits there for runs. */
  ending: Omit<ReturnType<typeof createNamedSignals>, "signal">;
  /** Refuses new work and ends all streams. */
  close(): void;
  within_ms?: number;
}

/** What happens to all folders of the server at once: they start in this order and stop in reverse. */
export function createLifecycle(parts: readonly Part[], { log, ending, close, within_ms = stopping_ms }: Needs) {
  /** One after the other. */
  async function each(what: "start" | "arrived"): Promise<void> {
    for (const part of parts) await part[what]?.();
  }

  return {
    /** Takes up what an earlier process left unfinished. */
    start: () => each("start"),
    /**
     * Refuses new work and ends the streams; steps in flight are left to the next start. The end is noted in the
     * database, whatever keeps a part from ending.
     */
    async stop(): Promise<void> {
      close();
      const inReverse = parts.toReversed();
      const ended = inReverse.map(async (part) => await part.stop?.());
      const said = await settledWithin(within_ms, Promise.allSettled(ended));
      if (!said) log.warn("some work did not end in time; the next start takes it up", { waited_ms: within_ms });
      for (const each of ended) each.catch((error) => log.error("some work did not end in order", { error }));
      // A full disk may not keep the process from ending: the next start then takes this for a crash.
      for (const part of inReverse)
        await part.noteEnd?.().catch((error) => log.error("the end was not noted in the database", { error }));
    },
    /** A project between two cells. */
    moving: {
      /** Just before its rows go to another cell. What it returns is to be called when they have gone. */
      leave(projectId: string): () => void {
        const forget = parts.map((part) => part.leave?.(projectId));
        return () => {
          for (const each of forget) each?.();
        };
      },
      /** Ends its streams, and what waits there for a run. */
      end: ending.end,
      /** It stays, or has left: streams that begin from now on last. */
      renew: ending.renew,
      /** Takes up what has come with it. */
      arrived: () => each("arrived"),
    },
  };
}
