import type { Fields } from "../../hooks/use-form.ts";
import { Field } from "../../ui/forms/field.tsx";
import { AuthFields } from "./auth-fields.tsx";
import { CloudFields, isCloud } from "./cloud-fields.tsx";
import { addressOf, type ConnectionDraft, hasAuth, isOwnServer } from "./connection-draft.ts";

interface ConnectionFieldsProps {
  fields: Fields<ConnectionDraft>;
  keyHint: string;
  /** True if an empty key keeps the stored one. */
  keepsKey?: boolean;
  /** True if an empty secret of OAuth keeps the stored one. */
  keepsSecret?: boolean;
}

/** Address, key and limits of a connection. */
export function ConnectionFields({ fields, keyHint, keepsKey = false, keepsSecret = false }: ConnectionFieldsProps) {
  const { draft, text } = fields;
  const { provider } = draft;
  const plain = { autoComplete: "off", spellCheck: false };
  const address = addressOf(provider);
  return (
    <>
      <Field
        label={provider === "openai_compatible" ? "URL" : "URL (optional)"}
        hint={
          isCloud(provider)
            ? "Empty: the provider's default."
            : address === ""
              ? "Such as http://127.0.0.1:8000, with or without /v1."
              : `Empty: ${address}`
        }
        {...text("base_url")}
        inputMode="url"
        {...plain}
      />
      {!isCloud(provider) && provider !== "ollama" && <AuthFields fields={fields} keepsSecret={keepsSecret} />}
      <Field
        label={keepsKey || isOwnServer(provider) || isCloud(provider) ? "Key (optional)" : "Key"}
        hint={keyHint}
        type="password"
        disabled={draft.remove_key || hasAuth(draft)}
        {...text("api_key")}
        {...plain}
      />
      <CloudFields provider={provider} text={text} keepsSecrets={keepsKey} />
      <Field
        label="Max concurrent calls (optional)"
        hint="How many calls the provider handles at once. Others wait, and projects take turns. Empty: no limit."
        {...text("max_concurrent")}
        inputMode="numeric"
        autoComplete="off"
      />
      <Field
        label="Idle timeout in ms (optional)"
        hint="How long the provider may send nothing while it responds. Empty: 300000, five minutes."
        {...text("idle_timeout_ms")}
        inputMode="numeric"
        autoComplete="off"
      />
      <Field
        label="Fallbacks (optional)"
        hint="Models or connections that are asked if its models cannot answer, in order: openai/gpt-5, openai_compatible/spare"
        {...text("fallbacks")}
        {...plain}
      />
    </>
  );
}
