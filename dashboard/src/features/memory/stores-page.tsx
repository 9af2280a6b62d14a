import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { BrainCircuit, ListFilter, Plus } from "lucide-react";
import { useRef, useState } from "react";
import type { Memory as Store } from "../../../../server/wire/memory.ts";
import { storesQuery } from "../../entities/memory/memory-api.ts";
import { memoryKinds, type StoresSearch } from "../../entities/memory/memory-search.ts";
import { useMay } from "../../entities/session/use-may.ts";
import { useKeys } from "../../lib/use-keys.ts";
import { useRowKeys } from "../../lib/use-row-keys.ts";
import { useTitle } from "../../lib/use-title.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Chip } from "../../ui/chip.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { ModePill } from "../../ui/mode-pill.tsx";
import { Paging } from "../../ui/paging.tsx";
import { SheetBar, SheetHead } from "../../ui/sheet.tsx";
import { Cell, Row, rowLink, SecondLine, Table, TableSkeleton } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import { ViewOnly } from "../../ui/view-only.tsx";
import { CreateStore } from "./create-store.tsx";
import { IndexingState } from "./indexing-state.tsx";
import { embeddingWords, kindWords, scopeWords, sizeWords } from "./memory-words.ts";

const columns = [
  { label: "Name" },
  { label: "Kind" },
  { label: "Belongs to" },
  { label: "Holds", right: true },
  { label: "State" },
  { label: "Created" },
];

/** All memory stores of a project and mode. */
export function StoresPage({
  search,
  onSearch,
  onOpen,
}: {
  search: StoresSearch;
  onSearch: (search: StoresSearch) => void;
  onOpen: (id: string) => void;
}) {
  const at = useWorkspace();
  const may = useMay("member");
  const body = useRef<HTMLDivElement>(null);
  const page = useQuery(storesQuery(at, search));
  const [creating, setCreating] = useState(false);
  useTitle("Memory", at.project.name);
  useRowKeys(body);
  useKeys({ c: () => setCreating(true) }, may);
  const stores = page.data?.data;
  const isFiltered = Boolean(search.kind || search.after || search.before);
  return (
    <>
      <SheetHead>
        <h1 className="text-lg">Memory</h1>
        <ModePill />
        <div className="ml-auto flex items-center gap-2">
          {may ? (
            <Button kind="primary" onClick={() => setCreating(true)}>
              <Plus aria-hidden className="size-4" strokeWidth={1.5} />
              Create store
            </Button>
          ) : (
            <ViewOnly />
          )}
        </div>
      </SheetHead>
      <SheetBar>
        <Chip
          name="Kind"
          value={search.kind}
          choices={memoryKinds.map((value) => ({ value, label: kindWords[value], word: kindWords[value] }))}
          onChange={(kind) => onSearch(kind ? { kind } : {})}
        />
      </SheetBar>
      {page.error && (
        <div className="px-4 pt-3 rail:px-5">
          <ErrorNote title="The stores cannot be shown" error={page.error} onRetry={() => void page.refetch()} />
        </div>
      )}
      <section ref={body} aria-label="Memory stores" className="relative min-h-0 flex-1 overflow-y-auto">
        {page.isPending && <TableSkeleton />}
        {stores && stores.length > 0 && (
          <Table label="Memory stores" columns={columns}>
            {stores.map((store) => (
              <StoreRow key={store.id} store={store} />
            ))}
          </Table>
        )}
        {stores?.length === 0 && isFiltered && (
          <EmptyState icon={ListFilter} title="No store matches this filter">
            <Button onClick={() => onSearch({})}>Clear filter</Button>
          </EmptyState>
        )}
        {stores?.length === 0 && !isFiltered && (
          <EmptyState icon={BrainCircuit} title="No memory stores yet">
            <p className="max-w-[46ch] text-muted">
              A store keeps what agents want to find again: passages of texts and files, found by what a question means,
              or values by their keys.
            </p>
            {may && (
              <Button kind="primary" onClick={() => setCreating(true)}>
                Create the first store
              </Button>
            )}
          </EmptyState>
        )}
      </section>
      <Paging
        noun="store"
        page={page.data}
        search={search}
        onPage={(next) => onSearch({ ...(search.kind && { kind: search.kind }), ...next })}
      />
      {creating && <CreateStore onClose={() => setCreating(false)} onCreated={onOpen} />}
    </>
  );
}

function StoreRow({ store }: { store: Store }) {
  return (
    <Row>
      <Cell main>
        <Link to="/memory/$memoryId" params={{ memoryId: store.id }} data-row title={store.name} className={rowLink}>
          {store.name}
        </Link>
        <SecondLine>{store.kind === "vector" ? embeddingWords(store) : store.id}</SecondLine>
      </Cell>
      <Cell>
        <Badge>{kindWords[store.kind]}</Badge>
      </Cell>
      <Cell className="whitespace-nowrap">{scopeWords[store.scope]}</Cell>
      <Cell right>{sizeWords(store)}</Cell>
      <Cell className="whitespace-nowrap">
        <IndexingState store={store} />
      </Cell>
      <Cell className="whitespace-nowrap rail:text-muted">
        <Time at={store.created_at} />
      </Cell>
    </Row>
  );
}
