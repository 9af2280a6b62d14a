import { enterChild } from "./sandbox/child.ts";

// First, and without loading anything else: a program in the sandbox waits for this process to have started.
if (!(await enterChild())) {
  const { beginAnew, serves } = await import("./lib/begin-anew.ts");
  if (serves(process.argv.slice(2))) beginAnew(); // Before all else is loaded, which it would be twice.
  const { runCommandLine } = await import("./cli/command-line.ts");
  await runCommandLine();
}
