/** Uses of a model. Agents need `chat`; `other` makes images or speech, moderates, or completes plain text. */
export const modelKinds = ["chat", "embedding", "other"] as const;
export type ModelKind = (typeof modelKinds)[number];

/** Features that a list of models may name. */
export const modelFeatures = ["tools", "reasoning", "structured_output", "images"] as const;
export type ModelFeature = (typeof modelFeatures)[number];

/** A model as its server lists it. Null is unknown. */
export interface ListedModel {
  /** Its name in requests to the server. */
  id: string;
  /** Its name for people. */
  name: string | null;
  kind: ModelKind;
  /** True if the server says that it is going to be withdrawn, or is out of use. */
  is_deprecated: boolean;
  context_window: number | null;
  max_output_tokens: number | null;
  /** USD per million tokens. */
  price: { input: number; cached_input: number; output: number; cache_write_5m?: number } | null;
  features: ModelFeature[] | null;
}

/** Reasons why a list of models could not be read. */
export const listErrorCodes = [
  "unreachable",
  "timeout",
  "key_refused",
  "not_listed",
  "not_a_list",
  "too_large",
  "refused",
] as const;

/** Why a list of models could not be read. */
export interface ListError {
  code: (typeof listErrorCodes)[number];
  /** Our own sentence: it has no address, no key and no words of the server. */
  message: string;
  /** The server's words without secrets, for people who may see the connection. */
  detail: string | null;
}
