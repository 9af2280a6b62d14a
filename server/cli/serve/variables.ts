import { addressVariables, cloudKeyVariables, keyVariables, providerWords } from "../../domain/providers.ts";
import { type SettingGroup, settingGroups } from "./setting-groups.ts";

interface GroupedVariable {
  name: string;
  /** Sentences in Markdown. */
  meaning: string;
  /** True if it is read before there is a configuration file: by the runtime, or by another process of runnel. */
  isEarly?: true;
}

interface Variable extends GroupedVariable {
  group: SettingGroup;
}

const byGroup: Partial<Record<SettingGroup, readonly GroupedVariable[]>> = {
  Data: [
    {
      name: "RUNNEL_MASTER_KEY",
      meaning:
        "The key that encrypts stored secrets, as 64 hexadecimal digits. It takes the place of the file `master.key`.",
    },
  ],
  Models: [
    ...[...keyVariables, ...cloudKeyVariables].map(([provider, name]) => ({
      name,
      meaning: `The API key of ${providerWords[provider]}, for models \`${provider}/…\`.`,
    })),
    ...addressVariables.map(([provider, name]) => ({
      name,
      meaning: `The URL of ${providerWords[provider]}, for models \`${provider}/…\`.`,
    })),
    { name: "GOOGLE_APPLICATION_CREDENTIALS", meaning: "The key file of a service account, for models `vertex/…`." },
    { name: "GOOGLE_VERTEX_PROJECT", meaning: "The project of models `vertex/…`, beside that file." },
    {
      name: "GOOGLE_VERTEX_LOCATION",
      meaning: "The location of models `vertex/…`: `global`, or a region such as `europe-west1`.",
    },
    { name: "GOOGLE_VERTEX_BASE_URL", meaning: "The URL of a private endpoint of Google Vertex AI." },
    { name: "AWS_ENDPOINT_URL_BEDROCK_RUNTIME", meaning: "The URL of a private endpoint of Amazon Bedrock." },
    { name: "OLLAMA_BASE_URL", meaning: "The URL of Ollama. Default: port 11434 of this machine." },
    {
      name: "RUNNEL_MODEL_<NAME>_BASE_URL",
      meaning: "The URL of a server with OpenAI's API, for models `openai_compatible/<name>/…`.",
    },
    { name: "RUNNEL_MODEL_<NAME>_API_KEY", meaning: "The API key for that server, if it needs one." },
    {
      name: "RUNNEL_MODEL_<NAME>_ISSUER",
      meaning: "OAuth in place of the API key: the issuer, whose metadata has the token endpoint.",
    },
    { name: "RUNNEL_MODEL_<NAME>_TOKEN_ENDPOINT", meaning: "OAuth: the token endpoint, in place of the issuer." },
    { name: "RUNNEL_MODEL_<NAME>_CLIENT_ID", meaning: "OAuth: the client ID." },
    { name: "RUNNEL_MODEL_<NAME>_CLIENT_SECRET", meaning: "OAuth: the client secret." },
    { name: "RUNNEL_MODEL_<NAME>_SCOPES", meaning: "OAuth: scopes of the tokens, with spaces or commas." },
    { name: "RUNNEL_MODEL_<NAME>_AUDIENCE", meaning: "OAuth: the audience of the tokens." },
    { name: "RUNNEL_MODEL_<NAME>_RESOURCE", meaning: "OAuth: the resource of the tokens (RFC 8707)." },
    {
      name: "RUNNEL_MODEL_<NAME>_TOKEN_AUTH_METHOD",
      meaning: "OAuth: how the client authenticates, `client_secret_basic` or `client_secret_post`.",
    },
    {
      name: "RUNNEL_MODEL_<NAME>_MAX_CONCURRENT",
      meaning:
        "Maximum number of calls at a time to a model server or a provider, such as `RUNNEL_MODEL_OLLAMA_MAX_CONCURRENT`.",
    },
    {
      name: "RUNNEL_MODEL_<NAME>_IDLE_TIMEOUT_MS",
      meaning: "Milliseconds of silence after which a call to it fails. Default: 300000.",
    },
    {
      name: "RUNNEL_MODEL_<NAME>_FALLBACKS",
      meaning:
        "Models or connections to use if it cannot answer, with commas: `openai/gpt-5, openai_compatible/spare`.",
    },
  ],
  "Agents and tools": [
    {
      name: "RUNNEL_MCP_<NAME>_COMMAND",
      meaning: "A program on this machine that MCP tools reach as `stdio:<name>`: a JSON array, or plain words.",
    },
    {
      name: "RUNNEL_MCP_<NAME>_ENV",
      meaning: "Names of the variables that this program gets, with spaces or commas.",
    },
    {
      name: "NO_PROXY",
      meaning:
        "Names, addresses and networks to reach without the [proxy](../operate/egress.md#outgoing-proxy), with commas. `no_proxy` counts more.",
    },
    {
      name: "NODE_EXTRA_CA_CERTS",
      isEarly: true,
      meaning:
        "A file in PEM format with certificate authorities to trust beside the public ones, for all requests of the server.",
    },
    {
      name: "BUN_CONFIG_MAX_HTTP_REQUESTS",
      isEarly: true,
      meaning: "Maximum number of requests to models and tools at a time. Default: 16384 on Linux, 256 elsewhere.",
    },
  ],
  Backups: [
    {
      name: "RUNNEL_BACKUP_KEY",
      meaning: "The key that encrypts backups in an object store, as 64 hexadecimal digits.",
    },
    {
      name: "AWS_ACCESS_KEY_ID",
      meaning:
        "The access key of the [object store](../operate/backup.md#backups-in-an-object-store-s3), and of Amazon Bedrock for models `bedrock/…`.",
    },
    { name: "AWS_SECRET_ACCESS_KEY", meaning: "The secret of that access key." },
    { name: "AWS_SESSION_TOKEN", meaning: "The session token of a temporary access key." },
    {
      name: "AWS_REGION",
      meaning:
        "The region of the object store. Default: `AWS_DEFAULT_REGION`, else `us-east-1`. Amazon Bedrock needs one of the two.",
    },
    { name: "AWS_DEFAULT_REGION", meaning: "The region, if `AWS_REGION` is not set." },
    { name: "AWS_ENDPOINT_URL", meaning: "The URL of an object store outside AWS." },
    { name: "AWS_ENDPOINT_URL_S3", meaning: "The same, and counts more than `AWS_ENDPOINT_URL`." },
  ],
  Monitoring: [
    {
      name: "OTEL_EXPORTER_OTLP_ENDPOINT",
      meaning: "The [collector](../operate/monitoring.md#opentelemetry), if `--otlp-endpoint` is not set.",
    },
    { name: "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", meaning: "The URL for traces, and counts more." },
    {
      name: "OTEL_EXPORTER_OTLP_PROTOCOL",
      meaning: "The encoding of traces: `http/protobuf`, which is the default, or `http/json`.",
    },
    { name: "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", meaning: "The same for traces, and counts more." },
    {
      name: "OTEL_EXPORTER_OTLP_HEADERS",
      meaning: "Headers for the collector, such as `authorization=Bearer%20key`, with commas.",
    },
    { name: "OTEL_EXPORTER_OTLP_TRACES_HEADERS", meaning: "The same for traces, and counts more." },
    { name: "OTEL_SERVICE_NAME", meaning: "The name of the server in traces." },
    {
      name: "OTEL_RESOURCE_ATTRIBUTES",
      meaning: "Other attributes of the server in traces: `name=value`, with commas.",
    },
    { name: "OTEL_SDK_DISABLED", meaning: "With `true`, no traces are sent to the collector of these variables." },
    { name: "OTEL_TRACES_EXPORTER", meaning: "With `none`, no traces are sent either." },
  ],
};

/** Environment variables of the server without a flag. `<NAME>` is a name chosen by the operator. */
export const variables: readonly Variable[] = settingGroups.flatMap((group) =>
  (byGroup[group] ?? []).map((variable) => ({ ...variable, group })),
);

/**
 * Variables that are no settings: a point at which the process ends itself, for tests of recovery, and the ports that a
 * server hands to the process that replaces it.
 */
export const internalVariables: readonly string[] = ["RUNNEL_FAILPOINT", "RUNNEL_HANDOVER"];

/** Returns the variable with this name; undefined if it is unknown or stands for a flag. */
export const variableOf = (name: string): Variable | undefined =>
  variables.find((variable) => new RegExp(`^${variable.name.replace("<NAME>", "[A-Z0-9_]+")}$`).test(name));
