import type { Packet } from "./packet.ts";

/** Default time in which a child that has a task must start it. */
export const startLimit_ms = 10_000;

/** Reason why a child was ended before it had answered. */
export interface StopReason {
  /** `ended`: by itself, after the task had started. */
  kind: "late" | "memory" | "failed" | "ended";
  message: string;
  /** True if the task has not begun. */
  unstarted?: true;
}

/** Input of a child, and the checks of its answer. Nothing from the child is trusted: `onPacket` validates all of it. */
export interface Task<Outcome> {
  timeout_ms: number;
  /** Clock for `timeout_ms`: wall time, or processor time with ten times as much wall time. */
  timed_by: "clock" | "processor";
  /** Time in which the child must start the task. Default: `startLimit_ms`. */
  start_ms?: number;
  /** Time after `saving`. Default: none, so the task ends there. */
  save_ms?: number;
  /** Memory limit in addition to what its language takes. */
  memory_mb: number;
  /** Messages for when time or memory is used up. */
  late_message: string;
  memory_message: string;
  /** Maximum bytes of its output. */
  output_max_bytes: number;
  /** Bytes sent at once. */
  order: readonly Uint8Array[];
  /** Bytes sent after the start, as fast as the child reads. Iterated once, not before. */
  content: Iterable<Uint8Array>;
  /** Length of the content, as announced to the child. */
  content_bytes: number;
  /** Throws if the packet is not valid at this point. */
  onPacket(packet: Packet): void;
  isComplete(): boolean;
  /** `computed_ms`: processor time, or wall time if the system does not tell. */
  outcome(why: StopReason | null, duration_ms: number, computed_ms: number): Outcome;
}
