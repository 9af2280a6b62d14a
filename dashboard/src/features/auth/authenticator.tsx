import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Factors } from "../../../../server/domain/api-types/console.ts";
import { beginTotp, confirmTotp, factorsQuery, removeTotp, renewCodes } from "../../entities/session/factor-api.ts";
import { useForm } from "../../hooks/use-form.ts";
import { CopyButton } from "../../ui/data/copy-button.tsx";
import { QrCode } from "../../ui/data/qr-code.tsx";
import { Callout } from "../../ui/feedback/callout.tsx";
import { ErrorNote } from "../../ui/feedback/error-note.tsx";
import { Button } from "../../ui/forms/button.tsx";
import { Field } from "../../ui/forms/field.tsx";
import { Form } from "../../ui/forms/form.tsx";
import { PasswordAct } from "./password-act.tsx";

/** Adds, confirms and removes an authenticator app, and shows new recovery codes. */
export function Authenticator({ factors }: { factors: Factors }) {
  const client = useQueryClient();
  const [secret, setSecret] = useState<{ secret: string; uri: string } | null>(null);
  const [codes, setCodes] = useState<string[] | null>(null);
  const reread = () => client.invalidateQueries(factorsQuery);
  if (codes) return <RecoveryCodes codes={codes} onStored={() => setCodes(null)} />;
  if (secret)
    return (
      <FirstCode
        {...secret}
        onConfirmed={(recoveryCodes) => {
          setSecret(null);
          setCodes(recoveryCodes);
          void reread();
        }}
      />
    );
  if (!factors.totp) return <PasswordAct act="Add an authenticator app" send={beginTotp} onDone={setSecret} />;
  return (
    <div className="flex flex-col gap-4">
      <p>On. {factors.recovery_codes} of 10 recovery codes are left.</p>
      <PasswordAct
        act="Generate new recovery codes"
        send={renewCodes}
        onDone={({ recovery_codes }) => {
          setCodes(recovery_codes);
          void reread();
        }}
      />
      <PasswordAct act="Remove the authenticator app" danger send={removeTotp} onDone={() => void reread()} />
    </div>
  );
}

function FirstCode({
  secret,
  uri,
  onConfirmed,
}: {
  secret: string;
  uri: string;
  onConfirmed: (codes: string[]) => void;
}) {
  const form = useForm({
    first: { code: "" },
    check: ({ code }) => ({ ...(code.trim() === "" && { code: "The code that the app shows is missing." }) }),
    send: ({ code }) => confirmTotp(code),
    onSent: ({ recovery_codes }) => onConfirmed(recovery_codes),
  });
  return (
    <Form form={{ ...form, isUnsaved: false }} className="flex max-w-90 flex-col gap-4">
      <p>
        Scan this code with the app, or{" "}
        <a href={uri} className="text-accent underline underline-offset-2">
          open it on this device
        </a>
        :
      </p>
      <QrCode text={uri} name="QR code for the app" />
      <p>Without a camera, type this key into the app:</p>
      <div className="flex items-center gap-2">
        <code className="wrap-anywhere select-all" data-secret>
          {secret}
        </code>
        <CopyButton text={secret} what="key" />
      </div>
      <Field
        label="Code that the app shows"
        name="code"
        inputMode="numeric"
        autoComplete="one-time-code"
        autoFocus
        {...form.text("code")}
      />
      <ErrorNote title="The app was not added" error={form.error} />
      <Button type="submit" disabled={form.isPending}>
        Turn on
      </Button>
    </Form>
  );
}

function RecoveryCodes({ codes, onStored }: { codes: string[]; onStored: () => void }) {
  return (
    <div className="flex max-w-120 flex-col items-start gap-4">
      <Callout tone="warn">Save these codes. Each works once, without the app. They cannot be shown again.</Callout>
      <ul aria-label="Recovery codes" className="grid grid-cols-2 gap-x-6 font-mono text-sm">
        {codes.map((code) => (
          <li key={code}>{code}</li>
        ))}
      </ul>
      <div className="flex gap-2">
        <CopyButton text={codes.join("\n")} what="recovery codes" />
        <Button onClick={onStored}>I've saved them</Button>
      </div>
    </div>
  );
}
