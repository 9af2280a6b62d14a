import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { writtenPages } from "../scripts/docs/pages.ts";
import {
  createExampleRunner,
  documentedOutput,
  type Language,
  languages,
  missingLines,
  nodeForTypeScript,
  programOf,
  pythonForExamples,
  type Runtime,
} from "./doc-examples.ts";
import { type Runnel, startRunnel } from "./harness.ts";
import { type ModelServer, startModelServer } from "./model-server.ts";

// Runs the examples of every page as printed, on one server. Each page has a project, so no page meets another's names.

// DOCS=guides/streaming,guides/mcp runs only these pages.
const wanted = process.env.DOCS?.split(",");
const isNightly = process.env.RUNNEL_NIGHTLY === "1";
const chosen = writtenPages().filter(({ path }) => wanted === undefined || wanted.includes(path));
const python = await pythonForExamples();
const node = await nodeForTypeScript();

/** Returns the pages with a program in a language, and its documented output. */
const pagesIn = (language: Language) =>
  chosen.flatMap(({ path, markdown }) => {
    const program = programOf(markdown, language);
    const isOnly = languages.every((other) => other === language || programOf(markdown, other) === null);
    const shown = language === "bash" ? documentedOutput(markdown) : [];
    return program === null ? [] : [{ path, program, shown, isOnly }];
  });

describe("the documentation's examples", () => {
  let ollama: ModelServer;
  let server: Runnel;
  let runner: Awaited<ReturnType<typeof createExampleRunner>>;
  beforeAll(async () => {
    ollama = startModelServer(); // Serves the page about real models.
    server = await startRunnel({ environment: { OLLAMA_BASE_URL: ollama.url } });
    runner = await createExampleRunner(server, { python, node });
    await setContextWindow(server);
  });
  afterAll(async () => {
    runner[Symbol.dispose]();
    await server[Symbol.asyncDispose]();
    await ollama[Symbol.asyncDispose]();
  });

  const keys = new Map<string, Promise<string>>();
  /** Returns a test key of the page's project. */
  async function createKey(page: string): Promise<string> {
    const created = await server.command(
      "keys",
      "create",
      "--project",
      page.replace("/", "-"),
      "--create-project",
      "--json",
    );
    expect(created.stderr).toBe("");
    return JSON.parse(created.stdout).secret;
  }

  interface Example {
    path: string;
    program: string;
    shown: readonly string[];
  }
  async function expectWell(runtime: Runtime, { path, program, shown }: Example) {
    if (!keys.has(path)) keys.set(path, createKey(path));
    const { code, stdout, stderr } = await runner.run(runtime, program, { RUNNEL_API_KEY: await keys.get(path)! });
    expect({ code, stderr, said: code === 0 ? "" : stdout }).toEqual({ code: 0, stderr: "", said: "" });
    expect({ missing: missingLines(stdout, shown), stdout }).toEqual({ missing: [], stdout });
  }

  for (const language of languages)
    for (const page of pagesIn(language))
      test.skipIf(!python && (language === "python" || /^python3 /m.test(page.program)))(
        `${page.path} runs in ${language} from an empty folder, and leaves nothing in the way`,
        async () => {
          // A page that leaves something in the way fails the next time: in the next language, or in the same one again.
          // The documented output is that of the first time: afterwards, what a page makes by name is there already.
          const again = { ...page, shown: [] };
          await expectWell(language, page);
          if (language === "ts" && node) await expectWell("node", again);
          else if (page.isOnly || isNightly) await expectWell(language, again);
        },
        480_000,
      );
});

/** Does the operator's setup for the page about long conversations. */
async function setContextWindow(server: Runnel): Promise<void> {
  const { markdown } = writtenPages().find(({ path }) => path === "guides/long-conversations")!;
  const [, command] = /^runnel (models prices set .+)$/m.exec(markdown)!;
  expect((await server.command(...command!.split(" "))).stderr).toBe("");
}
