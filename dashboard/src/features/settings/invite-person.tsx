import { useQueryClient } from "@tanstack/react-query";
import type { Role } from "../../../../server/wire/names.ts";
import { invitationsQuery, invite } from "../../entities/server/server-api.ts";
import { useForm } from "../../lib/use-form.ts";
import { ChoiceCards } from "../../ui/choice-cards.tsx";
import { Field } from "../../ui/field.tsx";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { Note } from "../../ui/note.tsx";
import { SecretDialog } from "../../ui/secret-dialog.tsx";

const choices = [
  { value: "viewer", label: "Viewer", hint: "Reads everything in all projects, except the secrets of keys." },
  {
    value: "member",
    label: "Member",
    hint: "Works in all projects, test and live: agents, runs, approvals, API keys, files.",
  },
  {
    value: "owner",
    label: "Owner",
    hint: "Everything, including people, projects and their limits, model connections, prices and backups.",
  },
] as const;

/** Asks somebody to join, and shows the one-time link. */
export function InvitePerson({ onClose }: { onClose: () => void }) {
  const client = useQueryClient();
  const form = useForm({
    first: { email: "", role: "member" as Role },
    send: ({ email, role }) => invite({ email: email.trim(), role }),
    onSent: () => client.invalidateQueries(invitationsQuery),
  });
  const { email, role } = form.draft;
  if (form.made)
    return (
      <SecretDialog
        title="Send this link"
        about={`To ${form.made.email}, who becomes ${role === "owner" ? "an owner" : `a ${role}`}. It works once, for 7 days.`}
        secret={`${window.location.origin}/dashboard/invite#${form.made.token}`}
        act="I've copied it"
        onStored={onClose}
      >
        <Note tone="warn">
          Anyone with the link can create the account.{" "}
          {form.made.mailed
            ? "An email with the link was sent."
            : `Send it so that only this person can read it; ${form.made.mailed === false ? "no email was sent." : "runnel does not send email."}`}
        </Note>
      </SecretDialog>
    );
  return (
    <FormDialog
      form={{ ...form, isUnsaved: false }}
      onClose={onClose}
      title="Invite person"
      about="Creates a link with which one person can create an account."
      act="Invite person"
      acting="Inviting"
      ready={email.trim() !== ""}
      failed="The invitation was not created"
    >
      <Field label="Email" type="email" hint="Used to sign in." autoComplete="off" {...form.text("email")} />
      <ChoiceCards label="Role" choices={choices} {...form.choose("role")} />
    </FormDialog>
  );
}
