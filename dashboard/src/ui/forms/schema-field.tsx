import { schemaOfSchemas } from "../../lib/schema-of-schemas.ts";
import { FormOrJson } from "./form-or-json.tsx";
import { JsonField, type JsonFieldProps } from "./json-field.tsx";
import { canShowRows, SchemaRows } from "./schema-rows.tsx";

/** JSON Schema of an object, edited as fields or as JSON. */
export function SchemaField({
  label,
  optional = false,
  hint,
  value,
  fault,
  onText,
}: JsonFieldProps & { label: string; optional?: boolean; hint?: string }) {
  return (
    <FormOrJson
      label={label}
      reason="This schema can only be edited as JSON."
      fields={
        canShowRows(value) ? (
          <>
            <SchemaRows label={label} value={value} optional={optional} onText={onText} />
            {hint && <p className="text-xs text-muted">{hint}</p>}
            {fault && (
              <p role="alert" className="text-xs text-bad wrap-anywhere">
                {fault}
              </p>
            )}
          </>
        ) : null
      }
      json={
        <JsonField
          label={label}
          optional={optional}
          hint={hint}
          className="min-h-30"
          schema={schemaOfSchemas}
          placeholder='{"type": "object", "properties": { … }}'
          value={value}
          fault={fault}
          onText={onText}
        />
      }
    />
  );
}
