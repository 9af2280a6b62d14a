import type { RunEvent } from "../../domain/run-event.ts";
import { nameOf } from "../../domain/scope.ts";
import type { Log } from "../../lib/log.ts";
import { onAbort } from "../../lib/on-abort.ts";
import { sleep } from "../../lib/retry.ts";
import type { Connection } from "../models/model.ts";
import { modelPrefix } from "../models/registry.ts";
import { type Adapters, createAdapters, type RunTools, type ToolStart } from "./adapters.ts";
import { connectedModel } from "./callee.ts";
import { type LeaseGuard, singleNode } from "./lease-guard.ts";
import type { Outlet } from "./message-channel.ts";
import type {
  Appended,
  Ask,
  AskKind,
  Asks,
  Basis,
  FromWorker,
  Question,
  RunStart,
  ToolTry,
  ToWorker,
  TriedOutcome,
} from "./messages.ts";
import { extraSettings, withExtras } from "./model-extras.ts";
import { type RunPorts, Superseded } from "./run-context.ts";
import { runLoop } from "./run-loop.ts";
import { testTool } from "./test-tool.ts";

interface RunExecutorOptions {
  now?: () => number;
  /** Set on the nodes of a cluster. */
  leading?: LeaseGuard;
  adapters?: Adapters;
}

// Each has a connection to a server.
const mostWaiting = 256;

/** Returns a log that the main thread writes. */
function logOf(outlet: Outlet): Log {
  const at =
    (level: keyof Log) =>
    (message: string, fields: Record<string, unknown> = {}) =>
      outlet.push({ do: "log", level, message, fields });
  return { info: at("info"), warn: at("warn"), error: at("error") };
}

/** Ends loops that have left. One shared instance, because each new error captures a stack. */
const over = new Superseded();

/** Drives runs by messages, in a worker thread or on the main thread. `outlet` may batch messages in their order. */
export function createRunExecutor(
  outlet: Outlet,
  {
    now = Date.now,
    leading = singleNode,
    adapters = createAdapters({
      now,
      leading,
      log: logOf(outlet),
      learnt: (connection, model, refusals) => outlet.push({ do: "refusals", connection, model, refusals }),
    }),
  }: RunExecutorOptions = {},
) {
  const aborts = new Map<number, AbortController>();
  const interruptions = new Map<number, Interruptions>();
  const requests = createPendingRequests(send);
  /** Tools of runs that wait, with calls that are open. */
  const waiting = new Map<string, RunTools>();

  function send(message: FromWorker): void {
    outlet.push(message);
  }

  function receive(message: ToWorker): void {
    switch (message.do) {
      case "start":
        void drive(message.start);
        break;
      case "try":
        void tryOut(message.attempt);
        break;
      case "abort":
        aborts.get(message.drive)?.abort();
        break;
      case "forget":
        waiting.get(message.run_id)?.close();
        waiting.delete(message.run_id);
        break;
      case "interrupt":
        interruptions.get(message.drive)?.of(message.step_index).abort();
        break;
      case "ping":
        send({ do: "pong" });
        break;
      case "appended":
        requests.answer(message.ticket, message);
        break;
      case "answer":
        requests.answer(message.ticket, message.answer);
        break;
      case "refused":
        requests.refuse(message.ticket);
    }
  }

  async function drive(start: RunStart): Promise<void> {
    const { drive, run_id, attempt } = start;
    const abort = new AbortController();
    const interrupts = createInterruptions();
    aborts.set(drive, abort);
    interruptions.set(drive, interrupts);
    let hasLeft = false;
    /** Ends the loop together with its run: no step follows. */
    const leave = (events: RunEvent[], basis: Basis): never => {
      hasLeft = true;
      send({ do: "append", run_id, attempt, drive, ticket: 0, events, ...basis, leaves: drive });
      throw over;
    };
    const fault = await faultOf(loop(start, abort.signal, leave, interrupts));
    abort.abort(over); // Cancels all work that this loop began.
    aborts.delete(drive);
    interruptions.delete(drive);
    const keeps = waiting.has(run_id) && { keeps: true as const };
    if (!hasLeft) send({ do: "left", drive, run_id, attempt, fault, ...keeps });
  }

  async function tryOut(attempt: ToolTry): Promise<void> {
    const { drive } = attempt;
    const abort = new AbortController();
    aborts.set(drive, abort);
    const ask: Ask = (of, question) => requests.wait(asking(String(drive), 1, of, question), abort.signal);
    let outcome: TriedOutcome | null = null;
    const work = async () => {
      outcome = await testTool(adapters.tools, attempt, ask, abort.signal);
    };
    const fault = await faultOf(work());
    aborts.delete(drive);
    send({ do: "tried", drive, outcome, fault });
  }

  async function loop(
    start: RunStart,
    signal: AbortSignal,
    leave: (events: RunEvent[], basis: Basis) => never,
    interrupts: Interruptions,
  ): Promise<void> {
    const { run_id, attempt } = start;
    const ask: Ask = (of, question) => requests.wait(asking(run_id, attempt, of, question), signal);
    let { day_budget, model_trouble = false } = start;
    // Created lazily, because most runs call no tool; a run that has waited goes on with its open calls.
    let opened: RunTools | null = waiting.get(run_id) ?? null;
    waiting.delete(run_id);
    opened?.resume?.(ask);
    const tools = (): RunTools => {
      opened ??= adapters.tools({ ...start, ...createdWith(start) }, ask);
      return opened;
    };
    const ports: RunPorts = {
      async append(events, basis) {
        if (events.at(-1)?.type === "run.completed") leave(events, basis);
        const appended = await append(start, events, basis);
        day_budget = appended.day_budget ?? day_budget;
        model_trouble = appended.model_trouble ?? model_trouble;
        return appended;
      },
      interruption: (step_index) => interrupts.of(step_index).signal,
      outlet,
      model: withExtras(await adapters.model(start, ask), extraSettings(start, start), ask),
      async modelNamed(name, agent = start.agent) {
        const found = connectedModel(name, start);
        if (!found) throw new Error(`${name} is not a model of the run's connections.`);
        return withExtras(await adapters.model({ ...start, ...found }, ask), extraSettings(found, { agent }), ask);
      },
      breakers: {
        admit: async (models, wait_ms) =>
          model_trouble ? ask("admit_call", { models, wait_ms }) : { model: models[0] ?? "", skipped: null },
        report(model, result) {
          // The built-in models run in this process.
          if (model.startsWith("test/") || !(model_trouble || result.is === "failed")) return;
          if (result.is === "failed") model_trouble = true;
          send({ do: "model_result", run_id, model, result });
        },
      },
      reserve: async (worst) => (day_budget ? ask("reserve", { worst: worst() }) : null),
      runTool: (...call) => tools().runTool(...call),
      keepFile: (file) => tools().keepFile(file),
      startChild: (child) => ask("start_child", { ...child, budget: null }),
      inPlace: (call, connection = start.connection) => inPlace(connection, ask, call),
      sleep,
      ask,
      now,
    };
    try {
      await runLoop(start, ports, signal);
      if (opened && !signal.aborted) keepOpen(run_id, opened);
    } finally {
      if (!waiting.has(run_id)) opened?.close();
    }
  }

  /** Keeps tools with open calls until the run goes on. Beyond a number of runs, the oldest loses its calls. */
  function keepOpen(run_id: string, tools: RunTools): void {
    if (!tools.isWaiting?.()) return;
    const [oldest] = waiting.size < mostWaiting ? [] : waiting;
    oldest?.[1].close();
    waiting.delete(oldest?.[0] ?? "");
    waiting.set(run_id, tools);
    tools.onOver?.((tool_call_id) => {
      if (waiting.get(run_id) === tools) send({ do: "gave_up", run_id, tool_call_id });
    });
  }

  async function inPlace<T>(connection: Connection, ask: Ask, call: () => Promise<T>): Promise<T> {
    if (connection.max_concurrent === undefined) return call();
    const place = await ask("model_place", { connection: modelPrefix(connection) });
    try {
      return await call();
    } finally {
      send({ do: "free_place", place });
    }
  }

  /** Not aborted by the signal: an append always gets a reply. Other requests end with their loop. */
  const append = ({ run_id, attempt, drive }: RunStart, events: RunEvent[], basis: Basis) =>
    requests.wait<Appended>((ticket) => ({ do: "append", run_id, attempt, drive, ticket, events, ...basis }));

  return { receive };
}

