import type { ToolSnapshot } from "../core/agent-snapshot.ts";
import type { RunEvent } from "../core/run-event.ts";
import { createEgress } from "../lib/egress.ts";
import { createModelCache } from "../models/model-cache.ts";
import type { Model } from "../models/port.ts";
import type { Notice, Order, RunStart, ToolSecrets } from "./messages.ts";
import { runLoop } from "./run-loop.ts";
import type { RunTool } from "./run-tools.ts";
import { runHttpTool } from "./tools/http.ts";
import { secretTexts } from "./tools/secret-texts.ts";
import { type Ports, Superseded } from "./turn.ts";

interface Waiter {
  resolve(answer: unknown): void;
  reject(error: unknown): void;
}

/** Asks the main thread what a tool of the run sends now. */
type AskSecrets = (tool: ToolSnapshot) => Promise<ToolSecrets>;

/** How an engine reaches the world for a run. */
export interface Reach {
  model(start: RunStart): Promise<Model> | Model;
  tools(start: RunStart, ask: AskSecrets): RunTool;
}

/**
 * Drives runs by messages: the same in a worker thread and on the main thread. `send` may collect notices and pass
 * them on together, in their order.
 */
export function createEngine(
  send: (notice: Notice) => void,
  now: () => number = Date.now,
  reach: Reach = createReach(now),
) {
  const aborts = new Map<number, AbortController>();
  const waiters = new Map<number, Waiter>();
  let tickets = 0;

  function receive(order: Order): void {
    switch (order.do) {
      case "start":
        void drive(order.start);
        break;
      case "abort":
        aborts.get(order.drive)?.abort();
        break;
      case "ping":
        send({ do: "pong" });
        break;
      case "appended":
        settle(order.ticket, (waiter) => waiter.resolve(order));
        break;
      case "secrets":
        settle(order.ticket, (waiter) => waiter.resolve(order.secrets));
        break;
      case "refused":
        settle(order.ticket, (waiter) => waiter.reject(new Superseded()));
    }
  }

  function settle(ticket: number, answer: (waiter: Waiter) => void): void {
    const waiter = waiters.get(ticket);
    waiters.delete(ticket);
    if (waiter) answer(waiter);
  }

  async function drive(start: RunStart): Promise<void> {
    const abort = new AbortController();
    aborts.set(start.drive, abort);
    const fault = await faultOf(loop(start, abort.signal));
    abort.abort(); // Nothing that this loop began may outlive it.
    aborts.delete(start.drive);
    const { drive, run_id, attempt } = start;
    send({ do: "left", drive, run_id, attempt, fault });
  }

  async function loop(start: RunStart, signal: AbortSignal): Promise<void> {
    const { run_id } = start;
    const ports: Ports = {
      append: (events) => append(start, events),
      delta: (delta) => send({ do: "delta", run_id, delta }),
      model: await reach.model(start),
      runTool: reach.tools(start, ({ id, http }) => askSecrets(start, id, http!.sealed)),
      now,
    };
    await runLoop(start, ports, signal);
  }

  const append = ({ run_id, attempt }: RunStart, events: RunEvent[]) =>
    ask<{ seq: number; at: number }>((ticket) => ({ do: "append", run_id, attempt, ticket, events }));
  const askSecrets = ({ run_id, attempt }: RunStart, tool_id: string, sealed: string) =>
    ask<ToolSecrets>((ticket) => ({ do: "secrets", run_id, attempt, ticket, tool_id, sealed }));

  function ask<Answer>(notice: (ticket: number) => Notice): Promise<Answer> {
    const ticket = ++tickets;
    send(notice(ticket));
    return new Promise((resolve, reject) =>
      waiters.set(ticket, { resolve: (answer) => resolve(answer as Answer), reject }),
    );
  }

  return { receive };
}

function createReach(now: () => number): Reach {
  const openModel = createModelCache();
  return {
    model: ({ connection, model }) => openModel(connection, model),
    tools({ run_id, secrets, egress: policy }, ask) {
      const egress = createEgress(policy);
      // Of all tools, and of earlier calls too: whatever was sent somewhere may be echoed from elsewhere.
      const hidden = new Set<string>();
      return async (call, tool, signal) => {
        const given = secrets[tool.id]!;
        const own = given.named ? await ask(tool) : given;
        for (const each of [...Object.values(secrets), own]) for (const text of secretTexts(each)) hidden.add(text);
        return runHttpTool(call, tool, { run_id, secrets: own, hidden: [...hidden], egress, now }, signal);
      };
    },
  };
}

/** Null for an ordinary end; else what the bug said, for the log and the run's error. */
async function faultOf(work: Promise<void>): Promise<string | null> {
  try {
    await work;
    return null;
  } catch (error) {
    if (error instanceof Superseded) return null;
    return error instanceof Error ? (error.stack ?? error.message) : String(error);
  }
}
