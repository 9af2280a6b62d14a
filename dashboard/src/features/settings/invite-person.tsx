import { useQueryClient } from "@tanstack/react-query";
import type { Role } from "../../../../server/domain/api-types/enums.ts";
import { invitationsQuery, invite } from "../../entities/server/server-api.ts";
import { useForm } from "../../hooks/use-form.ts";
import { FormDialog } from "../../ui/dialogs/form-dialog.tsx";
import { SecretDialog } from "../../ui/dialogs/secret-dialog.tsx";
import { Callout } from "../../ui/feedback/callout.tsx";
import { Field } from "../../ui/forms/field.tsx";
import { RadioCards } from "../../ui/forms/radio-cards.tsx";

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

/** Invites a person and shows the one-time link. */
export function InvitePerson({ onClose }: { onClose: () => void }) {
  const client = useQueryClient();
  const form = useForm({
    first: { email: "", role: "member" as Role },
    send: ({ email, role }) => invite({ email: email.trim(), role }),
    onSent: () => client.invalidateQueries(invitationsQuery),
  });
  const { email, role } = form.draft;
  if (form.result)
    return (
      <SecretDialog
        title="Send this link"
        about={`To ${form.result.email}, who becomes ${role === "owner" ? "an owner" : `a ${role}`}. It works once, for 7 days.`}
        secret={`${window.location.origin}/dashboard/invite#${form.result.token}`}
        act="I've copied it"
        onStored={onClose}
      >
        <Callout tone="warn">
          Anyone with the link can create the account.{" "}
          {form.result.mailed
            ? "An email with the link was sent."
            : `Send it so that only this person can read it; ${form.result.mailed === false ? "no email was sent." : "runnel does not send email."}`}
        </Callout>
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
      <RadioCards label="Role" choices={choices} {...form.choose("role")} />
    </FormDialog>
  );
}
