import { capsuleLimits } from "../core/capsule-format.ts";
import type { SandboxLevel } from "../wire/names.ts";
import { type CapsuleOrder, type CapsuleOutcome, capsuleTask } from "./capsule-task.ts";
import { type Child, performReplacing, startChild } from "./child-process.ts";

export type { CapsuleContent } from "./capsule-answer.ts";
export type { CapsuleOrder, CapsuleOutcome };

export interface CapsuleReader {
  /** Throws only for the signal. */
  read(order: CapsuleOrder, signal: AbortSignal): Promise<CapsuleOutcome>;
  /** Ends all children, also those that read. */
  stop(): void;
}

/**
 * Reads each capsule in a fresh child process, which is never used again: whoever made one knows SQLite better than we.
 * How many at a time is for the caller to say.
 */
export function createCapsuleReader({
  level,
}: {
  /** Asked for each capsule, so that a server need not wait for its self-test. */
  level: () => SandboxLevel | Promise<SandboxLevel>;
}): CapsuleReader {
  const running = new Set<Child>();
  let stopped = false;

  function start(jailed: boolean): Child {
    const child = startChild({ language: "capsules", jailed });
    running.add(child);
    void child.gone.then(() => running.delete(child));
    if (stopped) child.kill();
    return child;
  }

  return {
    async read(order, signal) {
      const now = await level();
      if (now === "off")
        return { error: "Capsules are not read on this server: its sandbox is off.", unavailable: "off" };
      if (order.bytes > capsuleLimits.bytes)
        return { error: `The capsule is larger than ${capsuleLimits.bytes} bytes.` };
      const outcome = await performReplacing(
        () => start(now === "strict"),
        () => capsuleTask(order),
        signal,
      );
      return stopped && "error" in outcome ? { ...outcome, unavailable: "stopped" } : outcome;
    },
    stop() {
      stopped = true;
      for (const child of running) child.kill();
    },
  };
}
