import { parseExact } from "../../lib/exact-numbers.ts";
import { interceptFetch } from "../../lib/outgoing-fetch.ts";
import { applyProxy } from "../../lib/proxy.ts";
import { lowerPriority } from "../../lib/thread-priority.ts";
import { createLeaseGuard, requireLease, singleNode } from "./lease-guard.ts";
import { createMessageBatcher, deltaPace } from "./message-batcher.ts";
import { coalesce, encode } from "./message-codec.ts";
import type { FromWorker, ToWorker } from "./messages.ts";
import { createRunExecutor } from "./run-executor.ts";

// Worker thread: receives commands and sends messages, batched per tick.
declare const self: Worker;

// A worker's fetch starts with the process's original proxies, not with those that main has set.
applyProxy();

// Requests, streams and query embedding have priority over loops that process long texts.
lowerPriority(10);

const send = createMessageBatcher<FromWorker>((notices) => {
  const { crossing, transfer } = encode(coalesce(notices));
  self.postMessage(crossing, transfer);
}, deltaPace);
let leading = singleNode;
const engine = createRunExecutor(send, { leading: (signal) => leading(signal) });

self.onmessage = ({ data }: MessageEvent<string | SharedArrayBuffer>) => {
  if (typeof data === "string") {
    for (const order of parseExact<ToWorker[]>(data)) engine.receive(order);
    return;
  }
  leading = createLeaseGuard(new BigInt64Array(data));
  interceptFetch((fetch) => requireLease(leading, fetch));
};
