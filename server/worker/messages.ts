import type { AgentSnapshot, PassageChoices, Rerank, ToolSnapshot } from "../core/agent-snapshot.ts";
import type { WorstCase } from "../core/budget.ts";
import type { Budget, UnknownPrice } from "../core/budget-schema.ts";
import type { PromptMessage } from "../core/model-call.ts";
import type {
  AttachedDocument,
  JournalEntry,
  RequiredCall,
  RetrievedPassage,
  RunError,
  RunEvent,
  RunUsage,
  ToolError,
} from "../core/run-event.ts";
import type { EgressPolicy } from "../lib/egress.ts";
import type { Standing } from "../models/payer.ts";
import type { Connection } from "../models/port.ts";
import type { SandboxLevel } from "../wire/names.ts";
import type { Done } from "./tools/outcome.ts";

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
  /** What tools send and sign with, by tool id. */
  secrets: Record<string, ToolSecrets>;
  egress: EgressPolicy;
  /** What the project says of a model whose price nobody knows, under a budget in USD; absent is to refuse it. */
  unknown_price?: UnknownPrice;
  /** Whether the project has a budget for the day, of which each model call has to be granted its share. */
  day_budget?: boolean;
}

/** What a loop asks of the main thread, and what it is answered. */
export interface Asks {
  /** What a pinned tool's encrypted text stands for at this moment. */
  secrets: { ask: { tool_id: string; sealed: string }; answer: ToolSecrets };
  /** Where a webhook may send the result of a call, once. */
  callback: { ask: { tool_call_id: string }; answer: { url: string; expires_at: string } };
  /** Keeps bytes that become a file with the result of the call; without one they are forgotten. They are handed over. */
  keep_file: { ask: { file_id: string; content: Uint8Array }; answer: null };
  /** A part (base64) of a file of the run's project and environment; null: there is no such file (any more). */
  read_file: {
    ask: { file_id: string; start: number; length: number };
    answer: { filename: string; bytes: number; content: string } | null;
  };
  /** How far this machine can hold code that is not ours. */
  sandbox: { ask: object; answer: SandboxLevel };
  /** A place at the server behind a connection that takes so many calls at once; its number, to give it back with. */
  model_place: { ask: { connection: string }; answer: number };
  /** Reserves what a model call can take of the day's budget; returns when it has it, or never will. */
  reserve: { ask: { worst: WorstCase }; answer: Reserved };
  /** Starts the child run of a call, or finds the one that was started. */
  start_child: { ask: ChildOrder; answer: { run_id: string } | { refused: ToolError } };
  /** What was said in the run's thread before it, oldest first: at most so many messages. */
  history: { ask: { max_messages: number }; answer: PromptMessage[] };
  /** The files of a run as its model gets them, with at most so many bytes of text in all. */
  documents: {
    ask: { file_ids: readonly string[]; max_bytes: number; images: boolean };
    answer: AttachedDocument[];
  };
  /** Searches a memory store of the run; of one for each user or session, the part of the run's own. */
  search_memory: {
    ask: {
      memory_id: string;
      query: string;
      top_k: number;
      score_threshold: number;
      filter?: Record<string, unknown>;
      rerank?: Rerank;
      /** What the run has to spend, and what it has spent. */
      standing: Standing;
    } & PassageChoices;
    /**
     * `reranked` where it was asked for: `error` says why the passages stay as they were found. `degraded`: why they were
     * found by words alone. `usage`: what models took for it; absent where none that is paid for was asked.
     */
    answer:
      | {
          matches: RetrievedPassage[];
          reranked?: { error: ToolError | null };
          degraded?: ToolError;
          usage?: RunUsage;
        }
      | { refused: ToolError };
  };
  /** Adds a text to a memory store, once a call; returns when it can be found, or soon. */
  write_memory: {
    ask: {
      memory_id: string;
      text: string;
      metadata: Record<string, string | number | boolean>;
      tool_call_id: string;
    };
    answer: { entry_id: string } | { refused: ToolError };
  };
  get_key: {
    ask: { memory_id: string; key: string };
    answer: { found: { value: unknown; version: number } | null } | { refused: ToolError };
  };
  set_key: {
    ask: { memory_id: string; key: string; value: unknown; tool_call_id: string };
    answer: { version: number } | { refused: ToolError };
  };
  /** Returns when the child run is over, or waits for somebody. */
  await_child: { ask: { run_id: string }; answer: ChildStanding };
}
export type AskKind = keyof Asks;
/** One question, by its kind. */
export type Question = { [Kind in AskKind]: { of: Kind } & Asks[Kind]["ask"] }[AskKind];
export type Ask = <Kind extends AskKind>(of: Kind, ask: Asks[Kind]["ask"]) => Promise<Asks[Kind]["answer"]>;

