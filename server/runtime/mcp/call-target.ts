import { setTimeout as sleep } from "node:timers/promises";
import type { McpOperation } from "../../domain/agent-snapshot.ts";
import { isObject } from "../../lib/json.ts";
import { McpFailure } from "./mcp-failure.ts";
import { failureOf, isPassing, isReply, type Operation } from "./open-client.ts";
import { plainText } from "./plain-text.ts";
import { readLog } from "./progress.ts";
import { type McpResult, readResult } from "./read-result.ts";
import type { Client, RequestOptions } from "./sdk.ts";

/** The called thing: a tool of the server, perhaps as a task of it, or an operation on its resources and prompts. */
export type McpTarget = { tool: string; as_task?: true } | { operation: McpOperation };

type Arguments = Record<string, unknown>;
type Raw = Record<string, unknown>;
type Request = (method: string, params: Raw) => Promise<Raw>;

/** Calls the target and reads its result. */
export async function callTarget(
  client: Client,
  options: RequestOptions,
  target: McpTarget,
  args: Arguments,
  operation: Operation,
): Promise<McpResult> {
  const { ResultSchema } = await import("./sdk.ts");
  // The SDK changes the options' token of progress, which belongs to one request.
  const request: Request = (method, params) => client.request({ method, params } as never, ResultSchema, options);
  if ("tool" in target) {
    const params = { name: target.tool, arguments: args };
    if (!target.as_task || !client.getServerCapabilities()?.tasks?.requests?.tools?.call)
      return readResult(await request("tools/call", params));
    // Without the call's signal, which has been aborted then: the SDK would not send it.
    const cancel = (taskId: unknown) =>
      void client.request({ method: "tasks/cancel", params: { taskId } } as never, ResultSchema).catch(() => {});
    return callAsTask(request, cancel, params, options, operation);
  }
  return operations[target.operation](request, args);
}

const operations: Record<McpOperation, (request: Request, args: Arguments) => Promise<McpResult>> = {
  async list_resources(request) {
    const resources = await allOf(request, "resources/list", "resources");
    const templates = await allOf(request, "resources/templates/list", "resourceTemplates").catch(() => []);
    return readResult({
      content: [],
      structuredContent: { resources: resources.map(shown), templates: templates.map(shown) },
    });
  },
  async read_resource(request, { uri }) {
    const { contents } = await request("resources/read", { uri });
    const content = Array.isArray(contents) ? contents.map((resource) => ({ type: "resource", resource })) : [];
    return readResult({ content });
  },
  async get_prompt(request, { name, arguments: args }) {
    const { messages } = await request("prompts/get", { name, ...(isObject(args) && { arguments: args }) });
    const content = Array.isArray(messages)
      ? messages.map((message) => (isObject(message) ? message.content : null))
      : [];
    return readResult({ content });
  },
};

const most = { pages: 8, items: 500 };

/** Returns the items of all pages, up to a number. */
export async function allOf(request: Request, method: string, field: string): Promise<Raw[]> {
  const items: Raw[] = [];
  const cursors = new Set<unknown>();
  let cursor: unknown;
  for (let page = 0; page < most.pages && items.length < most.items; page++) {
    const answer = await request(method, cursor === undefined ? {} : { cursor });
    const found = answer[field];
    if (!Array.isArray(found)) throw new McpFailure("mcp_protocol_error", "The server's answer has no list.");
    items.push(...found.filter(isObject));
    cursor = answer.nextCursor;
    if (typeof cursor !== "string" || cursor === "" || cursors.has(cursor)) break;
    cursors.add(cursor);
  }
  return items.slice(0, most.items);
}

/** Returns what a model needs of a resource or a template. */
const shown = (item: Raw): Raw =>
  Object.fromEntries(
    ["uri", "uriTemplate", "name", "title", "description", "mimeType", "size"].flatMap((name): [string, unknown][] => {
      const value = item[name];
      return typeof value === "string"
        ? [[name, plainText(value).slice(0, 2048)]]
        : typeof value === "number"
          ? [[name, value]]
          : [];
    }),
  );

const poll = { shortest_ms: 100, usual_ms: 1000, longest_ms: 10_000 };
const ended = ["completed", "failed", "cancelled"];

/**
 * Calls a tool as a task of the server, and waits for its result. Each answer that the task is at work begins the
 * timeout again, as progress does.
 */
async function callAsTask(
  request: Request,
  cancel: (taskId: unknown) => void,
  params: Raw,
  { signal }: RequestOptions,
  operation: Operation,
): Promise<McpResult> {
  const created = await request("tools/call", { ...params, task: {} });
  if (!isObject(created.task)) return readResult(created);
  const { taskId } = created.task;
  const giveUp = () => cancel(taskId);
  signal?.addEventListener("abort", giveUp);
  try {
    return await resultOf(created.task, request, operation, signal);
  } catch (error) {
    if (error instanceof TaskFailure) throw error.cause;
    if (!signal?.aborted) giveUp();
    // The tool is at work: a session that was lost, or a refused token, must not lead to a second call.
    const { code, message } = await failureOf(error);
    throw new McpFailure(code, message, "sent");
  } finally {
    signal?.removeEventListener("abort", giveUp);
  }
}

/** The outcome of a task that did not succeed, as the server says. */
class TaskFailure extends Error {}

/** Waits for the end of a task, and returns its result. */
async function resultOf(
  task: Raw,
  request: Request,
  { clock, hooks }: Operation,
  signal: AbortSignal | undefined,
): Promise<McpResult> {
  const { taskId } = task;
  const tell = (data: unknown): void => {
    const log = readLog({ level: "info", data });
    if (log && typeof data === "string") hooks?.onLog?.(log);
  };
  let told: unknown;
  let { status, pollInterval } = task;
  let failures = 0;

  /** Waits for as long as the server wishes, and longer after each failure. */
  async function pause(): Promise<void> {
    const wait_ms = Math.max(poll.shortest_ms, typeof pollInterval === "number" ? pollInterval : poll.usual_ms);
    await sleep(Math.min(poll.longest_ms, wait_ms * 2 ** failures), undefined, { signal });
  }

  /** Asks again after failures of the connection, which say nothing about the task. The call's time bounds this. */
  async function ask(method: string): Promise<Raw> {
    for (failures = 0; ; ) {
      try {
        return await request(method, { taskId });
      } catch (error) {
        if (signal?.aborted || !(await isPassing(error))) throw error;
        failures++;
        await pause();
      }
    }
  }

  // A task that waits for the user asks in the answer to the request of its result.
  while (status !== "input_required" && !ended.includes(status as string)) {
    await pause();
    const found = await ask("tasks/get");
    failures = 0;
    clock?.restart();
    if (found.statusMessage !== told) tell(found.statusMessage);
    told = found.statusMessage;
    ({ status, pollInterval } = found);
  }
  if (status === "cancelled")
    throw new TaskFailure("cancelled", { cause: new McpFailure("mcp_error", "The server cancelled the task.") });
  // The user must not be asked twice.
  if (status === "input_required") return readResult(await request("tasks/result", { taskId }));
  const result = await ask("tasks/result").catch(async (error) => {
    throw status === "failed" && (await isReply(error)) ? new TaskFailure("failed", { cause: error }) : error;
  });
  return readResult(result);
}
