import { useState } from "react";
import { askReset } from "../../entities/session/account-api.ts";
import { useForm } from "../../lib/use-form.ts";
import { useTitle } from "../../lib/use-title.ts";
import { Button } from "../../ui/button.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Field } from "../../ui/field.tsx";
import { Form } from "../../ui/form.tsx";
import { Note } from "../../ui/note.tsx";
import { EntryCard } from "./entry-card.tsx";
import { SignInLink } from "./sign-in-link.tsx";

/** Asks for a mail with a link to another password. */
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
        <Note tone="ok" role="status">
          If there is an account with this address, an email with a link was sent. The link works for an hour.
        </Note>
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
