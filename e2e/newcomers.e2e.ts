import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { writtenPages } from "../scripts/docs/pages.ts";
import { npmWith } from "../scripts/npm-tool.ts";
import { installWheel, pythonWith } from "../scripts/python-tool.ts";
import { inProject } from "../scripts/root.ts";
import { build } from "../server/lib/build-info.ts";
import { createExampleRunner, programOf } from "./doc-examples.ts";
import { type Runnel, runProgram, startRunnel } from "./harness.ts";

// Programs as somebody writes them on the first day with the documentation open. They pass the strictest settings of
// the type checkers, and print what they should, also when they are run again.

const python = await pythonWith("client-mypy-2", ["httpx==0.28.1", "mypy==2.4.1", "pip==26.3"]);
const pyright = await npmWith("pyright-1.1.414", ["pyright@1.1.414"]);
const patience_ms = 120_000;
const environment = process.env as Record<string, string>;

const whole = { code: 0, stderr: "" };
const signed = /^run_1 Hello\n204\nrefused\n400\n$/;
/** The output of each program, the same in both languages. */
const printed: Record<string, RegExp> = {
  approvals: /^Paid\.\napproval\n$/,
  errors: /^404 404 resource_not_found (true|True)\nname\nfailed (true|True)\n$/,
  files: /^cake\.txt 22 Lime cake needs limes\.\ncompleted\n$/,
  memory: /^Lime cake needs limes\.\n{"code":"no"}\n$/,
  paging: /^2 (true|True)\none,two,three\nthree\n$/,
  polling: /^completed Hello 0\n$/,
  streaming: /^(true|True)\nHello you\n$/,
  threads: /^user "Hello"\nassistant "Hello"\nuser "And again"\nassistant "And again"\n$/,
  tools: /^(created|unchanged|updated) completed It is shipped\.\n$/,
  webhooks: signed,
};
const sourceOf = (name: string, extension: string): string =>
  readFileSync(inProject(`e2e/newcomers/${name}.${extension}`), "utf8");

