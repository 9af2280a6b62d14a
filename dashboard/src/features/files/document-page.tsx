import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { clsx } from "clsx";
import { Download } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import type { FileChunk, File as StoredFile } from "../../../../server/domain/api-types/file.ts";
import type { Environment as Mode } from "../../../../server/domain/scope.ts";
import { ObjectHead } from "../../entities/crud/object-head.tsx";
import { ObjectPage } from "../../entities/crud/object-page.tsx";
import { chunksQuery, contentUrl, fileApi, pageUrl } from "../../entities/file/file-api.ts";
import { downloadUrl } from "../../lib/download.ts";
import { formatBytes, formatCount, joinFacts, plural } from "../../lib/format.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Description, IdDescription } from "../../ui/data/description-list.tsx";
import { ErrorNote } from "../../ui/feedback/error-note.tsx";
import { Button } from "../../ui/forms/button.tsx";
import { hasPicture, type PageParts, type Part, pagesOf } from "./document-parts.ts";
import { failureWords, progressWords } from "./file-words.ts";
import type { DocumentSearch } from "./read-document-search.ts";

interface DocumentPageProps {
  id: string;
  search: DocumentSearch;
  onSearch: (search: DocumentSearch, replace?: boolean) => void;
  onLookIn: (mode: Mode) => void;
}

/** The extracted text of a document, beside its search chunks. */
export function DocumentPage({ id, search, onSearch, onLookIn }: DocumentPageProps) {
  const file = useQuery(fileApi.one(useWorkspace(), id));
  return (
    <ObjectPage object={file} noun="file" list="/files" id={id} onLookIn={onLookIn}>
      {(file) => (
        <>
          <DocumentHead file={file} />
          <Warnings warnings={file.warnings} />
          {file.chunks > 0 ? (
            <Chunks file={file} chosen={search.chunk} onChoose={(chunk) => onSearch({ chunk }, true)} />
          ) : (
            <p className="p-4 text-muted rail:p-5">
              {failureWords(file) || (file.status === "processing" && progressWords(file)) || "No text was extracted."}
            </p>
          )}
        </>
      )}
    </ObjectPage>
  );
}

function DocumentHead({ file }: { file: StoredFile }) {
  const { id, filename, bytes, pages, characters, encoding, include_hidden, chunks, mime_type } = file;
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
      <IdDescription noun="file" id={id} />
      <Description name="Type">{mime_type}</Description>
      <Description name="Size">{formatBytes(bytes)}</Description>
      {pages !== null && <Description name="Pages">{formatCount(pages)}</Description>}
      {characters !== null && <Description name="Characters">{formatCount(characters)}</Description>}
      {encoding !== null && <Description name="Encoding">{encoding}</Description>}
      {include_hidden && <Description name="Hidden text">Included</Description>}
      <Description name="Chunks">{formatCount(chunks)}</Description>
    </ObjectHead>
  );
}

