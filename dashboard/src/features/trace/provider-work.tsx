import { ExternalLink, Globe } from "lucide-react";
import type { TraceStep } from "../../../../server/domain/api-types/trace.ts";
import { plural } from "../../lib/format.ts";
import { fieldsOf } from "../../lib/json-text.ts";
import { JsonView } from "../../ui/data/json-view.tsx";

interface ProviderCall {
  id: string;
  name: string;
  arguments: unknown;
  result: unknown;
  is_error: boolean;
}

interface Source {
  url: string;
  title: string | null;
}

/** Calls of tools that the model's provider ran itself, and the pages that the answer cites. Nothing without any. */
export function ProviderWork({ step }: { step: TraceStep }) {
  const { provider_calls, sources } = fieldsOf(step.output);
  const calls = (Array.isArray(provider_calls) ? provider_calls : []) as ProviderCall[];
  const pages = (Array.isArray(sources) ? sources : []) as Source[];
  if (calls.length + pages.length === 0) return null;
  return (
    <div className="flex min-w-0 flex-col gap-2">
      {calls.map((call) => (
        <details key={call.id} className="min-w-0 rounded-sm bg-subtle px-2 py-1 text-xs">
          <summary className="wrap-anywhere">
            <b>{call.name}</b> <span className="text-muted">of the provider{call.is_error && ", failed"}</span>
          </summary>
          <div className="flex flex-col gap-2 py-1.5">
            <JsonView value={call.arguments} />
            <JsonView value={call.result} />
          </div>
        </details>
      ))}
      {pages.length > 0 && (
        <details open className="min-w-0 text-xs">
          <summary className="w-fit text-muted">{plural(pages.length, "source")}</summary>
          <ul className="flex flex-col gap-1 py-1.5">
            {pages.map(({ url, title }) => (
              <li key={url} className="flex min-w-0 items-center gap-1.5">
                <Globe aria-hidden className="size-3 shrink-0 text-muted" strokeWidth={1.5} />
                <SourceLink url={url} title={title} />
              </li>
            ))}
          </ul>
        </details>
      )}
    </div>
  );
}

/** Only web addresses are links: others could run code. */
function SourceLink({ url, title }: Source) {
  if (!/^https?:\/\//i.test(url)) return <span className="cut">{title ?? url}</span>;
  return (
    <a href={url} target="_blank" rel="noreferrer nofollow" className="cut text-accent hover:underline" title={url}>
      {title ?? url}
      <ExternalLink aria-hidden className="ml-1 inline size-3" strokeWidth={1.5} />
    </a>
  );
}
