type EmbeddingFault = "embedding_failed" | "model_not_available" | "dimensions_mismatch" | "budget_exceeded";

/** Reason for missing vectors. The message can be shown: it contains no key. */
export class EmbeddingError extends Error {
  readonly code: EmbeddingFault;
  /** True if the same request may succeed later. */
  readonly retryable: boolean;

  constructor(code: EmbeddingFault, message: string, retryable = false) {
    super(message);
    this.name = "EmbeddingError";
    this.code = code;
    this.retryable = retryable;
  }
}
