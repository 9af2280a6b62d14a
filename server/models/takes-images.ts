import { parseModel } from "./registry.ts";

// Models of OpenAI that read text alone. All known ones of the other providers see.
const blind = /^(gpt-3\.5|gpt-4(-\d{4})?$|gpt-4-32k|o1-mini|o1-preview|o3-mini)/;

/**
 * Whether a model is sent images. One that is not known (of Ollama, of a server of one's own) is: its server says so
 * when it cannot see, which is better than an answer about a picture that nobody looked at.
 */
export function takesImages(fullName: string): boolean {
  const name = parseModel(fullName);
  return !(name?.provider === "openai" && blind.test(name.model));
}
