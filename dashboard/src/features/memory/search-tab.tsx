import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Search, SearchX } from "lucide-react";
import { Fragment } from "react";
import type { MemoryMatch as Match } from "../../../../server/domain/api-types/memory.ts";
import { matchesQuery, type SearchOrder } from "../../entities/memory/memory-api.ts";
import { RerankFields } from "../../entities/memory/rerank-fields.tsx";
import { useForm } from "../../hooks/use-form.ts";
import { plural } from "../../lib/format.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Badge } from "../../ui/data/badge.tsx";
import { EmptyState } from "../../ui/feedback/empty-state.tsx";
import { ErrorNote } from "../../ui/feedback/error-note.tsx";
import { Button } from "../../ui/forms/button.tsx";
import { Field } from "../../ui/forms/field.tsx";
import { Form } from "../../ui/forms/form.tsx";
import { JsonField } from "../../ui/forms/json-field.tsx";
import { SegmentedControl } from "../../ui/forms/segmented-control.tsx";
import { FoldedCode } from "../../ui/forms/show-code.tsx";
import type { TabProps } from "./entries-tab.tsx";
import { markWords } from "./matched-words.ts";
import { readObject, sourceWords } from "./memory-words.ts";

const modes = [
  { value: "hybrid", label: "Hybrid" },
  { value: "vector", label: "Semantic" },
  { value: "keyword", label: "Keyword" },
] as const;

/** Searches a store as an agent would. */
export function SearchTab({ store, search, onSearch }: TabProps) {
  const at = useWorkspace();
  const needsScope = store.scope !== "project";
  const parsedFilter = readObject(search.filter ?? "").value;
  const searchRequest: SearchOrder = {
    query: search.q ?? "",
    ...(search.mode && { mode: search.mode }),
    ...(search.of && { scope_id: search.of }),
    ...(parsedFilter && { filter: parsedFilter }),
    ...(search.rerank && search.by && { rerank: { model: search.by, type: search.rerank } }),
  };
  const canSearch = searchRequest.query !== "" && (!needsScope || Boolean(search.of));
  const found = useQuery({ ...matchesQuery(at, store.id, searchRequest), enabled: canSearch });
  const form = useForm({
    first: {
      text: search.q ?? "",
      mode: search.mode ?? "hybrid",
      of: search.of ?? "",
      filter: search.filter ?? "",
      rerank: search.rerank ?? ("" as const),
      by: search.by ?? "",
    },
    check: ({ text, of, filter, rerank, by }) => ({
      ...(rerank && by.trim() === "" && { by: "Choose a model." }),
      ...(text.trim() === "" && { text: "Enter a query." }),
      ...(needsScope && of.trim() === "" && { of: "Scope" }),
      filter: readObject(filter).fault,
    }),
    send: async ({ text, mode, of, filter, rerank, by }) => {
      onSearch({
        tab: "search",
        q: text.trim(),
        ...(mode !== "hybrid" && { mode }),
        ...(needsScope && { of: of.trim() }),
        ...(filter.trim() && { filter: filter.trim() }),
        ...(rerank && { rerank, by: by.trim() }),
      });
      if (canSearch) void found.refetch();
    },
  });
  const { text, filter, rerank, by } = form.draft;
  return (
    <div className="relative min-h-0 flex-1 overflow-y-auto px-4 py-4 rail:px-5">
      <Form form={{ ...form, isUnsaved: false }} className="flex max-w-200 flex-col gap-3">
        <div className="flex flex-wrap items-end gap-2">
          <div className="min-w-60 flex-1">
            <Field label="Query" autoComplete="off" {...form.text("text")} />
          </div>
          {needsScope && (
            <div className="w-40">
              <Field label={store.scope === "user" ? "User" : "Session"} autoComplete="off" {...form.text("of")} />
            </div>
          )}
          <Button type="submit" kind="primary">
            <Search aria-hidden className="size-4" strokeWidth={1.5} />
            Search
          </Button>
        </div>
        <div className="flex flex-wrap items-end gap-2">
          <div className="w-80">
            <SegmentedControl name="search mode" label="Search mode" choices={modes} {...form.choose("mode")} />
          </div>
          <RerankFields
            type={rerank || null}
            model={by}
            error={form.fieldErrors.by}
            onType={(type) => form.set({ rerank: type ?? "" })}
            onModel={(by) => form.set({ by })}
          />
        </div>
        <details open={filter !== "" || undefined}>
          <summary className="w-fit font-medium text-muted hover:text-ink">Filter by metadata</summary>
          <div className="pt-2">
            <JsonField
              label="Filter"
              optional
              placeholder='{"year": {"$gte": 2024}}'
              hint="$eq $ne $in $gt $gte $lt $lte $and $or"
              {...form.json("filter")}
            />
          </div>
        </details>
        <FoldedCode
          name="search"
          request={{
            method: "POST",
            path: `/v1/memory/${store.id}/search`,
            body: canSearch ? searchRequest : { query: text },
          }}
        />
      </Form>
      <div className="mt-4 max-w-200">
        <ErrorNote title="The search failed" error={found.error} onRetry={() => void found.refetch()} />
        {canSearch && !found.error && found.isPending && <p className="text-muted">Searching</p>}
        {canSearch && !found.error && found.data && (
          <>
            <DegradedNotice title="Keyword search only" error={found.data.degraded_error} />
            <DegradedNotice title="Not reranked" error={found.data.rerank_error} />
            <SearchResults matches={found.data.data} query={searchRequest.query} />
          </>
        )}
      </div>
    </div>
  );
}

