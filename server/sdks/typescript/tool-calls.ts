import type { Client, RequestOptions } from "./client.ts";
import { ActionRequiredError, APIError } from "./errors.ts";
import { writeJson } from "./json.ts";
import type { FunctionTool } from "./tool.ts";

/** A question of an MCP server to the user. */
export interface Elicitation {
  id: string;
  /** `form`: the user fills in what `requested_schema` asks for. `url`: the user opens `url`. */
  mode: "form" | "url";
  message: string;
  /** JSON Schema of the answer. */
  requested_schema?: Record<string, unknown>;
  url?: string;
  /** True if the call is made again after the answer. */
  before_call?: true;
}

/** A tool call that a run waits for. */
export interface RequiredCall {
  /** Id of the call, for its output or decision. */
  tool_call_id: string;
  /** Id of the tool; null for built-in tools, such as those of memory stores. */
  tool_id: string | null;
  /** Name of the tool. */
  name: string;
  arguments: Record<string, unknown>;
  /**
   * Required answer: an output, an approval, the result of a call with an unknown outcome (`reconcile`), or an answer to
   * a question (`elicitation`).
   */
  needs: "output" | "approval" | "reconcile" | "elicitation" | "authorization";
  /** For `elicitation`: the question of the tool's MCP server to the user. */
  elicitation?: Elicitation;
  /** Time at which the run fails if it is not answered. */
  expires_at: string;
  /** Id of the waiting run, if it is a subagent of this run. */
  run_id?: string;
}

/** A consent that a run waits for: its user connects an account at `url`, and the run goes on by itself. */
export interface PendingAuthorization {
  oauth_client_id: string;
  /** Name of the account's service. */
  name: string;
  /** The user who has to consent; null: the project itself. */
  user_id: string | null;
  /** Address to open in this user's browser; null if the key may not answer the run. */
  url: string | null;
  /** Time at which the run fails if nobody consents. */
  expires_at: string;
}

/** Shows a user where to connect an account. */
export type Authorize = (authorization: PendingAuthorization) => unknown;

/** Second argument of a tool function. */
export interface ToolContext extends RequiredCall {
  /** Aborted when the caller of `runs.run` gives up, or `decide` throws. */
  signal?: AbortSignal | undefined;
}

/** A client tool as a function. The return value is the output; a thrown error is reported to the model. */
// biome-ignore lint/suspicious/noExplicitAny: the arguments are what the tool's `parameters` say.
export type ToolFunction = (args: any, context: ToolContext) => unknown;

/** A part of a tool's result: a text, or a picture as a stored file, as data, or by its address. */
export type ToolPart =
  | { type: "text"; text: string }
  | { type: "image"; file_id?: string; data?: string; url?: string };

/** Return value of a tool function whose result has pictures: the model is shown them. */
export class ToolContent {
  readonly parts: readonly ToolPart[];

  constructor(...parts: ToolPart[]) {
    this.parts = parts;
  }
}

/** Functions, or tools that are made by `tool`, by client tool name. */
export type ToolFunctions = Record<string, ToolFunction | FunctionTool>;

/**
 * Answer to a call. For an approval: approve, optionally with other arguments, or reject. For a call with an unknown
 * outcome: `approve` repeats it, `reject` says that it did not happen, `output` supplies its result. For a question of
 * an MCP server: `elicitation`.
 */
export type Decision =
  | { decision: "approve"; arguments?: Record<string, unknown> }
  | { decision: "reject"; reason?: string }
  | { output: unknown }
  | {
      elicitation: { id?: string; action: "accept" | "decline" | "cancel"; content?: Record<string, unknown> };
    };

/** Decides a call that needs an approval, has an unknown outcome, or asks the user a question. */
export type Decide = (call: RequiredCall) => Decision | Promise<Decision>;

/** A run as far as its calls are concerned. */
export interface EndedRun {
  id: string;
  status: string;
  error: { code: string; message: string } | null;
  required_action: {
    submit_tool_outputs: { tool_calls: RequiredCall[] };
    authorizations?: PendingAuthorization[] | undefined;
  } | null;
  tool_calls: { id: string; type: string }[];
  output_json?: unknown;
}

type Answer = { tool_call_id: string; is_error?: boolean } & (
  | Decision
  | { output: unknown }
  | { content: readonly ToolPart[] }
);

export interface AnswerOptions {
  /** Functions by client tool name. */
  tools: Record<string, ToolFunction>;
  /** True: `tools` were sent with the run. They answer no calls of stored tools or subagents that have their names. */
  areSent: boolean;
  decide?: Decide | undefined;
  authorize?: Authorize | undefined;
  /** True: a call that nothing here can answer is an error. False: it is left to others. */
  isComplete: boolean;
  request: RequestOptions;
}

/**
 * Returns a function that answers the calls that a run waits for now. Each call is answered once, also if it is asked for
 * again.
 */
