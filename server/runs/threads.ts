import { workerEntry } from "../lib/assets.ts";
import { startThread } from "../lib/start-thread.ts";
import { batched, deltaPace } from "../worker/batched.ts";
import { type Crossing, joined, unpack } from "../worker/crossing.ts";
import { createEngine } from "../worker/engine.ts";
import { createLeading } from "../worker/leading.ts";
import type { Notice, Order } from "../worker/messages.ts";

/** Where loops run. Orders sent in one tick go together, and so do the notices that come back. */
export interface Thread {
  /** Whether it can be stuck while we are not, and be ended then. */
  separate: boolean;
  send(order: Order): void;
  /** Passes on what was sent in this tick, now. */
  flush?(): void;
  end(): void;
}

export type ThreadFactory = (hear: (notices: Notice[]) => void, died: (reason: string) => void) => Thread;

// A smaller heap is collected sooner: texts of tools would gather otherwise. It costs a run no measurable time.
const startWorker = startThread<string | SharedArrayBuffer, Crossing>(workerEntry, { smol: true });

/** Worker threads of this process. `leadsUntil`: requests leave them only until then, as it is written there. */
export const workerThreads =
  (leadsUntil?: SharedArrayBuffer): ThreadFactory =>
  (hear, died) => {
    const thread = startWorker((said) => hear(unpack(said)), died);
    if (leadsUntil) thread.send(leadsUntil);
    // Before the answers to clients are built, which those of a tick would otherwise wait for.
    const send = batched<Order>((orders) => thread.send(JSON.stringify(orders)), { defer: queueMicrotask });
    return { separate: true, send, flush: send.flush, end: thread.end };
  };

export const workerThread: ThreadFactory = workerThreads();

/** Threads that get their orders when they may, if anything says so. */
export const inTurn = (make: ThreadFactory, ordering?: (send: Thread["send"]) => Thread["send"]): ThreadFactory =>
  ordering === undefined
    ? make
    : (...given) => {
        const thread = make(...given);
        const inOrder = ordering(thread.send);
        // What asks for a sign of life tells nothing, and a thread that does not get it would be taken for dead.
        return { ...thread, send: (order) => (order.do === "ping" ? thread.send(order) : inOrder(order)) };
      };

/** The same loops on the calling thread: `--workers 0`. */
export const onThisThread =
  (leadsUntil?: SharedArrayBuffer): ThreadFactory =>
  (hear) => {
    const leading = leadsUntil && createLeading(new BigInt64Array(leadsUntil));
    const engine = createEngine(
      batched<Notice>((notices) => hear(joined(notices)), deltaPace),
      { leading },
    );
    return {
      separate: false,
      send: batched<Order>((orders) => {
        for (const order of orders) engine.receive(order);
      }),
      end() {},
    };
  };

export const sameThread: ThreadFactory = onThisThread();
