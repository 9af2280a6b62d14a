import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { clsx } from "clsx";
import { Download } from "lucide-react";
import { useEffect, useRef } from "react";
import type { Environment as Mode } from "../../../../server/core/scope.ts";
import type { FileChunk, File as StoredFile } from "../../../../server/wire/file.ts";
import { chunksQuery, contentUrl, fileApi } from "../../entities/file/file-api.ts";
import { ObjectHead } from "../../entities/resource/object-head.tsx";
import { ObjectPage } from "../../entities/resource/object-page.tsx";
import { downloadUrl } from "../../lib/download.ts";
import { formatBytes, formatCount, joinFacts, plural } from "../../lib/format.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Button } from "../../ui/button.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Fact, IdFact } from "../../ui/facts.tsx";
import { type PageParts, type Part, pagesOf } from "./document-parts.ts";
import { failureWords } from "./file-words.ts";
import type { DocumentSearch } from "./read-document-search.ts";

interface DocumentPageProps {
  id: string;
  search: DocumentSearch;
  onSearch: (search: DocumentSearch, replace?: boolean) => void;
  onLookIn: (mode: Mode) => void;
}

/** A document as it was read, beside the chunks by which it is found. */
export function DocumentPage({ id, search, onSearch, onLookIn }: DocumentPageProps) {
  const file = useQuery(fileApi.one(useWorkspace(), id));
  return (
    <ObjectPage object={file} noun="file" list="/files" id={id} onLookIn={onLookIn}>
      {(file) => (
        <>
          <DocumentHead file={file} />
          {file.chunks > 0 ? (
            <Chunks file={file} chosen={search.chunk} onChoose={(chunk) => onSearch({ chunk }, true)} />
          ) : (
            <p className="p-4 text-muted rail:p-5">{failureWords(file) || "No text was extracted."}</p>
          )}
        </>
      )}
    </ObjectPage>
  );
}

function DocumentHead({ file }: { file: StoredFile }) {
  const { id, filename, bytes, pages, chunks, mime_type } = file;
  const at = useWorkspace();
  return (
    <ObjectHead
      list="/files"
      name={filename}
      links={
        <Button onClick={() => downloadUrl(contentUrl(at, id), filename)}>
          <Download aria-hidden className="size-4" strokeWidth={1.5} />
          Download
        </Button>
      }
    >
      <IdFact noun="file" id={id} />
      <Fact name="Type">{mime_type}</Fact>
      <Fact name="Size">{formatBytes(bytes)}</Fact>
      {pages !== null && <Fact name="Pages">{formatCount(pages)}</Fact>}
      <Fact name="Chunks">{formatCount(chunks)}</Fact>
    </ObjectHead>
  );
}

interface Choice {
  chosen: number | undefined;
  onChoose: (chunk: number) => void;
}

function Chunks({ file, chosen, onChoose }: Choice & { file: StoredFile }) {
  const read = useInfiniteQuery(chunksQuery(useWorkspace(), file.id));
  const { hasNextPage, isFetching, fetchNextPage, error } = read;
  const chunks = read.data?.pages.flatMap(({ data }) => data) ?? [];
  const isFurther = chosen !== undefined && chosen >= chunks.length && hasNextPage && !isFetching && !error;
  useEffect(() => {
    if (isFurther) void fetchNextPage();
  }, [isFurther, fetchNextPage]);
  return (
    <div className="grid min-h-0 flex-1 grid-rows-2 rail:grid-cols-[minmax(0,3fr)_minmax(0,2fr)] rail:grid-rows-1">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by keyboard too. */}
      <section aria-label="Document" tabIndex={0} className="relative min-h-0 overflow-y-auto px-4 py-4 rail:px-5">
        {pagesOf(chunks).map((page) => (
          <DocumentSheet key={page.parts[0]!.chunk.chunk_index} page={page} chosen={chosen} onChoose={onChoose} />
        ))}
      </section>
      <section
        aria-label="Chunks"
        className="relative min-h-0 overflow-y-auto border-line max-rail:border-t rail:border-l"
      >
        <ErrorNote inset title="The chunks cannot be shown" error={error} onRetry={() => void read.refetch()} />
        <ol>
          {chunks.map((chunk) => (
            <ChunkItem key={chunk.chunk_index} chunk={chunk} chosen={chosen} onChoose={onChoose} />
          ))}
        </ol>
        {hasNextPage && (
          <div className="p-4">
            <Button disabled={isFetching} onClick={() => void fetchNextPage()}>
              {isFetching ? "Loading" : `Show more of ${plural(file.chunks, "chunk")}`}
            </Button>
          </div>
        )}
      </section>
    </div>
  );
}

