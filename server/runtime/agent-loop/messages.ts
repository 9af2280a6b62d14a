import type { AccessToken } from "../../domain/access-token.ts";
import type { AgentSnapshot, PassageChoices, Rerank, ToolSnapshot } from "../../domain/agent-snapshot.ts";
import type { SandboxLevel } from "../../domain/api-types/enums.ts";
import type { WorstCase } from "../../domain/budget.ts";
import type { Budget, UnknownPrice } from "../../domain/budget-schema.ts";
import type { ConnectionToken } from "../../domain/connection-auth.ts";
import type { PromptMessage } from "../../domain/model-call.ts";
import type { Admission, CallResult } from "../../domain/outage.ts";
import type { ModelPrice } from "../../domain/price.ts";
import type {
  AttachedDocument,
  JournalEntry,
  RequiredCall,
  RetrievedPassage,
  RunError,
  RunEvent,
  RunUsage,
  ToolError,
} from "../../domain/run-event.ts";
import type { Workspace } from "../../domain/workspace-schema.ts";
import type { EgressPolicy } from "../../lib/egress.ts";
import type { Log } from "../../lib/log.ts";
import type { Connection } from "../models/model.ts";
import type { Standing } from "../models/spend-guard.ts";
import type { SystemPython } from "../sandbox/system-python.ts";
import type { ToolResult } from "./tools/tool-result.ts";

/** All data that a worker needs to drive a run. Plain data, held only while the loop runs. */
export interface RunStart {
  /** Number of this start: a run may be started again before its previous loop has left. */
  drive: number;
  run_id: string;
  attempt: number;
  history: JournalEntry[];
  agent: AgentSnapshot;
  /** Connection to the agent's model, with its key. */
  connection: Connection;
  /** Name of the model at its provider. */
  model: string;
  /** The models that can be called, if the run has several; the first is the one above. */
  candidates?: Candidate[];
  /** Headers and signing secrets of tools, by tool id. */
  secrets: Record<string, ToolSecrets>;
  egress: EgressPolicy;
  /** Parts of requests that servers are known to refuse: by the prefix of the connection, then by its model. */
  refusals?: Record<string, Record<string, readonly string[]>>;
  /** The project's rule for a model with unknown price under a budget in USD; absent: refuse. */
  unknown_price?: UnknownPrice;
  /** Current prices of the judges' models that are not the run's. */
  judge_prices?: Record<string, ModelPrice | null>;
  /** True if the project has a daily budget: each model call has to reserve its share. */
  day_budget?: boolean;
  /** True if calls of some model have failed lately: each call has to be admitted. */
  model_trouble?: boolean;
}

/** A model of a run with its connection. */
export interface Candidate {
  /** Its full name. */
  id: string;
  connection: Connection;
  /** Name of the model at its provider. */
  model: string;
}

/** Which PDFs a model sees as images of their pages, and how many images it takes. */
interface PageImagesOrder {
  of: "all" | "without_text";
  most: number;
}

