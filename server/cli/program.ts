import { Command } from "commander";
import { build } from "../lib/build-info.ts";
import { requireValue } from "../lib/require-value.ts";
import { cellOption, clusterCommand, clusterOption, sendToLeader } from "./cluster/cluster-command.ts";
import { adminCommand } from "./commands/admin.ts";
import { backupCommand } from "./commands/backup.ts";
import { type ClientFlags, clientOptions } from "./commands/client-options.ts";
import { configCommand } from "./commands/config-command.ts";
import { connectionsCommand } from "./commands/connections.ts";
import { docsCommand, licensesCommand } from "./commands/docs.ts";
import type { DoctorFlags } from "./commands/doctor.ts";
import { embedderCommand } from "./commands/embedder-command.ts";
import { usageError } from "./commands/exit-code.ts";
import { initCommand } from "./commands/init.ts";
import { installCommand } from "./commands/install.ts";
import { keysCommand } from "./commands/keys.ts";
import { logsCommand } from "./commands/logs-command.ts";
import { modelsCommand } from "./commands/models.ts";
import {
  configOption,
  type DataFlags,
  dataDirOption,
  describeFlag,
  jsonOption,
  option,
  tidyEnvironment,
} from "./commands/option.ts";
import { writeBeside, writeOut } from "./commands/output.ts";
import { print } from "./commands/print.ts";
import { applyCommand, exportCommand } from "./commands/project-files-command.ts";
import { projectsCommand } from "./commands/projects.ts";
import { restoreCommand } from "./commands/restore.ts";
import { runCommand } from "./commands/run-command.ts";
import { suiteCommand } from "./commands/suite-command.ts";
import { toolsCommand } from "./commands/tools-command.ts";
import type { TopFlags } from "./commands/top.ts";
import { devCommand } from "./dev/dev-command.ts";
import { serveCommand } from "./serve/serve-command.ts";
import { internalVariables, variableOf, variables } from "./serve/variables.ts";

/**
 * Creates the command line. Commands load their code when they run: `runnel version` loads no server. With `servesOnly`
 * only `serve` and `dev` are created, because the other commands would delay each start. `oldNames` are warnings about
 * settings under their old names.
 */
export function createProgram(servesOnly = false, oldNames: readonly string[] = []): Command {
  const serve = serveCommand(oldNames);
  const program = new Command("runnel")
    .description("A self-hosted agent runtime in one executable.")
    .version(versionText(), "--version", "print the version")
    .addCommand(devCommand(oldNames))
    .addCommand(serve)
    .helpCommand(true)
    .allowUnknownOption()
    .allowExcessArguments()
    .action((_, { args: [first] }: Command) => (first === undefined ? program.outputHelp() : refuse(first, serve)));
  if (!servesOnly) addOthers(program, serve, oldNames);
  for (const command of [program, ...descendants(program)])
    command
      .exitOverride()
      .configureHelp({ showGlobalOptions: false, optionDescription: describeFlag })
      .configureOutput({ writeOut, writeErr: writeBeside })
      .showHelpAfterError("(--help tells more)");
  tidyEnvironment(program);
  return program;
}

/** Refuses arguments that name no command. */
function refuse(first: string, serve: Command): never {
  if (!first.startsWith("-")) throw usageError(`There is no command "${first}". runnel --help lists them.`);
  const [flag] = first.split("=");
  const hint = serve.options.some(({ long }) => long === flag)
    ? `Did you mean "runnel serve ${flag}"?`
    : "runnel --help lists commands.";
  throw usageError(`Unknown option ${flag} without a command. ${hint}`);
}

function addOthers(program: Command, serve: Command, oldNames: readonly string[]): void {
  program
    .addCommand(sendToLeader(keysCommand()))
    .addCommand(sendToLeader(projectsCommand()))
    .addCommand(sendToLeader(modelsCommand()))
    .addCommand(sendToLeader(connectionsCommand()))
    .addCommand(embedderCommand())
    .addCommand(sendToLeader(adminCommand()))
    .addCommand(runCommand())
    .addCommand(traceCommand())
    .addCommand(suiteCommand())
    .addCommand(toolsCommand())
    .addCommand(applyCommand())
    .addCommand(exportCommand())
    .addCommand(backupCommand())
    .addCommand(restoreCommand())
    .addCommand(initCommand(serve))
    .addCommand(configCommand(serve))
    .addCommand(installCommand())
    .addCommand(restartCommand())
    .addCommand(docsCommand())
    .addCommand(clusterCommand())
    .addCommand(licensesCommand())
    .addCommand(doctorCommand(oldNames))
    .addCommand(healthCommand())
    .addCommand(topCommand())
    .addCommand(sendToLeader(logsCommand()))
    .addCommand(versionCommand())
    .addCommand(readThroughCommand())
    .addHelpText(
      "after",
      `
Every flag can be given by environment: --data-dir is RUNNEL_DATA_DIR, and so on. What a configuration file says
(--config, RUNNEL_CONFIG) counts where neither a flag nor a variable says something else.
Without a flag: ${variables.map(({ name }) => name).join(", ")} ("runnel docs reference/configuration").
Exit codes: 0 done, 1 failed, 2 usage, 3 something would change (apply --dry-run), 75 data directory in use,
78 database newer than this executable, or no way into the cluster, 141 the reader of its output is gone.`,
    );
}

