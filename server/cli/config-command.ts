import { Command } from "commander";
import { configSettings, hasOpenSecrets, readConfigFile, refusedFile } from "./config-file.ts";
import { jsonOption } from "./option.ts";
import { print } from "./print.ts";

/** `runnel config check FILE`. */
export const configCommand = (serve: Command): Command =>
  new Command("config").description("look at configuration files").addCommand(
    new Command("check")
      .description("check a configuration file: its keys, and whether a server can be started with their values")
      .argument("<file>", "a file in TOML, as serve --config takes it")
      .addOption(jsonOption())
      .action(async (file: string, { json }: { json?: boolean }) => {
        const found = readConfigFile(file, configSettings(serve));
        const { settingFaults } = await import("./check-settings.ts");
        const faults = settingFaults(serve, found);
        const wrong = faults.filter(({ isLacking }) => !isLacking);
        if (wrong.length > 0)
          throw refusedFile(
            file,
            faults.map(({ message }) => message),
          );
        // A secret may be in a variable instead of the file.
        const warnings = faults.map(({ message }) => message);
        const count = Object.keys(found).length;
        if (hasOpenSecrets(file, Object.keys(found)))
          warnings.push(`Others can read its secrets. Run: chmod 600 ${file}`);
        print(json, { valid: true, file, settings: count, warnings }, () =>
          [`${file} is valid, with ${count} setting${count === 1 ? "" : "s"}.`, ...warnings].join("\n"),
        );
      }),
  );
