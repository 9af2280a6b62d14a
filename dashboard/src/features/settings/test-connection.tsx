import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Check, CircleHelp, LoaderCircle, type LucideIcon, Minus, X } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import type { Connection, ConnectionCheck, Tried } from "../../../../server/domain/api-types/console.ts";
import { checkWords, type FeatureCheck, featureChecks } from "../../../../server/domain/connection-check.ts";
import { modelsQuery } from "../../entities/model/model-api.ts";
import { modelSuggestions } from "../../entities/model/model-suggestions.tsx";
import { connectionsQuery, testConnection } from "../../entities/server/server-api.ts";
import { useForm } from "../../hooks/use-form.ts";
import { formatCost, formatCount, formatDuration } from "../../lib/format.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { FormDialog } from "../../ui/dialogs/form-dialog.tsx";
import { Callout } from "../../ui/feedback/callout.tsx";
import { Button } from "../../ui/forms/button.tsx";
import { Combobox } from "../../ui/forms/combobox.tsx";
import { isOwnServer } from "./connection-draft.ts";

interface TestConnectionProps {
  connection: Connection | undefined;
  onClose: () => void;
}

/** Tries what a connection's server takes, as a run would, and shows each check when it is done. */
export function TestConnection({ connection, onClose }: TestConnectionProps) {
  const client = useQueryClient();
  const [lines, setLines] = useState<readonly ConnectionCheck[]>([]);
  const [isStopped, setStopped] = useState(false);
  const running = useRef(new AbortController());
  // Leaving the dialog ends the test.
  useEffect(() => () => running.current.abort(), []);
  const form = useForm({
    first: { model: "", checks: featureChecks.filter((check) => check !== "images") as FeatureCheck[] },
    send: async ({ model, checks }) => {
      setLines([]);
      setStopped(false);
      running.current = new AbortController();
      const { signal } = running.current;
      const body = { checks, ...(model.trim() && { model: nameIn(model.trim(), connection?.prefix ?? "") }) };
      const onCheck = (line: ConnectionCheck) => setLines((before) => [...before, line]);
      try {
        return await testConnection(connection?.name ?? "", body, onCheck, signal);
      } catch (error) {
        if (!signal.aborted) throw error;
        setStopped(true);
        return null;
      }
    },
    onSent: () => client.invalidateQueries(connectionsQuery),
  });
  if (!connection) return null;
  const { draft, isPending, result } = form;
  const toggle = (check: FeatureCheck, on: boolean) =>
    form.set({ checks: featureChecks.filter((each) => (each === check ? on : draft.checks.includes(each))) });
  return (
    <FormDialog
      form={{ ...form, isUnsaved: false }}
      onClose={onClose}
      title={`Test ${connection.name}`}
      keep="Close"
      about="Sends one small request for each feature, as a run would. All of them cost a few cents at most."
      act="Test connection"
      acting="Testing"
      failed="The test did not run"
    >
      <ModelChoice connection={connection} {...form.suggest("model")} />
      <fieldset className="flex flex-wrap gap-x-4 gap-y-2" disabled={isPending}>
        <legend className="pb-1.5 font-medium">Also try</legend>
        {featureChecks.map((check) => (
          <label key={check} className="flex items-center gap-1.5">
            <input
              type="checkbox"
              checked={draft.checks.includes(check)}
              onChange={(event) => toggle(check, event.target.checked)}
            />
            {checkWords[check]}
          </label>
        ))}
      </fieldset>
      {(isPending || lines.length > 0) && (
        <ol aria-label="Checks" aria-live="polite" className="flex flex-col gap-1.5">
          {lines.map((line) => (
            <CheckLine key={line.check} line={line} />
          ))}
          {isPending && (
            <li className="flex items-center gap-2 text-muted">
              <LoaderCircle aria-hidden className="spin size-4 shrink-0" strokeWidth={1.5} />
              <span className="flex-1">Waiting for the server</span>
              <Button size="sm" onClick={() => running.current.abort()}>
                Stop
              </Button>
            </li>
          )}
        </ol>
      )}
      <div role="status">
        {isStopped && <Callout tone="info">The test was stopped.</Callout>}
        {!isPending && result && <Outcome tried={result} prefix={connection.prefix} />}
      </div>
    </FormDialog>
  );
}

/** A test asks for the model's own name: a picked one begins with the connection's. */
const nameIn = (model: string, prefix: string): string =>
  model.startsWith(`${prefix}/`) ? model.slice(prefix.length + 1) : model;

function ModelChoice({
  connection: { prefix, provider },
  ...field
}: {
  connection: Connection;
  value: string;
  error?: string | null;
  onValue: (model: string) => void;
}) {
  const { data } = useQuery(modelsQuery(useWorkspace(), { connection: prefix }));
  const models = (data?.data ?? []).filter(({ listed }) => listed !== false);
  return (
    <Combobox
      label="Model (optional)"
      hint={
        isOwnServer(provider) ? "Empty: the first model that the server lists." : "Empty: the cheapest known model."
      }
      items={modelSuggestions(models)}
      {...field}
    />
  );
}

const looks: Record<ConnectionCheck["result"], [LucideIcon, string, string]> = {
  yes: [Check, "text-ok", "Yes"],
  no: [X, "text-bad", "No"],
  unknown: [CircleHelp, "text-warn", "Unknown"],
  skipped: [Minus, "text-faint", "Not tried"],
};

function CheckLine({ line: { check, result, message, latency_ms } }: { line: ConnectionCheck }) {
  const [Icon, tone, word] = looks[result];
  return (
    <li className="flex min-w-0 gap-2">
      <Icon aria-hidden className={`mt-0.5 size-4 shrink-0 ${tone}`} strokeWidth={1.5} />
      <span className="min-w-0 flex-1 wrap-anywhere">
        {checkWords[check]}
        <span className="sr-only">: {word}.</span>
        {message && result !== "skipped" && <span className="block text-xs text-muted">{message}</span>}
      </span>
      <span className="shrink-0 text-xs text-muted tabular-nums">
        {result === "skipped" ? message : latency_ms !== null && formatDuration(latency_ms)}
      </span>
    </li>
  );
}

function Outcome({ tried, prefix }: { tried: Tried; prefix: string }) {
  const { ok, model, latency_ms, usage, cost_usd, adjustments, error } = tried;
  return (
    <Callout tone={ok ? "ok" : "bad"}>
      <b>{ok ? "The connection works." : "The connection failed."}</b>
      <p className="text-muted">
        {model ? (
          <>
            Asked{" "}
            <code>
              {prefix}/{model}
            </code>
            : {formatDuration(latency_ms)}
            {usage && `, ${formatCount(usage.input_tokens)} → ${formatCount(usage.output_tokens)} tokens`}
            {cost_usd !== null && `, ${formatCost(cost_usd)}`}.
          </>
        ) : (
          error?.message
        )}
      </p>
      {adjustments.length > 0 && (
        <>
          <p className="mt-1">Requests are changed for this server:</p>
          <ul className="list-disc pl-4">
            {adjustments.map((each) => (
              // The message names the field too.
              <li key={each}>{each.replace(/^[\w.]+: /, "")}</li>
            ))}
          </ul>
        </>
      )}
    </Callout>
  );
}
