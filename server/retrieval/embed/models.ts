import { sentenceModelDir } from "../../lib/assets.ts";
import { build } from "../../lib/build-info.ts";
import { ownPrefix } from "./own-models.ts";

/** The models that need no provider: the length of their vectors, and how many characters they read at once. */
export const builtInModels = {
  /** Universal Sentence Encoder Lite. Reads English, 128 tokens at once. */
  "builtin/use-lite-512": { dimensions: 512, piece_chars: 500 },
  /** Of sentence-transformers. Reads English and some of other languages in Latin letters, 256 tokens at once. */
  "builtin/all-minilm-l6-v2": { dimensions: 384, piece_chars: 1000 },
} as const;

export type BuiltInModel = keyof typeof builtInModels;

/** Those that this build has: the default first. That one is there where its files could be had at build. */
export const modelsHere: readonly BuiltInModel[] = build.lean
  ? []
  : [...(sentenceModelDir() === null ? [] : (["builtin/all-minilm-l6-v2"] as const)), "builtin/use-lite-512"];

/** What stores use that name no model. A lean build has none, and says so to whoever asks for it. */
export const defaultModel: BuiltInModel = modelsHere[0] ?? "builtin/use-lite-512";

/** Why a built-in model cannot be had. */
export const notHere = (model: string): string =>
  modelsHere.length === 0
    ? "This is a lean build of runnel, without an embedding model: name a provider's."
    : `This build has no ${model}. It has ${modelsHere.join(" and ")}.`;

export const isHere = (model: string): model is BuiltInModel => (modelsHere as readonly string[]).includes(model);

/** Whether a model runs on this machine, in the thread of embeddings: loading one may take longer than a provider should. */
export const runsHere = (model: string): boolean => isHere(model) || model.startsWith(ownPrefix);
