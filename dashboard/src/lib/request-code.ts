import { callOf, pythonCalls, typescriptCalls } from "./client-code.ts";

/** A request of the public API as an application sends it. */
export interface ApiRequest {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Starts with `/v1`. */
  path: string;
  body?: unknown;
  /** True if the response is an event stream. */
  stream?: boolean;
  /** Purpose, if there are several. */
  note?: string;
}

export const codeLanguages = ["curl", "typescript", "python"] as const;
export type CodeLanguage = (typeof codeLanguages)[number];
export const languageNames: Record<CodeLanguage, string> = { curl: "curl", typescript: "TypeScript", python: "Python" };

/**
 * Generates runnable code for the requests in order, each below its note. The key comes from `RUNNEL_API_KEY` and is
 * never included. `caFile` is the certificate of a self-signed server.
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

/** Quotes a text for the shell. Single quotes disable all expansion; a quote inside is closed, escaped and reopened. */
const shellQuoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

const places: Record<CodeLanguage, string> = {
  curl: "$RUNNEL_API_KEY",
  typescript: "process.env.RUNNEL_API_KEY",
  python: 'os.environ["RUNNEL_API_KEY"]',
};

/** Inserts a key's secret where the code reads it from the environment. */
export function withSecret(language: CodeLanguage, code: string, secret: string): string {
  const replaced = language === "curl" ? secret : JSON.stringify(secret);
  return code.replace(places[language], () => replaced).replace(/^import os\n\n/, "");
}