const asking =
  <Kind extends AskKind>(run_id: string, attempt: number, of: Kind, question: Asks[Kind]["ask"]) =>
  (ticket: number): FromWorker => ({ do: "ask", run_id, attempt, ticket, question: { of, ...question } as Question });

function createdWith({ history, agent }: RunStart): Pick<ToolStart, "owner" | "file_ids" | "skills"> {
  const created = history[0]?.event;
  if (created?.type !== "run.created") return { owner: "", file_ids: [] };
  return { owner: nameOf(created), file_ids: created.file_ids, skills: agent.skills };
}

/** Returns null if the work ended normally, or the internal error for the log and the run. */
async function faultOf(work: Promise<void>): Promise<string | null> {
  try {
    await work;
    return null;
  } catch (error) {
    if (error instanceof Superseded) return null;
    return error instanceof Error ? (error.stack ?? error.message) : String(error);
  }
}

type Interruptions = ReturnType<typeof createInterruptions>;

/** Signals that end model calls, by step. The message may come before the call begins, or after its end. */
function createInterruptions() {
  const controllers = new Map<number, AbortController>();
  return {
    of(step_index: number): AbortController {
      const known = controllers.get(step_index) ?? new AbortController();
      controllers.set(step_index, known);
      return known;
    },
  };
}

interface Waiter {
  resolve(answer: unknown): void;
  reject(error: unknown): void;
}

/** Requests awaiting a reply, by ticket. */
function createPendingRequests(send: (message: FromWorker) => void) {
  const waiters = new Map<number, Waiter>();
  let last = 0;

  function settle(ticket: number, answer: (waiter: Waiter) => void): void {
    const waiter = waiters.get(ticket);
    waiters.delete(ticket);
    if (waiter) answer(waiter);
  }

  const refuse = (ticket: number): void => settle(ticket, (waiter) => waiter.reject(new Superseded()));

  return {
    /** Sends a request and returns its reply. Throws `Superseded` if it is refused or `signal` is aborted before. */
    wait<Answer>(message: (ticket: number) => FromWorker, signal?: AbortSignal): Promise<Answer> {
      const ticket = ++last;
      send(message(ticket));
      const forget = signal ? onAbort([signal], () => refuse(ticket)) : () => {};
      return new Promise<Answer>((resolve, reject) =>
        waiters.set(ticket, { resolve: (answer) => resolve(answer as Answer), reject }),
      ).finally(forget);
    },
    answer: (ticket: number, answer: unknown): void => settle(ticket, (waiter) => waiter.resolve(answer)),
    refuse,
  };
}
