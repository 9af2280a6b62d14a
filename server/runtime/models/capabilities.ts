import { parseModel } from "./registry.ts";

// OpenAI's models without image input. All known models of other providers have it.
const textOnlyModels = /^(gpt-3\.5|gpt-4(-\d{4})?$|gpt-4-32k|o1-mini|o1-preview|o3-mini)/;

/**
 * True if a model is sent images. Unknown models (Ollama, own servers) are: an error of the server is better than an
 * answer without the image.
 */
export function takesImages(fullName: string): boolean {
  const name = parseModel(fullName);
  return !(name?.provider === "openai" && textOnlyModels.test(name.model));
}
