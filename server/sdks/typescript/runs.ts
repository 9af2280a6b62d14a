import type { Client, RequestOptions } from "./client.ts";
import { APIError, RunFailedError, RunnelError } from "./errors.ts";
import { type AnyEvent, type FollowOptions, RunStream, type StreamOptions } from "./run-stream.ts";

/** A tool call that a run waits for. */
export interface RequiredCall {
  id: string;
  /** Id of the tool; null for built-in tools, such as those of memory stores. */
  tool_id: string | null;
  /** Name of the tool. */
  tool: string;
  arguments: Record<string, unknown>;
  /** Required answer: an output, an approval, or the result of a call with an unknown outcome (`reconcile`). */
  needs: "output" | "approval" | "reconcile";
  /** Time at which the run fails if it is not answered. */
  expires_at: string;
  /** Id of the waiting run, if it is a subagent of this run. */
  run_id?: string;
}

/** Second argument of a tool function. */
export interface ToolContext extends RequiredCall {
  /** Aborted when the caller of `runs.run` gives up. */
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

/** Functions by client tool name. */
export type ToolFunctions = Record<string, ToolFunction>;

/**
 * Answer to a call. For an approval: approve, optionally with other arguments, or reject. For a call with an unknown
 * outcome: `approve` repeats it, `reject` says that it did not happen, `output` supplies its result.
 */
export type Decision =
  | { decision: "approve"; arguments?: Record<string, unknown> }
  | { decision: "reject"; reason?: string }
  | { output: unknown };

export interface LoopOptions<E> extends StreamOptions {
  /** Functions by client tool name. */
  tools?: ToolFunctions | undefined;
  /** Decides calls that need an approval or have an unknown outcome. */
  decide?: ((call: RequiredCall) => Decision | Promise<Decision>) | undefined;
  /** Called with every event. */
  onEvent?: ((event: E) => void) | undefined;
}

interface EndedRun {
  id: string;
  status: string;
  error: { code: string; message: string } | null;
  required_action: { submit_tool_outputs: { tool_calls: RequiredCall[] } } | null;
  tool_calls: { id: string; type: string }[];
}

type Answer = { tool_call_id: string; is_error?: boolean } & (
  | Decision
  | { output: unknown }
  | { content: readonly ToolPart[] }
);

/** Base class of the generated resource `runs`. */
export abstract class RunsBase<Run extends EndedRun, E extends AnyEvent, Body extends { input: unknown }> {
  constructor(protected readonly client: Client) {}

  /** Starts a run and returns its events, each once, across lost connections and server restarts. */
  stream(body: Omit<Body, "stream">, options?: StreamOptions): RunStream<E> {
    return new RunStream(this.client, { path: "/v1/runs", body }, options);
  }

  /** Returns the events of an existing run: from the first, or after `lastEventId`. */
  follow(runId: string, options?: FollowOptions): RunStream<E> {
    return new RunStream(this.client, { runId }, options);
  }

  /**
   * Runs an agent to its end and returns the run. Calls `tools` for client tools and `decide` for approvals, also for
   * those of subagents. Each call is answered once, across lost connections and server restarts. If the run is paused,
   * waits until it is resumed: `onEvent` gets `run.paused`.
   *
   * @throws {RunFailedError} The run failed or was cancelled.
   * @throws {RunnelError} The run asks for a tool that is not in `tools`, or for a decision without `decide`. It keeps
   * waiting: answer with `submitToolOutputs`, or cancel it.
   */
  async run(
    agent: string | { id: string },
    input: Body["input"],
    options: LoopOptions<E> & Partial<Omit<Body, "agent_id" | "input" | "stream" | "tools">> = {},
  ): Promise<Run> {
    const { tools = {}, decide, onEvent, ...rest } = options;
    const {
      patienceMs,
      silenceMs,
      slim,
      idempotencyKey,
      timeoutMs,
      maxRetries = 8,
      signal,
      headers,
      ...fields
    } = rest as LoopOptions<E>;
    const request = { timeoutMs, maxRetries, signal, headers };
    const body = { ...fields, agent_id: typeof agent === "string" ? agent : agent.id, input };
    const events = this.stream(body as unknown as Body, { ...request, idempotencyKey, patienceMs, silenceMs, slim });
    const answering = onceEach({ tools, decide, signal });
    let isFirst = true;
    for await (const event of events) {
      onEvent?.(event);
      // The run that a message was sent to (`if_thread_busy`) may have asked before.
      const mayWait = event.event === "run.requires_action" || (isFirst && event.event !== "run.created");
      isFirst = false;
      if (mayWait) await this.#answerAll(events.runId!, tools, answering, request);
    }
    const run = await this.client.json<Run>("GET", `/v1/runs/${events.runId}`, request);
    if (run.status !== "completed") throw new RunFailedError(run);
    return run;
  }

