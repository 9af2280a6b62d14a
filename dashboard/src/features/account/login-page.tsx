import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useRef } from "react";
import { signIn } from "../../entities/session/session.ts";
import { ApiError } from "../../lib/api.ts";
import { formatElapsed } from "../../lib/format.ts";
import { useTitle } from "../../lib/use-title.ts";
import { Button } from "../../ui/button.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Field } from "../../ui/field.tsx";
import { Note } from "../../ui/note.tsx";
import { EntryCard } from "./entry-card.tsx";

/** Signs a person in. */
export function LoginPage({ onSignedIn }: { onSignedIn: () => void }) {
  useTitle("Sign in");
  const password = useRef<HTMLInputElement>(null);
  const login = useMutation({ mutationFn: signIn, onSuccess: onSignedIn, onError: () => password.current?.select() });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    login.mutate({ email: String(form.get("email")).trim(), password: String(form.get("password")) });
  };
  return (
    <EntryCard title="Sign in">
      <form onSubmit={submit} className="flex flex-col gap-4">
        <Field label="Email" name="email" type="email" autoComplete="username" required autoFocus />
        <Field
          ref={password}
          label="Password"
          name="password"
          type="password"
          autoComplete="current-password"
          required
        />
        {login.error && <LoginError error={login.error} />}
        <Button type="submit" kind="primary" size="lg" disabled={login.isPending}>
          {login.isPending ? "Signing in" : "Sign in"}
        </Button>
      </form>
      <p className="text-xs text-muted">
        Password forgotten? Run <code>runnel admin reset-password</code> on the server.
      </p>
    </EntryCard>
  );
}

function LoginError({ error }: { error: Error }) {
  if (!(error instanceof ApiError)) return <ErrorNote title="Not signed in" error={error} />;
  if (error.code === "invalid_login")
    return (
      <Note tone="bad" role="alert">
        Email or password is wrong. Check both and try again.
      </Note>
    );
  if (error.status === 429) {
    const wait = error.retryAfterSeconds
      ? `Try again in ${formatElapsed(error.retryAfterSeconds * 1000)}.`
      : "Try again later.";
    return (
      <Note tone="warn" role="alert">
        Too many attempts. {wait}
      </Note>
    );
  }
  return <ErrorNote title="Not signed in" error={error} />;
}
