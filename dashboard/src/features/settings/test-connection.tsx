import type { Connection, Tried } from "../../../../server/wire/console.ts";
import { testConnection } from "../../entities/server/server-api.ts";
import { formatCount, formatDuration } from "../../lib/format.ts";
import { useForm } from "../../lib/use-form.ts";
import { WireLine } from "../../ui/error-note.tsx";
import { Field } from "../../ui/field.tsx";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { Note } from "../../ui/note.tsx";

interface TestConnectionProps {
  connection: Connection | undefined;
  onClose: () => void;
}

/** Asks the provider for one word, as a run would, and shows what came of it. */
export function TestConnection({ connection, onClose }: TestConnectionProps) {
  const form = useForm({
    first: { model: "" },
    send: ({ model }) => testConnection(connection?.name ?? "", model.trim()),
  });
  if (!connection) return null;
  const isOwn = connection.provider === "openai_compatible" || connection.provider === "ollama";
  return (
    <FormDialog
      form={{ ...form, isUnsaved: false }}
      onClose={onClose}
      title={`Test ${connection.name}`}
      keep="Close"
      about="Sends one request of a few tokens, as a run would. It costs a fraction of a cent."
      act="Test connection"
      acting="Testing"
      failed="The test did not run"
    >
      <Field
        label="Model (optional)"
        hint={isOwn ? "Empty: the first model that the server lists." : "Empty: the cheapest known model."}
        autoComplete="off"
        spellCheck={false}
        {...form.text("model")}
      />
      <div role="status">{form.made && <Outcome tried={form.made} prefix={connection.prefix} />}</div>
    </FormDialog>
  );
}

function Outcome({ tried, prefix }: { tried: Tried; prefix: string }) {
  const { ok, model, latency_ms, output, usage, error } = tried;
  const name = model && `${prefix}/${model}`;
  if (ok)
    return (
      <Note tone="ok">
        <b>The connection works.</b> <code>{name}</code> answered in {formatDuration(latency_ms)}
        {output ? `: “${output}”` : "."}
        <p className="text-muted">
          {formatCount(usage?.input_tokens)} → {formatCount(usage?.output_tokens)} tokens
        </p>
      </Note>
    );
  return (
    <Note tone="bad">
      <b>The connection failed.</b>
      <p>{error?.message}</p>
      <p className="text-muted">
        {name ? (
          <>
            Requested <code>{name}</code>, {formatDuration(latency_ms)}.
          </>
        ) : (
          "No request was sent."
        )}
      </p>
      {error && <WireLine code={error.code} />}
    </Note>
  );
}
