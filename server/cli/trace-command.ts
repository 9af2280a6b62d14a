import { Command } from "commander";
import { type ClientFlags, clientOptions } from "./client-options.ts";

export function traceCommand(): Command {
  const command = new Command("trace")
    .description("show what a run did, step by step, with times, tokens and errors")
    .argument("<run>", "id of a run (run_…) or of its trace (trc_…), or a file: a capsule or an exported trace");
  for (const each of clientOptions()) command.addOption(each);
  return command
    .addHelpText(
      "after",
      "\nExamples:\n  $ runnel trace run_01…\n  $ runnel trace run_01….capsule.sqlite3   needs no server",
    )
    .action(async (run: string, flags: ClientFlags) => await (await import("./trace.ts")).trace(run, flags));
}
