import { Command } from "commander";
import { connectionProviders } from "../../domain/providers.ts";
import { timestampOrNull } from "../../domain/time.ts";
import { checkConnection } from "../../resources/model-connections/check-connection.ts";
import type { Connection } from "../../runtime/models/model.ts";
import { modelPrefix } from "../../runtime/models/registry.ts";
import { cliActor } from "./actor.ts";
import { CliError, usageError } from "./exit-code.ts";
import { modelPricesCommand } from "./model-prices.ts";
import { modelsUpdateCommand } from "./models-update.ts";
import { addDataOptions, type DataFlags, option } from "./option.ts";
import { print, table } from "./print.ts";
import { withStores } from "./with-stores.ts";

interface AddOptions extends DataFlags {
  provider?: string;
  baseUrl?: string;
  apiKey?: string;
  maxConcurrent?: string;
  idleTimeoutMs?: string;
}

export function modelsCommand(): Command {
  const models = new Command("models").description("how to reach model providers, and what models cost");
  models
    .command("add")
    .description("add a connection, or replace the one of this name; its key is stored encrypted")
    .argument("<name>", "a provider's own name, or any name for an OpenAI-compatible server")
    .addOption(
      option("--provider <provider>", "default: the name, or openai_compatible", { choices: connectionProviders }),
    )
    .addOption(option("--base-url <url>", "address of the API, /v1 included"))
    .addOption(option("--api-key <key>", "the provider's key", { env: "RUNNEL_MODEL_API_KEY" }))
    .addOption(option("--max-concurrent <count>", "calls that its server takes at once; the others wait, in turns"))
    .addOption(
      option("--idle-timeout-ms <ms>", "how long its server may send nothing while it answers; default: 300000"),
    )
    .addHelpText(
      "after",
      `
Examples:
  $ RUNNEL_MODEL_API_KEY=sk-… runnel models add openai
  $ runnel models add local --base-url http://127.0.0.1:8080/v1   (models: openai_compatible/local/…)`,
    )
    .action(add);
  models.command("list").description("list the connections, without their keys").action(list);
  models
    .command("remove")
    .description("remove a stored connection")
    .argument("<name>", "the connection, as `models list` shows it")
    .action(remove);
  addDataOptions(...models.commands);
  models.addCommand(modelPricesCommand());
  models.addCommand(modelsUpdateCommand());
  return models;
}

async function add(name: string, { dataDir, json, ...options }: AddOptions): Promise<void> {
  const connection = readConnection(name, options);
  await withStores(dataDir, true, ({ connections }) => connections().put(connection, cliActor()));
  const { api_key: _, ...publicConnection } = connection;
  print(json, publicConnection, () => `Added ${name}. Its models are ${modelPrefix(connection)}/….`);
}

const flags = {
  name: null,
  provider: "--provider",
  base_url: "--base-url",
  api_key: "--api-key",
  max_concurrent: "--max-concurrent",
  idle_timeout_ms: "--idle-timeout-ms",
};

/** Returns the connection of the flags. Throws a usage error that names the wrong flag. */
export function readConnection(
  name: string,
  { provider, baseUrl, apiKey, maxConcurrent, idleTimeoutMs }: Omit<AddOptions, keyof DataFlags>,
): Connection {
  const max_concurrent = maxConcurrent === undefined ? null : Number(maxConcurrent);
  const idle_timeout_ms = idleTimeoutMs === undefined ? null : Number(idleTimeoutMs);
  const read = checkConnection({
    name,
    provider,
    base_url: baseUrl,
    api_key: apiKey,
    max_concurrent,
    idle_timeout_ms,
  });
  if (!("message" in read)) return read;
  const flag = flags[read.param];
  throw usageError(flag ? read.message.replace(/\.$/, ` (${flag}).`) : read.message);
}

async function list({ dataDir, json }: DataFlags): Promise<void> {
  const all = await withStores(dataDir, false, ({ connections }) => connections().list());
  const data = all.map(({ created_at_ms, ...rest }) => ({ ...rest, created_at: timestampOrNull(created_at_ms) }));
  print(json, { object: "list", data }, () =>
    table(
      ["NAME", "PROVIDER", "BASE URL", "AT ONCE", "FROM"],
      data.map(({ name, provider, base_url, max_concurrent, source }) => [
        name,
        provider,
        base_url ?? "",
        String(max_concurrent ?? ""),
        source,
      ]),
    ),
  );
}

async function remove(name: string, { dataDir, json }: DataFlags): Promise<void> {
  const removed = await withStores(dataDir, false, ({ connections }) => connections().remove(name, cliActor()));
  if (!removed) throw new CliError(`There is no stored connection "${name}".`);
  print(json, { name, deleted: true }, () => `${name} is removed.`);
}
