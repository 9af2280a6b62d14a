import type { Client, RequestOptions } from "./client.ts";
import { RunFailedError, RunnelError } from "./errors.ts";
import { type AnyEvent, RunStream, type StreamOptions } from "./run-stream.ts";

/** A call that a run waits for. */
export interface RequiredCall {
  id: string;
  tool: string;
  arguments: Record<string, unknown>;
  needs: "output" | "approval" | "reconcile";
  /** The run that waits, where it was started by a call of an agent. */
  run_id?: string;
}

/** Functions by the names of client tools. What one returns is the call's output; what it throws, the model reads as an error. */
export type ToolFunctions = Record<string, (args: never, call: RequiredCall) => unknown>;

export interface Decision {
  decision: "approve" | "reject";
  reason?: string;
  arguments?: Record<string, unknown>;
}

export interface LoopOptions<E> extends StreamOptions {
  tools?: ToolFunctions;
  /** Decides about calls that need an approval, or whose outcome nobody knows. */
  decide?: (call: RequiredCall) => Decision | Promise<Decision>;
  /** Sees every event. */
  onEvent?: (event: E) => void;
}

interface EndedRun {
  id: string;
  status: string;
  error: { code: string; message: string } | null;
}

/** What the generated resource `runs` adds its routes to. */
export abstract class RunsBase<Run extends EndedRun, E extends AnyEvent, Body extends object> {
  constructor(protected readonly client: Client) {}

  /** Starts a run and returns its events, each once, over lost connections and restarts of the server. */
  stream(body: Body, options?: StreamOptions): RunStream<E> {
    return new RunStream(this.client, { path: "/v1/runs", body }, options);
  }

  /** The events of a run that was started elsewhere: from the first, or after `lastEventId`. */
  follow(runId: string, options?: StreamOptions): RunStream<E> {
    return new RunStream(this.client, { runId }, options);
  }

  /**
   * Runs an agent to its end: starts the run, calls `tools` for the calls that it asks for, and returns the run.
   * Throws a `RunFailedError` when the run fails or is cancelled.
   */
  async run(
    agent: string | { id: string },
    input: unknown,
    { tools = {}, decide, onEvent, ...rest }: LoopOptions<E> & Partial<Omit<Body, "agent_id" | "input">> = {},
  ): Promise<Run> {
    const { lastEventId, patienceMs, idempotencyKey, timeoutMs, maxRetries, signal, headers, ...fields } =
      rest as StreamOptions;
    const request: RequestOptions = { timeoutMs, maxRetries, signal, headers };
    const body = { ...fields, agent_id: typeof agent === "string" ? agent : agent.id, input } as unknown as Body;
    const events = this.stream(body, { ...request, idempotencyKey, patienceMs });
    for await (const event of events) {
      onEvent?.(event);
      if (event.event !== "run.requires_action") continue;
      const calls: RequiredCall[] = event.data.required_action.submit_tool_outputs.tool_calls;
      const tool_outputs = await Promise.all(calls.map((call) => resultOf(call, tools, decide)));
      const path = `/v1/runs/${events.runId}/submit_tool_outputs`;
      await this.client.json("POST", path, { ...request, body: { tool_outputs }, maxRetries: maxRetries ?? 8 });
    }
    const run = await this.client.json<Run>("GET", `/v1/runs/${events.runId}`, request);
    if (run.status !== "completed") throw new RunFailedError(run);
    return run;
  }
}

async function resultOf(call: RequiredCall, tools: ToolFunctions, decide: LoopOptions<AnyEvent>["decide"]) {
  const tool_call_id = call.id;
  if (call.needs !== "output") {
    if (!decide) throw new RunnelError(`The call of ${call.tool} needs a decision (${call.needs}): pass \`decide\`.`);
    return { tool_call_id, ...(await decide(call)) };
  }
  const tool = Object.hasOwn(tools, call.tool) ? tools[call.tool] : undefined;
  if (!tool) throw new RunnelError(`The run asks for the output of ${call.tool}: pass it in \`tools\`.`);
  try {
    return { tool_call_id, output: (await tool(call.arguments as never, call)) ?? null };
  } catch (error) {
    return { tool_call_id, output: error instanceof Error ? error.message : String(error), is_error: true };
  }
}
