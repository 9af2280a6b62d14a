/** The embedding model inside the executable. */
export const builtInModel = "builtin/use-lite-512";

/** Models that make vectors of text, to begin with; any other of a connection can be typed. */
export const embeddingModels = [
  { value: builtInModel },
  { value: "openai/text-embedding-3-small" },
  { value: "openai/text-embedding-3-large" },
  { value: "ollama/nomic-embed-text" },
];
