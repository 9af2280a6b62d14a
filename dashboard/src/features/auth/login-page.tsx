import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import type { OidcRefusal } from "../../../../server/domain/api-types/enums.ts";
import { signIn } from "../../entities/session/session.ts";
import { signInWaysQuery } from "../../entities/session/sign-in-api.ts";
import { useForm } from "../../hooks/use-form.ts";
import { useTitle } from "../../hooks/use-title.ts";
import { ApiError } from "../../lib/api.ts";
import { formatElapsed } from "../../lib/format.ts";
import { Callout } from "../../ui/feedback/callout.tsx";
import { ErrorNote } from "../../ui/feedback/error-note.tsx";
import { Button } from "../../ui/forms/button.tsx";
import { Field } from "../../ui/forms/field.tsx";
import { Form } from "../../ui/forms/form.tsx";
import { EntryCard } from "./entry-card.tsx";
import { IssuerButton } from "./issuer-button.tsx";
import { PasskeyButton } from "./passkey-button.tsx";
import { refusals } from "./refusals.ts";
import { safeReturn } from "./safe-return.ts";

/** Signs a person in: by password, passkey or identity provider. */
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
        <Callout tone="bad" role="alert">
          {refusal}
        </Callout>
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
  const errorCode = form.failure instanceof ApiError ? form.failure.code : null;
  const [asksCode, setAsksCode] = useState(false);
  useEffect(() => {
    if (errorCode === "second_factor_required") setAsksCode(true);
    else if (form.failure && errorCode !== "invalid_code") password.current?.select();
  }, [form.failure, errorCode]);
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
        {form.error && errorCode !== "second_factor_required" && <LoginError error={form.error} />}
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
      <Callout tone="bad" role="alert">
        Email or password is wrong. Check both and try again.
      </Callout>
    );
  if (error.code === "invalid_code")
    return (
      <Callout tone="bad" role="alert">
        The code is wrong or was used already. Wait for the next one.
      </Callout>
    );
  if (error.status === 429) {
    const wait = error.retryAfterSeconds
      ? `Try again in ${formatElapsed(error.retryAfterSeconds * 1000)}.`
      : "Try again later.";
    return (
      <Callout tone="warn" role="alert">
        Too many attempts. {wait}
      </Callout>
    );
  }
  return <ErrorNote title="Not signed in" error={error} />;
}
