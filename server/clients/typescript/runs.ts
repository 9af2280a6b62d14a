import type { Client, RequestOptions } from "./client.ts";
import { APIError, RunFailedError, RunnelError } from "./errors.ts";
import { type AnyEvent, type FollowOptions, RunStream, type StreamOptions } from "./run-stream.ts";

/** A call that a run waits for. */
export interface RequiredCall {
  id: string;
  /** The tool's id; null of one that no tool has, such as those of memory stores. */
  tool_id: string | null;
  /** The tool's name. */
  tool: string;
  arguments: Record<string, unknown>;
  /** An output, an approval, or word of what became of a call whose outcome nobody knows. */
  needs: "output" | "approval" | "reconcile";
  /** When the run fails unless it is answered. */
  expires_at: string;
  /** The run that waits, where an agent that this run called asks for it. */
  run_id?: string;
}

/** What a tool's function is told besides the arguments. */
export interface ToolContext extends RequiredCall {
  /** Aborted when the caller of `runs.run` gives up. */
  signal?: AbortSignal | undefined;
}

/** A client tool as a function. What it returns is the call's output; what it throws, the model reads as an error. */
// biome-ignore lint/suspicious/noExplicitAny: the arguments are what the tool's `parameters` say.
export type ToolFunction = (args: any, context: ToolContext) => unknown;

/** Functions by the names of client tools. */
export type ToolFunctions = Record<string, ToolFunction>;

/**
 * What becomes of a call. Of a call that needs an approval: whether it is made, with other arguments if you like. Of a
 * call whose outcome nobody knows: `approve` makes it again, `reject` says that it did not happen, `output` what it
 * returned.
 */
export type Decision =
  | { decision: "approve"; arguments?: Record<string, unknown> }
  | { decision: "reject"; reason?: string }
  | { output: unknown };

export interface LoopOptions<E> extends StreamOptions {
  /** Functions by the names of client tools. */
  tools?: ToolFunctions | undefined;
  /** Decides about calls that need an approval, or whose outcome nobody knows. */
  decide?: ((call: RequiredCall) => Decision | Promise<Decision>) | undefined;
  /** Sees every event. */
  onEvent?: ((event: E) => void) | undefined;
}

interface EndedRun {
  id: string;
  status: string;
  error: { code: string; message: string } | null;
  required_action: { submit_tool_outputs: { tool_calls: RequiredCall[] } } | null;
  tool_calls: { id: string; type: string }[];
}

type Answer = { tool_call_id: string; is_error?: boolean } & (Decision | { output: unknown });

/** What the generated resource `runs` adds its routes to. */
export abstract class RunsBase<Run extends EndedRun, E extends AnyEvent, Body extends { input: unknown }> {
  constructor(protected readonly client: Client) {}

  /** Starts a run and returns its events, each once, over lost connections and restarts of the server. */
  stream(body: Omit<Body, "stream">, options?: StreamOptions): RunStream<E> {
    return new RunStream(this.client, { path: "/v1/runs", body }, options);
  }

  /** The events of a run that was started elsewhere: from the first, or after `lastEventId`. */
  follow(runId: string, options?: FollowOptions): RunStream<E> {
    return new RunStream(this.client, { runId }, options);
  }

  /**
   * Runs an agent to its end and returns the run. Calls `tools` for the client tools that the run asks for, also where
   * an agent that it calls asks, and `decide` for approvals. Each call is answered once, over lost connections and
   * restarts of the server.
   *
   * @throws {RunFailedError} The run failed or was cancelled.
   * @throws {RunnelError} The run asks for a tool that is not in `tools`, or for a decision without `decide`. It waits
   *   on: answer by `submitToolOutputs`, or cancel it.
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
    for await (const event of events) {
      onEvent?.(event);
      if (event.event === "run.requires_action") await this.#answerAll(events.runId!, tools, answering, request);
    }
    const run = await this.client.json<Run>("GET", `/v1/runs/${events.runId}`, request);
    if (run.status !== "completed") throw new RunFailedError(run);
    return run;
  }

  /** Answers what the run waits for now: an event may be older than what others have answered since. */
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
        // Somebody else was faster with one of them, or the run is over. What is left is asked for again.
        if (!(error instanceof APIError && answeredElsewhere.has(error.code))) throw error;
      }
    }
  }

  /** What the run waits for, without the calls of webhook tools: their receivers send the result themselves. */
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

/** Answers calls, at the same time. Asked for one again it gives the same answer: no function is called twice for it. */
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
      return { tool_call_id, output: (await tool(call.arguments, { ...call, signal })) ?? null };
    } catch (error) {
      return { tool_call_id, output: error instanceof Error ? error.message : String(error), is_error: true };
    }
  };
}

/** Ends early, with the signal's reason, when that is aborted. */
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
