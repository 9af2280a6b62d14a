import { Check, X } from "lucide-react";
import type { Attempt } from "../../entities/webhook/webhook-api.ts";
import { formatDuration } from "../../lib/format.ts";
import { readJson } from "../../lib/json-text.ts";
import { JsonView } from "../../ui/data/json-view.tsx";
import { Pill } from "../../ui/data/pill.tsx";
import { Time } from "../../ui/data/time.tsx";
import { WireLine } from "../../ui/feedback/error-note.tsx";

/** One attempt with the headers of request and response. */
export function AttemptCard({ attempt, isOpen }: { attempt: Attempt; isOpen: boolean }) {
  const { number, at, latency_ms, request, response, error } = attempt;
  return (
    <details open={isOpen} className="min-w-0 rounded-md border border-line">
      <summary className="flex flex-wrap items-center gap-x-3 gap-y-1 px-3 py-2">
        <Pill tone={error ? "bad" : "ok"} icon={error ? X : Check}>
          {response ? `HTTP ${response.status}` : "No response"}
        </Pill>
        <span className="text-muted">Attempt {number}</span>
        <span className="ml-auto flex gap-3 text-xs text-muted">
          <span>{formatDuration(latency_ms)}</span>
          <Time at={at} />
        </span>
      </summary>
      <div className="flex min-w-0 flex-col gap-3 border-t border-line-soft px-3 py-2.5">
        {error && (
          <div className="text-bad wrap-anywhere">
            {error.message}
            <WireLine code={error.code} />
          </div>
        )}
        {response && <AnswerBody body={response.body} truncated={response.truncated} />}
        {response && <Heads title="Response headers" heads={response.headers} />}
        <Heads title="Request headers" heads={request.headers} />
      </div>
    </details>
  );
}

function AnswerBody({ body, truncated }: { body: string; truncated: boolean }) {
  const read = readJson(body);
  const isPlain = read.fault !== null || typeof read.value !== "object";
  return (
    <div className="min-w-0">
      <h4 className="mb-1 text-xs font-medium text-muted">Response body</h4>
      {body === "" && <span className="text-muted">Empty</span>}
      {body !== "" && isPlain && (
        <pre className="max-h-80 overflow-y-auto rounded-md bg-subtle px-2.5 py-1.5 wrap-anywhere whitespace-pre-wrap">
          {body}
        </pre>
      )}
      {body !== "" && !isPlain && <JsonView value={read.value} />}
      {truncated && <p className="mt-1 text-xs text-muted">Only the beginning is kept.</p>}
    </div>
  );
}

function Heads({ title, heads }: { title: string; heads: Record<string, string> }) {
  return (
    <details className="min-w-0">
      <summary className="w-fit text-xs font-medium text-muted hover:text-ink">{title}</summary>
      <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-3 gap-y-0.5 pt-1.5 font-mono text-xs">
        {Object.entries(heads).map(([name, value]) => (
          <div key={name} className="col-span-2 grid grid-cols-subgrid">
            <dt className="text-muted">{name}</dt>
            <dd className="wrap-anywhere">{value}</dd>
          </div>
        ))}
      </dl>
    </details>
  );
}
