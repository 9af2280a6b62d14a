import type { SandboxLevel } from "../../domain/api-types/enums.ts";
import { capsuleLimits } from "../../domain/capsule-format.ts";
import { type CapsuleContent, openCapsuleAnswer } from "./capsule-answer.ts";
import { createChildren } from "./children.ts";
import { encodeFrameHeader } from "./frame-header.ts";
import type { Task } from "./task.ts";

export type { CapsuleContent } from "./capsule-answer.ts";
export type { CapsuleOrder, CapsuleOutcome };

export interface CapsuleReader {
  /** Rejects only if the signal is aborted. */
  read(order: CapsuleOrder, signal: AbortSignal): Promise<CapsuleOutcome>;
  /** Kills all children, also busy ones. */
  stop(): void;
}

/**
 * Reads each capsule in a fresh child process that is never reused, because a hostile capsule may exploit SQLite. The
 * caller limits concurrency.
 */
export function createCapsuleReader({
  level,
}: {
  /** Called for each capsule, so that the server need not wait for the self-test at start. */
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

/** A capsule's bytes, from any storage. */
interface CapsuleOrder {
  bytes: number;
  /** Iterated once, when a child reads it. */
  content: Iterable<Uint8Array>;
}

/** `unavailable`: the capsule was not judged, because the reader is off or was stopped. */
type CapsuleOutcome = { content: CapsuleContent } | { error: string; unavailable?: "off" | "stopped" };

/** JSON escapes a character in at most six bytes, but an event is JSON itself and so is escaped already. */
const said_max = 4 * capsuleLimits.record_bytes + 2 ** 24;

/** Returns the task of reading a capsule. */
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
    output_max_bytes: said_max,
    order: [encodeFrameHeader({ bytes })],
    content,
    content_bytes: bytes,
    onPacket: answer.hear,
    isComplete: answer.isWhole,
    outcome: (why) => (why === null && answer.said()) || { error: why?.message ?? "The capsule could not be read." },
  };
}
