import type { Client } from "./client.ts";
import { RunFailedError, RunnelError } from "./errors.ts";
import { type AnyEvent, type FollowOptions, RunStream, type StreamOptions } from "./run-stream.ts";
import { checkedBy, type JsonSchema, jsonSchemaOf, type OutputOf, type StandardSchema } from "./schema.ts";
import { definitionOf, type FunctionTool, isFunctionTool } from "./tool.ts";
import {
  type Authorize,
  createAnswerer,
  type Decide,
  type EndedRun,
  type ToolFunction,
  type ToolFunctions,
} from "./tool-calls.ts";

export interface LoopOptions<E> extends StreamOptions {
  /**
   * Tools that are made by `tool` and are sent with the run; or functions by the names of client tools that the agent
   * has.
   */
  tools?: ToolFunctions | readonly FunctionTool[] | undefined;
  /** Decides calls that need an approval or have an unknown outcome. */
  decide?: Decide | undefined;
  /**
   * Called with a consent that the run waits for: show its `url` to the user. The run goes on by itself once the user has
   * consented.
   */
  authorize?: Authorize | undefined;
  /** Called with every event. If it returns a promise, the next event waits for it; if it fails, `run` fails. */
  onEvent?: ((event: E) => unknown) | undefined;
}

/** A request for a run, as far as the client reads it. */
interface RunRequest {
  input: unknown;
  tools?: readonly unknown[] | undefined;
  overrides?: object | undefined;
}

/** A request whose tools may have their functions. */
type WithFunctions<Body extends RunRequest> = Omit<Body, "stream" | "tools"> & {
  tools?: readonly (NonNullable<Body["tools"]>[number] | FunctionTool)[] | ToolFunctions | undefined;
};

/** Base class of the generated resource `runs`. */
export abstract class RunsBase<Run extends EndedRun, E extends AnyEvent, Body extends RunRequest> {
  constructor(protected readonly client: Client) {}

  /**
   * Starts a run and returns its events, each once, across lost connections and server restarts. While you read them,
   * calls of `tools` that are made by `tool`, or are functions by the names of client tools that the agent has, are
   * answered; other calls are left to others.
   */
  stream(body: WithFunctions<Body>, options: StreamOptions = {}): RunStream<E> {
    const { tools = [], ...rest } = body;
    const { sent, functions } = separate(tools);
    const { idempotencyKey: _, maxRetries = 8, ...others } = options;
    const request = { ...others, maxRetries };
    const isAnswering = Object.keys(functions).length > 0;
    const answer =
      isAnswering &&
      createAnswerer(this.client, { tools: functions, areSent: isList(tools), isComplete: false, request });
    const fields = { ...rest, ...(sent.length > 0 && { tools: sent }) };
    return new RunStream(this.client, { path: "/v1/runs", body: fields }, options, answer || undefined);
  }

  /** Returns the events of an existing run: from the first, or after `lastEventId`. */
  follow(runId: string, options?: FollowOptions): RunStream<E> {
    return new RunStream(this.client, { runId }, options);
  }

  /**
   * Runs an agent to its end and returns the run. Calls `tools` for client tools and `decide` for approvals, also for
   * those of subagents. Each call is answered once, across lost connections and server restarts. If the run is paused,
   * waits until it is resumed: `onEvent` gets `run.paused`. `schema` is the schema of this run's result: `output_json`
   * has its type.
   *
   * @throws {RunFailedError} The run failed or was cancelled.
   * @throws {ActionRequiredError} The run asks for a tool that is not in `tools`, for a decision without `decide`, or for
   * a user's consent without `authorize`. It keeps waiting: answer with `submitToolOutputs`, or cancel it.
   */
  async run<Schema extends StandardSchema | JsonSchema = JsonSchema>(
    agent: string | { id: string },
    input: Body["input"],
    options: LoopOptions<E> & { schema?: Schema | undefined } & Partial<
        Omit<Body, "agent_id" | "input" | "stream" | "tools">
      > = {},
  ): Promise<Schema extends StandardSchema ? Omit<Run, "output_json"> & { output_json: OutputOf<Schema> } : Run> {
    const { tools = {}, decide, authorize, onEvent, schema, ...rest } = options;
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
    } = rest as LoopOptions<E> & Pick<RunRequest, "overrides">;
    const request = { timeoutMs, maxRetries, signal, headers };
    const { sent, functions } = separate(tools);
    const answer = createAnswerer(this.client, {
      tools: functions,
      areSent: isList(tools),
      decide,
      authorize,
      isComplete: true,
      request,
    });
    const body = {
      ...fields,
      ...(schema && withOutputSchema(fields, schema)),
      ...(sent.length > 0 && { tools: sent }),
      agent_id: typeof agent === "string" ? agent : agent.id,
      input,
    };
    const watching = { ...request, idempotencyKey, patienceMs, silenceMs, slim };
    const events = new RunStream<E>(this.client, { path: "/v1/runs", body }, watching, answer);
    for await (const event of events)
      try {
        await onEvent?.(event);
      } catch (error) {
        if (error instanceof Error) nameRun(error, events.runId);
        throw error;
      }
    const run = await this.client.json<Run>("GET", `/v1/runs/${events.runId}`, request);
    if (run.status !== "completed") throw new RunFailedError(run);
    // biome-ignore lint/suspicious/noExplicitAny: the type depends on whether there is a schema.
    if (!schema) return run as any;
    try {
      // biome-ignore lint/suspicious/noExplicitAny: as above.
      return { ...run, output_json: await checkedBy(schema, run.output_json) } as any;
    } catch (error) {
      if (error instanceof RunnelError) error.runId = run.id; // The run is completed: its output can be retrieved.
      throw error;
    }
  }
}

/** Gives an error the id of the run during which it happened, if it has none; also one of the program's functions. */
function nameRun(error: Error & { runId?: string | null }, runId: string | null): void {
  if (Object.isExtensible(error)) error.runId ??= runId;
}

const isList = (tools: ToolFunctions | readonly unknown[]): tools is readonly unknown[] => Array.isArray(tools);

/** Separates the functions of tools from what is sent of them. */
function separate(tools: ToolFunctions | readonly unknown[]): {
  sent: unknown[];
  functions: Record<string, ToolFunction>;
} {
  if (isFunctionTool(tools)) throw new RunnelError(`\`tools\` is a list: write \`tools: [${tools.name}]\`.`);
  if (!isList(tools)) {
    const wrong = Object.entries(tools).find(([, its]) => typeof its !== "function" && !isFunctionTool(its));
    if (wrong) throw new RunnelError(`tools.${wrong[0]} is not a function.`);
    const functions = Object.entries(tools).map(([name, its]) => [name, isFunctionTool(its) ? its.run : its]);
    return { sent: [], functions: Object.fromEntries(functions) };
  }
  for (const [index, each] of tools.entries())
    if (typeof each !== "object" || each === null)
      throw new RunnelError(
        `tools[${index}] is a ${each === null ? "null" : typeof each}: make a tool of a function by \`tool({ name, …, run })\`. ` +
          "The functions of tools that the agent has are an object: `tools: { lookup }`.",
      );
  const functions = tools.filter(isFunctionTool).map(({ name, run }): [string, ToolFunction] => [name, run]);
  const sent = tools.map((each) => (isFunctionTool(each) ? definitionOf(each) : each));
  return { sent, functions: Object.fromEntries(functions) };
}

const withOutputSchema = ({ overrides }: Pick<RunRequest, "overrides">, schema: StandardSchema | JsonSchema) => ({
  overrides: { ...overrides, output_schema: jsonSchemaOf(schema, "The schema of the output") },
});
