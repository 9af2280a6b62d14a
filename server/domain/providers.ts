/** Names of the providers of connections for people, without the built-in test models. */
export const providerWords = {
  openai: "OpenAI",
  anthropic: "Anthropic",
  google: "Google",
  bedrock: "Amazon Bedrock",
  vertex: "Google Vertex AI",
  ollama: "Ollama",
  openai_compatible: "OpenAI-compatible server",
};
export type ConnectionProvider = keyof typeof providerWords;
/** Environment variables with the providers' keys. */
export const keyVariables: readonly (readonly [provider: ConnectionProvider, variable: string])[] = [
  ["openai", "OPENAI_API_KEY"],
  ["anthropic", "ANTHROPIC_API_KEY"],
  ["google", "GOOGLE_GENERATIVE_AI_API_KEY"],
];
/** Variables with keys of clouds, which need more than a key. */
export const cloudKeyVariables: readonly (readonly [provider: ConnectionProvider, variable: string])[] = [
  ["bedrock", "AWS_BEARER_TOKEN_BEDROCK"],
  ["vertex", "GOOGLE_VERTEX_API_KEY"],
];
export const connectionProviders = Object.keys(providerWords) as [ConnectionProvider, ...ConnectionProvider[]];
export const providers = [...connectionProviders, "test"] as const;
export type Provider = (typeof providers)[number];

/** Tool choice of a model: free, none, or required. */
export const toolChoices = ["auto", "none", "required"] as const;

/** Reasoning efforts, mapped to each provider. */
export const reasoningEfforts = ["none", "minimal", "low", "medium", "high", "max"] as const;
