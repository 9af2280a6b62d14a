import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Command } from "commander";
import { configTemplate } from "./config-template.ts";
import { CliError } from "./exit-code.ts";
import { jsonOption } from "./option.ts";
import { writeOut } from "./output.ts";
import { print } from "./print.ts";

/** `runnel init`: writes a configuration file with every setting, commented out. */
export const initCommand = (serve: Pick<Command, "options">): Command =>
  new Command("init")
    .description("write runnel.toml, a configuration file with every setting of serve, commented out")
    .argument("[folder]", "folder of the file, which is made if it is missing; - prints the file", ".")
    .addOption(jsonOption())
    .addHelpText(
      "after",
      "\nAn existing file is kept, and the exit code is 1.\n\nExamples:\n  $ runnel init\n  $ runnel init /etc/runnel\n  $ runnel init - | less",
    )
    .action((folder: string, { json }: { json?: boolean }) => {
      if (folder === "-") writeOut(configTemplate(serve));
      else init(folder, configTemplate(serve), json);
    });

function init(folder: string, text: string, json: boolean | undefined): void {
  const file = join(folder, "runnel.toml");
  const next = `runnel serve --config ${file}`;
  if (existsSync(file)) throw new CliError(`${file} exists and was not changed. "runnel init -" prints a new one.`);
  try {
    mkdirSync(folder, { recursive: true });
    writeFileSync(file, text, { flag: "wx", mode: 0o600 }); // It may hold secrets later.
  } catch (error) {
    throw new CliError(`${file} cannot be written: ${(error as Error).message}`);
  }
  print(json, { file, next }, () =>
    [
      `Wrote ${file}: every setting, commented out. Remove the # before those that you change.`,
      `Check it: runnel config check ${file}`,
      `Start with it: ${next}`,
    ].join("\n"),
  );
}
