import { describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ApiRequest, type CodeLanguage, codeLanguages, requestsCode, withSecret } from "./request-code.ts";

const wild = 'it\'s "quoted" $HOME `id` \\n \\ <b> é \u{1f600}\nnext';
const body = { text: wild, on: true, none: null, list: [1, 2.5, [], {}], nested: { a: { b: "c" } } };

/** Runs the shell code and returns the request that a server received. */
async function run(request: ApiRequest) {
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
    const file = join(folder, "code");
    writeFileSync(file, requestsCode("curl", server.url.origin, [request]));
    const child = Bun.spawn(["sh", file], {
      env: { PATH: process.env.PATH, RUNNEL_API_KEY: "sk_test_key" },
      stdout: "pipe",
      stderr: "pipe",
    });
    const [out] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
    return { seen, out, code: await child.exited };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

// SDK programs are run against the executable (`e2e/code-samples.e2e.ts`).
describe.skipIf(!Bun.which("curl"))("shell code", () => {
  test("sends the shown body with any characters", async () => {
    for (const stream of [false, true]) {
      const { seen, out, code } = await run({ method: "POST", path: "/v1/runs?wait=5", body, stream });
      expect(code).toBe(0);
      expect(seen).toEqual([{ method: "POST", path: "/v1/runs?wait=5", key: "Bearer sk_test_key", body }]);
      expect(out).toContain("seen");
    }
  });

  test("sends a request without a body", async () => {
    const { seen } = await run({ method: "DELETE", path: "/v1/agents/agt_1" });
    expect(seen).toEqual([{ method: "DELETE", path: "/v1/agents/agt_1", key: "Bearer sk_test_key", body: undefined }]);
  });
});

describe("several requests", () => {
  const requests: ApiRequest[] = [
    { method: "POST", path: "/v1/runs", body: { input: "a\nb" }, stream: true },
    { method: "POST", path: "/v1/runs/run_1/submit_tool_outputs", body: { tool_outputs: [] }, note: "Answer the call" },
  ];

  test("are preceded by their notes, in one program with one client", () => {
    expect(requestsCode("curl", "https://x", requests)).toContain(
      "\n\n# Answer the call\ncurl 'https://x/v1/runs/run_1",
    );
    const typescript = requestsCode("typescript", "https://x", requests);
    expect(typescript.match(/new Runnel\(/g)).toHaveLength(1);
    expect(typescript).toContain("of runnel.runs.stream({");
    expect(typescript).toContain('\n// Answer the call\nconsole.dir(await runnel.runs.submitToolOutputs("run_1", {');
    expect(() => new Bun.Transpiler({ loader: "ts" }).transformSync(typescript)).not.toThrow();
    const python = requestsCode("python", "https://x", requests);
    expect(python.match(/= Runnel\(/g)).toHaveLength(1);
    expect(python).toContain('for event in runnel.runs.stream(input="a\\nb"):');
    expect(python).toContain('\n# Answer the call\nprint(runnel.runs.submit_tool_outputs("run_1", tool_outputs=[]))');
  });

  test("a self-signed certificate is trusted by its file, once per program", () => {
    const codeIn = (language: CodeLanguage) => requestsCode(language, "https://x", requests, "/it's/cert.pem");
    expect(codeIn("curl").match(/--cacert '\/it'\\''s\/cert\.pem'/g)).toHaveLength(2);
    expect(codeIn("python").match(/ca="\/it's\/cert\.pem"/g)).toHaveLength(1);
    expect(codeIn("typescript").match(/ca: readFileSync\("\/it's\/cert\.pem", "utf8"\)/g)).toHaveLength(1);
  });
});

test.each([...codeLanguages])("%s code with the secret inserted reads no variable", (language) => {
  const code = requestsCode(language, "https://localhost:8443", [{ method: "GET", path: "/v1/me" }]);
  const whole = withSecret(language, code, "sk_test_$&abc");
  expect(whole).toContain("sk_test_$&abc");
  expect(whole).not.toContain("RUNNEL_API_KEY");
});
