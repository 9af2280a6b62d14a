import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { writtenPages } from "../scripts/docs/pages.ts";
import {
  createExampleRunner,
  type Language,
  languages,
  missingIn,
  nodeForTypeScript,
  programOf,
  pythonForExamples,
  type Runtime,
  shownBy,
} from "./doc-examples.ts";
import { type Runnel, startRunnel } from "./harness.ts";
import { type ModelServer, startModelServer } from "./model-server.ts";

// Every page of the documentation that has examples, run as it stands on one server, which the pages before it used.

// DOCS=guides/streaming,guides/mcp runs only these.
const wanted = process.env.DOCS?.split(",");
const chosen = writtenPages().filter(({ path }) => wanted === undefined || wanted.includes(path));
const python = await pythonForExamples();
const node = await nodeForTypeScript();

/** The pages that have a program in a language, with what it prints. */
const pagesIn = (language: Language) =>
  chosen.flatMap(({ path, markdown }) => {
    const program = programOf(markdown, language);
    return program === null ? [] : [{ path, program, shown: language === "bash" ? shownBy(markdown) : [] }];
  });

describe("the documentation's examples", () => {
  let ollama: ModelServer;
  let server: Runnel;
  let runner: Awaited<ReturnType<typeof createExampleRunner>>;
  beforeAll(async () => {
    ollama = startModelServer(); // For the page about real models.
    server = await startRunnel({ environment: { OLLAMA_BASE_URL: ollama.url } });
    runner = await createExampleRunner(server, { python, node });
    await setContextWindow(server);
  });
  afterAll(async () => {
    runner[Symbol.dispose]();
    await server[Symbol.asyncDispose]();
    await ollama[Symbol.asyncDispose]();
  });

  async function expectWell(runtime: Runtime, { program, shown }: { program: string; shown: readonly string[] }) {
    const { code, stdout, stderr } = await runner.run(runtime, program);
    expect({ code, stderr, said: code === 0 ? "" : stdout }).toEqual({ code: 0, stderr: "", said: "" });
    expect({ missing: missingIn(stdout, shown), stdout }).toEqual({ missing: [], stdout });
  }

  for (const language of languages)
    for (const page of pagesIn(language))
      test.skipIf(!python && (language === "python" || /^python3 /m.test(page.program)))(
        `${page.path} runs in ${language} from an empty folder, twice`,
        async () => {
          // Twice: a page that leaves something behind fails when it is read again; TypeScript in Bun and then in node.
          await expectWell(language, page);
          await expectWell(language === "ts" && node ? "node" : language, page);
        },
        240_000,
      );
});

/** What the page about long conversations asks the operator for, before its examples. */
async function setContextWindow(server: Runnel): Promise<void> {
  const { markdown } = writtenPages().find(({ path }) => path === "guides/long-conversations")!;
  const [, command] = /^runnel (models prices set .+)$/m.exec(markdown)!;
  expect((await server.command(...command!.split(" "))).stderr).toBe("");
}
