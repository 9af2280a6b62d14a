import { enterChild } from "./runtime/sandbox/child.ts";

// First, before anything else is loaded: a sandboxed program waits for the start of this process.
if (!(await enterChild())) {
  const { reexecWithFlags, startsServer } = await import("./lib/reexec.ts");
  if (startsServer(process.argv.slice(2))) reexecWithFlags(); // Before everything else is loaded, which would then be loaded twice.
  const { runCommandLine } = await import("./cli/commands/command-line.ts");
  await runCommandLine();
}
