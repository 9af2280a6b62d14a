import { Command } from "commander";
import { option } from "../commands/option.ts";
import { serveCommand } from "../serve/serve-command.ts";
import { headingOf } from "../serve/setting-groups.ts";
import type { ServeFlags } from "../serve/settings.ts";
import { pickPort } from "./pick-port.ts";

/** Flags of `serve` that `dev` has too. The others are about other machines, other people or a service. */
const shared: readonly (keyof ServeFlags | "config")[] = [
  "config",
  "dataDir",
  "workers",
  "egressAllow",
  "proxy",
  "allowNetworkFilesystem",
  "sandbox",
  "python",
  "minFreeDisk",
  "otlpEndpoint",
  "otlpCaptureContent",
  "logFormat",
  "json",
];

interface DevFlags extends ServeFlags {
  open: boolean;
}

/**
 * Creates `runnel dev`: a server for the person at this machine, without a certificate. `oldNames` are warnings about
 * settings under their old names.
 */
export function devCommand(oldNames: readonly string[] = []): Command {
  const { options } = serveCommand();
  const command = new Command("dev")
    .description(
      "start a server for development: plain HTTP on this machine alone, with a key, an agent and no password",
    )
    .optionsGroup(headingOf("Address and TLS"))
    .addOption(
      option("--port <number>", "port to listen on. 0 is any free one", {
        defaultText: "8440, or the next free one",
        env: "RUNNEL_DEV_PORT", // That of a service counts for `serve`.
      }),
    )
    .addOption(option("--no-open", "do not open the dashboard in a browser"));
  for (const each of options) if ((shared as readonly string[]).includes(each.attributeName())) command.addOption(each);
  const defaults = Object.fromEntries(options.map((each) => [each.attributeName(), each.defaultValue]));
  return command
    .addHelpText(
      "after",
      `
The key is a test key. It stays the same in a data directory, and programs beside it find it by themselves.
For other machines and people there is "runnel serve", on the same data directory.

Examples:
  $ runnel dev
  $ runnel run guide "How is the weather in Oslo?"`,
    )
    .action(async ({ open, ...flags }: DevFlags) => {
      const [{ serve }, { createDevelopment }] = await Promise.all([
        import("../serve/serve.ts"),
        import("./development.ts"),
      ]);
      const fixed = { port: flags.port ?? String(pickPort()), host: "127.0.0.1", insecureHttp: true };
      await serve(
        { ...defaults, ...flags, ...fixed },
        {
          oldNames,
          development: createDevelopment({ opens: open, dataDir: flags.dataDir }),
        },
      );
    });
}
