import { useMutation, useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import type { OidcRefusal } from "../../../../server/domain/api-types/enums.ts";
import { signInByPasskey } from "../../entities/session/factor-api.ts";
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
import { safeReturn } from "./safe-return.ts";

/** Signs a person in: by password, passkey or identity provider. */
export function LoginPage({ onSignedIn }: { onSignedIn: () => void }) {
  useTitle("Sign in");
  const signInWays = useQuery(signInWaysQuery);
  const search = new URLSearchParams(window.location.search);
  const reason = search.get("refused") ?? "";
  const refusal = Object.hasOwn(refusals, reason) ? refusals[reason as Refusal] : null;
  const { local = true, oidc = null } = signInWays.data ?? {};
  if (signInWays.isPending) return null;
  return (
    <EntryCard title="Sign in">
      {refusal && (
        <Callout tone="bad" role="alert">
          {refusal}
        </Callout>
      )}
      {local && <PasswordLogin mail={signInWays.data?.mail ?? false} onSignedIn={onSignedIn} />}
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

/** Signs in by passkey. Renders nothing if the browser does not support passkeys. */
function PasskeyButton({ onSignedIn }: { onSignedIn: () => void }) {
  const signing = useMutation({ mutationFn: signInByPasskey, onSuccess: onSignedIn });
  if (!("PublicKeyCredential" in window)) return null;
  return (
    <>
      <Button size="lg" disabled={signing.isPending} onClick={() => signing.mutate()}>
        Sign in with a passkey
      </Button>
      <ErrorNote title="Not signed in" error={signing.error} />
    </>
  );
}

/** Refused by the identity provider, or as a one-time link. */
type Refusal = OidcRefusal | "link";

/** Messages for a failed sign-in, by the `refused` query parameter. */
const refusals: Record<Refusal, string> = {
  link: "This link has been used, or is older than 30 minutes. Start runnel dev again: it prints a new one.",
  cancelled: "The sign-in was cancelled or denied. Try again, or contact your administrator.",
  stale: "This sign-in has expired, or was started in another browser. Try again.",
  unreachable: "The identity provider could not be reached. Try again. The server's log has the reason.",
  issuer: "The response of the identity provider could not be verified. Try again. The server's log has the reason.",
  email: "The identity provider sent no valid email address for you. Correct it there, then sign in again.",
  unverified: "Your email address is not verified at the identity provider. Verify it, then sign in again.",
  domain: "Email addresses of your domain are not allowed to sign in.",
  role: "You have no role for this server. Contact your administrator.",
  unknown: "There is no account for you here. Ask an owner to invite you.",
  taken: "Another person already signs in with this email address. Ask an owner to remove that account.",
  off: "Signing in with an identity provider is not set up on this server.",
  server: "The server could not sign you in. Try again. The server's log has the reason.",
};