/** A page of the document, or all of one without pages: where its chunks stand on it, and what they say. */
function DocumentSheet({ page: { page, parts }, ...choice }: Choice & { page: PageParts }) {
  return (
    <div className="mb-6 flex max-w-200 flex-col gap-3">
      {page !== null && <h2 className="text-md">Page {formatCount(page)}</h2>}
      <div className="flex items-start gap-4 max-rail:flex-col">
        {parts.some(({ chunk }) => chunk.boxes?.length) && <Outline page={page} parts={parts} {...choice} />}
        <div className="flex min-w-0 flex-1 flex-col gap-2">
          {parts.map((part) => (
            <Passage key={part.chunk.chunk_index} part={part} chosen={choice.chosen} />
          ))}
        </div>
      </div>
    </div>
  );
}

/** The outline of a page. Its proportions are not known: those of most paper stand for them. */
function Outline({ page, parts, chosen, onChoose }: Choice & { page: number | null; parts: readonly Part[] }) {
  return (
    <svg
      role="img"
      aria-label={`Chunks on page ${page}`}
      viewBox="0 0 100 141"
      className="w-40 shrink-0 rounded-sm border border-line bg-surface rail:sticky rail:top-0"
    >
      {lastOf(parts, chosen).flatMap(({ chunk: { chunk_index, boxes } }) =>
        (boxes ?? []).map(({ left, top, right, bottom }) => (
          // Whoever sees no outline, or uses no mouse, chooses in the list.
          // biome-ignore lint/a11y/noStaticElementInteractions: the list beside it does the same by buttons
          <rect
            key={`${chunk_index} ${left} ${top}`}
            x={left * 100}
            y={top * 141}
            width={(right - left) * 100}
            height={(bottom - top) * 141}
            className={clsx(
              "cursor-pointer [vector-effect:non-scaling-stroke]",
              chunk_index === chosen ? "fill-accent-soft stroke-accent" : "fill-subtle stroke-line hover:stroke-muted",
            )}
            onClick={() => onChoose(chunk_index)}
          />
        )),
      )}
    </svg>
  );
}

/** The chosen one last, so that none covers its lines. */
const lastOf = (parts: readonly Part[], chosen: number | undefined): Part[] =>
  [...parts].sort((a, b) => Number(a.chunk.chunk_index === chosen) - Number(b.chunk.chunk_index === chosen));

/** Brings what is chosen into sight. */
function useInSight<E extends Element>(isChosen: boolean) {
  const ref = useRef<E>(null);
  useEffect(() => {
    if (isChosen) ref.current?.scrollIntoView({ block: "nearest" });
  }, [isChosen]);
  return ref;
}

function Passage({ part: { chunk, fresh }, chosen }: { part: Part; chosen: number | undefined }) {
  const isChosen = chunk.chunk_index === chosen;
  const ref = useInSight<HTMLDivElement>(isChosen);
  return (
    <div
      ref={ref}
      className={clsx("border-l-2 pl-3", isChosen ? "border-accent bg-accent-soft" : "border-transparent")}
    >
      <p className="text-md whitespace-pre-wrap wrap-anywhere">{fresh}</p>
    </div>
  );
}

function ChunkItem({ chunk, chosen, onChoose }: Choice & { chunk: FileChunk }) {
  const { chunk_index, page, heading, tokens, text, source } = chunk;
  const isChosen = chunk_index === chosen;
  const ref = useInSight<HTMLLIElement>(isChosen);
  return (
    <li ref={ref} className="border-b border-line-soft">
      <button
        type="button"
        aria-pressed={isChosen}
        onClick={() => onChoose(chunk_index)}
        className={clsx(
          "block w-full px-4 py-2.5 text-left -outline-offset-2",
          isChosen ? "bg-accent-soft" : "hover:bg-hover",
        )}
      >
        <span className="flex flex-wrap gap-x-3 text-xs text-muted tabular-nums">
          <b className="text-ink">Chunk {formatCount(chunk_index + 1)}</b>
          {joinFacts(
            page !== null && `page ${formatCount(page)}`,
            heading,
            plural(tokens, "token"),
            source === "ocr" && "read from an image",
          )}
        </span>
        <span className={clsx("mt-0.5 whitespace-pre-wrap wrap-anywhere", isChosen ? "block" : "line-clamp-3")}>
          {text}
        </span>
      </button>
    </li>
  );
}
