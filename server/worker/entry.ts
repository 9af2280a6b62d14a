import { parseExact } from "../lib/exact-numbers.ts";
import { giveWay } from "../lib/give-way.ts";
import { applyProxy } from "../lib/proxy.ts";
import { batched, deltaPace } from "./batched.ts";
import { joined, pack } from "./crossing.ts";
import { createEngine } from "./engine.ts";
import { alone, createLeading, whileLeading } from "./leading.ts";
import type { Notice, Order } from "./messages.ts";

// A worker thread: orders in, notices out, all of a tick at once.
declare const self: Worker;

// The fetch of a thread begins with the proxies that the process began with, not with what main has made of them.
applyProxy();

// Reads and streams do not wait for what loops do with long texts, nor do queries that are embedded.
giveWay(10);

const send = batched<Notice>((notices) => {
  const { crossing, transfer } = pack(joined(notices));
  self.postMessage(crossing, transfer);
}, deltaPace);
let leading = alone;
const engine = createEngine(send, { leading: (signal) => leading(signal) });

self.onmessage = ({ data }: MessageEvent<string | SharedArrayBuffer>) => {
  if (typeof data === "string") {
    for (const order of parseExact<Order[]>(data)) engine.receive(order);
    return;
  }
  leading = createLeading(new BigInt64Array(data));
  globalThis.fetch = whileLeading(leading, globalThis.fetch);
};
