import type { AgentSnapshot, ToolSnapshot } from "../../domain/agent-snapshot.ts";
import type { WorstCase } from "../../domain/budget.ts";
import type { Admission, CallResult } from "../../domain/outage.ts";
import type { JournalEntry, RunEvent, ToolError } from "../../domain/run-event.ts";
import { type OpenStep, openStep, type RunState, type ToolCall } from "../../domain/run-state.ts";
import type { StepType } from "../../domain/step-kinds.ts";
import type { Connection, Model } from "../models/model.ts";
import type { TellProgress } from "./call-progress.ts";
import type { Outlet } from "./message-channel.ts";
import type { Appended, Ask, Basis, ChildOrder, Reserved, RunStart } from "./messages.ts";
import type { ToolContext, Workspaces } from "./tools/context.ts";
import type { ToolOutcome } from "./tools/tool-result.ts";

/** Ports of a run: its connections to storage, models and tools. */
export interface RunPorts {
  /** Resolves when the events are durable. Throws `Superseded` if the run is over, paused or driven by another loop. */
  append(events: RunEvent[], basis: Basis): Promise<Pick<Appended, "seq" | "at" | "kept" | "missed">>;
  /** Signal that ends the model call of this step, because a message of the user came; null if there is none. */
  interruption?(step_index: number): AbortSignal | null;
  /** Takes messages that need no reply. A delta becomes durable with the entry that ends its step. */
  outlet: Outlet;
  model: Model;
  /**
   * Returns a model by its full name, with the settings of `agent` or else the run's own; rejects one that none of the
   * run's connections has.
   */
  modelNamed(name: string, agent?: AgentSnapshot): Promise<Model>;
  /** Circuit breakers of models; absent: every call is admitted. */
  breakers?: Breakers;
  /**
   * Reserves the maximum usage of a model call in the daily budget. Returns null, without calling `worst`, if there is
   * none.
   */
  reserve(worst: () => WorstCase): Promise<Reserved | null>;
  /** Returns failures as errors for the model; throws only on abort. */
  runTool: RunTool;
  keepFile: ToolContext["keepFile"];
  /** Starts the child run of an agent's call, or returns the one already started. */
  startChild(order: Omit<ChildOrder, "budget">): Promise<{ run_id: string } | { refused: ToolError }>;
  /** Makes a call once the connection's server has a free slot. */
  inPlace<T>(call: () => Promise<T>, connection?: Connection): Promise<T>;
  /** Waits between attempts, or until the signal is aborted. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  /** Asks the main thread. */
  ask: Ask;
  now(): number;
}

/** Circuit breakers, by the full names of models. */
interface Breakers {
  /** Chooses the first of these models that a call may be made to now, or within `wait_ms`. */
  admit(models: readonly string[], wait_ms: number): Promise<Admission>;
  report(model: string, result: CallResult): void;
}

/** State of a run as its tools read it. */
interface StateOfTools {
  standing: ToolContext["standing"];
  /** Journals what a server says about the call while it works; absent outside of runs. */
  tell?: TellProgress;
  /** Absent outside of runs. */
  workspace?: Workspaces["current"];
}

/** `recorded` settles once the outcome is journaled or never will be. */
type RunTool = (
  call: ToolCall,
  tool: ToolSnapshot,
  signal: AbortSignal,
  recorded: Promise<void>,
  state: StateOfTools,
) => Promise<ToolOutcome>;

/** The run was ended or taken over while this loop worked on it: the loop stops and appends nothing. */
export class Superseded extends Error {}

/** Context of a step: the current state, and the only way to change it. */
export interface RunContext {
  state(): RunState;
  /** Records what happened, and the decisions that follow from it. */
  record(...events: RunEvent[]): Promise<JournalEntry[]>;
  /** Records events only if no request to the run has come meanwhile. Call while no step is in progress. */
  recordUnlessAsked(...events: RunEvent[]): Promise<JournalEntry[]>;
  /** Reserves step numbers and returns the first: concurrent calls may record findings at once. */
  takeSteps(count: number): number;
  /** After a handoff, with the agent that answers now and its first model. */
  readonly start: RunStart;
  ports: RunPorts;
  signal: AbortSignal;
}

/** Returns the open step of this type. Throws if the loop works on none. */
export function currentStep({ state }: RunContext, type: StepType): OpenStep {
  const step = openStep(state(), type);
  if (!step) throw new Error(`No ${type} is open.`);
  return step;
}
