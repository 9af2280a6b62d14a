import { Command } from "commander";
import type { ModelPrice } from "../../domain/price.ts";
import { requireValue } from "../../lib/require-value.ts";
import { cliActor } from "./actor.ts";
import { CliError, usageError } from "./exit-code.ts";
import { addDataOptions, type DataFlags, option } from "./option.ts";
import { print, table } from "./print.ts";
import { withStores } from "./with-stores.ts";

interface SetOptions extends DataFlags {
  input: string;
  cachedInput?: string;
  cacheWrite5m?: string;
  cacheWrite1h?: string;
  output: string;
  contextWindow?: string;
}

/** `runnel models prices`: the prices that budgets and usage are computed with. */
export function modelPricesCommand(): Command {
  const prices = new Command("prices").description("what models cost, in USD per million tokens");
  prices.command("list").description("list the known prices, and of when they are").action(list);
  prices
    .command("set")
    .description("set a model's price; runs that begin from now on use it, also while the server runs")
    .argument("<model>", "provider/model; ollama/* and openai_compatible/NAME/* are all models of such a server")
    .addOption(option("--input <usd>", "a million tokens of a prompt", { env: "RUNNEL_PRICE_INPUT", required: true }))
    .addOption(
      option("--cached-input <usd>", "those that the provider has in its cache; default: as --input", {
        env: "RUNNEL_PRICE_CACHED_INPUT",
      }),
    )
    .addOption(
      option("--cache-write-5m <usd>", "those that it writes to its cache for five minutes; default: as --input", {
        env: "RUNNEL_PRICE_CACHE_WRITE_5M",
      }),
    )
    .addOption(
      option("--cache-write-1h <usd>", "those that it writes to its cache for an hour; default: as --input", {
        env: "RUNNEL_PRICE_CACHE_WRITE_1H",
      }),
    )
    .addOption(
      option("--output <usd>", "a million tokens of answers, reasoning included", {
        env: "RUNNEL_PRICE_OUTPUT",
        required: true,
      }),
    )
    .addOption(option("--context-window <tokens>", "how much the model takes", { env: "RUNNEL_CONTEXT_WINDOW" }))
    .addHelpText(
      "after",
      `
Examples:
  $ runnel models prices set openai/gpt-5 --input 1.25 --cached-input 0.125 --output 10
  $ runnel models prices set 'ollama/*' --input 0 --output 0   (your own machine is free, if you say so)`,
    )
    .action(set);
  prices
    .command("reset")
    .description("take back what was set: the listed price counts again, if there is one")
    .argument("<model>", "as it was set")
    .action(reset);
  addDataOptions(...prices.commands);
  return prices;
}

async function list({ dataDir, json }: DataFlags): Promise<void> {
  const data = await withStores(dataDir, false, (stores) => {
    const prices = stores.prices();
    const own = prices.all().map(({ model }) => model);
    const models = [...new Set([...prices.lines().map(({ id }) => id), ...own])];
    return models.map((model) => ({
      model,
      ...requireValue(prices.priceOf(model), model),
      context_window: prices.windowOf(model),
      reference: prices.referenceOf(model),
    }));
  });
  print(json, { object: "list", data }, () =>
    table(["MODEL", "INPUT", "CACHED", "OUTPUT", "WINDOW", "AS OF", "FROM", "SOURCE"], data.map(toRow)),
  );
}

interface Listed extends ModelPrice {
  model: string;
  context_window: number | null;
  reference: string | null;
}

const origins = { operator: "set by you", table: "your table", built_in: "list price", server: "the server's list" };

const toRow = ({ model, input, cached_input, output, context_window, as_of, source, reference }: Listed): string[] => [
  model,
  ...[input, cached_input, output].map(String),
  String(context_window ?? ""),
  as_of ?? "",
  origins[source],
  reference ?? "",
];

async function set(model: string, { dataDir, json, ...options }: SetOptions): Promise<void> {
  const input = readUsd(options.input, "--input");
  const price = {
    input,
    cached_input: options.cachedInput === undefined ? input : readUsd(options.cachedInput, "--cached-input"),
    ...(options.cacheWrite5m !== undefined && { cache_write_5m: readUsd(options.cacheWrite5m, "--cache-write-5m") }),
    ...(options.cacheWrite1h !== undefined && { cache_write_1h: readUsd(options.cacheWrite1h, "--cache-write-1h") }),
    output: readUsd(options.output, "--output"),
    context_window: options.contextWindow === undefined ? null : readTokens(options.contextWindow),
  };
  await withStores(dataDir, true, ({ prices }) => prices().set(model, price, cliActor()));
  print(json, { model, ...price }, () => `${model} costs ${price.input} in and ${price.output} out.`);
}

async function reset(model: string, { dataDir, json }: DataFlags): Promise<void> {
  const wasSet = await withStores(dataDir, false, ({ prices }) => prices().reset(model, cliActor()));
  if (!wasSet) throw new CliError(`No price is set for "${model}".`);
  print(json, { model, deleted: true }, () => `The price of ${model} is no longer yours.`);
}

function readUsd(text: string, flag: string): number {
  if (!/^\d{1,6}(\.\d{1,6})?$/.test(text)) throw usageError(`${flag} takes USD such as 1.25, not "${text}".`);
  return Number(text);
}

function readTokens(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw usageError(`--context-window takes a number of tokens, not "${text}".`);
  return Number(text);
}
