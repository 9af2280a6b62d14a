import type { Packet } from "./packet.ts";

/** Why a child was ended before it had answered. */
export interface Stop {
  kind: "late" | "memory" | "failed";
  message: string;
}

/** What one child is given, and what becomes of what it says. It is believed in nothing: `hear` looks at all of it. */
export interface Task<Outcome> {
  timeout_ms: number;
  /** What `timeout_ms` counts: time as it passes, or the processor's, with ten times as much of the clock's. */
  timed_by: "clock" | "processor";
  /** What it may use of memory, beside what its language takes. */
  memory_mb: number;
  /** Told when these are used up. */
  late_message: string;
  memory_message: string;
  /** All that it may say, in bytes. */
  said_max: number;
  /** What it is told at once. */
  order: readonly Uint8Array[];
  /** What it is sent once it has begun, as fast as it reads. Not asked for before, and then once. */
  content: Iterable<Uint8Array>;
  /** How long that is, as the child was told. */
  content_bytes: number;
  /** Throws for what no child of ours says. */
  hear(packet: Packet): void;
  isWhole(): boolean;
  outcome(why: Stop | null, duration_ms: number): Outcome;
}
