import { useQuery } from "@tanstack/react-query";
import { sessionQuery, setUp } from "../../entities/session/session.ts";
import { signInWaysQuery } from "../../entities/session/sign-in-api.ts";
import { useForm } from "../../hooks/use-form.ts";
import { useTitle } from "../../hooks/use-title.ts";
import { ApiError } from "../../lib/api.ts";
import { Callout } from "../../ui/feedback/callout.tsx";
import { ErrorNote } from "../../ui/feedback/error-note.tsx";
import { Button } from "../../ui/forms/button.tsx";
import { Field } from "../../ui/forms/field.tsx";
import { Form } from "../../ui/forms/form.tsx";
import { checkAccount } from "./check-account.ts";
import { EntryCard } from "./entry-card.tsx";
import { IssuerButton } from "./issuer-button.tsx";
import { NewPasswordFields } from "./new-password-fields.tsx";
import { SignInLink } from "./sign-in-link.tsx";

interface SetupPageProps {
  /** The code of the one-time link. If empty, the page asks for it. */
  token: string;
  onSignedIn: () => void;
}

/** Creates the first account. */
export function SetupPage(props: SetupPageProps) {
  const session = useQuery(sessionQuery);
  if (session.isPending) return null;
  const isSetUp = session.data && (session.data.signedIn || !session.data.setupRequired);
  return isSetUp ? <AlreadySetUp /> : <FirstAccount {...props} />;
}

function FirstAccount({ token, onSignedIn }: SetupPageProps) {
  useTitle("Set up");
  const form = useForm({
    first: { token, email: "", password: "", repeat: "" },
    check: checkAccount,
    send: ({ token, email, password }) => setUp({ token: codeIn(token), email: email.trim(), password }),
    onSent: onSignedIn,
  });
  const { oidc = null } = useQuery(signInWaysQuery).data ?? {};
  const apiError = form.failure instanceof ApiError ? form.failure : null;

  if (apiError?.code === "setup_done") return <AlreadySetUp />;
  if (token && apiError?.code === "setup_token_invalid") return <SpentLink old={false} />;
  if (token && apiError?.code === "setup_token_expired") return <SpentLink old />;
  return (
    <EntryCard title="Create your account" lead="You are the owner of this runnel. The set-up link works once.">
      <Form form={{ ...form, isUnsaved: false }}>
        {!token && (
          <Field
            label="Set-up code"
            name="token"
            className="font-mono text-xs"
            autoComplete="one-time-code"
            spellCheck={false}
            hint="From the terminal: the set-up link, or the part of it after #."
            autoFocus
            {...form.text("token")}
          />
        )}
        <Field
          label="Email"
          name="email"
          type="email"
          autoComplete="username"
          autoFocus={Boolean(token)}
          {...form.text("email")}
        />
        <NewPasswordFields text={form.text} />
        {form.error && <SetupError error={form.error} />}
        <Button type="submit" kind="primary" size="lg" disabled={form.isPending}>
          {form.isPending ? "Creating account" : "Create account"}
        </Button>
      </Form>
      {oidc && <IssuerButton name={oidc.name} to="/start" />}
    </EntryCard>
  );
}

/** Extracts the code, because people may paste the whole link. */
const codeIn = (text: string): string => text.trim().replace(/^.*#/, "");

/** Shown on the set-up page once an account exists. */
function AlreadySetUp() {
  useTitle("Set up");
  return (
    <EntryCard title="runnel is already set up" lead="An account exists, so the set-up link no longer works.">
      <Callout tone="info">
        Not you? Run <code>runnel admin reset-password</code> on the server and look at who has access.
      </Callout>
      <SignInLink />
    </EntryCard>
  );
}

function SpentLink({ old }: { old: boolean }) {
  const title = old ? "This link is too old" : "This link does not work";
  const lead = old ? "A set-up link works for a short time only." : "It was used already, or a part of it is missing.";
  return (
    <EntryCard title={title} lead={lead}>
      <Callout tone="warn">
        Run <code>runnel admin setup-link</code> on the server: it prints a new link.
      </Callout>
      <SignInLink />
    </EntryCard>
  );
}

function SetupError({ error }: { error: Error }) {
  const code = error instanceof ApiError ? error.code : null;
  if (code === "setup_token_invalid")
    return (
      <Callout tone="bad" role="alert">
        This code does not work. It was used already, or a part of it is missing.
      </Callout>
    );
  if (code === "setup_token_expired")
    return (
      <Callout tone="bad" role="alert">
        This code is too old. <code>runnel admin setup-link</code> prints a new one.
      </Callout>
    );
  return <ErrorNote title="The account was not created" error={error} />;
}
