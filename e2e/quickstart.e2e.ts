import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { build } from "../server/lib/build-info.ts";
import { nodeForTypeScript, programOf, pythonForExamples } from "./doc-examples.ts";
import { startModelServer } from "./model-server.ts";
import { blocksOf, createReader, readme } from "./readme-reader.ts";

// The README's examples, block by block in one shell, as a new user would type them: they print what it shows.

const blocks = blocksOf("Quick start");
const own = blocksOf("In your own code");
const python = await pythonForExamples();
const node = await nodeForTypeScript();

test("the quick start starts, kills and restarts the server, and its blocks are typed in between", () => {
  const kinds = blocks.map(({ kind }) => kind);
  expect(kinds).toEqual(["start", "quickstart", "kill", "quickstart"]);
  const typed = blocks.map(({ code }) => code);
  expect(typed[2]).toStartWith("kill -9");
  expect(readme, "the reader is told to start it again").toContain("Then type `npm start` again");
  expect(typed.at(-1)).toContain("ollama/");
  expect(blocks[2]!.expected, "the run that was killed goes on").toContain("the run goes on");
});

test("up to a streamed answer a reader types two commands in the clone, and copies nothing", () => {
  const [start, answer] = blocks;
  expect([start!.code.trim().split("\n").length, answer!.code.trim().split("\n").length]).toEqual([1, 1]);
  expect(start!.code + answer!.code).not.toMatch(/…|sk_|export /);
});

test("every command of the quick start prints the README's output", async () => {
  await using ollama = startModelServer();
  await using reader = createReader({ OLLAMA_BASE_URL: ollama.url });
  await reader.type(blocks);
  expect(ollama.count("llama3.2"), "the quick start ends with a real model").toBe(1);
}, 90_000);

test("without the real model the last step fails with a message, and no other model answers in its place", async () => {
  await using reader = createReader();
  const [start, first] = blocks;
  await reader.type([start!, first!]);
  // Independent of an Ollama on this machine: a provider without a key is refused alike.
  const last = blocks.at(-1)!.code.replace("ollama/llama3.2", "openai/gpt-5").trim();
  const printed = await reader.read(`${sourceShell}; { ${last}; } 2>&1; api GET /runs | field data.length`);
  expect(printed.split("\n")).toEqual([expect.stringMatching(/^model: /), "1"]);
}, 90_000);

/** Defines the commands by which the tests read what a block has changed. */
const sourceShell = "source <(curl -sS http://127.0.0.1:8440/docs/files/runnel.sh)";

/** The output of the README's program: the run, and the words of the stream. */
const printed = "completed Order 17 is shipped.\nOrder 17 is shipped.";

describe("the README's program", () => {
  let ollama: ReturnType<typeof startModelServer>;
  let reader: ReturnType<typeof createReader>;
  beforeAll(async () => {
    ollama = startModelServer();
    reader = createReader({ OLLAMA_BASE_URL: ollama.url });
    await reader.type([blocks[0]!, blocks.at(-1)!]);
    await reader.read(sourceShell);
    await reader.type(own.filter(({ kind }) => kind === "typescript"));
    await Bun.write(join(reader.folder, "program.mts"), programOf(readme, "ts")!);
    await Bun.write(join(reader.folder, "program.py"), programOf(readme, "python")!);
  });
  afterAll(async () => {
    await reader[Symbol.asyncDispose]();
    await ollama[Symbol.asyncDispose]();
  });

  /** Runs it twice: the second time there is the agent already. */
  async function expectTwice(command: string) {
    // Without the variables that the block before has set: the clients find the server beside them.
    const bare = `env -u RUNNEL_URL -u RUNNEL_API_KEY ${command}`;
    for (const _ of [1, 2]) expect(await reader.read(bare)).toBe(printed);
    expect(await reader.read("api GET '/agents?name=support' | field data.length")).toBe("1");
  }

  test("runs in Bun, twice", async () => {
    await expectTwice(`${process.execPath} program.mts`);
  });

  test.skipIf(!node)("runs in node, twice", async () => {
    await expectTwice(`${node!.join(" ")} program.mts`);
  });

  test.skipIf(!python)("runs in Python, twice", async () => {
    await reader.read(`export PATH=${python}:$PATH PIP_TARGET=$PWD/site PIP_NO_DEPS=1 PYTHONPATH=$PWD/site`);
    await reader.type(own.filter(({ kind }) => kind === "python"));
    expect(await reader.read("python -c 'import runnel_sdk; print(runnel_sdk.__version__)'")).toBe(build.version);
    await expectTwice("python program.py");
  });

  test("has at most thirty lines in each language", () => {
    for (const language of ["ts", "python"] as const)
      expect(programOf(readme, language)!.trimEnd().split("\n").length).toBeLessThanOrEqual(30);
  });
});
