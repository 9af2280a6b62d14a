import { Plus } from "lucide-react";
import { exampleArguments } from "../../lib/example-arguments.ts";
import { jsonText, numberIn, readJson } from "../../lib/json-text.ts";
import { EntryCard } from "../../ui/data/entry-card.tsx";
import { Button } from "../../ui/forms/button.tsx";
import { Combobox } from "../../ui/forms/combobox.tsx";
import { Field } from "../../ui/forms/field.tsx";
import { FormOrJson } from "../../ui/forms/form-or-json.tsx";
import { JsonField, type JsonFieldProps } from "../../ui/forms/json-field.tsx";
import { JsonValueField } from "../../ui/forms/json-value-field.tsx";
import { TextArea } from "../../ui/forms/text-area.tsx";
import { useApiSchema } from "../server/use-api-schema.ts";
import { type ScriptCall, type ScriptEntry, scriptEntries, withField } from "./script-rows.ts";

interface ScriptEditorProps extends JsonFieldProps {
  /** Tools that the script can call. */
  tools?: readonly { name: string; parameters?: unknown }[];
  readOnly?: boolean;
}

/** Editor of the `test/script` model's responses, one entry per model call: as fields or JSON. */
export function ScriptEditor({ tools = [], ...field }: ScriptEditorProps) {
  const schema = useApiSchema("ModelSettings", "script");
  const entries = scriptEntries(field.value.trim() === "" ? [] : readJson(field.value).value);
  const put = (next: ScriptEntry[]) => field.onText(next.length > 0 ? jsonText(next) : "");
  return (
    <FormOrJson
      label="Script"
      fields={
        entries && (
          <fieldset className="flex min-w-0 flex-col gap-2" disabled={field.readOnly}>
            <legend className="mb-1.5 font-medium">Script</legend>
            {entries.map((entry, i) => (
              <Entry
                // biome-ignore lint/suspicious/noArrayIndexKey: an entry has no id.
                key={i}
                number={i + 1}
                entry={entry}
                tools={tools}
                onEntry={(next) => put(entries.with(i, next))}
                onRemove={() => put(entries.filter((_, n) => n !== i))}
              />
            ))}
            <div>
              <Button size="sm" onClick={() => put([...entries, { text: "Here is my answer." }])}>
                <Plus aria-hidden className="size-3.5" strokeWidth={1.5} />
                Add model call
              </Button>
            </div>
            {field.fault && (
              <p role="alert" className="text-xs text-bad wrap-anywhere">
                {field.fault}
              </p>
            )}
          </fieldset>
        )
      }
      json={
        <JsonField
          label="Script"
          optional
          hint="One entry per model call: text, reasoning, tool_calls, error, delay_ms, delta_ms."
          schema={schema}
          {...field}
        />
      }
    />
  );
}

interface EntryProps {
  number: number;
  entry: ScriptEntry;
  tools: readonly { name: string; parameters?: unknown }[];
  onEntry: (entry: ScriptEntry) => void;
  onRemove: () => void;
}

function Entry({ number, entry, tools, onEntry, onRemove }: EntryProps) {
  const { text = "", reasoning = "", error = "", delay_ms = "", delta_ms = "", tool_calls = [] } = entry;
  const calls = (next: ScriptCall[]) => onEntry(withField(entry, "tool_calls", next));
  const isRare = reasoning !== "" || error !== "" || delay_ms !== "" || delta_ms !== "";
  const add = () => {
    const [tool] = tools;
    calls([...tool_calls, { name: tool?.name ?? "tool", arguments: exampleArguments(tool?.parameters) }]);
  };
  return (
    <EntryCard title={`Model call ${number}`} onRemove={onRemove}>
      <TextArea
        label="Text"
        className="min-h-13"
        value={text}
        onChange={({ target }) => onEntry(withField(entry, "text", target.value))}
      />
      {tool_calls.map((call, i) => (
        <Call
          // biome-ignore lint/suspicious/noArrayIndexKey: a call has no id here.
          key={i}
          number={i + 1}
          call={call}
          tools={tools}
          onCall={(next) => calls(tool_calls.with(i, next))}
          onRemove={() => calls(tool_calls.filter((_, n) => n !== i))}
        />
      ))}
      <div>
        <Button size="sm" onClick={add}>
          <Plus aria-hidden className="size-3.5" strokeWidth={1.5} />
          Add tool call
        </Button>
      </div>
      <details open={isRare || undefined}>
        <summary className="w-fit text-xs font-medium text-muted hover:text-ink">Reasoning, error and timing</summary>
        <div className="grid gap-3 pt-2 rail:grid-cols-2">
          <Field
            label="Reasoning"
            value={reasoning}
            onChange={({ target }) => onEntry(withField(entry, "reasoning", target.value))}
          />
          <Field
            label="Error"
            hint="The call fails with this message."
            value={error}
            onChange={({ target }) => onEntry(withField(entry, "error", target.value))}
          />
          <Field
            label="Delay, ms"
            inputMode="numeric"
            value={delay_ms}
            onChange={({ target }) => onEntry(withField(entry, "delay_ms", numberIn(target.value)))}
          />
          <Field
            label="Between tokens, ms"
            inputMode="numeric"
            value={delta_ms}
            onChange={({ target }) => onEntry(withField(entry, "delta_ms", numberIn(target.value)))}
          />
        </div>
      </details>
    </EntryCard>
  );
}

interface CallProps {
  number: number;
  call: ScriptCall;
  tools: readonly { name: string }[];
  onCall: (call: ScriptCall) => void;
  onRemove: () => void;
}

function Call({ number, call, tools, onCall, onRemove }: CallProps) {
  return (
    <EntryCard title={`Tool call ${number}`} onRemove={onRemove}>
      <Combobox
        label="Tool"
        value={call.name}
        items={tools.map(({ name }) => ({ value: name }))}
        onValue={(name) => onCall({ ...call, name })}
      />
      <JsonValueField
        label="Arguments of the call"
        value={call.arguments}
        onValue={(nextArguments) => onCall({ ...call, arguments: nextArguments })}
      />
    </EntryCard>
  );
}
