import type { createKeyedAbortSignals } from "../lib/keyed-abort-signals.ts";
import type { Log } from "../lib/log.ts";
import { settlesWithin } from "../lib/with-timeout.ts";
import type { Module } from "./module.ts";

const stopping_ms = 8000; // Less than the time a server has to stop.

interface Needs {
  log: Log;
  /** Abort signals per project: they end its streams and waiting requests. */
  ending: Omit<ReturnType<typeof createKeyedAbortSignals>, "signal">;
  /** Refuses new work and ends all streams. */
  close(): void;
  within_ms?: number;
}

/** Starts all modules in order and stops them in reverse. */
export function createLifecycle(parts: readonly Module[], { log, ending, close, within_ms = stopping_ms }: Needs) {
  /** Runs a hook of all modules, one after the other. */
  async function each(what: "start" | "onProjectArrived"): Promise<void> {
    for (const part of parts) await part[what]?.();
  }

  return {
    /** Resumes unfinished work of an earlier process. */
    start: () => each("start"),
    /**
     * Refuses new work, ends streams and stops modules; steps in flight are resumed at the next start. Records the
     * shutdown in the database even if a module does not stop.
     */
    async stop(): Promise<void> {
      close();
      const inReverse = parts.toReversed();
      const stops = inReverse.map(async (part) => await part.stop?.());
      const hasStopped = await settlesWithin(within_ms, Promise.allSettled(stops));
      if (!hasStopped) log.warn("some work did not end in time; the next start takes it up", { waited_ms: within_ms });
      for (const each of stops) each.catch((error) => log.error("some work did not end in order", { error }));
      // A full disk must not block the exit; the next start then treats this as a crash.
      for (const part of inReverse)
        await part.recordShutdown?.().catch((error) => log.error("the end was not noted in the database", { error }));
    },
    /** Hooks for moving a project between cells. */
    moving: {
      /** Call before its rows leave. Call the returned function once they have left. */
      leave(projectId: string): () => void {
        const forget = parts.map((part) => part.onProjectLeaving?.(projectId));
        return () => {
          for (const each of forget) each?.();
        };
      },
      /** Ends the project's streams and waiting requests. */
      end: ending.end,
      /** Call once it stays or has left: later streams are not ended. */
      renew: ending.renew,
      /** Resumes the project's unfinished work. */
      onProjectArrived: () => each("onProjectArrived"),
    },
  };
}
