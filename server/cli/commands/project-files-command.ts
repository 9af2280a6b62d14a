import { Command } from "commander";
import type { ApplyFlags } from "./apply.ts";
import { type ClientFlags, clientOptions } from "./client-options.ts";
import { option } from "./option.ts";

export function applyCommand(): Command {
  const command = new Command("apply")
    .description("make the agents, tools, skills, snippets, triggers and other things of a project what files say")
    .argument("<folder>", "a folder with a YAML or JSON file for each thing, and a folder with SKILL.md for each skill")
    .addOption(option("--dry-run", "show the plan and change nothing", { env: "RUNNEL_APPLY_DRY_RUN" }))
    .addOption(
      option(
        "--secrets <file>",
        "where secrets of new webhooks, tools and triggers are written; they are shown only once",
        {
          env: "RUNNEL_APPLY_SECRETS",
        },
      ),
    )
    .addHelpText(
      "after",
      `
Exit codes: 0 the project is as the files say, 1 the server refused something, 2 a file is wrong, 3 with --dry-run: something would change.
What no file describes stays as it is.

Examples:
  $ runnel apply agents --dry-run
  $ RUNNEL_URL=https://agents.example.com RUNNEL_API_KEY=… runnel apply agents`,
    );
  for (const each of clientOptions()) command.addOption(each);
  return command.action(
    async (folder: string, flags: ApplyFlags) => await (await import("./apply.ts")).apply(folder, flags),
  );
}

export function exportCommand(): Command {
  const command = new Command("export")
    .description(
      "write the agents, tools, skills, snippets, triggers and other things of a project to files for runnel apply",
    )
    .argument("<folder>", "where the files are written; the file of a thing that is there already is written again")
    .addHelpText(
      "after",
      `
The files have names in place of ids, and no secrets: a header's value is written as ********.
The folder of a skill becomes that of its newest version: other files in it are removed.

Example:
  $ runnel export agents`,
    );
  for (const each of clientOptions()) command.addOption(each);
  return command.action(
    async (folder: string, flags: ClientFlags) => await (await import("./export.ts")).exportTo(folder, flags),
  );
}
