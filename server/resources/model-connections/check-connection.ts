import { type CloudField, type CloudFields, cloudFields, pickFields } from "../../domain/cloud-connection.ts";
import { authAddressFields, type ConnectionAuth, type ConnectionAuthInput } from "../../domain/connection-auth.ts";
import { type ConnectionProvider, connectionProviders } from "../../domain/providers.ts";
import { clientFaults } from "../../http/oauth-client-faults.ts";
import type { Connection } from "../../runtime/models/model.ts";
import { readServiceAccount } from "../../runtime/models/providers/service-account.ts";
import {
  concurrentMax,
  fallbacksMax,
  idleTimeouts_ms,
  isFallback,
  needsAddress,
} from "../../runtime/models/registry.ts";

/** A connection as the operator entered it, not validated yet. */
export interface ConnectionInput extends CloudInput {
  auth?: ConnectionAuthInput | null;
  name: string;
  provider?: string;
  base_url?: string | null;
  api_key?: string | null;
  max_concurrent?: number | null;
  idle_timeout_ms?: number | null;
  fallbacks?: string[] | null;
}

type CloudInput = { [Name in CloudField]?: string | null };

/** A fault of a connection, with its field. */
interface ConnectionFault {
  param:
    | `auth${"" | `.${string}`}`
    | "name"
    | "provider"
    | "base_url"
    | "api_key"
    | "max_concurrent"
    | "idle_timeout_ms"
    | "fallbacks"
    | CloudField;
  message: string;
}

/** Change of a stored connection. An absent field stays, as does an empty secret. */
export interface ConnectionChange extends CloudInput {
  base_url?: string | null;
  /** Empty: the key stays. Null: it is removed. */
  api_key?: string | null;
  max_concurrent?: number | null;
  idle_timeout_ms?: number | null;
  fallbacks?: string[] | null;
  /** The version that is to be changed. */
  expected_version?: number;
  /** An absent secret stays. Null: it has a key again, or none. */
  auth?: ConnectionAuthInput | null;
}

const fault = (param: ConnectionFault["param"], message: string): ConnectionFault => ({ param, message });

/** Returns the connection or its fault. The name of a provider implies that provider. */
export function checkConnection(input: ConnectionInput): Connection | ConnectionFault {
  const { name } = input;
  const [base_url, api_key] = [input.base_url?.trim() || null, input.api_key?.trim() || null];
  const provider = (input.provider ??
    connectionProviders.find((known) => known === name) ??
    "openai_compatible") as ConnectionProvider;
  const isCloud = provider === "bedrock" || provider === "vertex";

  if (!connectionProviders.includes(provider)) return fault("provider", `There is no provider "${provider}".`);
  if (provider !== "openai_compatible" && provider !== name)
    return fault("name", `The connection to ${provider} is named ${provider}, not "${name}".`);
  if (provider === "openai_compatible" && !/^[a-z0-9][a-z0-9_-]{0,63}$/.test(name))
    return fault("name", "A connection's name has lower-case letters, digits, - and _.");
  if (provider === "openai_compatible" && base_url === null)
    return fault("base_url", "An OpenAI-compatible server needs a URL.");
  if (needsAddress(provider) && base_url === null)
    return fault("base_url", `${provider} needs your endpoint, such as https://name.openai.azure.com.`);
  const auth = input.auth ? checkAuth(input.auth, input.client_secret) : null;
  if (auth && "message" in auth) return auth;
  if (auth && isCloud) return fault("auth", `${provider} has credentials of its own: leave auth out.`);
  if (auth && api_key !== null) return fault("api_key", "Give either a key or auth.");
  if (!auth && input.client_secret) return fault("auth.client_secret", "Only a connection with auth has one.");
  if (provider !== "openai_compatible" && provider !== "ollama" && !isCloud && api_key === null && !auth)
    return fault("api_key", `${provider} needs a key.`);
  const url = base_url === null ? null : URL.parse(base_url);
  if (base_url !== null && (!url || !/^https?:$/.test(url.protocol) || url.username || url.password))
    return fault("base_url", "Must be an http or https address without a user name.");
  // A line break of a pasted key would break the header.
  if (api_key !== null && !isKey(api_key)) return fault("api_key", "A key has no spaces and no line breaks.");
  const max_concurrent = input.max_concurrent ?? null;
  if (max_concurrent !== null && !isWithin(max_concurrent, { least: 1, most: concurrentMax }))
    return fault("max_concurrent", `Must be a whole number from 1 to ${concurrentMax}.`);
  const idle_timeout_ms = input.idle_timeout_ms ?? null;
  if (idle_timeout_ms !== null && !isWithin(idle_timeout_ms, idleTimeouts_ms))
    return fault(
      "idle_timeout_ms",
      `Must be a number of milliseconds from ${idleTimeouts_ms.least} to ${idleTimeouts_ms.most}.`,
    );
  const fallbacks = [...new Set((input.fallbacks ?? []).map((each) => each.trim()).filter(Boolean))];
  const wrong = fallbacks.find((each) => !isFallback(each));
  if (wrong !== undefined)
    return fault("fallbacks", `"${wrong}" is no model and no connection, such as openai/gpt-5 or openai.`);
  if (fallbacks.length > fallbacksMax) return fault("fallbacks", `Must have at most ${fallbacksMax} fallbacks.`);
  const { client_secret: _, ...cloud } = trimmed(input);
  const cloudFault = checkCloud(provider, { base_url, api_key, ...cloud });
  if (cloudFault) return cloudFault;
  return {
    name,
    provider,
    base_url,
    api_key,
    ...(max_concurrent !== null && { max_concurrent }),
    ...(idle_timeout_ms !== null && { idle_timeout_ms }),
    ...(fallbacks.length > 0 && { fallbacks }),
    ...cloud,
    ...auth,
  };
}

