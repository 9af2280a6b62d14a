import { Command } from "commander";
import { cloudSecretFields } from "../../domain/cloud-connection.ts";
import type { ModelPrice } from "../../domain/price.ts";
import { connectionProviders } from "../../domain/providers.ts";
import { timestampOrNull } from "../../domain/time.ts";
import { checkConnection } from "../../resources/model-connections/check-connection.ts";
import type { CatalogModel, ModelListState } from "../../resources/model-connections/model-catalog.ts";
import type { ConnectionStore } from "../../resources/model-connections/store.ts";
import type { Connection } from "../../runtime/models/model.ts";
import { modelPrefix } from "../../runtime/models/registry.ts";
import { cliActor } from "./actor.ts";
import { type AuthOptions, addAuthOptions, authFlags, authOf, splitAuth } from "./auth-options.ts";
import { addCloudOptions, type CloudOptions, cloudFieldsOf } from "./cloud-options.ts";
import { CliError, usageError } from "./exit-code.ts";
import { modelPricesCommand } from "./model-prices.ts";
import { modelsUpdateCommand } from "./models-update.ts";
import { modelsUseCommand } from "./models-use.ts";
import { addDataOptions, type DataFlags, option } from "./option.ts";
import { print, table } from "./print.ts";
import { withStores } from "./with-stores.ts";

interface AddOptions extends DataFlags, CloudOptions, AuthOptions {
  provider?: string;
  baseUrl?: string;
  apiKey?: string;
  maxConcurrent?: string;
  idleTimeoutMs?: string;
  fallback?: string[];
}

export function modelsCommand(): Command {
  const models = new Command("models").description("the models of connections, and what they cost");
  models.addCommand(addConnectionCommand());
  models
    .command("list")
    .description("list the connections without their keys, and the models that their servers list")
    .addOption(option("--connection <name>", "only this connection", { env: "RUNNEL_MODELS_CONNECTION" }))
    .addOption(option("--search <words>", "only models with these words in any part of their names"))
    .addOption(option("--refresh", "read the lists now, also those of the last five minutes"))
    .addHelpText("after", "\nExample:\n  $ runnel models list --connection openrouter --search 'llama 70b'")
    .action(list);
  models.addCommand(removeConnectionCommand());
  addDataOptions(...models.commands);
  models.addCommand(modelPricesCommand());
  models.addCommand(modelsUpdateCommand());
  models.addCommand(modelsUseCommand());
  return models;
}

/** `add`, of `runnel models` and `runnel connections`. */
export const addConnectionCommand = (): Command =>
  addAuthOptions(
    addCloudOptions(
      new Command("add")
        .description("add a connection, or replace the one of this name; its key is stored encrypted")
        .argument("<name>", "a provider's own name, or any name for an OpenAI-compatible server")
        .addOption(
          option("--provider <provider>", "default: the name, or openai_compatible", { choices: connectionProviders }),
        )
        .addOption(option("--base-url <url>", "address of the API, with or without /v1"))
        .addOption(option("--api-key <key>", "the provider's key", { env: "RUNNEL_MODEL_API_KEY" })),
    ),
  )
    .addOption(option("--max-concurrent <count>", "calls that its server takes at once; the others wait, in turns"))
    .addOption(
      option("--idle-timeout-ms <ms>", "how long its server may send nothing while it answers; default: 300000"),
    )
    .addOption(
      option("--fallback <models...>", "models or connections that are asked if its models cannot answer, in order"),
    )
    .addHelpText(
      "after",
      `
Examples:
  $ RUNNEL_MODEL_API_KEY=sk-… runnel models add openai
  $ runnel models add local --base-url http://127.0.0.1:8080/v1   (models: openai_compatible/local/…)
  $ RUNNEL_MODEL_API_KEY=… runnel models add bedrock --region us-east-1
  $ runnel models add azure --base-url https://NAME.openai.azure.com --client-id … --client-secret … \\
      --issuer https://login.microsoftonline.com/TENANT/v2.0 --scope https://cognitiveservices.azure.com/.default
  $ runnel models add vertex --service-account key.json --location europe-west1`,
    )
    .action(add);

/** `remove`, of `runnel models` and `runnel connections`. */
export const removeConnectionCommand = (): Command =>
  new Command("remove")
    .description("remove a stored connection")
    .argument("<name>", "the connection, as `models list` shows it")
    .action(remove);

async function add(name: string, { dataDir, json, ...options }: AddOptions): Promise<void> {
  const connection = readConnection(name, options);
  await withStores(dataDir, true, ({ connections }) => connections().put(connection, cliActor()));
  print(json, withoutSecrets(connection), () => `Added ${name}. Its models are ${modelPrefix(connection)}/….`);
}

function withoutSecrets({ api_key: _, ...connection }: Connection) {
  for (const name of cloudSecretFields) delete connection[name];
  return connection;
}

