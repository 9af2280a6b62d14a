import type { ToolSnapshot } from "../core/agent-snapshot.ts";
import type { WorstCase } from "../core/budget.ts";
import type { JournalEntry, RunEvent, ToolError } from "../core/run-event.ts";
import type { RunState, ToolCall } from "../core/run-state.ts";
import type { Model } from "../models/port.ts";
import type { Ask, ChildOrder, Delta, Reserved, RunStart } from "./messages.ts";
import type { ToolContext } from "./tools/context.ts";
import type { ToolOutcome } from "./tools/outcome.ts";

/** The world as a run sees it. */
export interface Ports {
  /** Durable when it answers. Throws `Superseded` when the run is over or somebody else drives it now. */
  append(events: RunEvent[]): Promise<{ seq: number; at: number }>;
  /** For the readers, now; it becomes durable with the entry that ends its step. */
  delta(delta: Delta): void;
  /** How many UTF-16 code units the model call of this anchor has said so far, heard by readers or not. */
  said?(anchor: number, length: number): void;
  model: Model;
  /** The model of a judge, by its full name; rejects what the run's provider does not have. */
  judge(name: string): Promise<Model>;
  /** Reserves what a model call can take of the day's budget; null where there is none, and `worst` is not asked for. */
  reserve(worst: () => WorstCase): Promise<Reserved | null>;
  /** Never throws but for an abort: what goes wrong is an error that the model reads. */
  runTool: RunTool;
  keepFile: ToolContext["keepFile"];
  /** Starts the child run of an agent's call, or finds the one that was started. */
  startChild(order: Omit<ChildOrder, "budget">): Promise<{ run_id: string } | { refused: ToolError }>;
  /** Makes a call of the run's provider, as soon as that takes one more. */
  inPlace<T>(call: () => Promise<T>): Promise<T>;
  /** Waits before a model is asked again, or until the signal is aborted. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  /** What only the main thread knows. */
  ask: Ask;
  now(): number;
}

/** `recorded` settles once the outcome is on record, or never will be. */
type RunTool = (
  call: ToolCall,
  tool: ToolSnapshot,
  signal: AbortSignal,
  recorded: Promise<void>,
  standing: ToolContext["standing"],
) => Promise<ToolOutcome>;

/** The run was ended or taken over while this loop worked on it: it stops without a word. */
export class Superseded extends Error {}

/** What a step works with: the state as it stands now, and the only way to change it. */
export interface Turn {
  state(): RunState;
  record(...events: RunEvent[]): Promise<JournalEntry[]>;
  /** The first of so many step numbers that nobody else gets: calls that run side by side may have something to note at once. */
  takeSteps(count: number): number;
  start: RunStart;
  ports: Ports;
  signal: AbortSignal;
}
