/** Chunk sizes in tokens. */
export interface Chunking {
  max_chunk_size_tokens: number;
  chunk_overlap_tokens: number;
}

export const defaultChunking: Chunking = { max_chunk_size_tokens: 800, chunk_overlap_tokens: 200 };
export const chunkingBounds = { min: 100, max: 4096 } as const;

/** Returns the invalid field and the reason; null if both are valid. */
export function chunkingFault(chunking: Chunking): { param: keyof Chunking; message: string } | null {
  const { max_chunk_size_tokens: max, chunk_overlap_tokens: overlap } = chunking;
  if (!Number.isInteger(max) || max < chunkingBounds.min || max > chunkingBounds.max) {
    return { param: "max_chunk_size_tokens", message: `Must be from ${chunkingBounds.min} to ${chunkingBounds.max}.` };
  }
  if (!Number.isInteger(overlap) || overlap < 0 || overlap >= max / 2) {
    return { param: "chunk_overlap_tokens", message: "Must be less than half of max_chunk_size_tokens." };
  }
  return null;
}
