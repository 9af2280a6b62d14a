import { availableParallelism } from "node:os";
import { report } from "./report.ts";
import { inProject, root } from "./root.ts";
import { readSources } from "./sources.ts";

const bin = (name: string) => [process.execPath, "--bun", inProject("node_modules/.bin", name)];
/** Incremental: rechecks only changed files. */
const types = (project: string) => [
  ...bin("tsc"),
  "-p",
  project,
  "--incremental",
  "--tsBuildInfoFile",
  inProject("dist/types", `${project}.tsbuildinfo`),
];
const checks: Record<string, string[]> = {
  "format and lint": [...bin("biome"), "check", "--error-on-warnings"],
  "types: server": types("server"),
  "types: dashboard": types("dashboard"),
  "types: scripts and e2e": types("scripts"),
  tidy: [process.execPath, "test", "--timeout=60000", "./scripts/tidy.test.ts"],
  docs: [
    process.execPath,
    "test",
    "--timeout=30000",
    "./scripts/docs.test.ts",
    "./scripts/docs/pages.test.ts",
    "./scripts/recipes.test.ts",
  ],
};

/** Runs one check silently: prints one line with its result, and its output only if it failed. */
async function check([name, command]: [string, string[]]): Promise<boolean> {
  const started = performance.now();
  const child = Bun.spawn(command, { cwd: root, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(`${code === 0 ? "ok  " : "FAIL"} ${name} (${seconds} s)`);
  if (code !== 0) console.log(`${out}${err}`.trimEnd());
  return code === 0;
}

const waiting = Object.entries(checks);
const results: boolean[] = [];
async function drain(): Promise<void> {
  for (let next = waiting.shift(); next; next = waiting.shift()) results.push(await check(next));
}
await Promise.all(Array.from({ length: availableParallelism() }, drain));
for (const line of report(readSources())) console.log(line);
process.exitCode = results.every(Boolean) ? 0 : 1;
