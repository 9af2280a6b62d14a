import { giveWay, waitedForCore } from "../../lib/give-way.ts";
import type { Answer, Order } from "./messages.ts";
import type { BuiltInModel } from "./models.ts";

declare const self: Worker;

type Embed = (texts: readonly string[]) => Promise<Float32Array[]>;

const loading = new Map<BuiltInModel, Promise<Embed>>();

const loaders: Record<BuiltInModel, () => Promise<Embed>> = {
  "builtin/use-lite-512": async () => (await import("./use-lite.ts")).loadUseLite(),
  "builtin/all-minilm-l6-v2": async () => (await import("./sentence-model.ts")).loadMiniLm(),
};

function loaded(model: BuiltInModel): Promise<Embed> {
  const known = loading.get(model);
  if (known) return known;
  const began = loaders[model]();
  loading.set(model, began);
  return began;
}

// Before anything is waited for: what is sent to a thread that does not listen yet is lost.
// It computes for as long as there are texts; runs and reads go first.
giveWay(5);

self.onmessage = async ({ data: { id, model, texts } }: MessageEvent<Order>) => {
  self.postMessage(await answer(id, async () => (await loaded(model))(texts)));
};

async function answer(id: number, embed: () => Promise<Float32Array[]>): Promise<Answer> {
  const before_ms = waitedForCore();
  const waited = () => ({ id, waited_ms: waitedForCore() - before_ms });
  try {
    const vectors = await embed();
    return { ...waited(), vectors };
  } catch (error) {
    return { ...waited(), fault: error instanceof Error ? error.message : String(error) };
  }
}
