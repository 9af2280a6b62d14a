import type { BuiltInModel } from "./models.ts";

/** What the thread is asked: a vector for each text. */
export interface Order {
  id: number;
  model: BuiltInModel;
  texts: string[];
}

export type Answer = { id: number; vectors: Float32Array[] } | { id: number; fault: string };
