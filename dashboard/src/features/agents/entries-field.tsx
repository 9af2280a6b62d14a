import type { ReactNode } from "react";
import { useApiSchema } from "../../entities/server/use-api-schema.ts";
import { jsonText, readJson } from "../../lib/json-text.ts";
import { FormOrJson } from "../../ui/forms/form-or-json.tsx";
import { JsonField, type JsonFieldProps } from "../../ui/forms/json-field.tsx";

/** Properties of the fields of one entry. */
export interface EntryProps<Entry> {
  number: number;
  entry: Entry;
  onEntry: (entry: Entry) => void;
  onRemove: () => void;
}

/** A list of an agent's definition, as fields or as JSON. */
export function EntriesField<Entry>({
  label,
  field,
  placeholder,
  parse,
  about,
  fields: Fields,
  add,
  value: text,
  fault,
  onText,
}: JsonFieldProps & {
  label: string;
  /** Name of the list in the API. */
  field: string;
  placeholder: string;
  /** Returns the entries of a JSON value; null if fields cannot show all of them. */
  parse: (value: unknown) => Entry[] | null;
  /** Text below the entries of a list. */
  about: (count: number) => string | null;
  fields: (props: EntryProps<Entry>) => ReactNode;
  /** Control that adds an entry to a list; `put` replaces the list. */
  add: (list: readonly unknown[], put: (next: readonly unknown[]) => void) => ReactNode;
}) {
  const schema = useApiSchema("CreateAgentRequest", field);
  const { value, fault: parseFault } = readJson(text.trim() === "" ? "[]" : text);
  const list = parseFault === null && Array.isArray(value) ? value : null;
  const entries = parse(list);
  const put = (next: readonly unknown[]) => onText(next.length > 0 ? jsonText(next) : "");
  const hint = about(list?.length ?? 0);
  return (
    <>
      <FormOrJson
        label={label}
        fields={
          entries && (
            <fieldset className="flex min-w-0 flex-col gap-2">
              <legend className="sr-only">{label}</legend>
              {entries.map((entry, i) => (
                <Fields
                  // biome-ignore lint/suspicious/noArrayIndexKey: an entry has no id; its position identifies it.
                  key={i}
                  number={i + 1}
                  entry={entry}
                  onEntry={(next) => put(entries.with(i, next))}
                  onRemove={() => put(entries.toSpliced(i, 1))}
                />
              ))}
              {hint && <p className="text-xs text-muted">{hint}</p>}
              {fault && (
                <p role="alert" className="text-xs text-bad wrap-anywhere">
                  {fault}
                </p>
              )}
            </fieldset>
          )
        }
        json={
          <JsonField
            label={label}
            optional
            placeholder={placeholder}
            hint={hint ?? undefined}
            value={text}
            fault={fault}
            schema={schema}
            onText={onText}
          />
        }
      />
      {list && <div>{add(list, put)}</div>}
    </>
  );
}
