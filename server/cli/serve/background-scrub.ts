import { setPriority } from "node:os";
import type { Log } from "../../lib/log.ts";
import { selfCommand } from "../../lib/self-command.ts";
import type { CorruptionAlarm } from "../../storage/db/corruption-alarm.ts";
import type { DataDir } from "../../storage/db/data-dir.ts";
import type { ScrubResult } from "../commands/scrub-command.ts";

const day_ms = 86_400_000;
const lowest = 19;

/**
 * Scrubs the database soon after the start and then daily, in a separate process of lowest priority, to find bad pages
 * early.
 */
export function startBackgroundScrub(
  { dir, log, alarm }: { dir: Pick<DataDir, "path">; log: Log; alarm: Pick<CorruptionAlarm, "sound"> },
  {
    first_ms = 60_000,
    every_ms = day_ms,
    priority = lowest,
    command = selfCommand("read-through", "--data-dir", dir.path),
  } = {},
): { stop(): void } {
  let child: Bun.Subprocess<"ignore", "pipe", "ignore"> | null = null;
  let timer = later(first_ms);
  let stopped = false;

  function later(ms: number): Timer {
    return setTimeout(() => void scrubOnce(), ms).unref();
  }

  async function scrubOnce(): Promise<void> {
    const startedAt = performance.now();
    try {
      child = Bun.spawn(command, {
        stdin: "ignore",
        stdout: "pipe",
        stderr: "ignore",
      });
      child.unref();
      setPriority(child.pid, priority);
      const { rows, fault } = (await new Response(child.stdout).json()) as ScrubResult;
      if (fault !== null) alarm.sound(fault);
      else
        log.info("the database was read through and is whole", { rows, ms: Math.round(performance.now() - startedAt) });
    } catch (error) {
      if (!stopped) log.warn("the database could not be read through", { error });
    }
    if (!stopped) timer = later(every_ms);
  }

  return {
    stop() {
      stopped = true;
      clearTimeout(timer);
      child?.kill();
    },
  };
}
