import { serves } from "../lib/begin-anew.ts";
import { applyConfigFile, configPathIn, configSettings } from "./config-file.ts";
import { exitCodeOf, exitCodes, explain } from "./exit-code.ts";
import { printBeside } from "./print.ts";
import { createProgram } from "./program.ts";
import { serveCommand } from "./serve-command.ts";

/** Does what the command line asks for, and ends the process: nobody waits for a store or a server that went silent. */
export async function runCommandLine(): Promise<never> {
  try {
    const args = process.argv.slice(2);
    readConfiguration(args);
    await createProgram(serves(args) && !args.some(mayNameAnother)).parseAsync(process.argv);
  } catch (error) {
    const said = explain(error);
    if (said !== null) printBeside(said);
    process.exitCode = exitCodeOf(error);
  }
  process.exit(process.exitCode ?? exitCodes.done);
}

/** The help lists all commands; and what follows `--` may be one. */
const mayNameAnother = (arg: string): boolean => ["--help", "-h", "--"].includes(arg);

function readConfiguration(args: readonly string[]): void {
  const path = configPathIn(args, process.env);
  if (path === null || args[0] === "config") return;
  try {
    applyConfigFile(path, configSettings(serveCommand()), process.env);
  } catch (error) {
    if (args[0] !== "doctor") throw error; // Which says itself what is wrong with the file.
  }
}
