import type { CodeLanguage } from "./request-code.ts";

const places: Record<CodeLanguage, string> = {
  curl: "$RUNNEL_API_KEY",
  typescript: `"Bearer " + process.env.RUNNEL_API_KEY`,
  python: `f"Bearer {os.environ['RUNNEL_API_KEY']}"`,
};

/** Code of a request with a key's secret in the place where it would be read from the environment. */
export function withSecret(language: CodeLanguage, code: string, secret: string): string {
  const replaced = language === "curl" ? secret : JSON.stringify(`Bearer ${secret}`);
  return code.replace(places[language], () => replaced);
}
