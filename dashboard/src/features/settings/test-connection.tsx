import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import type { Connection, Tried } from "../../../../server/wire/console.ts";
import { testConnection } from "../../entities/server/server-api.ts";
import { formatCount, formatDuration } from "../../lib/format.ts";
import { ErrorNote, WireLine } from "../../ui/error-note.tsx";
import { Field } from "../../ui/field.tsx";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { Note } from "../../ui/note.tsx";

interface TestConnectionProps {
  connection: Connection | undefined;
  onClose: () => void;
}

/** Asks the provider for one word, as a run would, and shows what came of it. */
export function TestConnection({ connection, onClose }: TestConnectionProps) {
  const [model, setModel] = useState("");
  const testing = useMutation({ mutationFn: () => testConnection(connection?.name ?? "", model.trim()) });
  if (!connection) return null;
  const isOwn = connection.provider === "openai_compatible" || connection.provider === "ollama";
  return (
    <FormDialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={`Test ${connection.name}`}
      about="Sends one request of a few tokens, as a run would. It costs a fraction of a cent."
      act={testing.isPending ? "Testing" : "Test connection"}
      busy={testing.isPending}
      onSubmit={() => testing.mutate()}
    >
      <Field
        label="Model (optional)"
        hint={isOwn ? "Empty: the first that the server lists." : "Empty: the cheapest that is known."}
        value={model}
        onChange={(event) => setModel(event.target.value)}
        autoComplete="off"
        spellCheck={false}
      />
      <div role="status">{testing.data && <Outcome tried={testing.data} prefix={connection.prefix} />}</div>
      {testing.error && <ErrorNote title="The test was not made" error={testing.error} />}
    </FormDialog>
  );
}

function Outcome({ tried, prefix }: { tried: Tried; prefix: string }) {
  const { ok, model, latency_ms, output, usage, error } = tried;
  const name = model && `${prefix}/${model}`;
  if (ok)
    return (
      <Note tone="ok">
        <b>It works.</b> <code>{name}</code> answered in {formatDuration(latency_ms)}
        {output ? `: “${output}”` : "."}
        <p className="text-muted">
          {formatCount(usage?.input_tokens)} → {formatCount(usage?.output_tokens)} tokens
        </p>
      </Note>
    );
  return (
    <Note tone="bad">
      <b>It does not work.</b>
      <p>{error?.message}</p>
      <p className="text-muted">
        {name ? (
          <>
            Asked <code>{name}</code>, {formatDuration(latency_ms)}.
          </>
        ) : (
          "Nothing was asked."
        )}
      </p>
      {error && <WireLine code={error.code} />}
    </Note>
  );
}
