import type { JournalEntry, RunEvent } from "../core/run-event.ts";
import type { RunState } from "../core/run-state.ts";
import type { Model } from "../models/port.ts";
import type { Delta, RunStart } from "./messages.ts";
import type { RunTool } from "./run-tools.ts";

/** The world as a run sees it. */
export interface Ports {
  /** Durable when it answers. Throws `Superseded` when the run is over or somebody else drives it now. */
  append(events: RunEvent[]): Promise<{ seq: number; at: number }>;
  /** For the readers, now; it becomes durable with the entry that ends its step. */
  delta(delta: Delta): void;
  model: Model;
  runTool: RunTool;
  now(): number;
}

/** The run was ended or taken over while this loop worked on it: it stops without a word. */
export class Superseded extends Error {}

/** What a step works with: the state as it stands now, and the only way to change it. */
export interface Turn {
  state(): RunState;
  record(...events: RunEvent[]): Promise<JournalEntry[]>;
  start: RunStart;
  ports: Ports;
  signal: AbortSignal;
}
