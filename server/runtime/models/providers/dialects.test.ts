import { expect, test } from "bun:test";
import { plainDialect } from "../chat-dialect.ts";
import { dialect as azure } from "./azure.ts";
import { dialectOf } from "./dialects.ts";
import { dialect as mistral } from "./mistral.ts";

test.each([
  ["openai_compatible", "https://api.mistral.ai/v1", mistral],
  ["openai_compatible", "https://shop.openai.azure.com/openai/v1", azure],
  ["openai_compatible", "https://api.mistral.ai.evil.example/v1", plainDialect],
  ["openai_compatible", "http://127.0.0.1:8080/v1", plainDialect],
  ["openai_compatible", "no address", plainDialect],
  ["ollama", "https://api.mistral.ai/v1", plainDialect],
  ["mistral", null, mistral],
  ["mistral", "https://proxy.example/v1", mistral],
] as const)(
  "a connection of %s at %s speaks the dialect of its provider, or of its address",
  (provider, base_url, dialect) => {
    expect(dialectOf({ provider, base_url })).toBe(dialect);
  },
);
