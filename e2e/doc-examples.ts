import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { npmWith } from "../scripts/npm-tool.ts";
import { installWheel, pythonWith } from "../scripts/python-tool.ts";
import { build } from "../server/lib/build-info.ts";
import { type CommandResult, executable, type Runnel, runProgram } from "./harness.ts";

/** Languages of the tested examples. Blocks that are only shown use others: `sh`, `text`, `json`. */
export const languages = ["bash", "ts", "python"] as const;
export type Language = (typeof languages)[number];
/** Runtime of a program: that of its language, or node instead of Bun for TypeScript. */
export type Runtime = Language | "node";

const patience_ms = 200_000;

/** Joins all blocks of a page in one language into one program; null if there are none. */
export function programOf(markdown: string, language: Language): string | null {
  const blocks = [...markdown.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, "gm"))];
  return blocks.length > 0 ? blocks.map(([, code]) => code).join("\n") : null;
}

/** Returns the documented output of the shell examples: the lines of the blocks `text`, in order. */
export const documentedOutput = (markdown: string): string[] =>
  [...markdown.matchAll(/^```text\n([\s\S]*?)^```$/gm)]
    .flatMap(([, lines]) => lines!.trimEnd().split("\n"))
    .map(withoutVariableParts);

/** Returns the lines of `shown` that do not follow one another in the output. */
export function missingLines(stdout: string, shown: readonly string[]): string[] {
  const printed = stdout.split("\n").map(withoutVariableParts);
  let at = 0;
  return shown.filter((line) => {
    const found = printed.indexOf(line, at);
    if (found >= 0) at = found + 1;
    return found < 0;
  });
}

/** Returns a line without its variable parts: ids and durations. */
const withoutVariableParts = (line: string): string =>
  line.replace(/\b([a-z]+_)(?:[0-9a-z]{26}\b|…)/g, "$1…").replace(/\b\d+(?:\.\d+)? m?s\b/g, "… ms");

/**
 * Returns the command that runs TypeScript in node: node itself, or `tsx` of the npm registry; null if neither is
 * available.
 */
export async function nodeForTypeScript(): Promise<string[] | null> {
  const own = Bun.spawnSync(["node", "-p", "process.features.typescript ?? false"]);
  if (own.stdout.toString().trim() !== "false") return ["node"];
  const modules = await npmWith("tsx-4.23.15", ["tsx@4.23.15"]);
  return modules === null ? null : ["node", join(modules, "tsx/dist/cli.mjs")];
}

/** Returns the folder of a Python environment with the packages of the client and the examples; null if unavailable. */
export const pythonForExamples = (): Promise<string | null> =>
  pythonWith("docs-python-3", ["httpx==0.28.1", "pip==26.3", "pynacl==1.6.2"]);

/** Runtimes available beside bash and Bun. */
interface Runtimes {
  python: string | null;
  node: string[] | null;
}

/** Creates a runner for the programs of pages: in an empty folder, with the clients that the server serves. */
export async function createExampleRunner(server: Runnel, { python, node }: Runtimes) {
  const folder = mkdtempSync(join(tmpdir(), "runnel-examples-"));
  const certificate = join(folder, "ca.pem");
  writeFileSync(certificate, server.ca ?? "");
  const download = async (name: string): Promise<string> => {
    const path = join(folder, name);
    await Bun.write(path, await server.fetch(`/docs/clients/${name}`, { key: null }));
    return path;
  };
  const archive = new Bun.Archive(await Bun.file(await download(`runnel-sdk-${build.version}.tgz`)).bytes());
  await archive.extract(join(folder, "npm"));
  const site = join(folder, "python");
  if (python) await installWheel(await download(`runnel_sdk-${build.version}-py3-none-any.whl`), site, python);

  // Examples call the executable as `runnel`.
  const bin = join(folder, "bin");
  mkdirSync(bin);
  symlinkSync(executable, join(bin, "runnel"));
  const environment = {
    PATH: [bin, dirname(process.execPath), ...(python ? [python] : []), process.env.PATH].join(delimiter),
    HOME: folder,
    RUNNEL_URL: server.url,
    RUNNEL_API_KEY: server.keys.test,
    RUNNEL_CACERT: certificate,
    CURL_CA_BUNDLE: certificate,
    PYTHONPATH: site,
  };
  const commands: Record<Runtime, { file: string; command: string[]; before: string } | null> = {
    bash: { file: "page.sh", command: ["bash", "--noprofile", "--norc", "page.sh"], before: "set -euo pipefail\n" },
    ts: { file: "page.mts", command: [process.execPath, "page.mts"], before: "" },
    node: node && { file: "page.mts", command: [...node, "page.mts"], before: "" },
    python: python === null ? null : { file: "page.py", command: [join(python, "python"), "page.py"], before: "" },
  };

  /** Writes a program and its imports into an empty folder, and returns the command that runs it there. */
  function place(runtime: Runtime, program: string): { command: string[]; cwd: string } {
    const { file, command, before } = commands[runtime]!;
    const cwd = mkdtempSync(join(folder, "page-"));
    mkdirSync(join(cwd, "node_modules"));
    cpSync(join(folder, "npm/package"), join(cwd, "node_modules/runnel-sdk"), { recursive: true });
    writeFileSync(join(cwd, file), before + program);
    return { command, cwd };
  }

  return {
    /** Runs a program and waits for its exit. */
    async run(runtime: Runtime, program: string, more: Record<string, string> = {}): Promise<CommandResult> {
      const { command, cwd } = place(runtime, program);
      return await runProgram(command, cwd, { ...environment, ...more }, patience_ms);
    },
    /** Starts a program that runs until it is disposed of; `stderr` has its errors. */
    start(runtime: Runtime, program: string, more: Record<string, string>) {
      const { command, cwd } = place(runtime, program);
      const env = { ...environment, ...more };
      return Bun.spawn(command, { cwd, env, stdin: "ignore", stdout: "ignore", stderr: "pipe" });
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}