/** A notice that a part of the search failed, and the results are degraded. */
function DegradedNotice({ title, error }: { title: string; error?: { message: string } | null }) {
  return (
    error && (
      <p role="status" className="pb-2 text-warn">
        {title}: {error.message}
      </p>
    )
  );
}

function SearchResults({ matches, query }: { matches: readonly Match[]; query: string }) {
  if (matches.length === 0)
    return (
      <EmptyState icon={SearchX} title="No results">
        <p className="max-w-[46ch] text-muted">
          No passage matches the query and the filter. Keyword search also finds other languages.
        </p>
      </EmptyState>
    );
  return (
    <section aria-label="Passages found">
      <p role="status" className="pb-1 text-xs text-muted">
        {plural(matches.length, "passage")}, best first
      </p>
      <ol className="flex flex-col">
        {matches.map((match, i) => (
          <Passage key={`${match.id} ${match.chunk_index}`} match={match} query={query} rank={i + 1} />
        ))}
      </ol>
    </section>
  );
}

function Passage({ match, query, rank }: { match: Match; query: string; rank: number }) {
  const { score, score_parts, metadata } = match;
  return (
    <li className="flex gap-3 border-t border-line-soft py-3">
      <span className="w-5 shrink-0 text-right text-xs leading-(--leading-sm) text-faint tabular-nums">{rank}</span>
      <div className="min-w-0 flex-1">
        <div className="flex flex-wrap items-baseline gap-x-3 gap-y-1">
          <span className="font-medium wrap-anywhere">
            {match.file_id && match.filename ? (
              <Link
                to="/files/$fileId"
                params={{ fileId: match.file_id }}
                search={{ chunk: match.chunk_index }}
                className="hover:underline"
              >
                {sourceWords(match)}
              </Link>
            ) : (
              sourceWords(match)
            )}
          </span>
          <span className="ml-auto text-xs whitespace-nowrap text-muted tabular-nums">
            <b className="text-ink">{score.toFixed(3)}</b>
            {" · semantic "}
            {formatScore(score_parts.vector)}
            {" · keyword "}
            {formatScore(score_parts.keyword)}
          </span>
        </div>
        <p className="mt-1 max-h-60 overflow-y-auto text-md whitespace-pre-wrap wrap-anywhere">
          {markWords(match.text, query).map(({ text, isMatch }, index) =>
            // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text never change their order.
            isMatch ? <mark key={index}>{text}</mark> : <Fragment key={index}>{text}</Fragment>,
          )}
        </p>
        {Object.keys(metadata).length > 0 && (
          <p className="mt-1.5 flex flex-wrap gap-1">
            {Object.entries(metadata).map(([key, value]) => (
              <Badge key={key}>
                {key}: {String(value)}
              </Badge>
            ))}
          </p>
        )}
      </div>
    </li>
  );
}

const formatScore = (value: number | null | undefined): string => (value == null ? "–" : value.toFixed(3));
