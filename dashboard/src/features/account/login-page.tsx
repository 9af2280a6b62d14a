import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import type { OidcRefusal } from "../../../../server/wire/names.ts";
import { signIn } from "../../entities/session/session.ts";
import { signInWaysQuery } from "../../entities/session/sign-in-api.ts";
import { ApiError } from "../../lib/api.ts";
import { formatElapsed } from "../../lib/format.ts";
import { useForm } from "../../lib/use-form.ts";
import { useTitle } from "../../lib/use-title.ts";
import { Button } from "../../ui/button.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Field } from "../../ui/field.tsx";
import { Form } from "../../ui/form.tsx";
import { Note } from "../../ui/note.tsx";
import { EntryCard } from "./entry-card.tsx";
import { IssuerButton } from "./issuer-button.tsx";
import { PasskeyButton } from "./passkey-button.tsx";
import { refusals } from "./refusals.ts";
import { safeReturn } from "./safe-return.ts";

/** Signs a person in: by a password, at the issuer, or either. */
export function LoginPage({ onSignedIn }: { onSignedIn: () => void }) {
  useTitle("Sign in");
  const ways = useQuery(signInWaysQuery);
  const search = new URLSearchParams(window.location.search);
  const reason = search.get("refused") ?? "";
  const refusal = Object.hasOwn(refusals, reason) ? refusals[reason as OidcRefusal] : null;
  const { local = true, oidc = null } = ways.data ?? {};
  if (ways.isPending) return null;
  return (
    <EntryCard title="Sign in">
      {refusal && (
        <Note tone="bad" role="alert">
          {refusal}
        </Note>
      )}
      {local && <PasswordLogin mail={ways.data?.mail ?? false} onSignedIn={onSignedIn} />}
      {local && <PasskeyButton onSignedIn={onSignedIn} />}
      {oidc && <IssuerButton name={oidc.name} to={safeReturn(search.get("to") ?? undefined)} primary={!local} />}
    </EntryCard>
  );
}

function PasswordLogin({ mail, onSignedIn }: { mail: boolean; onSignedIn: () => void }) {
  const password = useRef<HTMLInputElement>(null);
  const form = useForm({
    first: { email: "", password: "", code: "" },
    check: (draft) => ({
      ...(draft.email.trim() === "" && { email: "Enter your email." }),
      ...(draft.password === "" && { password: "Enter your password." }),
    }),
    send: ({ email, password, code }) => signIn({ email: email.trim(), password, ...(code && { code }) }),
    onSent: onSignedIn,
  });
  const said = form.failure instanceof ApiError ? form.failure.code : null;
  const [asksCode, setAsksCode] = useState(false);
  useEffect(() => {
    if (said === "second_factor_required") setAsksCode(true);
    else if (form.failure && said !== "invalid_code") password.current?.select();
  }, [form.failure, said]);
  return (
    <>
      <Form form={{ ...form, isUnsaved: false }}>
        <Field label="Email" name="email" type="email" autoComplete="username" autoFocus {...form.text("email")} />
        <Field
          ref={password}
          label="Password"
          name="password"
          type="password"
          autoComplete="current-password"
          {...form.text("password")}
        />
        {asksCode && (
          <Field
            label="Code"
            name="code"
            inputMode="numeric"
            autoComplete="one-time-code"
            hint="From your authenticator app, or a recovery code."
            autoFocus
            {...form.text("code")}
          />
        )}
        {form.error && said !== "second_factor_required" && <LoginError error={form.error} />}
        <Button type="submit" kind="primary" size="lg" disabled={form.isPending}>
          {form.isPending ? "Signing in" : "Sign in"}
        </Button>
      </Form>
      <p className="text-xs text-muted">
        {mail ? (
          <a href="/dashboard/forgotten" className="text-accent underline underline-offset-2">
            Forgot your password?
          </a>
        ) : (
          <>
            Forgot your password? Run <code>runnel admin reset-password</code> on the server.
          </>
        )}
      </p>
    </>
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
  if (error.code === "invalid_code")
    return (
      <Note tone="bad" role="alert">
        The code is wrong or was used already. Wait for the next one.
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
