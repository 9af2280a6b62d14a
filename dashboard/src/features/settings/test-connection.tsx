import type { Connection, Tried } from "../../../../server/domain/api-types/console.ts";
import { testConnection } from "../../entities/server/server-api.ts";
import { useForm } from "../../hooks/use-form.ts";
import { formatCount, formatDuration } from "../../lib/format.ts";
import { FormDialog } from "../../ui/dialogs/form-dialog.tsx";
import { Callout } from "../../ui/feedback/callout.tsx";
import { WireLine } from "../../ui/feedback/error-note.tsx";
import { Field } from "../../ui/forms/field.tsx";

interface TestConnectionProps {
  connection: Connection | undefined;
  onClose: () => void;
}

/** Sends a short request to the provider, as a run would, and shows the result. */
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
      <div role="status">{form.result && <Outcome tried={form.result} prefix={connection.prefix} />}</div>
    </FormDialog>
  );
}

function Outcome({ tried, prefix }: { tried: Tried; prefix: string }) {
  const { ok, model, latency_ms, output, usage, error } = tried;
  const name = model && `${prefix}/${model}`;
  if (ok)
    return (
      <Callout tone="ok">
        <b>The connection works.</b> <code>{name}</code> answered in {formatDuration(latency_ms)}
        {output ? `: “${output}”` : "."}
        <p className="text-muted">
          {formatCount(usage?.input_tokens)} → {formatCount(usage?.output_tokens)} tokens
        </p>
      </Callout>
    );
  return (
    <Callout tone="bad">
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
    </Callout>
  );
}
