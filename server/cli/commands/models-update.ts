import { readFileSync, statSync } from "node:fs";
import { basename, resolve } from "node:path";
import { Command } from "commander";
import type { PriceList } from "../../domain/price-table.ts";
import { createEgress } from "../../lib/egress.ts";
import { fetchPriceList } from "../../resources/model-connections/fetch-price-list.ts";
import { priceListMax, readPriceList } from "../../resources/model-connections/read-price-list.ts";
import { splitList } from "../serve/listen-plan.ts";
import { cliActor } from "./actor.ts";
import { commandTarget } from "./command-target.ts";
import { CliError, usageError } from "./exit-code.ts";
import { addDataOptions, type DataFlags, option } from "./option.ts";
import { print } from "./print.ts";
import { withStores } from "./with-stores.ts";

interface UpdateOptions extends DataFlags {
  reset?: boolean;
}

/** `runnel models update`: the table of list prices. */
export function modelsUpdateCommand(): Command {
  const command = new Command("update")
    .description("replace the table of list prices and context windows; runs that begin from now on use it")
    .argument("[source]", "a JSON file, or a URL, which is fetched once")
    .addOption(option("--reset", "go back to the table that came with this version", { env: "RUNNEL_MODELS_RESET" }))
    .addHelpText(
      "after",
      `
Examples:
  $ runnel models update prices.json
  $ runnel models update https://example.com/prices.json
  $ runnel models update --reset

The file: {"as_of": "2026-11-29", "models": [{"id": "openai/gpt-5.4", "input": 2.5, "output": 15, "cache_read": 0.25,
"cache_write_5m": 3.125, "cache_write_1h": 5, "context_window": 1050000, "source": "https://…"}]}
in US dollars per million tokens. Prices that you set yourself (models prices set) take precedence.`,
    )
    .action(update);
  addDataOptions(command);
  return command;
}

/** Size and date of a table of list prices. */
export const tableWords = ({ models, as_of }: { models: number; as_of: string }): string =>
  `${models} ${models === 1 ? "model" : "models"} of ${as_of}`;

async function update(source: string | undefined, { dataDir, json, reset }: UpdateOptions): Promise<void> {
  if ((source === undefined) === !reset) throw usageError("Give a file or a URL, or --reset.");
  if (source === undefined) return await restore(dataDir, json);
  const { list, origin } = await read(source);
  const table = await withStores(dataDir, true, async ({ prices }) => {
    const store = prices();
    await store.load(list, origin, cliActor());
    return store.table();
  });
  print(json, table, () => `${tableWords(table)}, from ${origin}.`);
}

async function restore(dataDir: string, json: boolean | undefined): Promise<void> {
  const table = await withStores(dataDir, false, async ({ prices }) => {
    const store = prices();
    if (!(await store.unload(cliActor()))) throw new CliError("The table is the one that came with this version.");
    return store.table();
  });
  print(json, table, () => `${tableWords(table)}, as they came with this version.`);
}

async function read(source: string): Promise<{ list: PriceList; origin: string }> {
  if (/^https?:\/\//i.test(source)) {
    // The operator's own machine may have the file too.
    const allow = splitList(process.env.RUNNEL_EGRESS_ALLOW);
    return await fetchPriceList(createEgress({ allow, loopback: true }), source, Date.now());
  }
  if (commandTarget())
    throw usageError("The leader of a cluster cannot read your file: give a URL, or use the dashboard.");
  const path = resolve(source);
  const origin = basename(path);
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) > priceListMax.bytes)
    throw new CliError(`${source} has more than ${priceListMax.bytes} bytes.`);
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    throw new CliError(`${source} cannot be read: ${(error as Error).message}`);
  }
  return { list: readPriceList(text, origin, Date.now()), origin };
}
