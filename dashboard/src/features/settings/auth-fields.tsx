import {
  type ConnectionAuth,
  type ConnectionAuthInput,
  connectionGrantTypes,
  tokenAuthMethods,
} from "../../../../server/domain/connection-auth.ts";
import type { Fields } from "../../hooks/use-form.ts";
import { Field } from "../../ui/forms/field.tsx";
import { Select } from "../../ui/forms/select.tsx";

const textFields = [
  "issuer",
  "authorization_endpoint",
  "token_endpoint",
  "revocation_endpoint",
  "client_id",
  "client_secret",
  "scopes",
  "audience",
  "resource",
] as const;
type TextField = (typeof textFields)[number];
type Method = ConnectionAuth["token_endpoint_auth_method"] & string;
type Grant = ConnectionAuth["grant"];

/** OAuth as a form has it. The fields have the names of the API's parameters, so that each shows its fault. */
export type AuthDraft = Record<`auth.${TextField}`, string> & {
  uses_oauth: boolean;
  "auth.grant": Grant;
  "auth.token_endpoint_auth_method": Method | "";
};

/** Returns the draft of a connection's OAuth, without its secret. */
export const authDraftOf = (auth: ConnectionAuth | null): AuthDraft => ({
  uses_oauth: auth !== null,
  "auth.grant": auth?.grant ?? "client_credentials",
  "auth.issuer": auth?.issuer ?? "",
  "auth.authorization_endpoint": auth?.authorization_endpoint ?? "",
  "auth.token_endpoint": auth?.token_endpoint ?? "",
  "auth.revocation_endpoint": auth?.revocation_endpoint ?? "",
  "auth.client_id": auth?.client_id ?? "",
  "auth.client_secret": "",
  "auth.scopes": auth?.scopes.join(" ") ?? "",
  "auth.audience": auth?.audience ?? "",
  "auth.resource": auth?.resource ?? "",
  "auth.token_endpoint_auth_method": auth?.token_endpoint_auth_method ?? "",
});

/** Returns OAuth as the API takes it; null for a connection with a key, or none. An empty secret is left out. */
export function authBody(draft: AuthDraft): ConnectionAuthInput | null {
  if (!draft.uses_oauth) return null;
  const text = (name: TextField): string | null => draft[`auth.${name}`].trim() || null;
  const client_secret = draft["auth.client_secret"];
  const grant = draft["auth.grant"];
  return {
    type: "oauth",
    grant,
    issuer: text("issuer"),
    authorization_endpoint: needsConsent(draft) ? text("authorization_endpoint") : null,
    token_endpoint: text("token_endpoint"),
    revocation_endpoint: text("revocation_endpoint"),
    client_id: text("client_id") ?? "",
    ...(client_secret !== "" && { client_secret }),
    scopes: draft["auth.scopes"].split(/[\s,]+/).filter(Boolean),
    audience: text("audience"),
    resource: text("resource"),
    token_endpoint_auth_method: draft["auth.token_endpoint_auth_method"] || null,
  };
}

const needsConsent = (draft: AuthDraft): boolean => draft["auth.grant"] === "authorization_code";

const grantWords: Record<Grant, string> = {
  client_credentials: "For the client itself",
  authorization_code: "After a person consents",
};

const methodWords: Record<Method, string> = {
  client_secret_basic: "In the Authorization header",
  client_secret_post: "In the form",
};

interface AuthFieldsProps {
  fields: Fields<AuthDraft>;
  /** True if an empty secret keeps the stored one. */
  keepsSecret: boolean;
}

/** A choice of OAuth in place of a key, and the fields of its client. */
export function AuthFields({ fields: { draft, text, pick, set }, keepsSecret }: AuthFieldsProps) {
  const plain = { autoComplete: "off", spellCheck: false };
  return (
    <>
      <label className="flex items-center gap-2">
        <input
          type="checkbox"
          checked={draft.uses_oauth}
          onChange={(event) => set({ uses_oauth: event.target.checked })}
        />
        OAuth tokens
      </label>
      {draft.uses_oauth && (
        <>
          <Select
            label="Tokens"
            hint={needsConsent(draft) ? "Save the connection, then connect it in the list." : undefined}
            choices={connectionGrantTypes.map((value) => ({ value, label: grantWords[value] }))}
            {...pick("auth.grant")}
          />
          <Field
            label="Issuer"
            hint="Such as https://login.microsoftonline.com/TENANT/v2.0. Its metadata has the endpoints."
            {...text("auth.issuer")}
            inputMode="url"
            {...plain}
          />
          <Field
            label="Token endpoint (instead of an issuer)"
            hint="For servers without metadata."
            {...text("auth.token_endpoint")}
            inputMode="url"
            {...plain}
          />
          {needsConsent(draft) && (
            <Field
              label="Authorization endpoint (instead of an issuer)"
              hint="Where a person consents."
              {...text("auth.authorization_endpoint")}
              inputMode="url"
              {...plain}
            />
          )}
          {needsConsent(draft) && (
            <Field
              label="Revocation endpoint (optional)"
              hint="Empty: the issuer's, if it has one."
              {...text("auth.revocation_endpoint")}
              inputMode="url"
              {...plain}
            />
          )}
          <Field label="Client id" {...text("auth.client_id")} {...plain} />
          <Field
            label={keepsSecret || needsConsent(draft) ? "Client secret (optional)" : "Client secret"}
            hint={keepsSecret ? "Empty: the stored one stays." : "Stored encrypted, and never shown again."}
            type="password"
            {...text("auth.client_secret")}
            {...plain}
          />
          <Field
            label="Scopes (optional)"
            hint="With spaces between them, such as https://cognitiveservices.azure.com/.default"
            {...text("auth.scopes")}
            {...plain}
          />
          <Field label="Audience (optional)" hint="Some servers expect one." {...text("auth.audience")} {...plain} />
          <Field
            label="Resource (optional)"
            hint="Address of the API (RFC 8707)."
            {...text("auth.resource")}
            {...plain}
          />
          <Select
            label="Client authentication"
            choices={[
              { value: "" as const, label: "As the server says" },
              ...tokenAuthMethods.map((value) => ({ value, label: methodWords[value] })),
            ]}
            {...pick("auth.token_endpoint_auth_method")}
          />
        </>
      )}
    </>
  );
}
