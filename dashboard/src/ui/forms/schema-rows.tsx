import { Plus, X } from "lucide-react";
import { useState } from "react";
import { jsonText, readJson } from "../../lib/json-text.ts";
import { maxSchemaRows } from "../../lib/max-schema-rows.ts";
import {
  changeType,
  hiddenWords,
  newRow,
  type Part,
  type PartType,
  partOf,
  type Row,
  rowCount,
  schemaOf,
} from "../../lib/schema-rows.ts";
import { Button } from "./button.tsx";
import { Field } from "./field.tsx";
import { LinesField } from "./lines-field.tsx";
import { Select } from "./select.tsx";

const words: Record<Exclude<PartType, "other">, string> = {
  string: "Text",
  number: "Number",
  integer: "Whole number",
  boolean: "True or false",
  object: "Object",
  array: "List",
  any: "Any value",
};
const types = Object.entries(words).map(([value, label]) => ({ value: value as PartType, label }));

const longestText = 200_000;

/** True if rows can represent the schema: an object with few enough fields, or empty. */
export function canShowRows(text: string): boolean {
  if (text.length > longestText) return false;
  const part = parsePart(text);
  return part.type === "object" && rowCount(part) <= maxSchemaRows;
}

function parsePart(text: string): Part {
  const part = partOf(text.trim() === "" ? { type: "object" } : readJson(text).value);
  const isEmpty = part.type === "any" && part.rest !== null && Object.keys(part.rest as object).length === 0;
  return isEmpty ? changeType(part, "object") : part;
}

/** Fields of an object's JSON Schema, one row each, with nested fields. */
export function SchemaRows({
  label,
  value,
  optional = false,
  onText,
}: {
  label: string;
  /** JSON Schema as text. */
  value: string;
  /** True if an object without fields has no schema. */
  optional?: boolean;
  onText: (text: string) => void;
}) {
  const [part, setPart] = useState(() => ({ ...parsePart(value), text: value }));
  // Unnamed rows are missing in the text, so the rows are rebuilt only if the text changed elsewhere.
  const currentPart = part.text === value ? part : { ...parsePart(value), text: value };
  const put = (rows: Row[]) => {
    const next = { ...currentPart, rows };
    const schema = schemaOf(next);
    const text = optional && rows.length === 0 && hiddenWords(next).length === 0 ? "" : jsonText(schema);
    setPart({ ...next, text });
    onText(text);
  };
  return (
    <fieldset className="flex min-w-0 flex-col gap-2">
      <legend className="mb-1.5 font-medium">{label}</legend>
      <Rows rows={currentPart.rows} path="" onRows={put} />
      <HiddenKeywords part={currentPart} />
    </fieldset>
  );
}

function Rows({ rows, path, onRows }: { rows: readonly Row[]; path: string; onRows: (rows: Row[]) => void }) {
  const put = (i: number, row: Row) => onRows(rows.with(i, row));
  return (
    <>
      {rows.map((row, i) => (
        <RowFields
          // biome-ignore lint/suspicious/noArrayIndexKey: a row has no id, and its name is being edited.
          key={i}
          row={row}
          label={`${path}${row.name || `field ${i + 1}`}`}
          isTwice={row.name !== "" && rows.findIndex(({ name }) => name === row.name) < i}
          onRow={(next) => put(i, next)}
          onRemove={() => onRows(rows.filter((_, n) => n !== i))}
        />
      ))}
      <div>
        <Button size="sm" onClick={() => onRows([...rows, newRow])}>
          <Plus aria-hidden className="size-3.5" strokeWidth={1.5} />
          Add field{path && ` to ${path.replace(/\.$/, "")}`}
        </Button>
      </div>
    </>
  );
}

