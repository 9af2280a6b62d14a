import { setPriority } from "node:os";
import type { Alarm } from "../db/alarm.ts";
import type { DataDir } from "../db/data-dir.ts";
import type { Log } from "../lib/log.ts";
import { ownCommand } from "../lib/own-command.ts";
import type { ReadThrough } from "./read-through.ts";

const day_ms = 86_400_000;
const lowest = 19;

/**
 * Has the database read through beside the server, soon after the start and then once a day: a page that went bad on the
 * disk is found before somebody needs it. In a process of its own, with the lowest priority.
 */
export function checkSlowly(
  { dir, log, alarm }: { dir: Pick<DataDir, "path">; log: Log; alarm: Pick<Alarm, "sound"> },
  {
    first_ms = 60_000,
    every_ms = day_ms,
    priority = lowest,
    command = ownCommand("read-through", "--data-dir", dir.path),
  } = {},
): { stop(): void } {
  let child: Bun.Subprocess<"ignore", "pipe", "ignore"> | null = null;
  let timer = later(first_ms);
  let stopped = false;

  function later(ms: number): Timer {
    return setTimeout(() => void look(), ms).unref();
  }

  async function look(): Promise<void> {
    const begun = performance.now();
    try {
      child = Bun.spawn(command, {
        stdin: "ignore",
        stdout: "pipe",
        stderr: "ignore",
      });
      child.unref();
      setPriority(child.pid, priority);
      const { rows, fault } = (await new Response(child.stdout).json()) as ReadThrough;
      if (fault !== null) alarm.sound(fault);
      else log.info("the database was read through and is whole", { rows, ms: Math.round(performance.now() - begun) });
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