/** The losses and guesses of reading the document, so that a person sees where to compare it with the original. */
function Warnings({ warnings }: Pick<StoredFile, "warnings">) {
  if (warnings.length === 0) return null;
  return (
    <details open={warnings.length <= 3} className="shrink-0 border-b border-line px-4 py-2.5 rail:px-5">
      <summary className="w-fit font-medium text-warn">{plural(warnings.length, "warning")}</summary>
      <ul aria-label="Warnings" className="mt-1.5 flex max-h-40 flex-col gap-1 overflow-y-auto">
        {warnings.map(({ code, message, page }) => (
          <li key={`${code} ${page} ${message}`} className="wrap-anywhere">
            {page !== null && <span className="text-muted">Page {formatCount(page)}: </span>}
            {message}
          </li>
        ))}
      </ul>
    </details>
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
  const needsNextPage = chosen !== undefined && chosen >= chunks.length && hasNextPage && !isFetching && !error;
  useEffect(() => {
    if (needsNextPage) void fetchNextPage();
  }, [needsNextPage, fetchNextPage]);
  return (
    <div className="grid min-h-0 flex-1 grid-rows-2 rail:grid-cols-[minmax(0,3fr)_minmax(0,2fr)] rail:grid-rows-1">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable by keyboard. */}
      <section aria-label="Document" tabIndex={0} className="relative min-h-0 overflow-y-auto px-4 py-4 rail:px-5">
        {pagesOf(chunks).map((page) => (
          <DocumentSheet
            key={page.parts[0]!.chunk.chunk_index}
            file={file}
            page={page}
            chosen={chosen}
            onChoose={onChoose}
          />
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

/** A page of the document beside its text, or all of a document without pages. */
function DocumentSheet({ file, page: { page, parts }, ...choice }: Choice & { file: StoredFile; page: PageParts }) {
  const isPicture = page !== null && hasPicture(file, page);
  const hasBoxes = parts.some(({ chunk }) => chunk.boxes?.length);
  return (
    <div className="mb-6 flex flex-col gap-3">
      {page !== null && <h2 className="text-md">Page {formatCount(page)}</h2>}
      <div className="flex items-start gap-4 max-rail:flex-col">
        {(isPicture || hasBoxes) && (
          <PageView key={isPicture ? "picture" : "outline"} file={file} page={page ?? 1} parts={parts} {...choice} />
        )}
        <div className="flex max-w-160 min-w-0 flex-1 flex-col gap-2">
          {parts.map((part) => (
            <Passage key={part.chunk.chunk_index} part={part} chosen={choice.chosen} />
          ))}
        </div>
      </div>
    </div>
  );
}

/** The page as a person sees it, with the places of its chunks. Without a picture it is drawn as an empty A4 page. */
function PageView({
  file,
  page,
  parts,
  chosen,
  onChoose,
}: Choice & { file: StoredFile; page: number; parts: readonly Part[] }) {
  const at = useWorkspace();
  const [state, setState] = useState<"loading" | "shown" | "missing">(hasPicture(file, page) ? "loading" : "missing");
  return (
    <figure
      className={clsx(
        "relative shrink-0 overflow-hidden rounded-sm border border-line rail:sticky rail:top-0",
        state === "missing" ? "w-40 bg-surface" : "w-full bg-white rail:w-[46%]",
        state === "loading" && "aspect-[100/141]",
      )}
    >
      {state !== "missing" && (
        <img
          src={pageUrl(at, file.id, page)}
          alt={`Page ${formatCount(page)} of ${file.filename}`}
          loading="lazy"
          decoding="async"
          className="block w-full"
          onLoad={() => setState("shown")}
          onError={() => setState("missing")}
        />
      )}
      <svg
        role="img"
        aria-label={`Chunks on page ${page}`}
        viewBox="0 0 100 141"
        preserveAspectRatio="none"
        className={state === "missing" ? "block w-full" : "absolute inset-0 size-full"}
      >
        {sortSelectedLast(parts, chosen).flatMap(({ chunk: { chunk_index, boxes } }) =>
          (boxes ?? []).map(({ left, top, right, bottom }) => (
            // biome-ignore lint/a11y/noStaticElementInteractions: the list beside it selects the same chunks by buttons
            <rect
              key={`${chunk_index} ${left} ${top}`}
              x={left * 100}
              y={top * 141}
              width={(right - left) * 100}
              height={(bottom - top) * 141}
              className={clsx(
                "cursor-pointer [vector-effect:non-scaling-stroke]",
                boxLook(chunk_index === chosen, state === "missing"),
              )}
              onClick={() => onChoose(chunk_index)}
            />
          )),
        )}
      </svg>
    </figure>
  );
}

/** Boxes over a picture leave its letters readable. */
function boxLook(isChosen: boolean, isEmpty: boolean): string {
  if (isChosen) return isEmpty ? "fill-accent-soft stroke-accent" : "fill-accent/15 stroke-accent";
  return isEmpty
    ? "fill-subtle stroke-line hover:stroke-muted"
    : "fill-transparent stroke-accent/30 hover:stroke-accent";
}

/** Sorts the selected chunk last, so that no other outline covers it. */
const sortSelectedLast = (parts: readonly Part[], chosen: number | undefined): Part[] =>
  [...parts].sort((a, b) => Number(a.chunk.chunk_index === chosen) - Number(b.chunk.chunk_index === chosen));

/** Scrolls the element into view when it is selected. */
function useScrollIntoView<E extends Element>(isChosen: boolean) {
  const ref = useRef<E>(null);
  useEffect(() => {
    if (isChosen) ref.current?.scrollIntoView({ block: "nearest" });
  }, [isChosen]);
  return ref;
}

function Passage({ part: { chunk, newText }, chosen }: { part: Part; chosen: number | undefined }) {
  const isChosen = chunk.chunk_index === chosen;
  const ref = useScrollIntoView<HTMLDivElement>(isChosen);
  return (
    <div
      ref={ref}
      className={clsx("border-l-2 pl-3", isChosen ? "border-accent bg-accent-soft" : "border-transparent")}
    >
      <p className="text-md whitespace-pre-wrap wrap-anywhere">{newText}</p>
    </div>
  );
}

function ChunkItem({ chunk, chosen, onChoose }: Choice & { chunk: FileChunk }) {
  const { chunk_index, page, heading, tokens, text, source } = chunk;
  const isChosen = chunk_index === chosen;
  const ref = useScrollIntoView<HTMLLIElement>(isChosen);
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
