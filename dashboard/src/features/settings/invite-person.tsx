import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Role } from "../../../../server/wire/names.ts";
import { invitationsQuery, invite } from "../../entities/server/server-api.ts";
import { faultOf } from "../../lib/fault-of.ts";
import { ChoiceCards } from "../../ui/choice-cards.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Field } from "../../ui/field.tsx";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { Note } from "../../ui/note.tsx";
import { SecretDialog } from "../../ui/secret-dialog.tsx";

const choices = [
  { value: "viewer", label: "Viewer", hint: "Reads everything in all projects, but for the secrets of keys." },
  {
    value: "member",
    label: "Member",
    hint: "Works in all projects, test and live: agents, runs, approvals, API keys, files.",
  },
  {
    value: "owner",
    label: "Owner",
    hint: "Everything: also people, projects and their limits, model connections, prices, backups.",
  },
] as const;

/** Asks somebody to join, and shows the one-time link. */
export function InvitePerson({ onClose }: { onClose: () => void }) {
  const client = useQueryClient();
  const [email, setEmail] = useState("");
  const [role, setRole] = useState<Role>("member");
  const inviting = useMutation({
    mutationFn: () => invite({ email: email.trim(), role }),
    onSuccess: () => client.invalidateQueries(invitationsQuery),
  });
  if (inviting.data)
    return (
      <SecretDialog
        title="Send this link"
        about={`To ${inviting.data.email}, who becomes ${role === "owner" ? "an owner" : `a ${role}`}. It works once, for 7 days.`}
        secret={`${window.location.origin}/dashboard/invite#${inviting.data.token}`}
        act="I have copied it"
        onStored={onClose}
      >
        <Note tone="warn">
          Whoever has the link can make the account. Send it by a way that only this person reads; runnel sends no mail.
        </Note>
      </SecretDialog>
    );
  const fault = faultOf(inviting.error, "email");
  return (
    <FormDialog
      open
      onOpenChange={(open) => !open && onClose()}
      title="Invite person"
      about="Makes a link by which one person makes an account."
      act={inviting.isPending ? "Inviting" : "Invite person"}
      busy={inviting.isPending || email.trim() === ""}
      onSubmit={() => inviting.mutate()}
    >
      <Field
        label="Email"
        type="email"
        hint="The name to sign in with."
        value={email}
        onChange={(event) => {
          setEmail(event.target.value);
          inviting.reset();
        }}
        error={fault}
        autoComplete="off"
      />
      <ChoiceCards label="Role" choices={choices} chosen={role} onChoose={setRole} />
      {inviting.error && !fault && <ErrorNote title="Nobody was invited" error={inviting.error} />}
    </FormDialog>
  );
}
