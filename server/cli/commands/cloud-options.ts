import { readFileSync } from "node:fs";
import type { Command } from "commander";
import type { CloudField } from "../../domain/cloud-connection.ts";
import { describeFsError } from "../../lib/describe-fs-error.ts";
import { usageError } from "./exit-code.ts";
import { option } from "./option.ts";

/** Flags of connections to clouds. */
export interface CloudOptions {
  region?: string;
  accessKeyId?: string;
  secretAccessKey?: string;
  sessionToken?: string;
  project?: string;
  location?: string;
  serviceAccount?: string;
}

/** Adds the flags of connections to clouds. */
export const addCloudOptions = (command: Command): Command =>
  command
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
    );

/** Returns the fields of the flags that were given. Throws a usage error if the service account's file cannot be read. */
export function cloudFieldsOf(options: CloudOptions): { [Name in CloudField]?: string } {
  const { region, accessKeyId, secretAccessKey, sessionToken, project, location, serviceAccount } = options;
  return {
    ...(region !== undefined && { region }),
    ...(accessKeyId !== undefined && { access_key_id: accessKeyId }),
    ...(secretAccessKey !== undefined && { secret_access_key: secretAccessKey }),
    ...(sessionToken !== undefined && { session_token: sessionToken }),
    ...(project !== undefined && { project }),
    ...(location !== undefined && { location }),
    ...(serviceAccount !== undefined && { service_account: readFlagFile(serviceAccount) }),
  };
}

function readFlagFile(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (failure) {
    throw usageError(`The service account's key cannot be read (--service-account): ${describeFsError(file, failure)}`);
  }
}