/** Requests of a loop to the main thread, with their replies. */
export interface Asks {
  /** Decrypts the secrets of a pinned tool with their current values. */
  secrets: { ask: { tool_id: string; sealed: string }; answer: ToolSecrets };
  /** Resolves the named secrets in the headers of a model's requests. */
  model_headers: { ask: { headers: Record<string, string> }; answer: ToolSecrets };
  /**
   * Returns the access token of an OAuth client for the run's user, or why there is none. `rejected` is the token that a
   * server refused with 401; `missing` are scopes that it missed in the token.
   */
  access_token: {
    ask: { oauth_client_id: string; rejected?: string; missing?: readonly string[] };
    answer: AccessToken;
  };
  /** Returns the access token of a model connection. `rejected` is one that its server refused. */
  connection_token: { ask: { source: string; rejected?: string }; answer: ConnectionToken };
  /** Returns the one-time URL for the result of a webhook call. */
  callback: { ask: { tool_call_id: string }; answer: { url: string; expires_at: string } };
  /**
   * Stores bytes that become a file with the result of the call; without a result they are deleted. Transferred, not
   * copied.
   */
  keep_file: { ask: { file_id: string; content: Uint8Array }; answer: null };
  /** Reads a part (base64) of a file of the run's project and environment; null if the file does not exist. */
  read_file: {
    ask: { file_id: string; start: number; length: number };
    answer: { filename: string; bytes: number; content: string } | null;
  };
  /** Returns the id of a file that the run made, by its id or its name; null if there is none. */
  made_file: { ask: { reference: string }; answer: { file_id: string } | null };
  /**
   * Stores bytes that a workspace has with the result of the call; without a result they are deleted. Transferred, not
   * copied.
   */
  keep_content: { ask: { sha256: string; content: Uint8Array }; answer: null };
  /** Reads a part (base64) of a content of the run's or its thread's workspace; null if it is gone. */
  read_content: {
    ask: { sha256: string; start: number; length: number };
    answer: { content: string } | null;
  };
  /** Returns the workspace of the run's thread, empty before its first program; null if the run has no thread. */
  thread_workspace: { ask: object; answer: Workspace | null };
  /** Lists the files of a version of a skill; null if it was deleted. */
  skill_files: {
    ask: { skill_id: string; version: number };
    answer: { files: { path: string; bytes: number }[] } | null;
  };
  /** Reads a part (base64) of a file of a skill; null if it was deleted. */
  read_skill_file: {
    ask: { skill_id: string; version: number; path: string; start: number; length: number };
    answer: { content: string } | null;
  };
  /** Says that the list of an MCP server's tools has changed: the next run reads it again. */
  tools_changed: { ask: { tool_id: string }; answer: null };
  /** Returns this machine's sandbox level, and the operator's interpreter for Python. */
  sandbox: { ask: object; answer: { level: SandboxLevel; python: SystemPython | null } };
  /** Takes a slot of a connection with limited concurrency; returns the slot's number, for its release. */
  model_place: { ask: { connection: string }; answer: number };
  /** Admits a call to the first of these models that answers, as far as is known; waits for one up to `wait_ms`. */
  admit_call: { ask: { models: readonly string[]; wait_ms: number }; answer: Admission };
  /** Reserves the maximum usage of a model call in the daily budget; replies once it is granted or refused. */
  reserve: { ask: { worst: WorstCase }; answer: Reserved };
  /** Starts the child run of a call, or returns the one already started. */
  start_child: { ask: ChildOrder; answer: { run_id: string } | { refused: ToolError } };
  /** Returns at most this many earlier messages of the run's thread, oldest first. */
  history: { ask: { max_messages: number }; answer: PromptMessage[] };
  /** Returns the run's files as its model gets them, with at most this many bytes of text in total. */
  documents: {
    ask: {
      file_ids: readonly string[];
      max_bytes: number;
      images: boolean;
      pdf?: boolean;
      page_images?: PageImagesOrder;
    };
    answer: AttachedDocument[];
  };
  /**
   * Draws this many pages of a PDF, from the first. Returns base64 of a JPEG for each, null for a damaged page, and
   * fewer if there was no time; null if the file does not exist.
   */
  page_images: { ask: { file_id: string; count: number }; answer: readonly (string | null)[] | null };
  /** Searches a memory store of the run; in a store per user or session, only the run's own part. */
  search_memory: {
    ask: {
      memory_id: string;
      query: string;
      top_k: number;
      score_threshold: number;
      filter?: Record<string, unknown>;
      rerank?: Rerank;
      /** The run's budget and usage. */
      standing: Standing;
    } & PassageChoices;
    /**
     * `reranked`: set if requested; `error` says why the order is unchanged. `degraded`: reason for a keyword-only
     * search. `usage`: cost of models; absent if none was paid for.
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
  /** Adds a text to a memory store, at most once per call; replies when it can be found or is about to be. */
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
  /** Replies when the child run ends or requires action. */
  await_child: { ask: { run_id: string }; answer: ChildStanding };
}
export type AskKind = keyof Asks;
/** A request to the main thread, by its kind. */
export type Question = { [Kind in AskKind]: { of: Kind } & Asks[Kind]["ask"] }[AskKind];
export type Ask = <Kind extends AskKind>(of: Kind, ask: Asks[Kind]["ask"]) => Promise<Asks[Kind]["answer"]>;

/** `max_output_tokens` is null if there is no daily budget (any more). */
export type Reserved = { granted: true; max_output_tokens: number | null } | { granted: false; message: string };

export interface ChildOrder {
  tool_call_id: string;
  agent_id: string;
  /** The agent's version, or the label that chooses it; without both, the newest. */
  version?: number;
  label?: string;
  input: string;
  budget: Budget | null;
}

export type ChildStanding =
  | { is: "waiting"; calls: RequiredCall[] }
  | { is: "over"; output: string | null; output_json: unknown; error: RunError | null; usage: RunUsage };

export interface ToolSecrets {
  headers: Record<string, string>;
  /** Query parameters of every call; absent: none. */
  query?: Record<string, string>;
  signing_secret: string;
  /** Named secrets used in these. They may change during the run, so each call asks for them again. */
  named?: { values: string[]; missing: string[] };
  /** Reason why they cannot be used (more secrets than can be searched for in outputs); headers are empty then. */
  fault?: string;
}

/** Messages from the main thread to a worker. */
export type ToWorker =
  | { do: "start"; start: RunStart }
  | { do: "try"; attempt: ToolTry }
  /** Aborts a start or a try, by its number. */
  | { do: "abort"; drive: number }
  /** Closes what a run left open while it waits: it is over, or another worker goes on with it. */
  | { do: "forget"; run_id: string }
  /** Ends the model call of a start, by the step that it makes: a message of the user came. */
  | { do: "interrupt"; drive: number; step_index: number }
  /** Liveness check. */
  | { do: "ping" }
  /** The append with this ticket is durable: its events have `seq` and the following numbers, all at `at`. */
  | ({ do: "appended"; ticket: number } & Appended)
  /** Reply to the request with this ticket. */
  | { do: "answer"; ticket: number; answer: unknown }
  /** The run is over or superseded: the requester has to stop. */
  | { do: "refused"; ticket: number };

/** One call of a tool outside of any run. */
export interface ToolTry extends Pick<RunStart, "drive" | "secrets" | "egress"> {
  /** See `ToolStart`. */
  owner: string;
  tool: ToolSnapshot;
  args: Record<string, unknown>;
}

export interface Appended {
  seq: number;
  at: number;
  /** Number of the events that were appended, and the requests to the run before them that the loop did not know. */
  kept?: number;
  missed?: JournalEntry[];
  /** See `RunStart`; for the model call that begins with these events, because a budget may have been set meanwhile. */
  day_budget?: boolean;
  model_trouble?: boolean;
}

/** `later`: a webhook accepted the call and replies later; tries do not wait for that. */
export type TriedOutcome = ToolResult | { later: true; attempts: number };

/** Messages from a worker to the main thread. */
export type FromWorker =
  /** `leaves`: the events end the run and the loop of this start, which expects no reply. `drive`: the loop's start. */
  | ({ do: "append"; run_id: string; attempt: number; ticket: number; events: RunEvent[]; leaves?: number } & Partial<
      Basis & { drive: number }
    >)
  | { do: "ask"; run_id: string; attempt: number; ticket: number; question: Question }
  | { do: "delta"; run_id: string; delta: Delta }
  /** Number of code units of the model call at this anchor so far, including those that no delta shows. */
  | { do: "generated"; run_id: string; anchor: number; length: number }
  | { do: "pong" }
  /** Result of a model call, for the circuit breaker of its model. */
  | { do: "model_result"; run_id: string; model: string; result: CallResult }
  /** All parts of requests that a model's server is known to refuse, once it has refused another one. */
  | { do: "refusals"; connection: Connection; model: string; refusals: string[] }
  /** Releases a slot after its model call. */
  | { do: "free_place"; place: number }
  /** Writes to the log of the process: a worker has none. */
  | { do: "log"; level: keyof Log; message: string; fields: Record<string, unknown> }
  /** Result of a try; null with a `fault` for an internal error. Its requests use its number as run id. */
  | { do: "tried"; drive: number; outcome: TriedOutcome | null; fault: string | null }
  /**
   * The loop has ended without a final append: the run waits, is over, or (with a `fault`) met an internal error.
   * `keeps`: calls of the run are open in this worker, so it should go on here.
   */
  | { do: "left"; drive: number; run_id: string; attempt: number; fault: string | null; keeps?: true }
  /** A call that waits for the user's answer is over: its server did not wait so long. */
  | { do: "gave_up"; run_id: string; tool_call_id: string };

/**
 * State of the loop that appends: it knows all requests to the run up to entry `after`. The first `facts` of its events
 * happened, the others are decisions. If another request has come, the decisions are void and not appended. Without it,
 * all events are facts.
 */
export interface Basis {
  after: number;
  facts: number;
}

/** A piece of a model's answer; `anchor` is the `seq` of the start of its step. */
export interface Delta {
  anchor: number;
  step_index: number;
  part: number;
  kind: "output" | "reasoning";
  text: string;
  /** Milliseconds since the step started. */
  ms: number;
  /** Length and milliseconds of each of several merged deltas, alternating. */
  marks?: number[];
}

/** Returns length and milliseconds of each delta that was merged into this one. */
export const marksOf = ({ text, ms, marks = [text.length, ms] }: Pick<Delta, "text" | "ms" | "marks">) =>
  marks.flatMap((length, at): [number, number][] => (at % 2 === 0 ? [[length, marks[at + 1] ?? ms]] : []));
