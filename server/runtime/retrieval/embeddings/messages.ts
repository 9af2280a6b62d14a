import type { BuiltInModel } from "./models.ts";
import type { OwnModel } from "./own-models.ts";

/** A request to the thread: one vector per text. */
export interface Order {
  id: number;
  model: BuiltInModel | OwnModel;
  texts: string[];
}

/** `waited_ms`: time that the thread was ready to run but had no core. */
export type Answer = { id: number; waited_ms: number } & ({ vectors: Float32Array[] } | { fault: string });