const descendants = (command: Command): Command[] =>
  command.commands.flatMap((child) => [child, ...descendants(child)]);

const doctorCommand = (oldNames: readonly string[]): Command =>
  new Command("doctor")
    .description(
      "check the data directory, the database, the disk, the limit of open files, the certificate, the models' connections, the sandbox, the embedding model and what else is set: sign-in, mail, a store of backups, a cluster",
    )
    .addOption(configOption())
    .addOption(dataDirOption())
    .addOption(clusterOption())
    .addOption(cellOption())
    .addOption(
      option("--cluster-durability <what>", "engine-local: it is meant that the Postgres has no synchronous standby", {
        choices: ["engine-local"],
      }),
    )
    .addOption(
      option("--machine", "look at this machine alone: its data directory, its disk and its sandbox", {
        env: "RUNNEL_DOCTOR_MACHINE",
      }),
    )
    .addOption(jsonOption())
    .addHelpText("after", "\nExits with 1 when something is broken. Calls no provider of models.")
    .action(async (flags: DoctorFlags, { parent }: Command) => {
      const unknown = unknownVariables(requireValue(parent, "The program")).map((name) => `nothing reads ${name}`);
      await (await import("./commands/doctor.ts")).doctor(flags, [...oldNames, ...unknown]);
    });

/** Returns variables with runnel's prefix that are unknown, such as typing errors. */
function unknownVariables(program: Command): string[] {
  const known = new Set(descendants(program).flatMap(({ options }) => options.map(({ envVar }) => envVar)));
  const names = Object.keys(process.env).filter((name) => name.startsWith("RUNNEL_"));
  return names.filter((name) => !known.has(name) && !internalVariables.includes(name) && !variableOf(name));
}

const healthCommand = (): Command => {
  const command = new Command("health").description("end with 0 while the server can do its work, for health checks");
  for (const each of clientOptions()) if (each.name() !== "api-key") command.addOption(each);
  return command.action(async (flags: ClientFlags) => await (await import("./commands/health.ts")).health(flags));
};

const restartCommand = (): Command =>
  new Command("restart")
    .description("replace the server that runs by the executable that is installed now; no request is refused")
    .addOption(dataDirOption())
    .addOption(jsonOption())
    .addHelpText("after", "\nOn Linux. With systemd: systemctl reload runnel.")
    .action(async (flags: DataFlags) => await (await import("./serve/restart.ts")).restart(flags));

const topCommand = (): Command =>
  new Command("top")
    .description("show live runs, rates and latencies of a server, until Ctrl-C")
    .addOption(option("--url <address>", "the server (default: the one that runs on the data directory)"))
    .addOption(option("--cacert <file>", "certificate to trust (default: the local server's own)"))
    .addOption(option("--metrics-token <token>", "for a server on another machine: its RUNNEL_METRICS_TOKEN"))
    .addOption(clusterOption())
    .addOption(cellOption())
    .addOption(option("--interval <seconds>", "time that rates and latencies are measured over", { default: "2" }))
    .addOption(dataDirOption())
    .addOption(option("--json", "print one sample as a JSON object, and end"))
    .action(async (flags: TopFlags) => await (await import("./commands/top.ts")).top(flags));

/** Scrubs a database beside the server, which starts this itself. */
const readThroughCommand = (): Command =>
  new Command("read-through")
    .description(
      "read the whole database through, slowly, beside the server that serves it, which does so by itself once a day",
    )
    .addOption(dataDirOption())
    .action(async ({ dataDir }: { dataDir: string }) => {
      const { runScrub: readSlowly } = await import("./commands/scrub-command.ts");
      print(true, { ...(await readSlowly(dataDir)) }, () => "");
    });

function traceCommand(): Command {
  const command = new Command("trace")
    .description("show what a run did, step by step, with times, tokens and errors")
    .argument("<run>", "id of a run (run_…) or of its trace (trc_…), or a file: a capsule or an exported trace");
  for (const each of clientOptions()) command.addOption(each);
  return command
    .addHelpText(
      "after",
      "\nExamples:\n  $ runnel trace run_01…\n  $ runnel trace run_01….capsule.sqlite3   needs no server",
    )
    .action(async (run: string, flags: ClientFlags) => await (await import("./commands/trace.ts")).trace(run, flags));
}

/** Returns `runnel 1.2.3 (commit 0123456789ab, built 2026-11-21T…)`. */
const versionText = (): string =>
  `runnel ${build.version} (commit ${build.commit}${build.date ? `, built ${build.date}` : ""})`;

const versionCommand = (): Command =>
  new Command("version")
    .description("print the version, the commit and the date of the build")
    .addOption(jsonOption())
    .action(({ json }: { json?: boolean }) => print(json, { ...build, bun: Bun.version }, versionText));
