/** Hosts of the providers' own servers, which have the listed prices. */
const hosts: Record<string, string> = {
  "api.openai.com": "openai",
  "api.anthropic.com": "anthropic",
  "generativelanguage.googleapis.com": "google",
  "api.mistral.ai": "mistral",
  "api.groq.com": "groq",
  "api.deepseek.com": "deepseek",
  "api.x.ai": "xai",
  "openrouter.ai": "openrouter",
  "api.together.xyz": "together",
  "api.together.ai": "together",
  "api.fireworks.ai": "fireworks",
};

/** Returns the provider whose own server is at this address, or null. */
export const providerOfHost = (address: string): string | null => hosts[URL.parse(address)?.hostname ?? ""] ?? null;
