import { Command } from "commander";
import { configSettings, hasOpenSecrets, inspectConfigFile, refusedFile } from "./config-file.ts";
import { jsonOption, option } from "./option.ts";
import { print } from "./print.ts";

export const configCommand = (serve: Command): Command =>
  new Command("config").description("look at configuration files").addCommand(
    new Command("check")
      .description(
        "check a configuration file: its keys, whether a server starts with their values, and files that it names",
      )
      .argument("<file>", "a file in TOML, as serve --config takes it")
      .addOption(option("--syntax-only", "open no file that it names, as where no server is to run"))
      .addOption(jsonOption())
      .action(async (file: string, { syntaxOnly, json }: { syntaxOnly?: boolean; json?: boolean }) => {
        const { found, faults: unread, warnings: oldNames } = inspectConfigFile(file, configSettings(serve));
        const { flagsFrom, settingFaults } = await import("../serve/check-settings.ts");
        const { checkFiles: fileFaults } = await import("./check-files.ts");
        const faults = [
          ...unread.map((message) => ({ message, isCertain: true })),
          ...settingFaults(serve, found),
          ...(syntaxOnly ? [] : fileFaults({ ...flagsFrom(serve, found), dataDir: found.RUNNEL_DATA_DIR })),
        ];
        const messages = faults.map(({ message }) => message);
        if (faults.some(({ isCertain }) => isCertain)) throw refusedFile(file, messages);
        const warnings = [...oldNames, ...messages]; // A missing setting may come from a variable, and the server's user may read what this one cannot.
        const count = Object.keys(found).length;
        if (hasOpenSecrets(file, Object.keys(found)))
          warnings.push(`Others can read its secrets. Run: chmod 600 ${file}`);
        print(json, { valid: true, file, settings: count, warnings }, () =>
          [`${file} is valid, with ${count} setting${count === 1 ? "" : "s"}.`, ...warnings].join("\n"),
        );
      }),
  );
