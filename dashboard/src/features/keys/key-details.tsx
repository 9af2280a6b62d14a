import { Link } from "@tanstack/react-router";
import type { ApiKey } from "../../../../server/domain/api-types/key.ts";
import { limits } from "../../../../server/domain/limits.ts";
import { useForm } from "../../hooks/use-form.ts";
import { useNow } from "../../hooks/use-now.ts";
import { formatDay } from "../../lib/format.ts";
import { FormDialog } from "../../ui/dialogs/form-dialog.tsx";
import { toast } from "../../ui/feedback/toast.ts";
import { Field } from "../../ui/forms/field.tsx";
import { type Expiry, type ExpiryChoice, expiryEnd, expiryFault, expiryOptions } from "./expiry.ts";
import { ExpiryField } from "./expiry-field.tsx";
import { KeyFacts } from "./key-facts.tsx";
import { keyState, shortKey } from "./key-state.ts";
import { useChangeKey } from "./use-change-key.ts";

/** Details of a key. While it works, its name can be changed, and its expiry unless it is being rotated. */
export function KeyDetails({
  apiKey: key,
  mayChange,
  onClose,
}: {
  apiKey: ApiKey;
  mayChange: boolean;
  onClose: () => void;
}) {
  const now = useNow(false);
  const state = keyState(key, now);
  const isEditable = mayChange && (state === "active" || state === "exposed" || state === "rotating");
  const form = useForm({
    first: { name: key.name, end: { choice: "same", date: "" } as Expiry<ExpiryChoice | "same"> },
    send: async ({ name, end: { choice, date } }) => {
      const at = choice === "same" ? undefined : expiryEnd({ choice, date }, now);
      return change({
        ...(name.trim() !== key.name && { name: name.trim() }),
        ...(at !== undefined && { expires_at: at === null ? null : new Date(at).toISOString() }),
      });
    },
    onSent: ({ name }) => {
      toast("Key saved", name);
      onClose();
    },
  });
  const change = useChangeKey(key);
  const { name, end } = form.draft;
  const fault = end.choice === "same" ? null : expiryFault({ choice: end.choice, date: end.date }, now);
  const closeDialog = () => {
    onClose();
    return true;
  };
  const same = key.expires_at ? `On ${formatDay(key.expires_at)} (current)` : "Never (current)";
  return (
    <FormDialog
      form={isEditable ? form : { submit: closeDialog }}
      onClose={onClose}
      title={key.name}
      about={<code>{shortKey(key)}</code>}
      act={isEditable ? "Save key" : "Done"}
      ready={!isEditable || (name.trim() !== "" && !fault)}
      failed="The key was not saved"
    >
      {isEditable && <Field label="Name" maxLength={limits.name_length} autoComplete="off" {...form.text("name")} />}
      {isEditable && state !== "rotating" && (
        <ExpiryField<ExpiryChoice | "same">
          label="Expires"
          expiry={end}
          options={[{ value: "same", label: same }, ...expiryOptions(now)]}
          fault={end.date ? fault : null}
          onChange={(next) => form.set({ end: next })}
        />
      )}
      <KeyFacts apiKey={key} now={now} />
      <Link to="/keys/$keyId" params={{ keyId: key.id }} className="self-start text-accent hover:underline">
        Analytics of this key
      </Link>
    </FormDialog>
  );
}
