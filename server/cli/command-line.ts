import { serves } from "../lib/begin-anew.ts";
import { applyProxy, removeProxyEnvironment } from "../lib/proxy.ts";
import { applyConfigFile, configPathIn, configSettings } from "./config-file.ts";
import { exitCodeOf, exitCodes, explain, usageError } from "./exit-code.ts";
import { printBeside } from "./print.ts";
import { createProgram } from "./program.ts";
import { serveCommand } from "./serve-command.ts";

/** Does what the command line asks for, and ends the process: nobody waits for a store or a server that went silent. */
export async function runCommandLine(): Promise<never> {
  try {
    const args = process.argv.slice(2);
    readConfiguration(args);
    applyOperatorsProxy(args);
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

/** Before anything is asked of anybody. The server and what checks its settings name a wrong one with all other faults. */
function applyOperatorsProxy(args: readonly string[]): void {
  try {
    applyProxy();
  } catch (error) {
    removeProxyEnvironment();
    if (!serves(args) && !["doctor", "config"].includes(args[0]!)) throw usageError((error as Error).message);
  }
}

function readConfiguration(args: readonly string[]): void {
  const path = configPathIn(args, process.env);
  if (path === null || args[0] === "config") return;
  try {
    applyConfigFile(path, configSettings(serveCommand()), process.env);
  } catch (error) {
    if (args[0] !== "doctor") throw error; // Which says itself what is wrong with the file.
  }
}
