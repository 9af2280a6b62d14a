import { useState } from "react";
import { useForm } from "../../hooks/use-form.ts";
import { ErrorNote } from "../../ui/feedback/error-note.tsx";
import { Button } from "../../ui/forms/button.tsx";
import { Field } from "../../ui/forms/field.tsx";
import { Form } from "../../ui/forms/form.tsx";

interface PasswordActProps<Made> {
  act: string;
  danger?: boolean;
  /** Label of a second field that asks for a name. Absent: no such field. */
  nameLabel?: string;
  send: (password: string, name: string) => Promise<Made>;
  onDone: (made: Made) => void;
}

/** A button whose action asks for the person's password first. */
export function PasswordAct<Made>({ act, danger = false, nameLabel: named, send, onDone }: PasswordActProps<Made>) {
  const [isOpen, setIsOpen] = useState(false);
  const form = useForm({
    first: { password: "", name: "" },
    check: ({ password, name }) => ({
      ...(named && name.trim() === "" && { name: "Enter a name." }),
      ...(password === "" && { password: "Enter your password." }),
    }),
    send: ({ password, name }) => send(password, name.trim()),
    onSent: (made) => {
      setIsOpen(false);
      form.restart();
      onDone(made);
    },
  });
  const kind = danger ? "danger-quiet" : "plain";
  if (!isOpen)
    return (
      <Button kind={kind} className="self-start" onClick={() => setIsOpen(true)}>
        {act}
      </Button>
    );
  return (
    <Form form={{ ...form, isUnsaved: false }} className="flex max-w-90 flex-col gap-4">
      {named && <Field label={named} name="name" autoFocus {...form.text("name")} />}
      <Field
        label="Your password"
        name="password"
        type="password"
        autoComplete="current-password"
        autoFocus={!named}
        {...form.text("password")}
      />
      <ErrorNote title="Nothing was changed" error={form.error} />
      <div className="flex gap-2">
        <Button kind={kind} type="submit" disabled={form.isPending}>
          {act}
        </Button>
        <Button kind="ghost" onClick={() => setIsOpen(false)}>
          Cancel
        </Button>
      </div>
    </Form>
  );
}
