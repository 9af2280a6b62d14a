import { useQuery } from "@tanstack/react-query";
import { acceptInvitation, invitationQuery } from "../../entities/session/account-api.ts";
import { signInWaysQuery } from "../../entities/session/sign-in-api.ts";
import { useForm } from "../../hooks/use-form.ts";
import { useTitle } from "../../hooks/use-title.ts";
import { ApiError } from "../../lib/api.ts";
import { Callout } from "../../ui/feedback/callout.tsx";
import { ErrorNote } from "../../ui/feedback/error-note.tsx";
import { Button } from "../../ui/forms/button.tsx";
import { Field } from "../../ui/forms/field.tsx";
import { Form } from "../../ui/forms/form.tsx";
import { checkPassword } from "./check-account.ts";
import { EntryCard } from "./entry-card.tsx";
import { IssuerButton } from "./issuer-button.tsx";
import { NewPasswordFields } from "./new-password-fields.tsx";

const roleDescriptions = {
  viewer: "You can read everything in all projects.",
  member: "You can work in all projects: agents, runs, API keys and what belongs to them.",
  owner: "You can do everything, including people and model connections.",
};

/** Creates the account of a one-time invitation link. */
export function InvitePage({ token, onSignedIn }: { token: string; onSignedIn: () => void }) {
  useTitle("Invitation");
  const form = useForm({
    first: { password: "", repeat: "" },
    check: checkPassword,
    send: ({ password }) => acceptInvitation({ token, password }),
    onSent: onSignedIn,
  });
  const invitation = useQuery({
    ...invitationQuery(token),
    enabled: form.isUnchangedSinceSend, // An accepted invitation cannot be read.
  });
  const signInWays = useQuery(signInWaysQuery);
  const failure = form.failure ?? invitation.error;
  if (failure instanceof ApiError && failure.code === "invitation_invalid") return <SpentInvitation />;
  if (invitation.error)
    return (
      <EntryCard title="The invitation cannot be read">
        <ErrorNote title="The request failed" error={invitation.error} onRetry={() => void invitation.refetch()} />
      </EntryCard>
    );
  if (!invitation.data || signInWays.isPending) return null;
  const { email, role } = invitation.data;
  const { local = true, oidc = null } = signInWays.data ?? {};
  return (
    <EntryCard
      title="Join this runnel"
      lead={`You were invited as ${role === "owner" ? "an owner" : `a ${role}`}. ${roleDescriptions[role]}`}
    >
      {local && (
        <Form form={{ ...form, isUnsaved: false }}>
          <Field label="Email" name="email" type="email" autoComplete="username" value={email} readOnly />
          <NewPasswordFields text={form.text} autoFocus />
          <ErrorNote title="The account was not created" error={form.error} />
          <Button type="submit" kind="primary" size="lg" disabled={form.isPending}>
            {form.isPending ? "Creating account" : "Create account"}
          </Button>
        </Form>
      )}
      {oidc && <IssuerButton name={oidc.name} to="/overview" primary={!local} />}
    </EntryCard>
  );
}

function SpentInvitation() {
  return (
    <EntryCard
      title="This invitation does not work"
      lead="It was used, withdrawn or replaced, or it is older than 7 days."
    >
      <Callout tone="warn">Ask an owner for a new one: Settings, People, Invite person.</Callout>
      <p>
        <a href="/dashboard/login" className="text-accent underline underline-offset-2">
          Sign in
        </a>
      </p>
    </EntryCard>
  );
}
