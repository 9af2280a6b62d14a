import { exitCodeOf, exitCodes, explain } from "./exit-code.ts";
import { createProgram } from "./program.ts";

/** Does what the command line asks for, and sets the exit code. */
export async function runCommandLine(): Promise<void> {
  try {
    await createProgram().parseAsync(process.argv);
    process.exitCode ??= exitCodes.done;
  } catch (error) {
    const said = explain(error);
    if (said !== null) console.error(said);
    process.exitCode = exitCodeOf(error);
  }
}
