/** Providers of connections, without the built-in test models. */
export const outerProviders = ["openai", "anthropic", "google", "ollama", "openai_compatible"] as const;
export type OuterProvider = (typeof outerProviders)[number];
export const providers = [...outerProviders, "test"] as const;
export type Provider = (typeof providers)[number];

/** Tool choice of a model: free, none, or required. */
export const toolChoices = ["auto", "none", "required"] as const;

/** Reasoning efforts, mapped to each provider. */
export const reasoningEfforts = ["none", "minimal", "low", "medium", "high", "max"] as const;
