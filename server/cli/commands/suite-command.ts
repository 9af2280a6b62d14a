import { Command, InvalidArgumentError } from "commander";
import { type ClientFlags, clientOptions } from "./client-options.ts";
import { option } from "./option.ts";
import type { SuiteRunFlags } from "./suite.ts";

export function suiteCommand(): Command {
  const suite = new Command("suite").description(
    "hold runs that are pinned as a suite against their agents as they are now",
  );
  suite
    .command("run")
    .description(
      "replay a suite; the exit code is 1 when something comes out otherwise, 2 when that is unknown; Ctrl-C cancels",
    )
    .argument("<suite>", "the suite's id (sui_…), or its name")
    .addOption(
      option("--live", "what comes out otherwise goes on with its model, from there", { env: "RUNNEL_SUITE_LIVE" }),
    )
    .addOption(
      option("--max-cost-usd <dollars>", "with --live: what all of it may cost together", {
        env: "RUNNEL_SUITE_MAX_COST_USD",
        parse: positive,
      }),
    )
    .addOption(
      option("--max-runs <n>", "with --live: how many cases may go on (20)", {
        env: "RUNNEL_SUITE_MAX_RUNS",
        parse: positive,
      }),
    )
    .addOption(
      option("--timeout <time>", "how long it may take, such as 10m, before it is cancelled", {
        env: "RUNNEL_SUITE_TIMEOUT",
      }),
    )
    .addHelpText(
      "after",
      `
Examples:
  $ runnel suite run weather
  $ RUNNEL_URL=https://agents.example.com RUNNEL_API_KEY=… runnel suite run weather --json > suite.json
  $ runnel suite run weather --live --max-cost-usd 0.50`,
    )
    .action(async (name: string, flags: SuiteRunFlags) => await (await import("./suite.ts")).runSuite(name, flags));
  suite
    .command("create")
    .description("pin runs as a suite: they are kept until it lets them go")
    .argument("<name>", "what it is called")
    .argument("<run...>", "ids of runs that are over (run_…)")
    .addHelpText("after", "\nExample:\n  $ runnel suite create weather run_01… run_01…")
    .action(
      async (name: string, runs: string[], flags: ClientFlags) =>
        await (await import("./suite.ts")).createSuite(name, runs, flags),
    );
  suite
    .command("list")
    .description("list the suites of the key's project and environment")
    .action(async (flags: ClientFlags) => await (await import("./suite.ts")).listSuites(flags));
  for (const command of suite.commands) for (const each of clientOptions()) command.addOption(each);
  return suite;
}

function positive(value: string): number {
  const number = Number(value);
  if (value.trim() !== "" && Number.isFinite(number) && number > 0) return number;
  throw new InvalidArgumentError("Expected a number above 0.");
}
