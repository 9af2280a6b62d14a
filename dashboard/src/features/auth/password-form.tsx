import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { changePassword, sessionsQuery } from "../../entities/session/account-api.ts";
import { useForm } from "../../hooks/use-form.ts";
import { ApiError } from "../../lib/api.ts";
import { formatElapsed } from "../../lib/format.ts";
import { Callout } from "../../ui/feedback/callout.tsx";
import { ErrorNote } from "../../ui/feedback/error-note.tsx";
import { Button } from "../../ui/forms/button.tsx";
import { Field } from "../../ui/forms/field.tsx";
import { Form } from "../../ui/forms/form.tsx";
import { checkPassword } from "./check-account.ts";
import { NewPasswordFields } from "./new-password-fields.tsx";

/** Changes the person's own password. Requires the current one. */
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
  const apiError = form.error instanceof ApiError ? form.error : null;
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
      {apiError?.status === 429 && (
        <Callout tone="warn" role="alert">
          Too many attempts. Try again in {formatElapsed((apiError.retryAfterSeconds ?? 900) * 1000)}.
        </Callout>
      )}
      {form.error && apiError?.status !== 429 && <ErrorNote title="The password was not changed" error={form.error} />}
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
