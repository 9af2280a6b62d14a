import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { writtenPages } from "../scripts/docs/pages.ts";
import { createExampleRunner, languages, missingIn, programOf, shownBy } from "./doc-examples.ts";
import { type Runnel, startRunnel } from "./harness.ts";
import { type ModelServer, startModelServer } from "./model-server.ts";

// Every page of the documentation that has examples, run as it stands on one server, which the pages before it used.

// DOCS=guides/streaming,guides/mcp runs only these.
const wanted = process.env.DOCS?.split(",");
const chosen = writtenPages().filter(({ path }) => wanted === undefined || wanted.includes(path));
const pages = chosen.flatMap(({ path, markdown }) =>
  languages.flatMap((language) => {
    const program = programOf(markdown, language);
    const shown = language === "bash" ? shownBy(markdown) : [];
    return program === null ? [] : [{ path, language, program, shown }];
  }),
);

describe("the documentation's examples", () => {
  let ollama: ModelServer;
  let server: Runnel;
  let runner: Awaited<ReturnType<typeof createExampleRunner>>;
  beforeAll(async () => {
    ollama = startModelServer(); // For the page about real models.
    server = await startRunnel({ environment: { OLLAMA_BASE_URL: ollama.url } });
    runner = await createExampleRunner(server);
    await setContextWindow(server);
    if (!runner.hasPython) console.warn("skipped: the examples in Python (no python3 with venv and PyPI)");
  });
  afterAll(async () => {
    runner[Symbol.dispose]();
    await server[Symbol.asyncDispose]();
    await ollama[Symbol.asyncDispose]();
  });

  // Twice: a page that leaves something behind fails when it is read again.
  test.each(pages)("$path runs in $language from an empty folder, twice", async ({ language, program, shown }) => {
    if (!runner.hasPython && (language === "python" || /^python3 /m.test(program))) return;
    for (const _ of [1, 2]) {
      const { code, stdout, stderr } = await runner.run(language, program);
      expect({ code, stderr, said: code === 0 ? "" : stdout }).toEqual({ code: 0, stderr: "", said: "" });
      expect({ missing: missingIn(stdout, shown), stdout }).toEqual({ missing: [], stdout });
    }
  });
});

/** What the page about long conversations asks the operator for, before its examples. */
async function setContextWindow(server: Runnel): Promise<void> {
  const { markdown } = writtenPages().find(({ path }) => path === "guides/long-conversations")!;
  const [, command] = /^runnel (models prices set .+)$/m.exec(markdown)!;
  expect((await server.command(...command!.split(" "))).stderr).toBe("");
}
