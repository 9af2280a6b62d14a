import { useMutation, useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { acceptInvitation, invitationQuery } from "../../entities/session/account-api.ts";
import { ApiError } from "../../lib/api.ts";
import { useTitle } from "../../lib/use-title.ts";
import { Button } from "../../ui/button.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Field } from "../../ui/field.tsx";
import { Note } from "../../ui/note.tsx";
import { checkPassword, type PasswordFaults } from "./check-account.ts";
import { EntryCard } from "./entry-card.tsx";
import { NewPasswordFields } from "./new-password-fields.tsx";

const mays = {
  viewer: "You can read everything in all projects.",
  member: "You can work in all projects: agents, runs, API keys and what belongs to them.",
  owner: "You can do everything, people and model connections too.",
};

/** Makes the account that a one-time link invites to. */
export function InvitePage({ token, onSignedIn }: { token: string; onSignedIn: () => void }) {
  useTitle("Invitation");
  const [faults, setFaults] = useState<PasswordFaults>({});
  const joining = useMutation({ mutationFn: acceptInvitation, onSuccess: onSignedIn });
  const invitation = useQuery({
    ...invitationQuery(token),
    enabled: joining.isIdle, // Once it is taken, it cannot be read.
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const fields = { password: String(form.get("password") ?? ""), repeat: String(form.get("repeat") ?? "") };
    const found = checkPassword(fields);
    setFaults(found);
    const first = (["password", "repeat"] as const).find((name) => found[name]);
    if (first) event.currentTarget.querySelector<HTMLInputElement>(`[name="${first}"]`)?.focus();
    else joining.mutate({ token, password: fields.password });
  };
  const refused = joining.error ?? invitation.error;
  if (refused instanceof ApiError && refused.code === "invitation_invalid") return <SpentInvitation />;
  if (invitation.error)
    return (
      <EntryCard title="The invitation cannot be read">
        <ErrorNote title="The request failed" error={invitation.error} onRetry={() => void invitation.refetch()} />
      </EntryCard>
    );
  if (!invitation.data) return null;
  const { email, role } = invitation.data;
  const said = (name: keyof PasswordFaults) =>
    faults[name] ??
    (joining.error instanceof ApiError ? joining.error.faults.find(({ param }) => param === name)?.message : undefined);
  return (
    <EntryCard
      title="Join this runnel"
      lead={`You were invited as ${role === "owner" ? "an owner" : `a ${role}`}. ${mays[role]}`}
    >
      <form onSubmit={submit} noValidate className="flex flex-col gap-4">
        <Field label="Email" name="email" type="email" autoComplete="username" value={email} readOnly />
        <NewPasswordFields faults={{ password: said("password"), repeat: said("repeat") }} autoFocus />
        {joining.error && !said("password") && <ErrorNote title="The account was not created" error={joining.error} />}
        <Button type="submit" kind="primary" size="lg" disabled={joining.isPending}>
          {joining.isPending ? "Creating account" : "Create account"}
        </Button>
      </form>
    </EntryCard>
  );
}

function SpentInvitation() {
  return (
    <EntryCard
      title="This invitation does not work"
      lead="It was used, withdrawn or replaced, or it is older than 7 days."
    >
      <Note tone="warn">Ask an owner for a new one: Settings, People, Invite person.</Note>
      <p>
        <a href="/dashboard/login" className="text-accent underline underline-offset-2">
          Sign in
        </a>
      </p>
    </EntryCard>
  );
}
