import { Link } from "@tanstack/react-router";
import { clsx } from "clsx";
import type { OpenApi } from "../../entities/server/openapi-api.ts";
import { Button } from "../../ui/forms/button.tsx";
import { SearchField } from "../../ui/forms/search-field.tsx";
import { listOperations } from "./list-operations.ts";
import { Method } from "./method.tsx";
import type { ReferenceSearch } from "./read-reference-search.ts";

interface OperationListProps {
  document: OpenApi;
  search: ReferenceSearch;
  onSearch: (search: ReferenceSearch) => void;
  className: string;
}

/** All operations by tag, with a search. */
export function OperationList({ document, search, onSearch, className }: OperationListProps) {
  const { q, op } = search;
  const groups = listOperations(document, q);
  return (
    <nav
      aria-label="Operations"
      className={clsx("min-h-0 w-full shrink-0 flex-col border-line wide:w-90 wide:border-r", className)}
    >
      <div className="border-b border-line px-4 py-2 rail:px-5">
        <SearchField
          label="Search operations"
          placeholder="Search"
          value={q ?? ""}
          onSearch={(text) => onSearch({ ...(op && { op }), ...(text && { q: text }) })}
        />
      </div>
      <div className="relative min-h-0 flex-1 overflow-y-auto py-2">
        {groups.length === 0 && (
          <div className="flex flex-col items-start gap-2 px-5 py-3 text-muted">
            No operation has “{q}”.
            <Button size="sm" onClick={() => onSearch(op ? { op } : {})}>
              Clear search
            </Button>
          </div>
        )}
        {groups.map(({ tag, operations }) => (
          <section key={tag} aria-label={tag} className="pb-3">
            <h2 className="px-5 pt-2 pb-1 text-2xs font-medium text-muted">{tag}</h2>
            <ul>
              {operations.map(({ operationId, method, path, summary }) => (
                <li key={operationId}>
                  <Link
                    to="/reference"
                    search={{ op: operationId, ...(q && { q }) }}
                    title={`${method} ${path}`}
                    aria-current={op === operationId ? "true" : undefined}
                    className="flex min-h-7.5 items-center gap-2.5 px-5 py-0.5 text-muted hover:bg-hover hover:text-ink aria-[current=true]:bg-accent-soft aria-[current=true]:font-strong aria-[current=true]:text-ink pointer-coarse:min-h-10"
                  >
                    <Method method={method} />
                    <span className="min-w-0">{summary}</span>
                  </Link>
                </li>
              ))}
            </ul>
          </section>
        ))}
      </div>
    </nav>
  );
}
