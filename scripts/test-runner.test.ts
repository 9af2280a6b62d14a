import { afterAll, expect, test } from "bun:test";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { inProject, root } from "./root.ts";
import { failedFiles, outputOf } from "./test-runner.ts";

// The folder is in the project: `bun test` takes no path outside of it.
const folder = inProject(`dist/flaky-${process.pid}`);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs the runner on a file. */
async function runFile(name: string, source: string) {
  mkdirSync(folder, { recursive: true });
  const path = `${folder}/${name}`;
  writeFileSync(path, source);
  const file = path.slice(root.length + 1);
  const program = `
    const { rerunFailed, runBun } = await import(${JSON.stringify(inProject("scripts/test-runner.ts"))});
    const run = await runBun("${name}", { flags: ["--path-ignore-patterns=none"], paths: ["./${file}"] });
    process.exitCode = await rerunFailed([run]);`;
  return { ...(await evaluate(program)), file };
}

/** Runs a program that uses the runner. Its reports are in a folder of this test. */
async function evaluate(program: string) {
  const child = Bun.spawn([process.execPath, "-e", program], {
    stdout: "pipe",
    stderr: "ignore",
    // Playwright refuses to run under Jest, which it recognises by the variable of a parallel test.
    env: { ...process.env, RUNNEL_REPORTS: `${folder}/reports`, JEST_WORKER_ID: undefined },
  });
  const [out, code] = await Promise.all([new Response(child.stdout).text(), child.exited]);
  return { out, code };
}

/** Returns the last line that such a program prints, as JSON. */
const lastLine = async (program: string) => JSON.parse((await evaluate(program)).out.trim().split("\n").at(-1)!);

const flaky = (): { file: string; failures: number; first: string; second: string }[] =>
  JSON.parse(readFileSync(`${folder}/reports/flaky.json`, "utf8"));

test("a file that fails once and passes alone counts, and is listed with both outputs", async () => {
  const source = `
    import { expect, test } from "bun:test";
    import { existsSync, writeFileSync } from "node:fs";
    const mark = import.meta.path + ".ran";
    const isFirst = !existsSync(mark);
    writeFileSync(mark, "");
    test("passes the second time", () => expect(isFirst).toBe(false));`;
  const { out, code, file } = await runFile("once.test.ts", source);
  expect(code).toBe(0);
  expect(out).toContain(`FLAKY ${file}`);
  const listed = flaky().find((each) => each.file === file)!;
  expect(listed.failures).toBe(1);
  expect(listed.first).toContain("(fail) passes the second time");
  expect(listed.second).toContain("(pass) passes the second time");
});

test("a file that fails twice is red, and not listed", async () => {
  const source = `import { expect, test } from "bun:test"; test("never passes", () => expect(1).toBe(2));`;
  const { out, code, file } = await runFile("twice.test.ts", source);
  expect(code).not.toBe(0);
  expect(out).toContain(`once more, alone: ${file}`);
  expect(out).not.toContain("FLAKY");
});

test("a file that does not compile is red without another run", async () => {
  const { out, code } = await runFile("broken.test.ts", "import { test } from");
  expect(code).not.toBe(0);
  expect(out).not.toContain("FLAKY");
});

test("files run in the given order, each with its own result", async () => {
  mkdirSync(folder, { recursive: true });
  const paths = ["c", "a", "b"].map((name) => `${folder.slice(root.length + 1)}/${name}.test.ts`);
  for (const path of paths)
    writeFileSync(
      inProject(path),
      `import { expect, test } from "bun:test"; test("x", () => expect(import.meta.path).not.toContain("/a.test"));`,
    );
  const program = `
    const { runEach } = await import(${JSON.stringify(inProject("scripts/test-runner.ts"))});
    const options = { flags: ["--path-ignore-patterns=none"], atOnce: 1 };
    const runs = await runEach("each", ${JSON.stringify(paths)}, options);
    console.log(JSON.stringify(runs.map(({ code, failed }) => [code, failed.map(({ file }) => file)])));`;
  expect(await lastLine(program)).toEqual([
    [0, []],
    [1, [paths[1]]],
    [0, []],
  ]);
});

test("the files with failures are those of the report", () => {
  const report = `<testsuites name="bun test" failures="2">
  <testsuite name="a.test.ts" file="a.test.ts" tests="3" assertions="5" failures="2" skipped="0">
    <testsuite name="inner" file="a.test.ts" tests="1" assertions="1" failures="1" skipped="0">
  <testsuite name="b.test.ts" file="b.test.ts" tests="1" assertions="5" failures="0" skipped="0">`;
  expect(failedFiles(report)).toEqual([{ file: "a.test.ts", failures: 2 }]);
  const stories = `<testsuites tests="2" failures="1">
<testsuite name="keys.browser.ts" timestamp="2026-01-01T00:00:00.000Z" tests="2" failures="1" skipped="0">
<testsuite name="runs.browser.ts" timestamp="2026-01-01T00:00:00.000Z" tests="2" failures="0" skipped="0">`;
  expect(failedFiles(stories)).toEqual([{ file: "keys.browser.ts", failures: 1 }]);
});

test("a story that an error failed, not an expectation, is among the failed", async () => {
  mkdirSync(folder, { recursive: true });
  const test = 'import { expect, test } from "@playwright/test"; test("story", () => ';
  writeFileSync(`${folder}/error.browser.ts`, `${test} { throw new Error("no such button"); });`);
  writeFileSync(`${folder}/expectation.browser.ts`, `${test} expect(1).toBe(2));`);
  writeFileSync(`${folder}/passes.browser.ts`, `${test} expect(1).toBe(1));`);
  writeFileSync(
    `${folder}/stories.config.ts`,
    'export default { testDir: ".", testMatch: "*.browser.ts", outputDir: "results" };',
  );
  const program = `
    const { runBrowser } = await import(${JSON.stringify(inProject("scripts/test-runner.ts"))});
    const playwright = ${JSON.stringify(inProject("node_modules/@playwright/test/cli.js"))};
    const config = ${JSON.stringify(`--config=${folder}/stories.config.ts`)};
    const run = await runBrowser("stories", [process.execPath, "--bun", playwright, "test", config], []);
    console.log(JSON.stringify([run.code, run.failed]));`;
  const [code, failed] = await lastLine(program);
  expect(code).toBe(1);
  expect(
    failed.toSorted((one: { file: string }, other: { file: string }) => one.file.localeCompare(other.file)),
  ).toEqual([
    { file: "e2e/error.browser.ts", failures: 1 },
    { file: "e2e/expectation.browser.ts", failures: 1 },
  ]);
});

test("the output of a file is the parts below its name", () => {
  const output = "a.test.ts:\n(pass) 1\n\nb.test.ts:\n(fail) 2\n\na.test.ts:\n(pass) 3\n";
  expect(outputOf("a.test.ts", output)).toBe("a.test.ts:\n(pass) 1\n\na.test.ts:\n(pass) 3\n");
});
