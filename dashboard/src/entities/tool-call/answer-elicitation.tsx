import { useState } from "react";
import {
  addressWarning,
  type ElicitationField,
  elicitationContent,
  elicitationFields,
  missingFields,
} from "../../../../server/domain/elicitation-form.ts";
import type { Elicitation } from "../../../../server/domain/run-event.ts";
import { Button } from "../../ui/forms/button.tsx";
import { Field } from "../../ui/forms/field.tsx";
import { FormControl } from "../../ui/forms/form-control.tsx";
import { AnswerButtons, AnswerForm, type AnswerProps } from "./answer-form.tsx";

type Values = Record<string, string[]>;

/** Form for the question of an MCP server: fields to fill in, or an address to open. */
export function AnswerElicitation({ call, busy, onAnswer }: AnswerProps) {
  const { elicitation } = call;
  const fields = elicitation?.requested_schema ? elicitationFields(elicitation.requested_schema) : [];
  const [values, setValues] = useState<Values>(() =>
    Object.fromEntries(fields.map((each) => [each.name, each.initial])),
  );
  const [hasTried, setHasTried] = useState(false);
  if (!elicitation) return null;
  const missing = missingFields(fields, values);
  const accept = (form: HTMLFormElement) => {
    setHasTried(true);
    const [first] = missing;
    if (first === undefined) send("accept");
    else form.querySelector<HTMLElement>(`[data-asked="${CSS.escape(first)}"]`)?.focus();
  };
  const send = (action: "accept" | "decline" | "cancel") => {
    const content = action === "accept" &&
      elicitation.mode === "form" && { content: elicitationContent(fields, values) };
    onAnswer({ tool_call_id: call.tool_call_id, elicitation: { id: elicitation.id, action, ...content } });
  };
  return (
    <AnswerForm onSend={accept}>
      <p className="whitespace-pre-wrap wrap-anywhere">{elicitation.message}</p>
      {elicitation.url === undefined ? (
        fields.map((field) => (
          <AskedField
            key={field.name}
            field={field}
            values={values[field.name] ?? []}
            error={hasTried && missing.includes(field.name) ? "Enter a value." : null}
            onValues={(next) => setValues((all) => ({ ...all, [field.name]: next }))}
          />
        ))
      ) : (
        <Address url={elicitation.url} />
      )}
      <p className="text-xs text-muted">
        The MCP server of this tool asks this. Do not enter passwords or keys, which stay in the run's record.
      </p>
      <AnswerButtons>
        <Button type="submit" kind="primary" disabled={busy}>
          {elicitation.mode === "url" ? "Continue" : "Send"}
        </Button>
        <Button disabled={busy} onClick={() => send("decline")}>
          Decline
        </Button>
        <Button kind="ghost" disabled={busy} title="Neither answers nor declines" onClick={() => send("cancel")}>
          Cancel
        </Button>
      </AnswerButtons>
    </AnswerForm>
  );
}

/** The whole address, with its host in front, because people have to know whom they follow. */
function Address({ url }: Required<Pick<Elicitation, "url">>) {
  const warning = addressWarning(url);
  return (
    <p className="min-w-0 wrap-anywhere">
      Open{" "}
      <a href={url} target="_blank" rel="noopener noreferrer" className="font-medium text-accent underline">
        {URL.parse(url)?.host ?? url}
      </a>
      , then continue here.
      <span className="block text-xs text-muted">{url}</span>
      {warning !== null && <span className="block text-warn">{warning}</span>}
    </p>
  );
}

interface AskedFieldProps {
  field: ElicitationField;
  values: readonly string[];
  error: string | null;
  onValues: (values: string[]) => void;
}

function AskedField({ field, values, error, onValues }: AskedFieldProps) {
  const { label, type, input, options, isRequired } = field;
  const [value = ""] = values;
  const hint = [field.hint, isRequired ? null : "Optional."].filter(Boolean).join(" ") || undefined;
  if (type === "boolean")
    return (
      <label className="flex items-start gap-2.5">
        <input
          type="checkbox"
          checked={value === "true"}
          onChange={(event) => onValues([String(event.target.checked)])}
          className="mt-0.5"
        />
        <span className="min-w-0">
          <span className="block font-medium wrap-anywhere">{label}</span>
          {field.hint && <span className="block text-xs text-muted">{field.hint}</span>}
        </span>
      </label>
    );
  if (type === "choice" || type === "choices")
    return (
      <FormControl label={label} hint={hint} error={error}>
        {(controlProps) => (
          <select
            {...controlProps}
            data-asked={field.name}
            multiple={type === "choices"}
            value={type === "choices" ? [...values] : value}
            onChange={({ target }) =>
              onValues(Array.from(target.selectedOptions, (option) => option.value).filter((each) => each !== ""))
            }
            className="w-full rounded-md border border-line-control bg-surface px-2.5 py-1 text-ink"
          >
            {type === "choice" && <option value="">–</option>}
            {options.map((option) => (
              <option key={option.value} value={option.value}>
                {option.label}
              </option>
            ))}
          </select>
        )}
      </FormControl>
    );
  return (
    <Field
      label={label}
      hint={hint}
      error={error}
      data-asked={field.name}
      type={type === "number" ? "number" : input}
      step="any"
      value={value}
      onChange={(event) => onValues([event.target.value])}
    />
  );
}
