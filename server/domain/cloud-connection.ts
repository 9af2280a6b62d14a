/** Fields of a connection to a cloud that anyone who sees the connection may see. */
export const cloudPlaceFields = ["region", "project", "location"] as const;
/** Fields of a connection to a cloud that are stored encrypted and never shown. */
export const cloudSecretFields = [
  "access_key_id",
  "secret_access_key",
  "session_token",
  "service_account",
  "client_secret",
] as const;

type CloudPlace = { [Name in (typeof cloudPlaceFields)[number]]?: string };
export type CloudSecrets = { [Name in (typeof cloudSecretFields)[number]]?: string };

/**
 * Fields that a connection to Amazon Bedrock (`region`, and an access key with its secret and session token) or to
 * Google Vertex AI (`project`, `location`, and `service_account`: the JSON of a key) has beside its key and address.
 * `client_secret` is of a connection with OAuth.
 */
export type CloudFields = CloudPlace & CloudSecrets;
export type CloudField = keyof CloudFields;
export const cloudFields: readonly CloudField[] = [...cloudPlaceFields, ...cloudSecretFields];

/** Returns the fields of this list that have a value. */
export function pickFields<Name extends CloudField>(
  from: { [Field in Name]?: string | null },
  names: readonly Name[],
): { [Field in Name]?: string } {
  const picked: { [Field in Name]?: string } = {};
  for (const name of names) if (from[name]) picked[name] = from[name];
  return picked;
}

/** True if a connection has a key or other credentials. */
export const hasCredentials = (connection: CloudSecrets & { api_key: string | null }): boolean =>
  secretsOf(connection).length > 0;

/** Returns the key and the other secrets of a connection: no message may have one. */
export const secretsOf = ({ api_key, ...connection }: CloudSecrets & { api_key: string | null }): string[] =>
  [api_key, ...cloudSecretFields.map((name) => connection[name])].filter((text) => !!text) as string[];
