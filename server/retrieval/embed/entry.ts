import { giveWay } from "../../lib/give-way.ts";
import type { Answer, Order } from "./messages.ts";
import { loadUseLite } from "./use-lite.ts";

declare const self: Worker;

const loading = loadUseLite();

// Before anything is waited for: what is sent to a thread that does not listen yet is lost.
// It computes for as long as there are texts; runs and reads go first.
giveWay(5);

self.onmessage = async ({ data: { id, texts } }: MessageEvent<Order>) => {
  const embed = await loading;
  self.postMessage(await answer(id, () => embed(texts)));
};

async function answer(id: number, embed: () => Promise<Float32Array[]>): Promise<Answer> {
  try {
    return { id, vectors: await embed() };
  } catch (error) {
    return { id, fault: error instanceof Error ? error.message : String(error) };
  }
}
