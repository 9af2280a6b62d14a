import type { RunEvent } from "../core/run-event.ts";
import { createEgress } from "../lib/egress.ts";
import { createModelCache } from "../models/model-cache.ts";
import type { Model } from "../models/port.ts";
import type { Notice, Order, RunStart } from "./messages.ts";
import { runLoop } from "./run-loop.ts";
import type { RunTool } from "./run-tools.ts";
import { runHttpTool } from "./tools/http.ts";
import { type Ports, Superseded } from "./turn.ts";

interface Waiter {
  resolve(place: { seq: number; at: number }): void;
  reject(error: unknown): void;
}

/** How an engine reaches the world for a run. */
export interface Reach {
  model(start: RunStart): Promise<Model> | Model;
  tools(start: RunStart): RunTool;
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
      runTool: reach.tools(start),
      now,
    };
    await runLoop(start, ports, signal);
  }

  function append({ run_id, attempt }: RunStart, events: RunEvent[]): Promise<{ seq: number; at: number }> {
    const ticket = ++tickets;
    send({ do: "append", run_id, attempt, ticket, events });
    return new Promise((resolve, reject) => waiters.set(ticket, { resolve, reject }));
  }

  return { receive };
}

function createReach(now: () => number): Reach {
  const openModel = createModelCache();
  return {
    model: ({ connection, model }) => openModel(connection, model),
    tools({ run_id, secrets, egress: policy }) {
      const egress = createEgress(policy);
      return (call, tool, signal) =>
        runHttpTool(call, tool, { run_id, secrets: secrets[tool.id]!, egress, now }, signal);
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