export function createAnswerer(
  client: Client,
  { tools, areSent, decide, authorize, isComplete, request }: AnswerOptions,
): (runId: string) => Promise<void> {
  const { signal } = request;
  const failed = new AbortController();
  const functionSignal = signal ? AbortSignal.any([signal, failed.signal]) : failed.signal;
  const answers = new Map<string, Promise<Answer>>();
  const shown = new Set<string>();
  const retrieve = (runId: string) => client.json<EndedRun>("GET", `/v1/runs/${runId}`, request);

  /** Removes the calls of webhook tools, whose receivers submit the results themselves. */
  async function withoutWebhooks(run: EndedRun): Promise<RequiredCall[]> {
    const calls: RequiredCall[] = [];
    for (const call of run.required_action?.submit_tool_outputs.tool_calls ?? []) {
      if (call.needs === "output" && !hasAnswer(call)) {
        const caller = call.run_id ? await retrieve(call.run_id) : run;
        if (caller.tool_calls.some(({ id, type }) => id === call.tool_call_id && type === "webhook")) continue;
      }
      calls.push(call);
    }
    return calls;
  }

  const hasAnswer = ({ needs, name, tool_id, run_id }: RequiredCall): boolean =>
    needs === "output" ? Object.hasOwn(tools, name) && !(areSent && (tool_id || run_id)) : decide !== undefined;

  function requireAnswers(run: EndedRun, calls: readonly RequiredCall[]): void {
    const call = calls.find((each) => !hasAnswer(each));
    if (call?.needs === "output")
      throw new ActionRequiredError(`The run asks for the output of ${call.name}: pass it in \`tools\`.`, run);
    if (call)
      throw new ActionRequiredError(`The call of ${call.name} needs a decision (${call.needs}): pass \`decide\`.`, run);
  }

  async function answerOf(call: RequiredCall): Promise<Answer> {
    const { tool_call_id } = call;
    if (call.needs !== "output") return { tool_call_id, ...(await decide!(call)) };
    try {
      const output = (await tools[call.name]!(call.arguments, { ...call, signal: functionSignal })) ?? null;
      if (output instanceof ToolContent) return { tool_call_id, content: output.parts };
      // What is not JSON is the tool's fault too: it would look like a lost connection.
      if (writeJson(output) === undefined) throw new TypeError(`${call.name} returned a ${typeof output}, not JSON.`);
      return { tool_call_id, output };
    } catch (error) {
      return { tool_call_id, output: thrownText(error), is_error: true };
    }
  }

  function answerOnce(call: RequiredCall): Promise<Answer> {
    const name = `${call.needs} ${call.tool_call_id} ${call.elicitation?.id ?? ""}`;
    const answer = answers.get(name) ?? answerOf(call);
    answers.set(name, answer);
    return answer;
  }

  /** Shows each consent that is missing once. */
  async function showAuthorizations(run: EndedRun): Promise<void> {
    for (const one of run.required_action?.authorizations ?? []) {
      if (!authorize && isComplete)
        throw new ActionRequiredError(
          `The run waits until ${one.name} is connected${one.url ? ` at ${one.url}` : ""}: pass \`authorize\`.`,
          run,
        );
      const name = `${one.oauth_client_id} ${one.user_id}`;
      if (!shown.has(name)) await authorize?.(one);
      shown.add(name);
    }
  }

  return async (runId) => {
    for (;;) {
      const run = await retrieve(runId);
      await showAuthorizations(run);
      const calls = await withoutWebhooks(run);
      if (isComplete) requireAnswers(run, calls); // Before any function is called.
      const answerable = calls.filter(hasAnswer);
      if (answerable.length === 0) return;
      const made = Promise.all(answerable.map(answerOnce));
      made.catch((error) => failed.abort(error)); // The run gets no output of the other functions any more.
      const tool_outputs = await unlessAborted(made, signal);
      try {
        await client.json("POST", `/v1/runs/${runId}/submit_tool_outputs`, { ...request, body: { tool_outputs } });
        return;
      } catch (error) {
        // Another client answered one of the calls first, or the run is over: ask again for what is left.
        if (!(error instanceof APIError && answeredElsewhere.has(error.code))) throw error;
      }
    }
  };
}

/** The text of what a function threw, for the model: never empty, and never `[object Object]`. */
function thrownText(thrown: unknown): string {
  if (thrown instanceof Error) return thrown.message || thrown.name;
  if (typeof thrown !== "object" || thrown === null) return String(thrown);
  try {
    return writeJson(thrown) ?? "The function failed.";
  } catch {
    return "The function failed.";
  }
}

const answeredElsewhere = new Set(["tool_call_already_resolved", "run_not_awaiting_action"]);

/** Rejects with the signal's reason when it aborts. */
async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return await promise;
  const { promise: aborted, reject } = deferred();
  const stop = () => reject(signal.reason);
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  return await Promise.race([promise, aborted]).finally(() => signal.removeEventListener("abort", stop));
}

function deferred(): { promise: Promise<never>; reject: (reason: unknown) => void } {
  let reject: (reason: unknown) => void = () => {};
  const promise = new Promise<never>((_, no) => {
    reject = no;
  });
  return { promise, reject };
}
