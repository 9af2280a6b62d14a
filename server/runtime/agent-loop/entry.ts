import { parseExact } from "../../lib/exact-numbers.ts";
import { interceptFetch } from "../../lib/outgoing-fetch.ts";
import { applyProxy } from "../../lib/proxy.ts";
import { lowerPriority } from "../../lib/thread-priority.ts";
import { createLeaseGuard, requireLease, singleNode } from "./lease-guard.ts";
import { queueFor } from "./message-channel.ts";
import type { ToWorker } from "./messages.ts";
import { createRunExecutor } from "./run-executor.ts";

// Worker thread: receives messages and sends others, batched per tick.
declare const self: Worker;

// A worker's fetch starts with the process's original proxies, not with those that main has set.
applyProxy();

// Requests, streams and query embedding have priority over loops that process long texts.
lowerPriority(10);

let leading = singleNode;
const executor = createRunExecutor(queueFor(self), { leading: (signal) => leading(signal) });

self.onmessage = ({ data }: MessageEvent<string | SharedArrayBuffer>) => {
  if (typeof data === "string") {
    for (const message of parseExact<ToWorker[]>(data)) executor.receive(message);
    return;
  }
  leading = createLeaseGuard(new BigInt64Array(data));
  interceptFetch((fetch) => requireLease(leading, fetch));
};
