import { applyProxy, removeProxyEnvironment } from "../../lib/proxy.ts";
import { startsServer } from "../../lib/reexec.ts";
import { createProgram } from "../program.ts";
import { serveCommand } from "../serve/serve-command.ts";
import { applyConfigFile, configPathIn, configSettings } from "./config-file.ts";
import { exitCodeOf, exitCodes, explain, usageError } from "./exit-code.ts";
import { printBeside } from "./print.ts";
import { renameFlags, renameVariables } from "./renamed-settings.ts";

/** Runs the command line and exits the process, which therefore does not wait for a silent store or server. */
export async function runCommandLine(): Promise<never> {
  try {
    const { args, oldNames } = readConfiguration(process.argv.slice(2));
    applyOperatorsProxy(args);
    await createProgram(startsServer(args), oldNames).parseAsync(args, { from: "user" });
  } catch (error) {
    const message = explain(error);
    if (message !== null) printBeside(message);
    process.exitCode = exitCodeOf(error);
  }
  process.exit(process.exitCode ?? exitCodes.done);
}

/**
 * Applies the proxy before any request. `serve`, `dev`, `doctor` and `config` report a wrong one with all other faults; flags
 * such as `--help` send no request.
 */
function applyOperatorsProxy([command = "--help"]: readonly string[]): void {
  try {
    applyProxy();
  } catch (error) {
    removeProxyEnvironment();
    const isReportedLater = command.startsWith("-") || ["serve", "dev", "doctor", "config"].includes(command);
    if (!isReportedLater) throw usageError((error as Error).message);
  }
}

interface Configuration {
  /** Arguments with the present names of flags. */
  args: string[];
  /** Warnings about settings under their old names. */
  oldNames: string[];
}

/** Brings the settings of the command line, the variables and the configuration file together in `process.env`. */
function readConfiguration(typed: readonly string[]): Configuration {
  const { args, warnings } = startsServer(typed) ? renameFlags(typed) : { args: [...typed], warnings: [] };
  const oldNames = [...warnings, ...renameVariables(process.env)]; // First: variables take precedence over the file.
  const path = configPathIn(args, process.env);
  if (path === null || args[0] === "config" || args[0] === "init") return { args, oldNames };
  try {
    oldNames.push(...applyConfigFile(path, configSettings(serveCommand()), process.env));
  } catch (error) {
    if (args[0] !== "doctor") throw error; // It reports the file's faults itself.
  }
  return { args, oldNames };
}