describe("a newcomer's program", () => {
  let server: Runnel;
  let runner: Awaited<ReturnType<typeof createExampleRunner>>;
  beforeAll(async () => {
    server = await startRunnel();
    runner = await createExampleRunner(server, { python, node: null });
  });
  afterAll(async () => {
    runner?.[Symbol.dispose]();
    await server?.[Symbol.asyncDispose]();
  });

  for (const [name, output] of Object.entries(printed))
    for (const [runtime, extension] of [
      ["ts", "ts"],
      ["python", "py"],
    ] as const)
      test.skipIf(runtime === "python" && !python)(
        `about ${name} prints what it should, twice (${runtime})`,
        async () => {
          for (const _ of [1, 2]) {
            const { stdout, ...rest } = await runner.run(runtime, sourceOf(name, extension));
            expect(rest).toEqual(whole);
            // In webhooks, Bun's HTTP server answers while the program prints.
            if (output === signed && runtime === "ts") expect(stdout.split("\n").sort()).toEqual(signedLines);
            else expect(stdout).toMatch(output);
          }
        },
      );

  test("satisfies tsc --strict, as all TypeScript in the documentation does", async () => {
    const folder = join(server.folder, "typescript");
    const modules = join(folder, "node_modules");
    mkdirSync(join(modules, "@types"), { recursive: true });
    const archive = await server.fetch(`/docs/clients/runnel-sdk-${build.version}.tgz`, { key: null });
    await new Bun.Archive(await archive.bytes()).extract(folder);
    cpSync(join(folder, "package"), join(modules, "runnel-sdk"), { recursive: true });
    for (const types of ["@types/node", "undici-types"])
      cpSync(inProject("node_modules", types), join(modules, types), { recursive: true, dereference: true });
    writeFileSync(join(folder, "package.json"), '{"private": true, "type": "module"}');
    const pages = writtenPages().map(({ path, markdown }): [string, string | null] => [
      path.replaceAll("/", "-"),
      programOf(markdown, "ts"),
    ]);
    const programs = [...Object.keys(printed).map((name): [string, string] => [name, sourceOf(name, "ts")]), ...pages];
    const files = programs.flatMap(([name, program]) => {
      if (program === null) return [];
      writeFileSync(join(folder, `${name}.ts`), program);
      return [`${name}.ts`];
    });
    expect(files.length).toBeGreaterThan(50);
    const strict = ["--strict", "--noEmit", "--target", "es2023", "--module", "nodenext", "--types", "node"];
    const tsc = inProject("node_modules/.bin/tsc");
    const checked = await runProgram([process.execPath, tsc, ...strict, ...files], folder, environment, patience_ms);
    expect(checked).toMatchObject({ code: 0, stdout: "" });
    // It finds what is wrong.
    writeFileSync(join(folder, "wrong.ts"), sourceOf("polling", "ts").replace("run.output", "run.outputs"));
    const wrong = await runProgram([process.execPath, tsc, ...strict, "wrong.ts"], folder, environment, patience_ms);
    expect(wrong.stdout).toContain("'outputs' does not exist");
  });

  describe("in Python", () => {
    let folder: string;
    beforeAll(async () => {
      folder = join(server.folder, "typed");
      const name = `runnel_sdk-${build.version}-py3-none-any.whl`;
      await Bun.write(join(folder, name), await server.fetch(`/docs/clients/${name}`, { key: null }));
      if (python) await installWheel(join(folder, name), join(folder, "site"), python);
      for (const program of Object.keys(printed))
        await Bun.write(join(folder, "programs", `${program}.py`), sourceOf(program, "py"));
      await Bun.write(join(folder, "wrong.py"), wrongCalls);
    });
    const check = async (command: string[]) =>
      await runProgram(command, folder, { ...environment, MYPYPATH: join(folder, "site") }, patience_ms);

    test.skipIf(!python)("satisfies mypy --strict", async () => {
      const mypy = [join(python!, "python"), "-m", "mypy", "--strict", "--no-incremental", "--python-version", "3.10"];
      const checked = await check([...mypy, ...Object.keys(printed).map((name) => `programs/${name}.py`)]);
      expect(checked).toMatchObject({ code: 0, stdout: expect.stringContaining("Success: no issues found") });
      const wrong = await check([...mypy, "wrong.py"]);
      expect(wrong.stdout).toContain(`Found ${faultsOf(wrongCalls)} errors in 1 file`);
    });

    test.skipIf(!python || !pyright)("satisfies pyright", async () => {
      writeFileSync(
        join(folder, "pyrightconfig.json"),
        JSON.stringify({ include: ["programs"], extraPaths: ["site"], typeCheckingMode: "strict" }),
      );
      const command = ["node", join(pyright!, "pyright/index.js"), "--pythonpath", join(python!, "python")];
      expect((await check(command)).stdout).toContain("0 errors");
    });
  });
});

const signedLines = ["", "204", "400", "refused", "run_1 Hello"];

/** Calls that a type checker must refuse, to the last level of a request. Each statement is one fault. */
const wrongCalls = `
from runnel_sdk import Runnel

runnel = Runnel()
runnel.runs.run("support", [{"role": "user", "content": [{"type": "video", "file_id": "file_1"}]}])
runnel.runs.create(agent_id="support", input="Go", overrides={"model_settings": {"temperature": "hot"}})
runnel.agents.sync("support", instructions="", model="test/echo", guardrails=[{"type": "pii"}])
runnel.agents.sync("support", instructions="", model="test/echo", memory={"history": {"mode": "all"}})
runnel.runs.submit_tool_outputs("run_1", tool_outputs=[{"tool_call_id": "call_1", "decision": "maybe"}])
runnel.runs.retrieve("run_1", exclude="messages").messages
`;
const faultsOf = (program: string): number => program.split("\n").filter((line) => line.startsWith("runnel.")).length;
