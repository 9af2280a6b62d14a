import { callOf, pythonCalls, typescriptCalls } from "./client-code.ts";

/** A request of the public API, as an application would send it. */
export interface ApiRequest {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** From `/v1` on. */
  path: string;
  body?: unknown;
  /** The answer is a stream of events. */
  stream?: boolean;
  /** What it is for, where there are several. */
  note?: string;
}

export const codeLanguages = ["curl", "typescript", "python"] as const;
export type CodeLanguage = (typeof codeLanguages)[number];
export const languageNames: Record<CodeLanguage, string> = { curl: "curl", typescript: "TypeScript", python: "Python" };

/**
 * The requests as code that runs as it stands, one after the other, each under its note. The key comes from
 * `RUNNEL_API_KEY`, never from here. A server whose certificate is its own is trusted by `caFile`.
 */
export function requestsCode(
  language: CodeLanguage,
  origin: string,
  requests: readonly ApiRequest[],
  caFile: string | null = null,
): string {
  if (language === "curl")
    return requests
      .map((request) => (request.note ? `# ${request.note}\n` : "") + asCurl(origin, request, caFile))
      .join("\n\n");
  const calls = requests.map(({ method, path, ...request }) => ({ ...callOf(method, path), ...request }));
  return { typescript: typescriptCalls, python: pythonCalls }[language](calls, { origin, caFile });
}

function asCurl(origin: string, { method, path, body, stream }: ApiRequest, caFile: string | null): string {
  const lines = [
    `curl ${stream ? "-N " : ""}${method === "GET" || (method === "POST" && body !== undefined) ? "" : `-X ${method} `}${shellQuoted(origin + path)}`,
    ...(caFile === null ? [] : [`--cacert ${shellQuoted(caFile)}`]),
    `-H "Authorization: Bearer $RUNNEL_API_KEY"`,
  ];
  if (body !== undefined) lines.push(`--json ${shellQuoted(JSON.stringify(body, null, 2))}`);
  return lines.join(" \\\n  ");
}

/** Within single quotes the shell reads nothing; a quote ends them, stands by itself, and begins them anew. */
const shellQuoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

const places: Record<CodeLanguage, string> = {
  curl: "$RUNNEL_API_KEY",
  typescript: "process.env.RUNNEL_API_KEY",
  python: 'os.environ["RUNNEL_API_KEY"]',
};

/** Code of a request with a key's secret in the place where it would be read from the environment. */
export function withSecret(language: CodeLanguage, code: string, secret: string): string {
  const replaced = language === "curl" ? secret : JSON.stringify(secret);
  return code.replace(places[language], () => replaced).replace(/^import os\n\n/, "");
}
