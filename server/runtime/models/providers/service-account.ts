import { createPrivateKey, type KeyObject } from "node:crypto";
import { isObject, parsedJson } from "../../../lib/json.ts";

/** Key of a service account of Google Cloud, as its console hands it out. */
export interface ServiceAccount {
  client_email: string;
  private_key: string;
  key: KeyObject;
  private_key_id: string | undefined;
  project_id: string | undefined;
  token_uri: string;
}

interface Fault {
  message: string;
}

const googleTokenUri = "https://oauth2.googleapis.com/token";
const tokenHosts: readonly string[] = ["oauth2.googleapis.com", "accounts.google.com", "www.googleapis.com"];

/**
 * Reads the JSON of a service account's key; returns a fault without any of its content. The signed proof of its
 * identity goes to Google only, or to the server of the connection's own address.
 */
export function readServiceAccount(text: string, base_url: string | null): ServiceAccount | Fault {
  const json = parsedJson(text);
  if (!isObject(json)) return { message: "A service account's key is JSON, as Google's console hands it out." };
  const { type, client_email, private_key, token_uri = googleTokenUri } = json;
  if (type !== "service_account")
    return { message: `Must be the key of a service account, not JSON of another type${typeName(type)}.` };
  if (typeof client_email !== "string" || typeof private_key !== "string")
    return { message: "The service account's key needs client_email and private_key." };
  const key = readPrivateKey(private_key);
  if (!key) return { message: "The private_key of the service account cannot be read." };
  if (typeof token_uri !== "string" || !isTokenUri(token_uri, base_url))
    return { message: "The token_uri of the service account is not Google's." };
  const textOf = (value: unknown) => (typeof value === "string" && value !== "" ? value : undefined);
  const [private_key_id, project_id] = [textOf(json.private_key_id), textOf(json.project_id)];
  return { client_email, private_key, key, private_key_id, project_id, token_uri };
}

/** Names the type of another credential, such as `authorized_user`, which is no secret. */
const typeName = (type: unknown): string => (typeof type === "string" && /^\w{1,40}$/.test(type) ? ` (${type})` : "");

function readPrivateKey(pem: string): KeyObject | null {
  try {
    const key = createPrivateKey(pem);
    return key.asymmetricKeyType === "rsa" ? key : null;
  } catch {
    return null;
  }
}

function isTokenUri(uri: string, base_url: string | null): boolean {
  const url = URL.parse(uri);
  if (!url || url.username || url.password) return false;
  if (base_url !== null && url.origin === URL.parse(base_url)?.origin) return true;
  return url.protocol === "https:" && url.port === "" && tokenHosts.includes(url.hostname);
}
