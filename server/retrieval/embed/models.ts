import { sentenceModelDir } from "../../lib/assets.ts";
import { ownPrefix } from "./own-models.ts";

/** The models that need no provider: the length of their vectors, and how many characters they read at once. */
export const builtInModels = {
  /** Universal Sentence Encoder Lite. Reads English, 128 tokens at once. */
  "builtin/use-lite-512": { dimensions: 512, piece_chars: 500 },
  /** Of sentence-transformers. Reads English and some of other languages in Latin letters, 256 tokens at once. */
  "builtin/all-minilm-l6-v2": { dimensions: 384, piece_chars: 1000 },
} as const;

export type BuiltInModel = keyof typeof builtInModels;

/** Those that this build has: the default first. The second is there where its files could be had at build. */
export const modelsHere: readonly BuiltInModel[] = [
  ...(sentenceModelDir() === null ? [] : (["builtin/all-minilm-l6-v2"] as const)),
  "builtin/use-lite-512",
];

/** What stores use that name no model. */
export const defaultModel: BuiltInModel = modelsHere[0]!;

export const isHere = (model: string): model is BuiltInModel => (modelsHere as readonly string[]).includes(model);

/** Whether a model runs on this machine, in the thread of embeddings: loading one may take longer than a provider should. */
export const runsHere = (model: string): boolean => isHere(model) || model.startsWith(ownPrefix);
