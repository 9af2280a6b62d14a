/**
 * Plays a newcomer who types the commands of README.md in a new home directory and reads nothing else: `node
 * scripts/run.mjs scripts/bench/newcomer.ts [--cold]`. Prints each command with the seconds since the beginning, and how
 * many values had to be copied. With `--cold` npm and pip begin with empty caches. Exits with 1 if a goal is missed: three
 * commands and no copied value until an answer is streamed, and 60 s with full caches. README.md has the figures. Needs node, npm, git, python3 and a free port 8440.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root } from "../root.ts";

const folder = mkdtempSync(join(tmpdir(), "runnel-newcomer-"));
const home = join(folder, "home");
const isCold = process.argv.includes("--cold");
mkdirSync(home);
const clone = join(home, "runnel");
const environment = {
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(RUNNEL_|npm_|CI$)/.test(name))),
  HOME: home,
  ...(isCold ? {} : { npm_config_cache: process.env.npm_config_cache ?? join(process.env.HOME ?? "/root", ".npm") }),
};
const begun = performance.now();
let commands = 0;
let copied = 0;
let server: Bun.Subprocess<"ignore", "pipe", "inherit"> | undefined;

try {
  await type(["git", "clone", "--quiet", root, clone], home);
  server = Bun.spawn(["npm", "start"], {
    cwd: clone,
    env: environment,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "inherit",
  });
  await untilServing(server.stdout);
  report("npm start");
  const [firstRun] = blocksOf("quickstart");
  await type(["bash", "-c", firstRun!], clone);
  console.log(`a streamed answer after ${commands} commands and ${copied} copied values`);
  const missed = [
    ...(commands > 3 ? ["three commands"] : []),
    ...(copied > 0 ? ["no copied value"] : []),
    ...(!isCold && seconds() > 60 ? ["60 seconds"] : []),
  ];
  if (missed.length > 0) {
    console.error(`Missed: ${missed.join(", ")}.`);
    process.exitCode = 1;
  }

  await type(["python3", "-m", "venv", "venv"], clone);
  const [install] = blocksOf("python");
  await type(["bash", "-c", `. venv/bin/activate && ${install}`], clone);
  const [, program] = /^```python\n([\s\S]*?)^```$/m.exec(readme())!;
  writeFileSync(join(clone, "program.py"), program!);
  await type([join(clone, "venv/bin/python"), "program.py"], clone);
  console.log(`a run by the Python client after ${commands} commands and ${copied} copied values`);
} finally {
  const pid = await Bun.file(join(clone, "runnel-data/server.json"))
    .json()
    .then(({ pid }: { pid: number }) => pid)
    .catch(() => null);
  if (pid !== null) process.kill(pid);
  await server?.exited;
  rmSync(folder, { recursive: true, force: true });
}

function readme(): string {
  return readFileSync(join(clone, "README.md"), "utf8");
}

/** Returns the README's commands of a kind. A placeholder in one is a value that the reader has to copy. */
function blocksOf(kind: string): string[] {
  const blocks = [...readme().matchAll(/^```bash (\w+)\n([\s\S]*?)^```$/gm)].filter(([, each]) => each === kind);
  return blocks.map(([, , code = ""]) => {
    copied += code.split("…").length - 1;
    return code;
  });
}

async function type(command: string[], cwd: string): Promise<void> {
  const child = Bun.spawn(command, { cwd, env: environment, stdin: "ignore", stdout: "ignore", stderr: "inherit" });
  if ((await child.exited) !== 0) throw new Error(`${command.join(" ")} failed`);
  report(command.at(-1)!.trim());
}

function seconds(): number {
  return (performance.now() - begun) / 1000;
}

function report(command: string): void {
  commands++;
  console.log(`${seconds().toFixed(1).padStart(6)} s  ${command}`);
}

async function untilServing(output: ReadableStream<Uint8Array>): Promise<void> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of output) {
    text += decoder.decode(chunk, { stream: true });
    if (/ run \w+ "/.test(text)) break;
  }
}