/** `max_output_tokens` is null where the day has no budget (any more). */
export type Reserved = { granted: true; max_output_tokens: number | null } | { granted: false; message: string };

export interface ChildOrder {
  tool_call_id: string;
  agent_id: string;
  input: string;
  budget: Budget | null;
}

export type ChildStanding =
  | { is: "waiting"; calls: RequiredCall[] }
  | { is: "over"; output: string | null; output_json: unknown; error: RunError | null; usage: RunUsage };

export interface ToolSecrets {
  headers: Record<string, string>;
  signing_secret: string;
  /** What the headers took from named secrets. These may change while the run works: each call asks for them anew. */
  named?: { values: string[]; missing: string[] };
  /** Why they cannot be used: of more than may be looked for in outputs, nothing is sent. The headers are none then. */
  fault?: string;
}

/** From the main thread to a worker. */
export type Order =
  | { do: "start"; start: RunStart }
  | { do: "try"; attempt: ToolTry }
  /** Of a start or a try, by its number. */
  | { do: "abort"; drive: number }
  /** Asks for a sign of life. */
  | { do: "ping" }
  /** The append with this ticket is durable: its events got `seq` and the following numbers, all at `at`. */
  | ({ do: "appended"; ticket: number } & Appended)
  /** What the question with this ticket is answered. */
  | { do: "answer"; ticket: number; answer: unknown }
  /** The run is over or has moved on: whoever asked shall stop. */
  | { do: "refused"; ticket: number };

/** One call of a tool outside of any run. */
export interface ToolTry extends Pick<RunStart, "drive" | "secrets" | "egress"> {
  /** As in `ToolStart`. */
  owner: string;
  tool: ToolSnapshot;
  args: Record<string, unknown>;
}

export interface Appended {
  seq: number;
  at: number;
  /** As in `RunStart`, for the model call that begins with these events: somebody may have set a budget meanwhile. */
  day_budget?: boolean;
}

/** `later`: a webhook took the call and will answer it, which nobody waits for. */
export type TriedOutcome = Done | { later: true; attempts: number };

/** From a worker to the main thread. */
export type Notice =
  /** `leaves`: they end the run, and with them the loop of this start, which hears no answer. */
  | { do: "append"; run_id: string; attempt: number; ticket: number; events: RunEvent[]; leaves?: number }
  | { do: "ask"; run_id: string; attempt: number; ticket: number; question: Question }
  /** `first` of its start of a step: somebody waits for it. */
  | { do: "delta"; run_id: string; delta: Delta; first?: boolean }
  /** How much the model call of this anchor has said so far, with what no delta tells. */
  | { do: "said"; run_id: string; anchor: number; length: number }
  | { do: "pong" }
  /** The model call that had this place has ended. */
  | { do: "free_place"; place: number }
  /** For the log of the process: a thread has none. */
  | { do: "warn"; message: string; fields: Record<string, unknown> }
  /** What a try came to; null and a `fault` for a bug. What it asks, it asks as the run of its number. */
  | { do: "tried"; drive: number; outcome: TriedOutcome | null; fault: string | null }
  /** The loop has ended, if no append has said so: the run waits, is over, or (with a `fault`) met a bug. */
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
  /** Of several that came together, the length and the milliseconds of each, one after the other. */
  marks?: number[];
}
