import { FileText } from "lucide-react";
import type { TraceStep } from "../../../../../server/domain/api-types/trace.ts";
import type { RetrievedPassage as Passage } from "../../../../../server/domain/run-event.ts";
import { resourceUrl } from "../../../lib/api.ts";
import { downloadUrl } from "../../../lib/download.ts";
import { plural } from "../../../lib/format.ts";
import { fieldsOf } from "../../../lib/json-text.ts";
import { useWorkspace } from "../../../lib/workspace.ts";
import { Block, LongText } from "../../../ui/data/value.tsx";
import { Callout } from "../../../ui/feedback/callout.tsx";
import type { StepPart, StepProps } from "./step-part.ts";

export const retrievalPart: StepPart = {
  word: "Retrieval",
  sub: ({ output }) => {
    const { matches } = fieldsOf(output);
    return Array.isArray(matches) ? plural(matches.length, "passage") : "";
  },
  Output: Sources,
};

/** Retrieved passages with file and page. */
function Sources({ step }: StepProps) {
  const { matches, failures } = fieldsOf(step.output);
  const passages = passagesOf(step);
  const failed = (Array.isArray(failures) ? failures : []) as { memory_id: string; code: string; message: string }[];
  if (!Array.isArray(matches)) return <p className="text-muted">No results yet.</p>;
  return (
    <>
      {failed.map(({ memory_id, message, code }) => (
        <Callout key={memory_id} tone="warn">
          <b>A store could not be searched</b>
          <p>{message}</p>
          <code className="wrap-anywhere text-muted">
            {code} {memory_id}
          </code>
        </Callout>
      ))}
      {passages.length === 0 && (
        <p className="text-muted">No matching passages. The model was called without sources.</p>
      )}
      {passages.length > 0 && (
        <Block title={plural(passages.length, "source")}>
          <ol className="flex flex-col gap-2">
            {passages.map((passage, index) => (
              <PassageCard key={`${passage.entry_id} ${passage.chunk_index}`} passage={passage} number={index + 1} />
            ))}
          </ol>
        </Block>
      )}
    </>
  );
}

function PassageCard({ passage, number }: { passage: Passage; number: number }) {
  const at = useWorkspace();
  const { file_id, filename, heading, score, text } = passage;
  const place = placeOf(passage);
  return (
    <li className="min-w-0 rounded-md border border-line">
      <div className="flex min-w-0 flex-wrap items-center gap-x-2 border-b border-line-soft bg-subtle px-2.5 py-1 text-xs text-muted">
        <span className="tabular-nums">{number}</span>
        <FileText aria-hidden className="size-3.5 shrink-0" strokeWidth={1.5} />
        {file_id && filename ? (
          <button
            type="button"
            title={`Download ${filename}`}
            className="cut font-medium text-accent hover:underline"
            onClick={() => downloadUrl(resourceUrl(at, `/files/${encodeURIComponent(file_id)}/content`), filename)}
          >
            {filename}
          </button>
        ) : (
          <span className="cut font-medium">{filename ?? "Text entry"}</span>
        )}
        {place && <span className="whitespace-nowrap">{place}</span>}
        <span className="ml-auto whitespace-nowrap tabular-nums" title="Relevance, from 0 to 1">
          {score.toFixed(2)}
        </span>
      </div>
      <div className="px-2.5 py-2">
        {heading && <p className="mb-1 text-xs font-medium text-muted wrap-anywhere">{heading}</p>}
        <LongText text={text} name={filename ?? "passage"} />
      </div>
    </li>
  );
}

/** Passages of a retrieval, best first. */
export function passagesOf(step: TraceStep): Passage[] {
  const { matches } = fieldsOf(step.output);
  return step.type === "retrieval" && Array.isArray(matches) ? (matches as Passage[]) : [];
}

/** Position of a passage: `page 3`, or the number of its part. */
export function placeOf({ page, chunk_index, file_id }: Passage): string {
  if (page !== null) return `page ${page}`;
  return file_id ? `part ${chunk_index + 1}` : "";
}
