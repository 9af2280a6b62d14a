import { readFileSync } from "node:fs";
import type { CloudFields } from "../../../domain/cloud-connection.ts";
import type { Connection } from "../model.ts";
import { type Environment, readAddress, readVariable } from "../read-variable.ts";
import { readServiceAccount } from "./service-account.ts";

/**
 * Returns the connections to clouds in environment variables. Throws if a file with credentials cannot be used. Reads no
 * other source: the metadata service of a machine may give out more rights than the operator wants runs to have.
 */
export function cloudConnections(env: Environment): Connection[] {
  return [bedrock(env), vertex(env)].filter((connection) => connection !== null);
}

function bedrock(env: Environment): Connection | null {
  const region = readVariable(env, "AWS_REGION") ?? readVariable(env, "AWS_DEFAULT_REGION");
  if (region === null) return null;
  const base_url = readAddress(env, "AWS_ENDPOINT_URL_BEDROCK_RUNTIME");
  const shared = { name: "bedrock", provider: "bedrock" as const, base_url, region };
  const api_key = readVariable(env, "AWS_BEARER_TOKEN_BEDROCK");
  if (api_key !== null) return { ...shared, api_key };
  const access_key_id = readVariable(env, "AWS_ACCESS_KEY_ID");
  const secret_access_key = readVariable(env, "AWS_SECRET_ACCESS_KEY");
  const session_token = readVariable(env, "AWS_SESSION_TOKEN");
  if (access_key_id === null || secret_access_key === null) return null;
  const session = session_token === null ? {} : { session_token };
  return { ...shared, api_key: null, access_key_id, secret_access_key, ...session };
}

function vertex(env: Environment): Connection | null {
  const base_url = readAddress(env, "GOOGLE_VERTEX_BASE_URL");
  const shared = { name: "vertex", provider: "vertex" as const, base_url };
  const project = readVariable(env, "GOOGLE_VERTEX_PROJECT");
  const file = readVariable(env, "GOOGLE_APPLICATION_CREDENTIALS");
  // The file alone may be for another service of Google's.
  if (project !== null && file !== null) return { ...shared, api_key: null, project, ...account(env, file, base_url) };
  const api_key = readVariable(env, "GOOGLE_VERTEX_API_KEY");
  return api_key === null ? null : { ...shared, api_key };
}

function account(env: Environment, file: string, base_url: string | null): CloudFields {
  const service_account = readText(file);
  const read = readServiceAccount(service_account, base_url);
  if ("message" in read) throw new Error(`GOOGLE_APPLICATION_CREDENTIALS: ${read.message}`);
  const location = readVariable(env, "GOOGLE_VERTEX_LOCATION");
  return location === null ? { service_account } : { service_account, location };
}

function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (failure) {
    const code = (failure as { code?: unknown }).code;
    throw new Error(`GOOGLE_APPLICATION_CREDENTIALS names a file that cannot be read (${code}): ${file}`);
  }
}
