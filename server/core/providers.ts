/** The providers that a connection can lead to; the test models are inside. */
export const outerProviders = ["openai", "anthropic", "google", "ollama", "openai_compatible"] as const;
export type OuterProvider = (typeof outerProviders)[number];
export const providers = [...outerProviders, "test"] as const;
export type Provider = (typeof providers)[number];

/** Whether a model may call tools, as it likes or not at all, or has to call one. */
export const toolChoices = ["auto", "none", "required"] as const;

/** How long a model may think, as all providers are told. */
export const reasoningEfforts = ["none", "minimal", "low", "medium", "high", "max"] as const;
