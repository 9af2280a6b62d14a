/** Names of the providers of connections for people, without the built-in test models. */
export const providerWords = {
  openai: "OpenAI",
  anthropic: "Anthropic",
  google: "Google",
  mistral: "Mistral",
  groq: "Groq",
  deepseek: "DeepSeek",
  xai: "xAI",
  openrouter: "OpenRouter",
  together: "Together AI",
  fireworks: "Fireworks AI",
  azure: "Azure OpenAI",
  bedrock: "Amazon Bedrock",
  vertex: "Google Vertex AI",
  ollama: "Ollama",
  openai_compatible: "OpenAI-compatible server",
};
export type ConnectionProvider = keyof typeof providerWords;
/** Environment variables with the providers' keys; of several, the first one that is set. */
export const keyVariables: readonly (readonly [provider: ConnectionProvider, variable: string])[] = [
  ["openai", "OPENAI_API_KEY"],
  ["anthropic", "ANTHROPIC_API_KEY"],
  ["google", "GOOGLE_GENERATIVE_AI_API_KEY"],
  ["mistral", "MISTRAL_API_KEY"],
  ["groq", "GROQ_API_KEY"],
  ["deepseek", "DEEPSEEK_API_KEY"],
  ["xai", "XAI_API_KEY"],
  ["openrouter", "OPENROUTER_API_KEY"],
  ["together", "TOGETHER_API_KEY"],
  ["fireworks", "FIREWORKS_API_KEY"],
  ["azure", "AZURE_OPENAI_API_KEY"],
  ["azure", "AZURE_API_KEY"],
];
/** Environment variables with the address of a provider that has no common one; of several, the first one that is set. */
export const addressVariables: readonly (readonly [provider: ConnectionProvider, variable: string])[] = [
  ["azure", "AZURE_OPENAI_ENDPOINT"],
  ["azure", "AZURE_API_BASE"],
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
