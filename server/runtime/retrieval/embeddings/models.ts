import { sentenceModelDir } from "../../../lib/assets.ts";
import { build } from "../../../lib/build-info.ts";
import { ownPrefix } from "./own-models.ts";

/** Models that need no provider: the length of their vectors, and the characters read per call. */
export const builtInModels = {
  /** Universal Sentence Encoder Lite. Reads English, 128 tokens per call. */
  "builtin/use-lite-512": { dimensions: 512, piece_chars: 500 },
  /** From sentence-transformers. Reads English and partly other languages in Latin letters, 256 tokens per call. */
  "builtin/all-minilm-l6-v2": { dimensions: 384, piece_chars: 1000 },
} as const;

export type BuiltInModel = keyof typeof builtInModels;

/** Models of this build, the default first. MiniLM is included if its files were available at build time. */
export const availableModels: readonly BuiltInModel[] = build.lean
  ? []
  : [...(sentenceModelDir() === null ? [] : (["builtin/all-minilm-l6-v2"] as const)), "builtin/use-lite-512"];

/** Model of stores that name none. A lean build has no models; using one then fails with a message. */
export const defaultModel: BuiltInModel = availableModels[0] ?? "builtin/use-lite-512";

/** Returns the reason why a built-in model is not available. */
export const unavailableReason = (model: string): string =>
  availableModels.length === 0
    ? "This is a lean build of runnel, without an embedding model: name a provider's."
    : `This build has no ${model}. It has ${availableModels.join(" and ")}.`;

export const isBuiltIn = (model: string): model is BuiltInModel =>
  (availableModels as readonly string[]).includes(model);

/**
 * True if the model runs on this machine, in the embedding thread, where loading can take longer than a provider's
 * timeout.
 */
export const isLocalModel = (model: string): boolean => isBuiltIn(model) || model.startsWith(ownPrefix);
