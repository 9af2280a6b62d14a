import type { ReactNode } from "react";
import type { Tool } from "../../../../../server/resources/tools/schema.ts";
import type { Fields } from "../../../hooks/use-form.ts";
import { Field } from "../../../ui/forms/field.tsx";
import { FormSection } from "../../../ui/forms/form-section.tsx";
import { Select } from "../../../ui/forms/select.tsx";
import { AuthField } from "../auth-field.tsx";
import { HeadersField } from "../headers-field.tsx";
import { TimeoutField } from "../timeout-field.tsx";
import { readAuth } from "../tool-auth.ts";
import { type CommonDraft, type DraftReader, numberText, type ToolPart } from "./tool-part.ts";

/** Fields that http and webhook tools share. */
export interface RequestDraft {
  url: string;
  retries: string;
  idempotent: "" | "true" | "false";
}

type Draft = CommonDraft & RequestDraft;

export const requestDraftOf = (tool?: Tool): RequestDraft => ({
  url: tool?.url ?? "",
  retries: numberText(tool?.retries),
  idempotent: tool ? (String(tool.idempotent ?? "") as RequestDraft["idempotent"]) : "",
});

export const readRequest = (
  draft: Draft,
  { required, number, headers }: DraftReader<keyof RequestDraft | "timeout_ms">,
) => ({
  url: required("url", "Enter the URL to call, such as https://api.example.com/orders."),
  headers: headers(),
  auth: readAuth(draft),
  timeout_ms: number("timeout_ms"),
  retries: number("retries"),
  idempotent: draft.idempotent === "" ? undefined : draft.idempotent === "true",
});

export const requestWords: ToolPart<RequestDraft>["words"] = {
  url: "URL",
  retries: "retries",
  idempotent: "safe to repeat",
};

export function RequestFields({
  method,
  answer,
  fields: outputFields,
  ...fields
}: Fields<Draft> & { method?: ReactNode; answer?: ReactNode; fields?: ReactNode }) {
  const { text } = fields;
  return (
    <FormSection title="Request" about="Public addresses over https. In test, this machine too.">
      <div className="grid gap-4 rail:grid-cols-[calc(var(--space-10)*3)_minmax(0,1fr)]">
        {method}
        <div className={method ? undefined : "rail:col-span-2"}>
          <Field label="URL" type="url" autoComplete="off" spellCheck={false} {...text("url")} />
        </div>
      </div>
      <HeadersField {...fields} />
      <AuthField {...fields} />
      <div className="grid grid-cols-2 gap-4 wide:grid-cols-4">
        <TimeoutField text={text} standard={30000} />
        <Field label="Retries" inputMode="numeric" placeholder="0" {...text("retries")} />
        <Select
          label="Safe to repeat"
          choices={[
            { value: "", label: "Default" },
            { value: "true", label: "Yes" },
            { value: "false", label: "No" },
          ]}
          {...fields.pick("idempotent")}
        />
        {answer}
      </div>
      {outputFields}
    </FormSection>
  );
}
