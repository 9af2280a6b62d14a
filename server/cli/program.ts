import { Command } from "commander";
import { adminCommand } from "./admin.ts";
import { backupCommand } from "./backup.ts";
import { doctorCommand } from "./doctor-command.ts";
import { keysCommand } from "./keys.ts";
import { modelsCommand } from "./models.ts";
import { tidyEnvironment } from "./option.ts";
import { projectsCommand } from "./projects.ts";
import { readThroughCommand } from "./read-through-command.ts";
import { restoreCommand } from "./restore.ts";
import { runCommand } from "./run-command.ts";
import { serveCommand } from "./serve-command.ts";
import { suiteCommand } from "./suite-command.ts";
import { traceCommand } from "./trace-command.ts";
import { versionCommand, versionText } from "./version.ts";

/** The command line. Commands load what they need when they run: `runnel version` loads no server. */
export function createProgram(): Command {
  const program = new Command("runnel")
    .description("A self-hosted agent runtime in one executable.")
    .version(versionText(), "--version", "print the version")
    .addCommand(serveCommand(), { isDefault: true })
    .addCommand(keysCommand())
    .addCommand(projectsCommand())
    .addCommand(modelsCommand())
    .addCommand(adminCommand())
    .addCommand(runCommand())
    .addCommand(traceCommand())
    .addCommand(suiteCommand())
    .addCommand(backupCommand())
    .addCommand(restoreCommand())
    .addCommand(doctorCommand())
    .addCommand(versionCommand())
    .addCommand(readThroughCommand())
    .addHelpText(
      "after",
      `
Every flag can be given by environment: --data-dir is RUNNEL_DATA_DIR, and so on.
Exit codes: 0 done, 1 failed, 2 usage, 75 data directory in use, 78 database newer than this executable.`,
    );
  for (const command of [program, ...descendants(program)])
    command.exitOverride().configureHelp({ showGlobalOptions: false }).showHelpAfterError("(--help tells more)");
  tidyEnvironment(program);
  return program;
}

const descendants = (command: Command): Command[] =>
  command.commands.flatMap((child) => [child, ...descendants(child)]);
