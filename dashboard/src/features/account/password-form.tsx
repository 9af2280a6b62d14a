import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useRef, useState } from "react";
import { changePassword, sessionsQuery } from "../../entities/session/account-api.ts";
import { ApiError } from "../../lib/api.ts";
import { formatElapsed } from "../../lib/format.ts";
import { Button } from "../../ui/button.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Field } from "../../ui/field.tsx";
import { Note } from "../../ui/note.tsx";
import { checkPassword, type PasswordFaults } from "./check-account.ts";
import { NewPasswordFields } from "./new-password-fields.tsx";

/** Changes the own password, by the old one. */
export function PasswordForm() {
  const client = useQueryClient();
  const form = useRef<HTMLFormElement>(null);
  const [faults, setFaults] = useState<PasswordFaults>({});
  const change = useMutation({
    mutationFn: changePassword,
    onSuccess: () => {
      form.current?.reset();
      void client.invalidateQueries(sessionsQuery);
    },
    onError: () => form.current?.querySelector<HTMLInputElement>("[name=current_password]")?.select(),
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const given = new FormData(event.currentTarget);
    const read = (name: string) => String(given.get(name) ?? "");
    const found: PasswordFaults = {
      ...(read("current_password") === "" && { current_password: "The password that you have now is missing." }),
      ...checkPassword({ password: read("password"), repeat: read("repeat") }),
    };
    setFaults(found);
    change.reset();
    const first = (["current_password", "password", "repeat"] as const).find((name) => found[name]);
    if (first) event.currentTarget.querySelector<HTMLInputElement>(`[name="${first}"]`)?.focus();
    else change.mutate({ current_password: read("current_password"), password: read("password") });
  };
  const refused = change.error instanceof ApiError ? change.error : null;
  const said = (name: keyof PasswordFaults) =>
    faults[name] ?? refused?.faults.find(({ param }) => param === name)?.message.replace(`${name}: `, "");
  return (
    <form ref={form} onSubmit={submit} noValidate className="flex max-w-90 flex-col gap-4">
      <Field
        label="Current password"
        name="current_password"
        type="password"
        autoComplete="current-password"
        error={said("current_password")}
      />
      <NewPasswordFields
        labels={["New password", "Repeat the new password"]}
        faults={{ password: said("password"), repeat: said("repeat") }}
      />
      {refused?.status === 429 && (
        <Note tone="warn" role="alert">
          Too many attempts. Try again in {formatElapsed((refused.retryAfterSeconds ?? 900) * 1000)}.
        </Note>
      )}
      {change.error && refused?.status !== 429 && !refused?.faults.length && (
        <ErrorNote title="The password was not changed" error={change.error} />
      )}
      <div className="flex flex-wrap items-center gap-3">
        <Button type="submit" disabled={change.isPending}>
          {change.isPending ? "Changing password" : "Change password"}
        </Button>
        <span role="status" className="text-xs text-ok">
          {change.isSuccess && "Changed. All your other sessions are ended."}
        </span>
      </div>
    </form>
  );
}
