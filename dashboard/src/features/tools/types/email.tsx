import type { Fields } from "../../../hooks/use-form.ts";
import { wordsIn } from "../../../lib/words-in.ts";
import { Field } from "../../../ui/forms/field.tsx";
import { FormSection } from "../../../ui/forms/form-section.tsx";
import { TextArea } from "../../../ui/forms/text-area.tsx";
import { TimeoutField } from "../timeout-field.tsx";
import type { CommonDraft, ToolPart } from "./tool-part.ts";

/** Stars in `password` keep the stored one; `allowed_recipients` has one address per line, or none for every address. */
export type EmailDraft = Record<"smtp_url" | "password" | "from" | "allowed_recipients", string>;

export const part: ToolPart<EmailDraft> = {
  hint: "Sends e-mail by your mail server.",
  target: ({ from, smtp_url }) => `${from} by ${smtp_url}`,
  draftOf: (tool) => ({
    smtp_url: tool?.smtp_url ?? "",
    password: tool?.password ?? "",
    from: tool?.from ?? "",
    allowed_recipients: (tool?.allowed_recipients ?? []).join("\n"),
  }),
  read: ({ password, allowed_recipients }, { required, number }) => ({
    smtp_url: required("smtp_url", "Enter the mail server, such as smtp://user@mail.example.com:587."),
    password,
    from: required("from", "Enter the sender, such as Support <support@example.com>."),
    allowed_recipients: wordsIn(allowed_recipients),
    timeout_ms: number("timeout_ms"),
  }),
  Fields: EmailFields,
  words: { smtp_url: "mail server", password: "password", from: "sender", allowed_recipients: "allowed recipients" },
  always: ["smtp_url", "from"],
  hasParameters: () => false,
};

function EmailFields({ text }: Fields<CommonDraft & EmailDraft>) {
  return (
    <FormSection title="Mail server" about="The connection is encrypted, or no mail is sent.">
      <div className="grid gap-4 rail:grid-cols-2">
        <Field
          label="Address"
          placeholder="smtp://user@mail.example.com:587"
          hint="smtp:// uses STARTTLS, smtps:// TLS."
          autoComplete="off"
          spellCheck={false}
          {...text("smtp_url")}
        />
        <Field
          label="Password"
          type="password"
          autoComplete="new-password"
          hint="Or {{secret.NAME}}. Stars keep the stored one."
          {...text("password")}
        />
        <Field
          label="Sender"
          placeholder="Support <support@example.com>"
          autoComplete="off"
          spellCheck={false}
          {...text("from")}
        />
        <TimeoutField text={text} standard={30000} />
        <TextArea
          label="Allowed recipients"
          mono
          rows={3}
          placeholder="Every address"
          hint="One per line, such as ada@example.com or *@example.com."
          {...text("allowed_recipients")}
        />
      </div>
    </FormSection>
  );
}
