import { addressVariables, cloudKeyVariables, keyVariables } from "../../domain/providers.ts";

interface Variable {
  name: string;
  meaning: string;
  /** True if it is read before there is a configuration file: by the runtime, or by another process of runnel. */
  isEarly?: true;
}

const otelVariables: readonly Variable[] = [
  "OTEL_EXPORTER_OTLP_ENDPOINT",
  "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
  "OTEL_EXPORTER_OTLP_PROTOCOL",
  "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL",
  "OTEL_EXPORTER_OTLP_HEADERS",
  "OTEL_EXPORTER_OTLP_TRACES_HEADERS",
  "OTEL_SERVICE_NAME",
  "OTEL_RESOURCE_ATTRIBUTES",
  "OTEL_SDK_DISABLED",
  "OTEL_TRACES_EXPORTER",
].map((name) => ({
  name,
  meaning: "As in other exporters: see [OpenTelemetry](../operate/monitoring.md#opentelemetry).",
}));

/** Environment variables of the server without a flag. `<NAME>` is a name chosen by the operator. */
export const variables: readonly Variable[] = [
  {
    name: "RUNNEL_MASTER_KEY",
    meaning:
      "The key that encrypts stored secrets, as 64 hexadecimal digits. It takes the place of the file `master.key`.",
  },
  ...[...keyVariables, ...cloudKeyVariables].map(([provider, name]) => ({
    name,
    meaning: `The API key for models \`${provider}/…\`.`,
  })),
  ...addressVariables.map(([provider, name]) => ({
    name,
    meaning: `The address for models \`${provider}/…\`.`,
  })),
  {
    name: "GOOGLE_VERTEX_PROJECT",
    meaning: "The project of models `vertex/…`, with `GOOGLE_APPLICATION_CREDENTIALS`.",
  },
  { name: "GOOGLE_VERTEX_LOCATION", meaning: "Where its models are: `global`, or a region such as `europe-west1`." },
  { name: "GOOGLE_VERTEX_BASE_URL", meaning: "The address of a private endpoint of Google Vertex AI." },
  { name: "AWS_ENDPOINT_URL_BEDROCK_RUNTIME", meaning: "The address of a private endpoint of Amazon Bedrock." },
  { name: "GOOGLE_APPLICATION_CREDENTIALS", meaning: "The file with the key of a service account of that project." },
  { name: "OLLAMA_BASE_URL", meaning: "Where Ollama is, if it is not on port 11434 of this machine." },
  {
    name: "RUNNEL_MODEL_<NAME>_BASE_URL",
    meaning: "The address of a server with OpenAI's API, for models `openai_compatible/<name>/…`.",
  },
  { name: "RUNNEL_MODEL_<NAME>_API_KEY", meaning: "The API key for that server, if it asks for one." },
  {
    name: "RUNNEL_MODEL_<NAME>_ISSUER",
    meaning: "OAuth in place of the key: the issuer, whose metadata has the token endpoint.",
  },
  { name: "RUNNEL_MODEL_<NAME>_TOKEN_ENDPOINT", meaning: "OAuth: the token endpoint, in place of the issuer." },
  { name: "RUNNEL_MODEL_<NAME>_CLIENT_ID", meaning: "OAuth: the id of the client." },
  { name: "RUNNEL_MODEL_<NAME>_CLIENT_SECRET", meaning: "OAuth: the secret of the client." },
  { name: "RUNNEL_MODEL_<NAME>_SCOPES", meaning: "OAuth: scopes of the tokens, with spaces or commas between them." },
  { name: "RUNNEL_MODEL_<NAME>_AUDIENCE", meaning: "OAuth: the audience of the tokens." },
  { name: "RUNNEL_MODEL_<NAME>_RESOURCE", meaning: "OAuth: the resource of the tokens (RFC 8707)." },
  {
    name: "RUNNEL_MODEL_<NAME>_TOKEN_AUTH_METHOD",
    meaning: "OAuth: how the client authenticates, `client_secret_basic` or `client_secret_post`.",
  },
  {
    name: "RUNNEL_MODEL_<NAME>_MAX_CONCURRENT",
    meaning: "How many calls a model server or a provider takes at once: `RUNNEL_MODEL_OLLAMA_MAX_CONCURRENT`.",
  },
  {
    name: "RUNNEL_MODEL_<NAME>_IDLE_TIMEOUT_MS",
    meaning: "How long a model server or a provider may send nothing while it answers, not even a comment: 300000.",
  },
  {
    name: "RUNNEL_MODEL_<NAME>_FALLBACKS",
    meaning:
      "Models or connections that are asked if those of this connection cannot answer: `openai/gpt-5, openai_compatible/spare`.",
  },
  {
    name: "RUNNEL_MCP_<NAME>_COMMAND",
    meaning: "A program on this machine that MCP tools reach as `stdio:<name>`: a JSON array, or plain words.",
  },
  {
    name: "RUNNEL_MCP_<NAME>_ENV",
    meaning: "The names of variables that this program gets, with spaces or commas between them.",
  },
  {
    name: "RUNNEL_BACKUP_KEY",
    meaning: "Encrypts backups in a store: 64 hexadecimal digits.",
  },
  {
    name: "AWS_ACCESS_KEY_ID",
    meaning:
      "Opens the [store of backups](../operate/backup.md#backups-in-an-object-store-s3), and Amazon Bedrock for models `bedrock/…`.",
  },
  { name: "AWS_SECRET_ACCESS_KEY", meaning: "The secret of that key." },
  { name: "AWS_SESSION_TOKEN", meaning: "Its session, where the key is a temporary one." },
  {
    name: "AWS_REGION",
    meaning:
      "The store's region: by default `AWS_DEFAULT_REGION`, else `us-east-1`. Amazon Bedrock needs one of the two.",
  },
  { name: "AWS_DEFAULT_REGION", meaning: "The region, where `AWS_REGION` is not set." },
  { name: "AWS_ENDPOINT_URL", meaning: "The address of a store that is not at AWS." },
  { name: "AWS_ENDPOINT_URL_S3", meaning: "The same, and counts more." },
  ...otelVariables,
  {
    name: "NO_PROXY",
    meaning:
      "Names, addresses and networks that are reached without the [proxy](../operate/egress.md#outgoing-proxy), with commas. `no_proxy` counts more.",
  },
  {
    name: "NODE_EXTRA_CA_CERTS",
    isEarly: true,
    meaning:
      "A file in PEM form with authorities of your own. What they signed is trusted too: an issuer, a mail server, a store of backups, a model server.",
  },
  {
    name: "BUN_CONFIG_MAX_HTTP_REQUESTS",
    isEarly: true,
    meaning: "How many requests to models and tools may be under way at once: 16384 on Linux, 256 elsewhere.",
  },
  {
    name: "RUNNEL_HANDOVER",
    isEarly: true,
    meaning:
      "The ports that a server hands to the process that [replaces it](../operate/upgrade.md#what-a-reload-does). Never set it yourself.",
  },
  {
    name: "RUNNEL_FAILPOINT",
    isEarly: true,
    meaning: "A point at which the process ends itself, for tests of recovery. Never set it in service.",
  },
];

/** Returns the variable with this name; undefined if it is unknown or stands for a flag. */
export const variableOf = (name: string): Variable | undefined =>
  variables.find((variable) => new RegExp(`^${variable.name.replace("<NAME>", "[A-Z0-9_]+")}$`).test(name));
