import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { changePassword, sessionsQuery } from "../../entities/session/account-api.ts";
import { ApiError } from "../../lib/api.ts";
import { formatElapsed } from "../../lib/format.ts";
import { useForm } from "../../lib/use-form.ts";
import { Button } from "../../ui/button.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Field } from "../../ui/field.tsx";
import { Form } from "../../ui/form.tsx";
import { Note } from "../../ui/note.tsx";
import { checkPassword } from "./check-account.ts";
import { NewPasswordFields } from "./new-password-fields.tsx";

/** Changes the own password, by the old one. */
export function PasswordForm() {
  const client = useQueryClient();
  const form = useForm({
    first: { current_password: "", password: "", repeat: "" },
    check: (draft) => ({
      ...(draft.current_password === "" && { current_password: "Enter your current password." }),
      ...checkPassword(draft),
    }),
    send: ({ current_password, password }) => changePassword({ current_password, password }),
    onSent: () => {
      form.restart();
      setIsDone(true);
      void client.invalidateQueries(sessionsQuery);
    },
  });
  const [isDone, setIsDone] = useState(false);
  const refused = form.error instanceof ApiError ? form.error : null;
  return (
    <Form form={{ ...form, isUnsaved: false }} className="flex max-w-90 flex-col gap-4">
      <Field
        label="Current password"
        name="current_password"
        type="password"
        autoComplete="current-password"
        {...form.text("current_password")}
      />
      <NewPasswordFields labels={["New password", "Repeat the new password"]} text={form.text} />
      {refused?.status === 429 && (
        <Note tone="warn" role="alert">
          Too many attempts. Try again in {formatElapsed((refused.retryAfterSeconds ?? 900) * 1000)}.
        </Note>
      )}
      {form.error && refused?.status !== 429 && <ErrorNote title="The password was not changed" error={form.error} />}
      <div className="flex flex-wrap items-center gap-3">
        <Button type="submit" disabled={form.isPending}>
          {form.isPending ? "Changing password" : "Change password"}
        </Button>
        <span role="status" className="text-xs text-ok">
          {isDone && !form.isChanged && "Changed. All your other sessions have ended."}
        </span>
      </div>
    </Form>
  );
}
