import { Command } from "commander";
import { clientOptions } from "./client-options.ts";
import { collect, option } from "./option.ts";
import type { RunFlags } from "./run.ts";

export function runCommand(): Command {
  const command = new Command("run")
    .description("run an agent and stream its answer to the terminal; Ctrl-C cancels the run")
    .argument("<agent>", "the agent's id (agt_…), or its name")
    .argument("<input>", "what the agent is given")
    .addOption(
      option("--output <tool=json>", "answers a client tool by name or call id, instead of asking (may be repeated)", {
        parse: collect,
      }),
    )
    .addOption(
      option("--decision <tool=approve|reject>", "decides about a tool by name or call id (may be repeated)", {
        parse: collect,
      }),
    );
  for (const each of clientOptions()) command.addOption(each);
  return command
    .addHelpText(
      "after",
      `
Examples:
  $ runnel run agt_01… "What is the weather in Oslo?"
  $ runnel run weather "And in Rome?" --output 'get_weather={"celsius":21}'`,
    )
    .action(
      async (agent: string, input: string, flags: RunFlags) =>
        await (await import("./run.ts")).run(agent, input, flags),
    );
}
