import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { addConnection, connectionsQuery, pricesQuery } from "../../entities/server/server-api.ts";
import { faultOf } from "../../lib/fault-of.ts";
import { useChanged } from "../../lib/use-changed.ts";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Field } from "../../ui/field.tsx";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { Note } from "../../ui/note.tsx";
import { Select } from "../../ui/select.tsx";
import { toast } from "../../ui/toast.ts";

const providers = [
  { value: "openai", label: "OpenAI" },
  { value: "anthropic", label: "Anthropic" },
  { value: "google", label: "Google" },
  { value: "ollama", label: "Ollama" },
  { value: "openai_compatible", label: "OpenAI-compatible server" },
] as const;
type Provider = (typeof providers)[number]["value"];

const fields = ["name", "base_url", "api_key", "max_concurrent"];

interface AddConnectionProps {
  onClose: () => void;
  /** With its name: a test is what comes next. */
  onAdded: (name: string) => void;
}

/** Makes a connection, or replaces the one of this name. */
export function AddConnection({ onClose, onAdded }: AddConnectionProps) {
  const client = useQueryClient();
  const [provider, setProvider] = useState<Provider>("openai");
  const [given, setGiven] = useState({ name: "", base_url: "", api_key: "", max_concurrent: "" });
  const isOwn = provider === "openai_compatible";
  const name = isOwn ? given.name.trim() : provider;
  const list = useQuery(connectionsQuery);
  const there = list.data?.find((each) => each.used && each.name === name);
  const replaces = there?.source === "stored";
  const [act, doing] = replaces ? ["Replace", "Replacing"] : ["Add", "Adding"];
  const adding = useMutation({
    mutationFn: () =>
      addConnection({
        ...{ name, provider },
        ...{ base_url: given.base_url.trim() || null, api_key: given.api_key.trim() || null },
        max_concurrent: given.max_concurrent.trim() === "" ? null : Number(given.max_concurrent),
      }),
    onSuccess: async () => {
      onClose(); // At first: once the list is read anew, this dialog would speak of replacing what it made.
      toast(
        replaces ? "Connection replaced" : "Connection added",
        `Its models are ${isOwn ? `openai_compatible/${name}` : name}/…`,
      );
      await Promise.all([client.invalidateQueries(connectionsQuery), client.invalidateQueries(pricesQuery)]);
      onAdded(name);
    },
  });
  const set = (field: keyof typeof given) => (event: { target: { value: string } }) => {
    setGiven({ ...given, [field]: event.target.value });
    adding.reset();
  };
  const said = fields.some((field) => faultOf(adding.error, field));
  const unsaved = useChanged(given) && !adding.isPending;
  return (
    <FormDialog
      open
      unsaved={unsaved}
      onOpenChange={(open) => !open && onClose()}
      title={replaces ? `Replace connection ${name}` : "Add connection"}
      about="For all projects of this server, in test and in live."
      act={`${adding.isPending ? doing : act} connection`}
      actKind={replaces ? "danger" : "primary"}
      busy={adding.isPending || list.isPending || name === ""}
      onSubmit={() => adding.mutate()}
    >
      <Select
        label="Provider"
        value={provider}
        choices={providers}
        onChoose={(next) => {
          setProvider(next);
          adding.reset();
        }}
      />
      {there && (
        <Note tone="warn">
          {replaces
            ? `There is a connection ${name} already. Its address and its key are forgotten, and these take their place: what calls its models uses them from now on.`
            : `The environment has a connection ${name}. What calls its models uses this one from now on.`}
        </Note>
      )}
      {isOwn && (
        <Field
          label="Name"
          hint="Lower-case letters, digits, - and _. Its models are openai_compatible/<name>/…"
          value={given.name}
          onChange={set("name")}
          error={faultOf(adding.error, "name")}
          autoComplete="off"
          spellCheck={false}
        />
      )}
      <Field
        label={isOwn ? "Address" : "Address (optional)"}
        hint={isOwn ? "Such as http://127.0.0.1:8000/v1, /v1 included." : "Empty: the provider's own."}
        value={given.base_url}
        onChange={set("base_url")}
        error={faultOf(adding.error, "base_url")}
        inputMode="url"
        autoComplete="off"
        spellCheck={false}
      />
      <Field
        label={isOwn || provider === "ollama" ? "Key (optional)" : "Key"}
        hint="Stored encrypted, and never shown again."
        type="password"
        value={given.api_key}
        onChange={set("api_key")}
        error={faultOf(adding.error, "api_key")}
        autoComplete="off"
        spellCheck={false}
      />
      <Field
        label="Calls at once (optional)"
        hint="So many calls does its server take at once; the others wait, and projects take turns. Empty: as many as come."
        value={given.max_concurrent}
        onChange={set("max_concurrent")}
        error={faultOf(adding.error, "max_concurrent")}
        inputMode="numeric"
        autoComplete="off"
      />
      {adding.error && !said && (
        <ErrorNote title={`The connection was not ${replaces ? "replaced" : "added"}`} error={adding.error} />
      )}
    </FormDialog>
  );
}
