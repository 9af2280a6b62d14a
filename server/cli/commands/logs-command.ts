import { Command } from "commander";
import type { LogsFlags } from "./logs.ts";
import { dataDirOption, option } from "./option.ts";

export const logsCommand = (): Command =>
  new Command("logs")
    .description("print what happened to a run, from its journal; needs no server and no API key")
    .addOption(option("--run <id>", "the run (run_…)", { required: true }))
    .addOption(option("--follow", "go on until the run is over"))
    .addOption(dataDirOption())
    .addOption(option("--json", "print one JSON object a line, as serve --log-format json does"))
    .addHelpText("after", "\nExample:\n  $ runnel logs --run run_01… --follow")
    .action(async (flags: LogsFlags) => await (await import("./logs.ts")).logs(flags));
