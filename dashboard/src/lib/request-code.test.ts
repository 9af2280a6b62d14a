import { describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type ApiRequest,
  type CodeLanguage,
  codeLanguages,
  requestCode,
  requestsCode,
  withSecret,
} from "./request-code.ts";

const wild = 'it\'s "quoted" $HOME `id` \\n \\ <b> é \u{1f600}\nnext';
const body = { text: wild, on: true, none: null, list: [1, 2.5, [], {}], nested: { a: { b: "c" } } };

const commands: Record<CodeLanguage, (file: string) => string[]> = {
  curl: (file) => ["sh", file],
  typescript: (file) => [process.execPath, file],
  python: (file) => ["python3", file],
};

/** What a server got when the code was run as it stands. */
async function run(language: CodeLanguage, request: ApiRequest) {
  const seen: { method: string; path: string; key: string | null; body: unknown }[] = [];
  using server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(incoming) {
      const text = await incoming.text();
      const { pathname, search } = new URL(incoming.url);
      seen.push({
        method: incoming.method,
        path: pathname + search,
        key: incoming.headers.get("authorization"),
        body: text === "" ? undefined : JSON.parse(text),
      });
      return Response.json({ answer: "seen" });
    },
  });
  const folder = mkdtempSync(join(tmpdir(), "runnel-code-"));
  try {
    const file = join(folder, language === "typescript" ? "code.ts" : "code");
    writeFileSync(file, requestCode(language, server.url.origin, request));
    const child = Bun.spawn(commands[language](file), {
      env: { PATH: process.env.PATH, RUNNEL_API_KEY: "sk_test_key" },
      stdout: "pipe",
      stderr: "pipe",
    });
    const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
    return { seen, out, err, code: await child.exited };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const present = (language: CodeLanguage) =>
  language === "typescript" || Bun.which(language === "curl" ? "curl" : "python3") !== null;

for (const language of codeLanguages.filter(present)) {
  test(`${language} sends what the page shows, with whatever characters`, async () => {
    for (const stream of [false, true]) {
      const { seen, out, err, code } = await run(language, { method: "POST", path: "/v1/runs?wait=5", body, stream });
      expect({ err: language === "curl" ? "" : err, code }).toEqual({ err: "", code: 0 });
      expect(seen).toEqual([{ method: "POST", path: "/v1/runs?wait=5", key: "Bearer sk_test_key", body }]);
      expect(out).toContain("seen");
    }
  });

  test(`${language} sends a request without a body`, async () => {
    const { seen } = await run(language, { method: "DELETE", path: "/v1/agents/agt_1" });
    expect(seen).toEqual([{ method: "DELETE", path: "/v1/agents/agt_1", key: "Bearer sk_test_key", body: undefined }]);
  });
}

describe("several requests", () => {
  const requests: ApiRequest[] = [
    { method: "POST", path: "/v1/runs", body: { input: "a\nb" }, stream: true },
    { method: "POST", path: "/v1/runs/run_1/submit_tool_outputs", body: { tool_outputs: [] }, note: "Answer the call" },
  ];

  test("stand under their notes, and each keeps its own names", () => {
    expect(requestsCode("curl", "https://x", requests)).toContain(
      "\n\n# Answer the call\ncurl 'https://x/v1/runs/run_1",
    );
    const code = requestsCode("typescript", "https://x", requests);
    expect(code).toContain("// Answer the call\n{\n  const response");
    expect(() => new Bun.Transpiler({ loader: "ts" }).transformSync(code)).not.toThrow();
  });

  test("a certificate of the server's own is trusted by its file, by a program once", () => {
    const codeIn = (language: CodeLanguage) => requestsCode(language, "https://x", requests, "/it's/cert.pem");
    expect(codeIn("curl").match(/--cacert '\/it'\\''s\/cert\.pem'/g)).toHaveLength(2);
    expect(codeIn("python").match(/cafile="\/it's\/cert\.pem"/g)).toHaveLength(2);
    expect(codeIn("typescript").match(/NODE_EXTRA_CA_CERTS=/g)).toHaveLength(1);
  });

  test("of one, nothing but its code is said", () => {
    expect(requestsCode("python", "https://x", [requests[0]!])).toBe(requestCode("python", "https://x", requests[0]!));
  });
});

test.each([...codeLanguages])("%s code with the secret in it asks for no variable any more", (language) => {
  const code = requestCode(language, "https://localhost:8443", { method: "GET", path: "/v1/me" });
  const whole = withSecret(language, code, "sk_test_$&abc");
  expect(whole).toContain("Bearer sk_test_$&abc");
  expect(whole).not.toContain("RUNNEL_API_KEY");
});
