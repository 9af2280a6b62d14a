import { useMutation, useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { sessionQuery, setUp } from "../../entities/session/session.ts";
import { ApiError } from "../../lib/api.ts";
import { useTitle } from "../../lib/use-title.ts";
import { Button } from "../../ui/button.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Field } from "../../ui/field.tsx";
import { Note } from "../../ui/note.tsx";
import { type AccountFaults, checkAccount } from "./check-account.ts";
import { EntryCard } from "./entry-card.tsx";
import { NewPasswordFields } from "./new-password-fields.tsx";

interface SetupPageProps {
  /** The code of the one-time link; without it the page asks for it. */
  token: string;
  onSignedIn: () => void;
}

/** Makes the first account. */
export function SetupPage(props: SetupPageProps) {
  const session = useQuery(sessionQuery);
  if (session.isPending) return null;
  const isSetUp = session.data && (session.data.signedIn || !session.data.setupRequired);
  return isSetUp ? <AlreadySetUp /> : <FirstAccount {...props} />;
}

function FirstAccount({ token, onSignedIn }: SetupPageProps) {
  useTitle("Set up");
  const [faults, setFaults] = useState<AccountFaults>({});
  const creation = useMutation({ mutationFn: setUp, onSuccess: onSignedIn });
  const refused = creation.error instanceof ApiError ? creation.error : null;
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const read = (name: string) => String(form.get(name) ?? "");
    const fields = {
      token: token || read("token").trim(),
      email: read("email").trim(),
      password: read("password"),
      repeat: read("repeat"),
    };
    const found = checkAccount(fields);
    setFaults(found);
    const first = (["token", "email", "password", "repeat"] as const).find((name) => found[name]);
    if (first) event.currentTarget.querySelector<HTMLInputElement>(`[name="${first}"]`)?.focus();
    else creation.mutate({ token: fields.token, email: fields.email, password: fields.password });
  };

  if (refused?.code === "setup_done") return <AlreadySetUp />;
  if (token && refused?.code === "setup_token_invalid") return <SpentLink old={false} />;
  if (token && refused?.code === "setup_token_expired") return <SpentLink old />;
  const said = (name: keyof AccountFaults) =>
    faults[name] ?? refused?.faults.find((fault) => fault.param === name)?.message;
  return (
    <EntryCard title="Create your account" lead="You are the owner of this runnel. The set-up link works once.">
      <form onSubmit={submit} noValidate className="flex flex-col gap-4">
        {!token && (
          <Field
            label="Set-up code"
            name="token"
            className="font-mono text-xs"
            autoComplete="one-time-code"
            spellCheck={false}
            hint="The part after # in the link that the terminal shows."
            error={said("token")}
            autoFocus
          />
        )}
        <Field
          label="Email"
          name="email"
          type="email"
          autoComplete="username"
          error={said("email")}
          autoFocus={Boolean(token)}
        />
        <NewPasswordFields faults={{ password: said("password"), repeat: said("repeat") }} />
        {refused && <SetupError error={refused} />}
        <Button type="submit" kind="primary" size="lg" disabled={creation.isPending}>
          {creation.isPending ? "Creating account" : "Create account"}
        </Button>
      </form>
    </EntryCard>
  );
}

/** What the set-up page shows once an account exists. */
function AlreadySetUp() {
  useTitle("Set up");
  return (
    <EntryCard title="runnel is already set up" lead="An account was made, so the set-up link does nothing any more.">
      <Note tone="info">
        Was it not you? Run <code>runnel admin reset-password</code> on the server and look at who has access.
      </Note>
      <SignInLink />
    </EntryCard>
  );
}

function SpentLink({ old }: { old: boolean }) {
  const title = old ? "This link is too old" : "This link does not work";
  const lead = old
    ? "A set-up link is good for a short time only."
    : "It was used already, or a part of it is missing.";
  return (
    <EntryCard title={title} lead={lead}>
      <Note tone="warn">
        Stop runnel and start it again: the terminal shows a new link. Or run <code>runnel admin create</code> on the
        server.
      </Note>
      <SignInLink />
    </EntryCard>
  );
}

function SetupError({ error }: { error: ApiError }) {
  if (error.code === "setup_token_invalid")
    return (
      <Note tone="bad" role="alert">
        This code does not work. It was used already, or a part of it is missing.
      </Note>
    );
  if (error.code === "setup_token_expired")
    return (
      <Note tone="bad" role="alert">
        This code is too old. Stop runnel and start it again for a new one.
      </Note>
    );
  return <ErrorNote title="The account was not created" error={error} />;
}

function SignInLink() {
  return (
    <p>
      <a href="/dashboard/login" className="text-accent underline underline-offset-2">
        Sign in
      </a>
    </p>
  );
}
