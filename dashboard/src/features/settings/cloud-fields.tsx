import {
  type CloudField as ConnectionField,
  cloudPlaceFields,
  cloudSecretFields,
} from "../../../../server/domain/cloud-connection.ts";
import type { ConnectionProvider } from "../../../../server/domain/providers.ts";
import type { Fields } from "../../hooks/use-form.ts";
import { Field } from "../../ui/forms/field.tsx";

/** Fields of clouds; the secret of OAuth has a form of its own. */
export type CloudField = Exclude<ConnectionField, "client_secret">;
export const cloudSecrets = cloudSecretFields.filter((name) => name !== "client_secret");
const cloudFields: readonly CloudField[] = [...cloudPlaceFields, ...cloudSecrets];

type CloudDraft = Record<CloudField, string>;

export const emptyCloudDraft: CloudDraft = {
  region: "",
  access_key_id: "",
  secret_access_key: "",
  session_token: "",
  project: "",
  location: "",
  service_account: "",
};

interface Question {
  name: CloudField;
  label: string;
  hint: string;
  isSecret?: true;
}

const kept = "Empty: the stored one stays, unless another kind of credentials is given.";
const hidden = "Stored encrypted, and never shown again.";

const questions: Partial<Record<ConnectionProvider, readonly Question[]>> = {
  bedrock: [
    { name: "region", label: "Region", hint: "Such as us-east-1." },
    {
      name: "access_key_id",
      label: "Access key id (instead of a key)",
      hint: "Of an IAM user or role that may invoke models.",
    },
    { name: "secret_access_key", label: "Secret access key", hint: hidden, isSecret: true },
    {
      name: "session_token",
      label: "Session token (optional)",
      hint: "Of a temporary access key. The connection ends with it.",
      isSecret: true,
    },
  ],
  vertex: [
    {
      name: "service_account",
      label: "Service account (instead of a key)",
      hint: "The JSON of its key. Stored encrypted, and never shown again.",
      isSecret: true,
    },
    { name: "project", label: "Project (optional)", hint: "Empty: the service account's." },
    { name: "location", label: "Location (optional)", hint: "global, or a region such as europe-west1." },
  ],
};

/** True if the key of this provider's connection has an alternative. */
export const isCloud = (provider: ConnectionProvider): boolean => questions[provider] !== undefined;

/** Returns the cloud's fields as the API takes them: only those of this provider. */
export function cloudBody(provider: ConnectionProvider, draft: CloudDraft): Partial<Record<CloudField, string | null>> {
  const own = (questions[provider] ?? []).map(({ name }) => name);
  return Object.fromEntries(
    cloudFields.flatMap((name) => (own.includes(name) ? [[name, draft[name].trim() || null]] : [])),
  );
}

/** Labels of the fields in a list of changes. */
export const cloudWords: Record<CloudField, string> = {
  region: "Region",
  project: "Project",
  location: "Location",
  access_key_id: "Access key id",
  secret_access_key: "Secret access key",
  session_token: "Session token",
  service_account: "Service account",
};

interface CloudFieldsProps {
  provider: ConnectionProvider;
  text: Fields<CloudDraft>["text"];
  /** True if an empty secret keeps the stored one. */
  keepsSecrets?: boolean;
}

/** Fields of a connection to Amazon Bedrock or Google Vertex AI. */
export function CloudFields({ provider, text, keepsSecrets = false }: CloudFieldsProps) {
  return (questions[provider] ?? []).map(({ name, label, hint, isSecret }) => (
    <Field
      key={name}
      label={label}
      hint={keepsSecrets && cloudSecretFields.some((secret) => secret === name) ? kept : hint}
      type={isSecret ? "password" : "text"}
      {...text(name)}
      autoComplete="off"
      spellCheck={false}
    />
  ));
}
