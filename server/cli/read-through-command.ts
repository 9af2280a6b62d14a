import { Command } from "commander";
import { dataDirOption } from "./option.ts";
import { print } from "./print.ts";

/** Reads a database through beside the server that serves it. The server starts this by itself. */
export const readThroughCommand = (): Command =>
  new Command("read-through")
    .description(
      "read the whole database through, slowly, beside the server that serves it, which does so by itself once a day",
    )
    .addOption(dataDirOption())
    .action(async ({ dataDir }: { dataDir: string }) => {
      const { readSlowly } = await import("./read-through.ts");
      print(true, { ...(await readSlowly(dataDir)) }, () => "");
    });
