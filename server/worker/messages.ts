import type { AgentSnapshot } from "../core/agent-snapshot.ts";
import type { JournalEntry, RunEvent } from "../core/run-event.ts";
import type { EgressPolicy } from "../lib/egress.ts";
import type { Connection } from "../models/port.ts";

/** Everything a thread needs to drive one run; plain data, held only as long as the loop runs. */
export interface RunStart {
  /** Numbers the starts: one run may be started again before its last loop has said that it left. */
  drive: number;
  run_id: string;
  attempt: number;
  history: JournalEntry[];
  agent: AgentSnapshot;
  /** How to reach the agent's model, with its key. */
  connection: Connection;
  /** The model's name at its provider. */
  model: string;
  /** What HTTP tools send and sign with, by tool id. */
  secrets: Record<string, ToolSecrets>;
  egress: EgressPolicy;
}

export interface ToolSecrets {
  headers: Record<string, string>;
  signing_secret: string;
  /** What the headers took from named secrets. These may change while the run works: each call asks for them anew. */
  named?: { values: string[]; missing: string[] };
}

/** From the main thread to a worker. */
export type Order =
  | { do: "start"; start: RunStart }
  | { do: "abort"; drive: number }
  /** Asks for a sign of life. */
  | { do: "ping" }
  /** The append with this ticket is durable: its events got `seq` and the following numbers, all at `at`. */
  | { do: "appended"; ticket: number; seq: number; at: number }
  /** What the tool of the request with this ticket sends and signs with now. */
  | { do: "secrets"; ticket: number; secrets: ToolSecrets }
  /** The run is over or has moved on: whoever asked shall stop. */
  | { do: "refused"; ticket: number };

/** From a worker to the main thread. */
export type Notice =
  | { do: "append"; run_id: string; attempt: number; ticket: number; events: RunEvent[] }
  /** Asks for what a pinned tool's encrypted text stands for at this moment. */
  | { do: "secrets"; run_id: string; attempt: number; ticket: number; tool_id: string; sealed: string }
  | { do: "delta"; run_id: string; delta: Delta }
  | { do: "pong" }
  /** The loop has ended: the run waits, is over, or (with a `fault`) met a bug. */
  | { do: "left"; drive: number; run_id: string; attempt: number; fault: string | null };

/** A piece of a model's answer, addressed by the `seq` of the start of its step. */
export interface Delta {
  anchor: number;
  step_index: number;
  part: number;
  kind: "output" | "reasoning";
  text: string;
  /** Milliseconds since the step started. */
  ms: number;
}
