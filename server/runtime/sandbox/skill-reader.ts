import type { SandboxLevel } from "../../domain/api-types/enums.ts";
import { createFairQueue } from "../../lib/fair-queue/queue.ts";
import { createChildren } from "./children.ts";
import { type SkillOutcome, skillTask } from "./skill-task.ts";

export interface SkillReader {
  /** Rejects only if the signal is aborted. `owner` is used for fair scheduling. */
  read(archive: Uint8Array, signal: AbortSignal, owner: string): Promise<SkillOutcome>;
  /** Kills all children, also busy ones. */
  stop(): void;
}

/**
 * Reads each archive in a fresh child process that is never reused, because a hostile one may exploit a parser. A few
 * at a time: others wait for their owner's turn.
 */
export function createSkillReader({
  level,
}: {
  /** Called for each archive, so that the server need not wait for the self-test at start. */
  level: () => SandboxLevel | Promise<SandboxLevel>;
}): SkillReader {
  const queue = createFairQueue({ count: 2, reserve: 1 });
  const children = createChildren({});
  return {
    async read(archive, signal, owner) {
      const now = await level();
      if (now === "off")
        return { error: "Skills cannot be read on this server: its sandbox is off.", unavailable: "off" };
      const options = { language: "skills", jailed: now === "strict" } as const;
      const outcome = await queue.run(owner, signal, () => children.perform(options, () => skillTask(archive), signal));
      return children.isStopped() && "error" in outcome ? { ...outcome, unavailable: "stopped" } : outcome;
    },
    stop: children.stop,
  };
}
