import { useState } from "react";
import { acceptReset } from "../../entities/session/account-api.ts";
import { useForm } from "../../hooks/use-form.ts";
import { useTitle } from "../../hooks/use-title.ts";
import { ErrorNote } from "../../ui/feedback/error-note.tsx";
import { Button } from "../../ui/forms/button.tsx";
import { Form } from "../../ui/forms/form.tsx";
import { checkPassword } from "./check-account.ts";
import { EntryCard } from "./entry-card.tsx";
import { NewPasswordFields } from "./new-password-fields.tsx";
import { SignInLink } from "./sign-in-link.tsx";

/** Sets a new password, using the token of an emailed link. */
export function ResetPage({ token }: { token: string }) {
  useTitle("Set a new password");
  const [isDone, setIsDone] = useState(false);
  const form = useForm({
    first: { password: "", repeat: "" },
    check: checkPassword,
    send: ({ password }) => acceptReset({ token, password }),
    onSent: () => setIsDone(true),
  });
  if (isDone)
    return (
      <EntryCard title="Your password was changed" lead="All your sessions have ended.">
        <SignInLink />
      </EntryCard>
    );
  return (
    <EntryCard title="Set a new password">
      <Form form={{ ...form, isUnsaved: false }}>
        <NewPasswordFields text={form.text} autoFocus />
        <ErrorNote title="The password was not changed" error={form.error} />
        <Button type="submit" kind="primary" size="lg" disabled={form.isPending}>
          Set password
        </Button>
      </Form>
    </EntryCard>
  );
}
