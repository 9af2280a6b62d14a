import { workerEntry } from "../../lib/assets.ts";
import { startThread } from "../../lib/start-thread.ts";
import { createLeaseGuard } from "../../runtime/agent-loop/lease-guard.ts";
import { createMessageBatcher, deltaPace } from "../../runtime/agent-loop/message-batcher.ts";
import { coalesce, decode, type EncodedMessages } from "../../runtime/agent-loop/message-codec.ts";
import type { FromWorker, ToWorker } from "../../runtime/agent-loop/messages.ts";
import { createRunExecutor } from "../../runtime/agent-loop/run-executor.ts";

/** A place where loops run. Messages of one tick are batched in both directions. */
export interface WorkerThread {
  /** True if it can be stuck while the main thread is not, and can then be ended. */
  separate: boolean;
  send(order: ToWorker): void;
  /** Sends now the messages queued in this tick. */
  flush?(): void;
  end(): void;
}

export type WorkerFactory = (hear: (notices: FromWorker[]) => void, died: (reason: string) => void) => WorkerThread;

// A smaller heap is collected sooner, so that tool outputs do not accumulate; no measurable cost per run.
const startWorker = startThread<string | SharedArrayBuffer, EncodedMessages>(workerEntry, { smol: true });

/** Worker threads of this process. `leadsUntil` is the shared end of the lease: they send requests only until then. */
export const workerThreads =
  (leadsUntil?: SharedArrayBuffer): WorkerFactory =>
  (hear, died) => {
    const thread = startWorker((said) => hear(decode(said)), died);
    if (leadsUntil) thread.send(leadsUntil);
    // Sent before responses to clients are built, which would delay the messages.
    const send = createMessageBatcher<ToWorker>((orders) => thread.send(JSON.stringify(orders)), {
      defer: queueMicrotask,
    });
    return { separate: true, send, flush: send.flush, end: thread.end };
  };

export const workerThread: WorkerFactory = workerThreads();

/** Wraps threads so that `ordering`, if set, decides when their messages are sent. */
export const withOrdering = (
  make: WorkerFactory,
  ordering?: (send: WorkerThread["send"]) => WorkerThread["send"],
): WorkerFactory =>
  ordering === undefined
    ? make
    : (...given) => {
        const thread = make(...given);
        const inOrder = ordering(thread.send);
        // Pings reveal nothing and bypass the order; a delayed ping would make the thread look dead.
        return { ...thread, send: (order) => (order.do === "ping" ? thread.send(order) : inOrder(order)) };
      };

/** Runs loops on the calling thread (`--workers 0`). */
export const runInThisThread =
  (leadsUntil?: SharedArrayBuffer): WorkerFactory =>
  (hear) => {
    const leading = leadsUntil && createLeaseGuard(new BigInt64Array(leadsUntil));
    const engine = createRunExecutor(
      createMessageBatcher<FromWorker>((notices) => hear(coalesce(notices)), deltaPace),
      { leading },
    );
    return {
      separate: false,
      send: createMessageBatcher<ToWorker>((orders) => {
        for (const order of orders) engine.receive(order);
      }),
      end() {},
    };
  };

export const thisThread: WorkerFactory = runInThisThread();
