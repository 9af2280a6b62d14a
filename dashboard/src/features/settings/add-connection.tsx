import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type ConnectionProvider, connectionProviders, providerWords } from "../../../../server/domain/providers.ts";
import { modelQueries } from "../../entities/model/model-api.ts";
import { addConnection, connectionsQuery, pricesQuery } from "../../entities/server/server-api.ts";
import { useForm } from "../../hooks/use-form.ts";
import { FormDialog } from "../../ui/dialogs/form-dialog.tsx";
import { Callout } from "../../ui/feedback/callout.tsx";
import { toast } from "../../ui/feedback/toast.ts";
import { Field } from "../../ui/forms/field.tsx";
import { Select } from "../../ui/forms/select.tsx";
import { addressOf, faultsOf, nameOf, newDraft, toNewConnection } from "./connection-draft.ts";
import { ConnectionFields } from "./connection-fields.tsx";

interface AddConnectionProps {
  onClose: () => void;
  /** Called with the new connection's name, to offer a test. */
  onAdded: (name: string) => void;
}

/** Creates a connection, or replaces the one with the same name. */
export function AddConnection({ onClose, onAdded }: AddConnectionProps) {
  const client = useQueryClient();
  const form = useForm({
    first: () => newDraft("openai"),
    check: faultsOf,
    send: (draft) => addConnection(toNewConnection(draft)),
    onSent: async () => {
      onClose(); // Close first: after the list is refetched, this dialog would warn about replacing the new connection.
      toast(
        replaces ? "Connection replaced" : "Connection added",
        `Its models are ${isOwn ? `openai_compatible/${name}` : name}/…`,
      );
      await Promise.all([connectionsQuery, pricesQuery, modelQueries].map((stale) => client.invalidateQueries(stale)));
      onAdded(name);
    },
  });
  const { draft, text } = form;
  const isOwn = draft.provider === "openai_compatible";
  const name = nameOf(draft);
  const list = useQuery(connectionsQuery);
  const existing = list.data?.find((each) => each.used && each.name === name);
  const replaces = existing?.source === "stored";
  const choose = (provider: ConnectionProvider) => {
    // An address that was typed stays.
    const isKnown = draft.base_url.trim() === addressOf(draft.provider);
    form.set({ provider, ...(isKnown && { base_url: addressOf(provider) }) });
  };
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
        value={draft.provider}
        onChoose={choose}
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
          autoComplete="off"
          spellCheck={false}
        />
      )}
      <ConnectionFields fields={form} keyHint="Stored encrypted, and never shown again." />
    </FormDialog>
  );
}