/** Returns the definition and the secret, or their fault. `kept` is the stored secret. */
function checkAuth(
  input: ConnectionAuthInput,
  kept: string | null | undefined,
): { auth: ConnectionAuth; client_secret?: string } | ConnectionFault {
  const given = (text: string | null | undefined): string | null => text?.trim() || null;
  const auth: ConnectionAuth = {
    type: "oauth",
    grant: input.grant ?? "client_credentials",
    issuer: given(input.issuer),
    authorization_endpoint: given(input.authorization_endpoint),
    token_endpoint: given(input.token_endpoint),
    revocation_endpoint: given(input.revocation_endpoint),
    client_id: input.client_id.trim(),
    token_endpoint_auth_method: input.token_endpoint_auth_method ?? null,
    scopes: [...new Set(input.scopes ?? [])],
    audience: given(input.audience),
    resource: given(input.resource),
  };
  // Only line breaks around it are of its pasting: a secret may begin or end with any other character.
  const client_secret = input.client_secret?.replace(/^[\r\n]+|[\r\n]+$/g, "") || kept || null;
  if (auth.client_id === "") return fault("auth.client_id", "Name the client.");
  for (const name of authAddressFields) {
    const url = auth[name] === null ? null : URL.parse(auth[name]);
    if (auth[name] !== null && (!url || !/^https?:$/.test(url.protocol) || url.username || url.password || url.hash))
      return fault(`auth.${name}`, "Must be an http or https address without a user name.");
  }
  if (auth.grant === "client_credentials" && auth.authorization_endpoint !== null)
    return fault("auth.authorization_endpoint", "Only authorization_code has one.");
  const definition = { ...auth, authorization_params: {} };
  const [first] = clientFaults({ grant: auth.grant, per_user: false, definition, client_secret });
  if (first) return fault(`auth.${first.param}`, first.message);
  if (client_secret !== null && !/^[\x20-\x7e]+$/.test(client_secret))
    return fault("auth.client_secret", "A secret has printable ASCII characters.");
  return { auth, ...(client_secret !== null && { client_secret }) };
}

/** Returns the cloud's fields that were given, without the space around them. */
export function trimmed(input: CloudInput): CloudFields {
  const given: CloudFields = {};
  for (const name of cloudFields) given[name] = input[name]?.trim() ?? "";
  return pickFields(given, cloudFields);
}

type CloudDraft = CloudFields & Pick<Connection, "base_url" | "api_key">;

const fieldsOfCloud: Partial<Record<ConnectionProvider, readonly CloudField[]>> = {
  bedrock: ["region", "access_key_id", "secret_access_key", "session_token"],
  vertex: ["project", "location", "service_account"],
};

function checkCloud(provider: ConnectionProvider, draft: CloudDraft): ConnectionFault | null {
  const own = fieldsOfCloud[provider] ?? [];
  const foreign = cloudFields.find((name) => draft[name] !== undefined && !own.includes(name));
  if (foreign) return fault(foreign, `A connection to ${provider} has no ${foreign}.`);
  if (provider === "bedrock") return checkBedrock(draft);
  return provider === "vertex" ? checkVertex(draft) : null;
}

function checkBedrock(draft: CloudDraft): ConnectionFault | null {
  const { api_key, region, access_key_id, secret_access_key, session_token } = draft;
  if (region === undefined) return fault("region", "Amazon Bedrock needs a region, such as us-east-1.");
  if (!isHostPart(region)) return fault("region", "Must be a region such as us-east-1.");
  for (const name of ["access_key_id", "secret_access_key", "session_token"] as const)
    if (draft[name] !== undefined && !isKey(draft[name])) return fault(name, "A key has no spaces and no line breaks.");
  if (api_key !== null)
    return access_key_id || secret_access_key || session_token
      ? fault("api_key", "Give either an API key or an access key with its secret.")
      : null;
  if (access_key_id === undefined && secret_access_key === undefined)
    return fault("api_key", "Amazon Bedrock needs an API key, or an access key with its secret.");
  if (access_key_id === undefined) return fault("access_key_id", "A secret access key needs its access key id.");
  return secret_access_key === undefined ? fault("secret_access_key", "An access key needs its secret.") : null;
}

function checkVertex({ api_key, base_url, project, location, service_account }: CloudDraft): ConnectionFault | null {
  if (location !== undefined && !isHostPart(location))
    return fault("location", "Must be a location such as global or europe-west1.");
  if (project !== undefined && !/^[\w.:-]+$/.test(project)) return fault("project", "Must be the id of a project.");
  if (service_account !== undefined) {
    if (api_key !== null) return fault("api_key", "Give either an API key or a service account.");
    const read = readServiceAccount(service_account, base_url);
    if ("message" in read) return fault("service_account", read.message);
    return (project ?? read.project_id) ? null : fault("project", "This service account names no project: give it.");
  }
  if (api_key === null)
    return fault("api_key", "Google Vertex AI needs an API key, or the JSON of a service account's key.");
  return project === undefined && location === undefined
    ? null
    : fault(project === undefined ? "location" : "project", "An API key belongs to a project already.");
}

const isKey = (text: string): boolean => /^[\x21-\x7e]+$/.test(text);
/** True for one label of a host's name: the region or location becomes part of the address. */
const isHostPart = (text: string): boolean => /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/.test(text);

const isWithin = (value: number, { least, most }: { least: number; most: number }): boolean =>
  Number.isSafeInteger(value) && value >= least && value <= most;
