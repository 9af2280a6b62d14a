import { capsuleLimits } from "../core/capsule-format.ts";
import { type CapsuleContent, openCapsuleAnswer } from "./capsule-answer.ts";
import { encodeHead } from "./head.ts";
import type { Task } from "./task.ts";

/** A capsule's bytes, wherever they are kept. */
export interface CapsuleOrder {
  bytes: number;
  /** Taken once, and not before somebody reads it. */
  content: Iterable<Uint8Array>;
}

/** `unavailable`: nothing is said of the capsule; there is no reader, or it was stopped. */
export type CapsuleOutcome = { content: CapsuleContent } | { error: string; unavailable?: "off" | "stopped" };

/** Escapes of JSON make a character at most six times as long, and what it escapes once is JSON already. */
const said_max = 4 * capsuleLimits.record_bytes + 2 ** 24;

/** A capsule as a child's task. */
export function capsuleTask({ bytes, content }: CapsuleOrder): Task<CapsuleOutcome> {
  const answer = openCapsuleAnswer();
  const memory_mb = Math.round(400 + (3 * bytes) / 2 ** 20);
  const timeout_ms = 30_000;
  return {
    timeout_ms,
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
