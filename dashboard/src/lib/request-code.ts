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
 * The request as code that runs as it stands, but for the key: that comes from `RUNNEL_API_KEY`, never from here. A server
 * whose certificate is its own is trusted by `caFile`.
 */
export function requestCode(
  language: CodeLanguage,
  origin: string,
  request: ApiRequest,
  caFile: string | null = null,
): string {
  return { curl: asCurl, typescript: asTypeScript, python: asPython }[language](origin, request, caFile);
}

/** Several requests, one after the other, each under its note. */
export function requestsCode(
  language: CodeLanguage,
  origin: string,
  requests: readonly ApiRequest[],
  caFile: string | null = null,
): string {
  const mark = language === "typescript" ? "//" : "#";
  const isBlock = language === "typescript" && requests.length > 1;
  return requests
    .map((request, index) => {
      // A program is started once, and trusts from its start.
      const trusted = language === "typescript" && index > 0 ? null : caFile;
      const code = requestCode(language, origin, request, trusted);
      // Each has a `response` of its own.
      const own = isBlock ? `{\n${code.replaceAll(/^(?=.)/gm, "  ")}\n}` : code;
      return request.note ? `${mark} ${request.note}\n${own}` : own;
    })
    .join("\n\n");
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

function asTypeScript(origin: string, { method, path, body, stream }: ApiRequest, caFile: string | null): string {
  const options = [
    `  method: ${JSON.stringify(method)},`,
    "  headers: {",
    '    Authorization: "Bearer " + process.env.RUNNEL_API_KEY,',
    ...(body === undefined ? [] : ['    "Content-Type": "application/json",']),
    "  },",
    ...(body === undefined ? [] : [`  body: JSON.stringify(${indented(JSON.stringify(body, null, 2), 2)}),`]),
  ];
  const read = stream
    ? [
        "const decoder = new TextDecoder();",
        "for await (const piece of response.body!) process.stdout.write(decoder.decode(piece, { stream: true }));",
      ]
    : ["console.dir(await response.json(), { depth: null });"];
  const trust = caFile === null ? [] : [`// Start it with NODE_EXTRA_CA_CERTS=${shellQuoted(caFile)}`];
  return [
    ...trust,
    `const response = await fetch(${JSON.stringify(origin + path)}, {`,
    ...options,
    "});",
    ...read,
  ].join("\n");
}

function asPython(origin: string, { method, path, body, stream }: ApiRequest, caFile: string | null): string {
  const trust = caFile === null ? "" : `, context=ssl.create_default_context(cafile=${pythonText(caFile)})`;
  const lines = [
    `import json, os, ${caFile === null ? "" : "ssl, "}urllib.request`,
    "",
    "request = urllib.request.Request(",
    `    ${pythonText(origin + path)},`,
    `    method=${pythonText(method)},`,
    '    headers={"Authorization": f"Bearer {os.environ[\'RUNNEL_API_KEY\']}", "Content-Type": "application/json"},',
    ...(body === undefined ? [] : [`    data=json.dumps(${indented(pythonValue(body, 0), 4)}).encode(),`]),
    ")",
    `with urllib.request.urlopen(request${trust}) as response:`,
    ...(stream
      ? ["    for line in response:", '        print(line.decode(), end="")']
      : ["    print(json.load(response))"]),
  ];
  return lines.join("\n");
}

function pythonValue(value: unknown, depth: number): string {
  if (value === null || value === undefined) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value === "string") return pythonText(value);
  if (typeof value !== "object") return String(value);
  const pad = "  ".repeat(depth + 1);
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  const items = Array.isArray(value)
    ? value.map((each) => pythonValue(each, depth + 1))
    : Object.entries(value)
        .filter(([, each]) => each !== undefined)
        .map(([key, each]) => `${pythonText(key)}: ${pythonValue(each, depth + 1)}`);
  if (items.length === 0) return `${open}${close}`;
  return `${open}\n${items.map((item) => pad + item).join(",\n")},\n${"  ".repeat(depth)}${close}`;
}

/** JSON's escapes are Python's too, but for characters that JSON lets stand and Python ends a line at none of. */
const pythonText = (text: string): string => JSON.stringify(text);

const indented = (text: string, spaces: number): string => text.replaceAll("\n", `\n${" ".repeat(spaces)}`);

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
