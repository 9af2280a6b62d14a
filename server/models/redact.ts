import { hide } from "../lib/redact.ts";

const limit = 500;

/** Takes keys and credentials out of a provider's sentence, and keeps it a short single line. */
export function redact(text: string, secrets: readonly string[]): string {
  let clean = text;
  for (const secret of secrets) if (secret.length >= 4) clean = clean.replaceAll(secret, "[redacted]");
  clean = hide(clean, secrets); // As it is spelled in JSON or a URL, too.
  clean = clean
    // Providers echo keys half starred: `sk-proj-ab***yz`.
    .replace(/\b(sk|pk|rk|gsk|xai|AIza)[-_]?[\w*•.-]{8,}/g, "[redacted]")
    .replace(/\bBearer\s+\S+/gi, "Bearer [redacted]")
    .replace(/\/\/[^/\s@]+@/g, "//[redacted]@")
    .replace(/([?&](?:key|api_key|token|access_token)=)[^&\s]+/gi, "$1[redacted]")
    .replace(/\s+/g, " ")
    .trim();
  return clean.length > limit ? `${clean.slice(0, limit).toWellFormed()}…` : clean;
}
