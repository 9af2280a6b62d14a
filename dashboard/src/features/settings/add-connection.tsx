import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type ConnectionProvider, connectionProviders, providerWords } from "../../../../server/domain/providers.ts";
import { addConnection, connectionsQuery, pricesQuery } from "../../entities/server/server-api.ts";
import { useForm } from "../../hooks/use-form.ts";
import { FormDialog } from "../../ui/dialogs/form-dialog.tsx";
import { Callout } from "../../ui/feedback/callout.tsx";
import { toast } from "../../ui/feedback/toast.ts";
import { Field } from "../../ui/forms/field.tsx";
import { Select } from "../../ui/forms/select.tsx";
import { CloudFields, cloudBody, emptyCloudDraft, isCloud } from "./cloud-fields.tsx";

const first = {
  provider: "openai" as ConnectionProvider,
  name: "",
  base_url: "",
  api_key: "",
  max_concurrent: "",
  idle_timeout_ms: "",
  ...emptyCloudDraft,
};

/** Only OpenAI-compatible servers have a name of their own. */
const nameOf = ({ provider, name }: typeof first): string =>
  provider === "openai_compatible" ? name.trim() : provider;

interface AddConnectionProps {
  onClose: () => void;
  /** Called with the new connection's name, to offer a test. */
  onAdded: (name: string) => void;
}

/** Creates a connection, or replaces the one with the same name. */
export function AddConnection({ onClose, onAdded }: AddConnectionProps) {
  const client = useQueryClient();
  const form = useForm({
    first,
    send: (draft) => {
      const { provider, base_url, api_key, max_concurrent, idle_timeout_ms } = draft;
      return addConnection({
        name: nameOf(draft),
        provider,
        base_url: base_url.trim() || null,
        api_key: api_key.trim() || null,
        max_concurrent: max_concurrent.trim() === "" ? null : Number(max_concurrent),
        idle_timeout_ms: idle_timeout_ms.trim() === "" ? null : Number(idle_timeout_ms),
        ...cloudBody(provider, draft),
      });
    },
    onSent: async () => {
      onClose(); // Close first: after the list is refetched, this dialog would warn about replacing the new connection.
      toast(
        replaces ? "Connection replaced" : "Connection added",
        `Its models are ${isOwn ? `openai_compatible/${name}` : name}/…`,
      );
      await Promise.all([client.invalidateQueries(connectionsQuery), client.invalidateQueries(pricesQuery)]);
      onAdded(name);
    },
  });
  const { draft, text } = form;
  const isOwn = draft.provider === "openai_compatible";
  const name = nameOf(draft);
  const list = useQuery(connectionsQuery);
  const existing = list.data?.find((each) => each.used && each.name === name);
  const replaces = existing?.source === "stored";
  const plain = { autoComplete: "off", spellCheck: false };
  return (
    <FormDialog
      form={form}
      onClose={onClose}
      title={replaces ? `Replace connection ${name}` : "Add connection"}
      about="For all projects of this server, in test and in live."
      act={`${replaces ? "Replace" : "Add"} connection`}
      acting={`${replaces ? "Replacing" : "Adding"} connection`}
      actKind={replaces ? "danger" : "primary"}
      ready={!list.isPending && name !== ""}
      failed={`The connection was not ${replaces ? "replaced" : "added"}`}
    >
      <Select
        label="Provider"
        choices={connectionProviders.map((value) => ({ value, label: providerWords[value] }))}
        {...form.pick("provider")}
      />
      {existing && (
        <Callout tone="warn">
          {replaces
            ? `There is a connection ${name} already. Its URL and key are replaced. Runs use the new ones from their next model call.`
            : `The environment has a connection ${name}. Runs use this one from their next model call.`}
        </Callout>
      )}
      {isOwn && (
        <Field
          label="Name"
          hint="Lower-case letters, digits, - and _. Its models are openai_compatible/<name>/…"
          {...text("name")}
          {...plain}
        />
      )}
      <Field
        label={isOwn ? "URL" : "URL (optional)"}
        hint={isOwn ? "Such as http://127.0.0.1:8000/v1, /v1 included." : "Empty: the provider's default."}
        {...text("base_url")}
        inputMode="url"
        {...plain}
      />
      <Field
        label={isOwn || draft.provider === "ollama" || isCloud(draft.provider) ? "Key (optional)" : "Key"}
        hint="Stored encrypted, and never shown again."
        type="password"
        {...text("api_key")}
        {...plain}
      />
      <CloudFields provider={draft.provider} text={text} />
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
    </FormDialog>
  );
}
