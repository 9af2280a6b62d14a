import { Command } from "commander";
import { configSettings, hasOpenSecrets, readConfigFile } from "./config-file.ts";
import { jsonOption } from "./option.ts";
import { print } from "./print.ts";

/** `runnel config check FILE`. */
export const configCommand = (serve: Command): Command =>
  new Command("config").description("look at configuration files").addCommand(
    new Command("check")
      .description("check a configuration file: its keys, and the kinds of their values")
      .argument("<file>", "a file in TOML, as serve --config takes it")
      .addOption(jsonOption())
      .action((file: string, { json }: { json?: boolean }) => {
        const found = Object.keys(readConfigFile(file, configSettings(serve)));
        const warnings = hasOpenSecrets(file, found) ? [`Others can read its secrets. Run: chmod 600 ${file}`] : [];
        print(json, { valid: true, file, settings: found.length, warnings }, () =>
          [`${file} is valid, with ${found.length} setting${found.length === 1 ? "" : "s"}.`, ...warnings].join("\n"),
        );
      }),
  );