function RowFields({
  row,
  label,
  isTwice,
  onRow,
  onRemove,
}: {
  row: Row;
  /** Path, for screen readers. */
  label: string;
  /** True if another row has the same name. */
  isTwice: boolean;
  onRow: (row: Row) => void;
  onRemove: () => void;
}) {
  return (
    <section aria-label={label} className="flex min-w-0 flex-col gap-2 rounded-md border border-line bg-subtle p-3">
      <div className="flex min-w-0 flex-wrap items-start gap-x-3 gap-y-2">
        <div className="min-w-40 flex-1">
          <Field
            label="Field name"
            autoComplete="off"
            spellCheck={false}
            className="font-mono text-xs"
            value={row.name}
            error={isTwice ? "Another field has this name." : null}
            hint={row.name === "" ? "Enter a name to save this field." : undefined}
            onChange={({ target }) => onRow({ ...row, name: target.value })}
          />
        </div>
        <Kind part={row} onPart={onRow} />
        <label className="flex h-(--control) items-center gap-2 rail:mt-6.5">
          <input
            type="checkbox"
            checked={row.isRequired}
            onChange={({ target }) => onRow({ ...row, isRequired: target.checked })}
          />
          Required
        </label>
        <Button
          kind="ghost"
          size="icon-sm"
          className="max-rail:ml-auto rail:mt-7"
          aria-label={`Remove ${label}`}
          onClick={onRemove}
        >
          <X aria-hidden className="size-4" strokeWidth={1.5} />
        </Button>
      </div>
      <TypeSettings part={row} path={`${label}.`} onPart={onRow} />
    </section>
  );
}

function Kind<Kind extends Part>({ part, onPart }: { part: Kind; onPart: (part: Kind) => void }) {
  const isOther = part.type === "other";
  return (
    <div className="w-40">
      <Select
        label="Type"
        choices={isOther ? [{ value: "other" as const, label: "JSON" }, ...types] : types}
        value={part.type}
        onChoose={(type) => onPart(changeType(part, type))}
      />
    </div>
  );
}

/** Type-specific settings of a value. */
function TypeSettings<Kind extends Part>({
  part,
  path,
  onPart,
}: {
  part: Kind;
  path: string;
  onPart: (part: Kind) => void;
}) {
  const { type, description, values, rows, item } = part;
  if (type === "other") return <HiddenKeywords part={part} />;
  const hasValues = ["string", "number", "integer", "any"].includes(type);
  return (
    <>
      <Field
        label="Field description"
        autoComplete="off"
        placeholder="Tells the model what the field means."
        value={description}
        onChange={({ target }) => onPart({ ...part, description: target.value })}
      />
      {hasValues && (
        <details open={values.length > 0 || undefined}>
          <summary className="w-fit text-xs font-medium text-muted hover:text-ink">Allowed values</summary>
          <div className="pt-2">
            <LinesField
              label="Allowed values"
              hint="One per line. Empty: any value."
              mono
              className="min-h-13"
              lines={values}
              onLines={(next) => onPart({ ...part, values: next })}
            />
          </div>
        </details>
      )}
      {type === "object" && (
        <div className="flex min-w-0 flex-col gap-2 border-l-2 border-line pl-3">
          <Rows rows={rows} path={path} onRows={(next) => onPart({ ...part, rows: next })} />
        </div>
      )}
      {item && (
        <section
          aria-label={`Items of ${path.slice(0, -1)}`}
          className="flex min-w-0 flex-col gap-2 border-l-2 border-line pl-3"
        >
          <p className="text-xs text-muted">Each item</p>
          <Kind part={item} onPart={(next) => onPart({ ...part, item: next })} />
          <TypeSettings part={item} path={`${path}items.`} onPart={(next) => onPart({ ...part, item: next })} />
        </section>
      )}
      <HiddenKeywords part={part} />
    </>
  );
}

const longestHidden = 400;

/** Start of a value as JSON; “…” if it nests too deep to serialize. */
function headOf(value: unknown): string {
  try {
    const text = JSON.stringify(value) ?? "";
    return text.length > longestHidden ? `${text.slice(0, longestHidden).toWellFormed()}…` : text;
  } catch {
    return "…";
  }
}

/** Shows the keywords that are kept but have no field. */
function HiddenKeywords({ part }: { part: Part }) {
  const hidden = hiddenWords(part);
  if (part.type !== "other" && hidden.length === 0) return null;
  return (
    <p className="text-xs text-muted wrap-anywhere">
      {part.type === "other" ? (
        <>
          Editable as JSON only: <code>{headOf(part.rest)}</code>
        </>
      ) : (
        <>
          Kept, editable as JSON only: <code>{hidden.join(", ")}</code>
        </>
      )}
    </p>
  );
}
