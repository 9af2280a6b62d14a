import { capsuleLimits } from "../core/capsule-format.ts";
import type { SandboxLevel } from "../wire/names.ts";
import { type CapsuleOrder, type CapsuleOutcome, capsuleTask } from "./capsule-task.ts";
import { createChildren } from "./children.ts";

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
  const children = createChildren({});
  return {
    async read(order, signal) {
      const now = await level();
      if (now === "off")
        return { error: "Capsules are not read on this server: its sandbox is off.", unavailable: "off" };
      if (order.bytes > capsuleLimits.bytes)
        return { error: `The capsule is larger than ${capsuleLimits.bytes} bytes.` };
      const options = { language: "capsules", jailed: now === "strict" } as const;
      const outcome = await children.perform(options, () => capsuleTask(order), signal);
      return children.isStopped() && "error" in outcome ? { ...outcome, unavailable: "stopped" } : outcome;
    },
    stop: children.stop,
  };
}