const flags = {
  name: null,
  provider: "--provider",
  base_url: "--base-url",
  api_key: "--api-key",
  max_concurrent: "--max-concurrent",
  idle_timeout_ms: "--idle-timeout-ms",
  fallbacks: "--fallback",
  region: "--region",
  access_key_id: "--access-key-id",
  secret_access_key: "--secret-access-key",
  session_token: "--session-token",
  project: "--project",
  location: "--location",
  service_account: "--service-account",
  client_secret: "--client-secret",
};

/** Returns the connection of the flags. Throws a usage error that names the wrong flag. */
export function readConnection(name: string, given: Omit<AddOptions, keyof DataFlags>): Connection {
  const { auth, rest } = splitAuth(given);
  const { provider, baseUrl, apiKey, maxConcurrent, idleTimeoutMs, fallback, ...cloud } = rest;
  const max_concurrent = maxConcurrent === undefined ? null : Number(maxConcurrent);
  const idle_timeout_ms = idleTimeoutMs === undefined ? null : Number(idleTimeoutMs);
  const read = checkConnection({
    name,
    provider,
    base_url: baseUrl,
    api_key: apiKey,
    max_concurrent,
    idle_timeout_ms,
    fallbacks: fallback,
    ...cloudFieldsOf(cloud),
    auth: authOf(auth),
  });
  if (!("message" in read)) return read;
  const flag = read.param.startsWith("auth") ? authFlags[read.param] : flags[read.param as keyof typeof flags];
  throw usageError(flag ? read.message.replace(/\.$/, ` (${flag}).`) : read.message);
}

interface ListOptions extends DataFlags {
  connection?: string;
  search?: string;
  refresh?: boolean;
}

async function list({ dataDir, json, connection, search, refresh = false }: ListOptions): Promise<void> {
  const { data, models } = await withStores(dataDir, false, async (stores) => {
    const { connections, catalog, prices } = stores.models();
    const isWanted = (each: { name: string; prefix: string }) =>
      connection === undefined || each.name === connection || each.prefix === connection;
    const used = connections.used().filter(isWanted);
    const [only] = used;
    if (connection !== undefined && !only) throw new CliError(`There is no connection "${connection}".`);
    if (refresh) await Promise.all(used.map(({ prefix }) => catalog.refresh(prefix)));
    const models = await catalog.models("live", prices, { q: search, connection: connection && only?.prefix });
    const states = new Map(catalog.states().map((state) => [state.prefix, state]));
    const data = connections
      .list()
      .filter((each) => isWanted({ name: each.name, prefix: modelPrefix(each) }))
      .map((each) => toListed(each, states.get(modelPrefix(each))));
    return { data, models: models.map(({ object: _, ...model }) => model) };
  });
  print(json, { object: "list", data, models }, () => `${connectionsTable(data)}\n\n${modelsTable(models)}`);
}

type ListedConnection = ReturnType<typeof toListed>;

function toListed(
  { created_at_ms, updated_at_ms, ...rest }: ReturnType<ConnectionStore["list"]>[number],
  state: ModelListState | undefined,
) {
  return {
    ...rest,
    created_at: timestampOrNull(created_at_ms),
    updated_at: timestampOrNull(updated_at_ms),
    models: state?.count ?? null,
    models_error: state?.error ?? null,
  };
}

const connectionsTable = (data: readonly ListedConnection[]): string =>
  table(
    ["NAME", "PROVIDER", "BASE URL", "AT ONCE", "FALLBACKS", "FROM", "MODELS"],
    data.map(({ name, provider, base_url, max_concurrent, fallbacks, source, models, models_error }) => [
      name,
      provider,
      base_url ?? "",
      String(max_concurrent ?? ""),
      fallbacks.join(", "),
      source,
      [models ?? "", models_error?.message ?? ""].filter((part) => part !== "").join("  "),
    ]),
  );

const sourceWords: Record<ModelPrice["source"], string> = {
  built_in: "built in",
  table: "table",
  operator: "operator",
  server: "its server",
};

function modelsTable(models: readonly Omit<CatalogModel, "object">[]): string {
  if (models.length === 0) return "No model has this name. You can name any model of a connection.";
  return table(
    ["MODEL", "CONTEXT", "INPUT", "OUTPUT", "SOURCE", "AS OF", ""],
    models.map(({ id, context_window, prices, available, deprecated }) => [
      id,
      String(context_window ?? ""),
      String(prices?.input ?? ""),
      String(prices?.output ?? ""),
      prices ? sourceWords[prices.source] : "",
      prices?.as_of ?? "",
      available ? (deprecated ? "deprecated" : "") : "no connection",
    ]),
  );
}

async function remove(name: string, { dataDir, json }: DataFlags): Promise<void> {
  const removed = await withStores(dataDir, false, async ({ connected }) => {
    const { store, revocations } = connected();
    const isRemoved = await store.remove(name, cliActor());
    await revocations.idle();
    return isRemoved;
  });
  if (!removed) throw new CliError(`There is no stored connection "${name}".`);
  print(json, { name, deleted: true }, () => `${name} is removed.`);
}
