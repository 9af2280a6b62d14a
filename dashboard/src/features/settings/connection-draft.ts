import type { ChangedConnection, NewConnection } from "../../../../server/dashboard-api/schema.ts";
import type { Connection } from "../../../../server/domain/api-types/console.ts";
import { cloudPlaceFields } from "../../../../server/domain/cloud-connection.ts";
import { providerAddresses } from "../../../../server/domain/provider-addresses.ts";
import type { ConnectionProvider } from "../../../../server/domain/providers.ts";
import type { FieldErrors } from "../../lib/field-errors.ts";
import { type AuthDraft, authBody, authDraftOf } from "./auth-fields.tsx";
import { type CloudField, cloudBody, cloudSecrets, cloudWords, emptyCloudDraft, isCloud } from "./cloud-fields.tsx";

/** A connection as a form has it. */
export interface ConnectionDraft extends Record<CloudField, string>, AuthDraft {
  provider: ConnectionProvider;
  name: string;
  base_url: string;
  api_key: string;
  remove_key: boolean;
  max_concurrent: string;
  idle_timeout_ms: string;
  /** Models or connections in order, with spaces or commas between them. */
  fallbacks: string;
}

/** Draft of a new connection, with the provider's own address. */
export const newDraft = (provider: ConnectionProvider): ConnectionDraft => ({
  provider,
  name: "",
  base_url: addressOf(provider),
  api_key: "",
  remove_key: false,
  max_concurrent: "",
  idle_timeout_ms: "",
  fallbacks: "",
  ...emptyCloudDraft,
  ...authDraftOf(null),
});

/** Draft of a stored connection, without its key and its other secrets. */
export const draftOf = (connection: Connection): ConnectionDraft => ({
  provider: connection.provider as ConnectionProvider,
  name: connection.name,
  base_url: connection.base_url ?? addressOf(connection.provider),
  api_key: "",
  remove_key: false,
  max_concurrent: String(connection.max_concurrent ?? ""),
  idle_timeout_ms: String(connection.idle_timeout_ms ?? ""),
  fallbacks: connection.fallbacks.join(", "),
  ...emptyCloudDraft,
  region: connection.region ?? "",
  project: connection.project ?? "",
  location: connection.location ?? "",
  ...authDraftOf(connection.auth),
});

/** Known address of a provider; empty if there is none. */
export const addressOf = (provider: string): string => providerAddresses[provider] ?? "";

/** True if the key is optional: own servers often have none. */
export const isOwnServer = (provider: string): boolean => provider === "openai_compatible" || provider === "ollama";

/** Only OpenAI-compatible servers have a name of their own. */
export const nameOf = ({ provider, name }: ConnectionDraft): string =>
  provider === "openai_compatible" ? name.trim() : provider;

/** A provider's own address is not stored: it may change with a later version. */
const storedAddress = ({ provider, base_url }: ConnectionDraft): string | null => {
  const address = base_url.trim();
  return address === "" || address === addressOf(provider) ? null : address;
};

/** Returns the faults of fields that the server could not tell from empty ones. */
export function faultsOf(draft: ConnectionDraft): FieldErrors<ConnectionDraft> {
  const faultOf = (text: string) => (/^\d*$/.test(text.trim()) ? null : "A whole number, or empty.");
  return { max_concurrent: faultOf(draft.max_concurrent), idle_timeout_ms: faultOf(draft.idle_timeout_ms) };
}

/** Clouds have credentials of their own. */
export const hasAuth = ({ provider, uses_oauth }: ConnectionDraft): boolean => uses_oauth && !isCloud(provider);

const countOf = (text: string): number | null => (text.trim() === "" ? null : Number(text));

export const toNewConnection = (draft: ConnectionDraft): NewConnection => ({
  name: nameOf(draft),
  provider: draft.provider,
  base_url: storedAddress(draft),
  api_key: (hasAuth(draft) ? "" : draft.api_key.trim()) || null,
  max_concurrent: countOf(draft.max_concurrent),
  idle_timeout_ms: countOf(draft.idle_timeout_ms),
  fallbacks: draft.fallbacks.split(/[\s,]+/).filter(Boolean),
  ...cloudBody(draft.provider, draft),
  ...(hasAuth(draft) && { auth: authBody(draft) }),
});

/** Changed fields alone, so that another person's change of other fields stays. */
export function toChange(draft: ConnectionDraft, before: Connection, expected_version?: number): ChangedConnection {
  const first = toNewConnection(draftOf(before));
  const next = toNewConnection(draft);
  const fields = editableFields.filter((field) => String(next[field]) !== String(first[field]));
  // An empty secret stays as it is stored.
  const isAuthChanged = !isDeepEqual(next.auth ?? null, first.auth ?? null);
  const secrets = cloudSecrets.flatMap((field) => (next[field] ? [[field, next[field]]] : []));
  return {
    ...Object.fromEntries([...fields.map((field) => [field, next[field]]), ...secrets]),
    ...(draft.remove_key ? { api_key: null } : next.api_key !== null && { api_key: next.api_key }),
    ...(isAuthChanged && { auth: next.auth ?? null }),
    ...(expected_version !== undefined && { expected_version }),
  };
}

const isDeepEqual = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

const fieldWords = {
  base_url: "URL",
  api_key: "Key",
  max_concurrent: "Max concurrent calls",
  idle_timeout_ms: "Idle timeout",
  fallbacks: "Fallbacks",
  auth: "OAuth",
  ...cloudWords,
};

/** Fields that everyone who sees a connection sees. */
const editableFields = ["base_url", "max_concurrent", "idle_timeout_ms", "fallbacks", ...cloudPlaceFields] as const;

/** Labels of the fields in which a change differs from a connection. */
export const changedFields = (change: ChangedConnection): string[] =>
  Object.entries(fieldWords).flatMap(([field, label]) => (field in change ? [label] : []));

/** Labels of the fields that differ between two versions of a connection. A changed key cannot be seen. */
export const differingFields = (a: Connection, b: Connection): string[] =>
  ([...editableFields, "auth"] as const)
    .filter((field) => JSON.stringify(a[field]) !== JSON.stringify(b[field]))
    .map((field) => fieldWords[field]);
