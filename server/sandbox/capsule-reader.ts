import { capsuleLimits } from "../core/capsule-format.ts";
import type { SandboxLevel } from "../wire/names.ts";
import { type CapsuleContent, openCapsuleAnswer } from "./capsule-answer.ts";
import { createChildren } from "./children.ts";
import { encodeHead } from "./head.ts";
import type { Task } from "./task.ts";

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
        return { error: "Capsules cannot be read on this server: its sandbox is off.", unavailable: "off" };
      if (order.bytes > capsuleLimits.bytes)
        return { error: `The capsule is larger than ${capsuleLimits.bytes} bytes.` };
      const options = { language: "capsules", jailed: now === "strict" } as const;
      const outcome = await children.perform(options, () => capsuleTask(order), signal);
      return children.isStopped() && "error" in outcome ? { ...outcome, unavailable: "stopped" } : outcome;
    },
    stop: children.stop,
  };
}

/** A capsule's bytes, wherever they are kept. */
interface CapsuleOrder {
  bytes: number;
  /** Taken once, and not before somebody reads it. */
  content: Iterable<Uint8Array>;
}

/** `unavailable`: nothing is said of the capsule; there is no reader, or it was stopped. */
type CapsuleOutcome = { content: CapsuleContent } | { error: string; unavailable?: "off" | "stopped" };

/** Escapes of JSON make a character at most six times as long, and what it escapes once is JSON already. */
const said_max = 4 * capsuleLimits.record_bytes + 2 ** 24;

/** A capsule as a child's task. */
function capsuleTask({ bytes, content }: CapsuleOrder): Task<CapsuleOutcome> {
  const answer = openCapsuleAnswer();
  const memory_mb = Math.round(400 + (3 * bytes) / 2 ** 20);
  const timeout_ms = 30_000;
  return {
    timeout_ms,
    timed_by: "processor" as const,
    memory_mb,
    late_message: `The capsule could not be read within ${timeout_ms / 1000} seconds.`,
    memory_message: `The capsule needs more than ${memory_mb} MB of memory to be read.`,
    said_max,
    order: [encodeHead({ bytes })],
    content,
    content_bytes: bytes,
    hear: answer.hear,
    isWhole: answer.isWhole,
    outcome: (why) => (why === null && answer.said()) || { error: why?.message ?? "The capsule could not be read." },
  };
}
