import { readFileSync } from "node:fs";
import { Command } from "commander";
import { cloudSecretFields } from "../../domain/cloud-connection.ts";
import { connectionProviders } from "../../domain/providers.ts";
import { timestampOrNull } from "../../domain/time.ts";
import { describeFsError } from "../../lib/describe-fs-error.ts";
import { checkConnection } from "../../resources/model-connections/check-connection.ts";
import type { Connection } from "../../runtime/models/model.ts";
import { modelPrefix } from "../../runtime/models/registry.ts";
import { cliActor } from "./actor.ts";
import { CliError, usageError } from "./exit-code.ts";
import { modelPricesCommand } from "./model-prices.ts";
import { addDataOptions, type DataFlags, option } from "./option.ts";
import { print, table } from "./print.ts";
import { withStores } from "./with-stores.ts";

interface AddOptions extends DataFlags {
  provider?: string;
  baseUrl?: string;
  apiKey?: string;
  maxConcurrent?: string;
  idleTimeoutMs?: string;
  region?: string;
  accessKeyId?: string;
  secretAccessKey?: string;
  sessionToken?: string;
  project?: string;
  location?: string;
  serviceAccount?: string;
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
    .addOption(option("--region <region>", "Amazon Bedrock: region, such as us-east-1", { env: "RUNNEL_MODEL_REGION" }))
    .addOption(
      option("--access-key-id <id>", "Amazon Bedrock: access key, in place of an API key", {
        env: "RUNNEL_MODEL_ACCESS_KEY_ID",
      }),
    )
    .addOption(
      option("--secret-access-key <secret>", "Amazon Bedrock: secret of the access key", {
        env: "RUNNEL_MODEL_SECRET_ACCESS_KEY",
      }),
    )
    .addOption(
      option("--session-token <token>", "Amazon Bedrock: session of a temporary access key", {
        env: "RUNNEL_MODEL_SESSION_TOKEN",
      }),
    )
    .addOption(
      option("--service-account <file>", "Google Vertex AI: file with a service account's key, as JSON", {
        env: "RUNNEL_MODEL_SERVICE_ACCOUNT",
      }),
    )
    .addOption(
      option("--project <id>", "Google Vertex AI: project; default: the service account's", {
        env: "RUNNEL_MODEL_PROJECT",
      }),
    )
    .addOption(
      option("--location <location>", "Google Vertex AI: global or a region; default: global", {
        env: "RUNNEL_MODEL_LOCATION",
      }),
    )
    .addOption(option("--max-concurrent <count>", "calls that its server takes at once; the others wait, in turns"))
    .addOption(
      option("--idle-timeout-ms <ms>", "how long its server may send nothing while it answers; default: 300000"),
    )
    .addHelpText(
      "after",
      `
Examples:
  $ RUNNEL_MODEL_API_KEY=sk-… runnel models add openai
  $ runnel models add local --base-url http://127.0.0.1:8080/v1   (models: openai_compatible/local/…)
  $ RUNNEL_MODEL_API_KEY=… runnel models add bedrock --region us-east-1
  $ runnel models add vertex --service-account key.json --location europe-west1`,
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
  return models;
}

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
  region: "--region",
  access_key_id: "--access-key-id",
  secret_access_key: "--secret-access-key",
  session_token: "--session-token",
  project: "--project",
  location: "--location",
  service_account: "--service-account",
};

/** Returns the connection of the flags. Throws a usage error that names the wrong flag. */
export function readConnection(
  name: string,
  { provider, baseUrl, apiKey, maxConcurrent, idleTimeoutMs, ...cloud }: Omit<AddOptions, keyof DataFlags>,
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
    region: cloud.region,
    access_key_id: cloud.accessKeyId,
    secret_access_key: cloud.secretAccessKey,
    session_token: cloud.sessionToken,
    project: cloud.project,
    location: cloud.location,
    service_account: cloud.serviceAccount === undefined ? null : readFlagFile(cloud.serviceAccount),
  });
  if (!("message" in read)) return read;
  const flag = flags[read.param];
  throw usageError(flag ? read.message.replace(/\.$/, ` (${flag}).`) : read.message);
}

function readFlagFile(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (failure) {
    throw usageError(`The service account's key cannot be read (--service-account): ${describeFsError(file, failure)}`);
  }
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
