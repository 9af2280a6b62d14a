import { useQuery } from "@tanstack/react-query";
import { BookOpen, Download } from "lucide-react";
import { openApiQuery, openApiUrl } from "../../entities/server/openapi-api.ts";
import { useTitle } from "../../hooks/use-title.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { ModePill } from "../../ui/data/mode-pill.tsx";
import { TableSkeleton } from "../../ui/data/table.tsx";
import { SheetHead } from "../../ui/dialogs/sheet.tsx";
import { EmptyState } from "../../ui/feedback/empty-state.tsx";
import { ErrorNote } from "../../ui/feedback/error-note.tsx";
import { Button, buttonClass } from "../../ui/forms/button.tsx";
import { listOperations } from "./list-operations.ts";
import { OperationDetail } from "./operation-detail.tsx";
import { OperationList } from "./operation-list.tsx";
import type { ReferenceSearch } from "./read-reference-search.ts";

interface ReferencePageProps {
  search: ReferenceSearch;
  onSearch: (search: ReferenceSearch) => void;
}

/** The API reference of this server: every operation, its fields, and a request that can be sent here. */
export function ReferencePage({ search, onSearch }: ReferencePageProps) {
  const { mode } = useWorkspace();
  const { data: document, error, refetch } = useQuery(openApiQuery);
  const all = document ? listOperations(document).flatMap(({ operations }) => operations) : [];
  const chosen = all.find(({ operationId }) => operationId === search.op);
  useTitle(...(chosen ? [chosen.summary] : []), "API reference");
  return (
    <>
      <SheetHead>
        <h1 className="text-lg">API reference</h1>
        <ModePill />
        <span className="cut hidden text-xs text-muted rail:block">
          <code>{location.origin}/v1</code> with a key that begins with <code>sk_{mode}_</code>
        </span>
        <a
          href={openApiUrl}
          download="runnel-openapi.json"
          className={`${buttonClass({ size: "sm" })} ml-auto`}
          title="The same as GET /v1/openapi.json"
        >
          <Download aria-hidden className="size-3.5" strokeWidth={1.5} />
          OpenAPI
        </a>
      </SheetHead>
      {error && (
        <div className="px-4 py-4 rail:px-5">
          <ErrorNote title="The reference cannot be shown" error={error} onRetry={() => void refetch()} />
        </div>
      )}
      {!document && !error && <TableSkeleton />}
      {document && (
        <div className="flex min-h-0 flex-1">
          <OperationList
            document={document}
            search={search}
            onSearch={onSearch}
            className={chosen ? "hidden wide:flex" : "flex"}
          />
          {chosen ? (
            <OperationDetail
              key={chosen.operationId}
              operation={chosen}
              document={document}
              onBack={() => onSearch({ q: search.q })}
            />
          ) : (
            <div className="hidden min-w-0 flex-1 wide:block">
              <EmptyState icon={BookOpen} title={search.op ? "No such operation" : "Choose an operation"}>
                <p className="max-w-[68ch] text-muted">
                  Shows parameters, responses and the request as code for this server. Set your key in{" "}
                  <code>RUNNEL_API_KEY</code>.
                </p>
                <Button onClick={() => onSearch({ op: "runs.create" })}>Start a run</Button>
              </EmptyState>
            </div>
          )}
        </div>
      )}
    </>
  );
}
