import type { BuiltInModel } from "./models.ts";
import type { OwnModel } from "./own-models.ts";

/** What the thread is asked: a vector for each text. */
export interface Order {
  id: number;
  model: BuiltInModel | OwnModel;
  texts: string[];
}

/** `waited_ms`: for how long it could have worked and had no core. */
export type Answer = { id: number; waited_ms: number } & ({ vectors: Float32Array[] } | { fault: string });