  /** Answers the calls that the run waits for now, which may differ from those in the event. */
  async #answerAll(
    runId: string,
    tools: ToolFunctions,
    answersTo: (calls: readonly RequiredCall[]) => Promise<Answer[]>,
    request: RequestOptions,
  ): Promise<void> {
    for (;;) {
      const run = await this.client.json<Run>("GET", `/v1/runs/${runId}`, request);
      const calls = await this.#withoutWebhooks(run, tools, request);
      if (calls.length === 0) return;
      const tool_outputs = await unlessAborted(answersTo(calls), request.signal);
      try {
        await this.client.json("POST", `/v1/runs/${runId}/submit_tool_outputs`, { ...request, body: { tool_outputs } });
        return;
      } catch (error) {
        // Another client answered one of the calls first, or the run is over: ask again for what is left.
        if (!(error instanceof APIError && answeredElsewhere.has(error.code))) throw error;
      }
    }
  }

  /** Pending calls without those of webhook tools, whose receivers submit the results themselves. */
  async #withoutWebhooks(run: Run, tools: ToolFunctions, request: RequestOptions): Promise<RequiredCall[]> {
    const calls: RequiredCall[] = [];
    for (const call of run.required_action?.submit_tool_outputs.tool_calls ?? []) {
      if (call.needs === "output" && !Object.hasOwn(tools, call.tool)) {
        const caller = call.run_id ? await this.client.json<Run>("GET", `/v1/runs/${call.run_id}`, request) : run;
        if (caller.tool_calls.some(({ id, type }) => id === call.id && type === "webhook")) continue;
      }
      calls.push(call);
    }
    return calls;
  }
}

const answeredElsewhere = new Set(["tool_call_already_resolved", "run_not_awaiting_action"]);

interface Answering extends Pick<LoopOptions<AnyEvent>, "decide" | "signal"> {
  tools: ToolFunctions;
}

/** Answers calls concurrently and only once: a repeated call gets the same answer without another function call. */
function onceEach(answering: Answering): (calls: readonly RequiredCall[]) => Promise<Answer[]> {
  const answers = new Map<string, Promise<Answer>>();
  return (calls) => {
    const makers = calls.map((call): [string, () => Promise<Answer>] => [
      `${call.needs} ${call.id}`,
      makerOf(call, answering), // Throws before any function is called.
    ]);
    for (const [name, make] of makers) if (!answers.has(name)) answers.set(name, make());
    return Promise.all(makers.map(([name]) => answers.get(name)!));
  };
}

function makerOf(call: RequiredCall, { tools, decide, signal }: Answering): () => Promise<Answer> {
  const tool_call_id = call.id;
  if (call.needs !== "output") {
    if (!decide) throw new RunnelError(`The call of ${call.tool} needs a decision (${call.needs}): pass \`decide\`.`);
    return async () => ({ tool_call_id, ...(await decide(call)) });
  }
  const tool = Object.hasOwn(tools, call.tool) ? tools[call.tool] : undefined;
  if (!tool) throw new RunnelError(`The run asks for the output of ${call.tool}: pass it in \`tools\`.`);
  return async () => {
    try {
      const output = (await tool(call.arguments, { ...call, signal })) ?? null;
      return output instanceof ToolContent ? { tool_call_id, content: output.parts } : { tool_call_id, output };
    } catch (error) {
      return { tool_call_id, output: error instanceof Error ? error.message : String(error), is_error: true };
    }
  };
}

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
