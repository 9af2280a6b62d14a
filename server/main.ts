import { enterChild } from "./sandbox/child.ts";

// First, and without loading anything else: a program in the sandbox waits for this process to have started.
if (!(await enterChild())) {
  const { runCommandLine } = await import("./cli/command-line.ts");
  await runCommandLine();
}
