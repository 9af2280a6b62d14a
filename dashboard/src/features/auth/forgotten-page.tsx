import { useState } from "react";
import { askReset } from "../../entities/session/account-api.ts";
import { useForm } from "../../hooks/use-form.ts";
import { useTitle } from "../../hooks/use-title.ts";
import { Callout } from "../../ui/feedback/callout.tsx";
import { ErrorNote } from "../../ui/feedback/error-note.tsx";
import { Button } from "../../ui/forms/button.tsx";
import { Field } from "../../ui/forms/field.tsx";
import { Form } from "../../ui/forms/form.tsx";
import { EntryCard } from "./entry-card.tsx";
import { SignInLink } from "./sign-in-link.tsx";

/** Requests an email with a link that resets the password. */
export function ForgottenPage() {
  useTitle("Reset your password");
  const [isSent, setIsSent] = useState(false);
  const form = useForm({
    first: { email: "" },
    check: ({ email }) => ({ ...(email.trim() === "" && { email: "Enter the email of your account." }) }),
    send: ({ email }) => askReset(email.trim()),
    onSent: () => setIsSent(true),
  });
  return (
    <EntryCard title="Reset your password">
      {isSent ? (
        <Callout tone="ok" role="status">
          If there is an account with this address, an email with a link was sent. The link works for an hour.
        </Callout>
      ) : (
        <Form form={{ ...form, isUnsaved: false }}>
          <Field label="Email" name="email" type="email" autoComplete="username" autoFocus {...form.text("email")} />
          <ErrorNote title="No email was sent" error={form.error} />
          <Button type="submit" kind="primary" size="lg" disabled={form.isPending}>
            Send a link
          </Button>
        </Form>
      )}
      <SignInLink />
    </EntryCard>
  );
}
