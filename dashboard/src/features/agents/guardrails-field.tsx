import { Plus } from "lucide-react";
import { jsonText, readJson } from "../../lib/json-text.ts";
import { buttonClass } from "../../ui/button.tsx";
import { JsonField, type JsonFieldProps } from "../../ui/json-field.tsx";
import { Menu } from "../../ui/menu.tsx";

/** One of each, to begin with. */
const examples = [
  { label: "Personal data", rule: { type: "pii", on: ["input"], action: "redact", config: { kinds: ["email"] } } },
  { label: "Keys and tokens", rule: { type: "secrets", on: ["output"], action: "block" } },
  { label: "Pattern", rule: { type: "regex", on: ["output"], action: "block", config: { pattern: "internal-\\d+" } } },
  {
    label: "Blocked terms",
    rule: { type: "blocked_terms", on: ["output"], action: "flag", config: { terms: ["guarantee"] } },
  },
  {
    label: "Allowed addresses",
    rule: { type: "url_allowlist", on: ["output"], action: "block", config: { hosts: ["example.com"] } },
  },
  { label: "Length", rule: { type: "max_length", on: ["input"], action: "block", config: { max_length: 20_000 } } },
  {
    label: "Allowed tools",
    rule: { type: "tool_allowlist", on: ["tool_call"], action: "require_approval", config: { tools: ["search"] } },
  },
  {
    label: "Judge",
    rule: { type: "llm_judge", on: ["output"], action: "block", config: { prompt: "It gives legal advice." } },
  },
];

/** The rules of an agent as JSON, and one of each kind to add. */
export function GuardrailsField({ value: text, fault, onText }: JsonFieldProps) {
  const { value, fault: broken } = readJson(text.trim() === "" ? "[]" : text);
  const list = broken === null && Array.isArray(value) ? value : null;
  return (
    <>
      <JsonField
        label="Guardrails"
        optional
        rows={3}
        placeholder="[]"
        hint={
          list && list.length > 0 ? `${list.length} of 32 at most, read in this order.` : "A list of rules. None yet."
        }
        value={text}
        fault={fault}
        onText={onText}
      />
      {list && (
        <div>
          <Menu
            trigger={
              <button type="button" className={buttonClass({ size: "sm" })}>
                <Plus aria-hidden className="size-3.5" strokeWidth={1.5} />
                Add a guardrail
              </button>
            }
          >
            {({ MenuItem }) =>
              examples.map(({ label, rule }) => (
                <MenuItem key={label} onClick={() => onText(jsonText([...list, rule]))}>
                  {label}
                </MenuItem>
              ))
            }
          </Menu>
        </div>
      )}
    </>
  );
}
