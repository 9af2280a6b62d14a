type EmbeddingFault = "embedding_failed" | "model_not_available" | "dimensions_mismatch" | "budget_exceeded";

/** Why there are no vectors. The message is fit to be shown: it holds no key. */
export class EmbeddingError extends Error {
  readonly code: EmbeddingFault;
  /** Whether the same may succeed later. */
  readonly retryable: boolean;

  constructor(code: EmbeddingFault, message: string, retryable = false) {
    super(message);
    this.name = "EmbeddingError";
    this.code = code;
    this.retryable = retryable;
  }
}
