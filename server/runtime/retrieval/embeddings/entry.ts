import { lowerPriority, runQueueDelay } from "../../../lib/thread-priority.ts";
import type { Answer, Order } from "./messages.ts";
import type { BuiltInModel } from "./models.ts";
import type { OwnModel } from "./own-models.ts";

declare const self: Worker;

type Embed = (texts: readonly string[]) => Promise<Float32Array[]>;

const loading = new Map<string, Promise<Embed>>();

const loaders: Record<BuiltInModel, () => Promise<Embed>> = {
  "builtin/use-lite-512": async () => (await import("./use-lite.ts")).loadUseLite(),
  "builtin/all-minilm-l6-v2": async () => (await import("./sentence-model.ts")).loadMiniLm(),
};

const loadOwn = async (model: OwnModel): Promise<Embed> => (await import("./sentence-model.ts")).loadOwn(model);

function loaded(model: BuiltInModel | OwnModel): Promise<Embed> {
  const name = typeof model === "string" ? model : model.folder;
  const known = loading.get(name);
  if (known) return known;
  const began = typeof model === "string" ? loaders[model]() : loadOwn(model);
  loading.set(name, began);
  return began;
}

// Set the handler before the first await, because messages to a thread without one are lost. Lower the priority,
// because embedding is long computation and must not slow down runs and reads.
lowerPriority(5);

self.onmessage = async ({ data: { id, model, texts } }: MessageEvent<Order>) => {
  self.postMessage(await answer(id, async () => (await loaded(model))(texts)));
};

async function answer(id: number, embed: () => Promise<Float32Array[]>): Promise<Answer> {
  const before_ms = runQueueDelay();
  const waited = () => ({ id, waited_ms: runQueueDelay() - before_ms });
  try {
    const vectors = await embed();
    return { ...waited(), vectors };
  } catch (error) {
    return { ...waited(), fault: error instanceof Error ? error.message : String(error) };
  }
}
