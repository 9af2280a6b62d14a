import { useQuery } from "@tanstack/react-query";
import { Check, FileText, ListFilter, LoaderCircle, Plus, X } from "lucide-react";
import { useRef, useState } from "react";
import type { MemoryEntry as Entry, Memory as Store } from "../../../../server/wire/memory.ts";
import { entryStatuses } from "../../../../server/wire/names.ts";
import { deleteEntry, entriesQuery, storeApi } from "../../entities/memory/memory-api.ts";
import type { StoreSearch } from "../../entities/memory/memory-search.ts";
import { useMay } from "../../entities/session/use-may.ts";
import { formatCount } from "../../lib/format.ts";
import { useKeys } from "../../lib/use-keys.ts";
import { useRowKeys } from "../../lib/use-row-keys.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Chip } from "../../ui/chip.tsx";
import { DeleteDialog } from "../../ui/delete-dialog.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Paging } from "../../ui/paging.tsx";
import { Pill } from "../../ui/pill.tsx";
import { Progress } from "../../ui/progress.tsx";
import { SheetBar } from "../../ui/sheet.tsx";
import { Cell, Row, RowActs, SecondLine, Table, TableSkeleton } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import { Until } from "../../ui/until.tsx";
import { AddEntry } from "./add-entry.tsx";
import { ScopeField } from "./scope-field.tsx";

const columns = [
  { label: "Text or file" },
  { label: "Status" },
  { label: "Chunks", right: true },
  { label: "Expires", folds: true },
  { label: "Added" },
  { label: "Acts", silent: true },
];

const statusWords = { processing: "Processing", ready: "Ready", failed: "Failed" };

export interface TabProps {
  store: Store;
  search: StoreSearch;
  onSearch: (search: StoreSearch) => void;
}

/** What a store of passages holds. */
export function EntriesTab({ store, search, onSearch }: TabProps) {
  const at = useWorkspace();
  const may = useMay("member");
  const page = useQuery(entriesQuery(at, store.id, search));
  const [adding, setAdding] = useState(false);
  const [deleting, setDeleting] = useState<Entry | null>(null);
  const body = useRef<HTMLDivElement>(null);
  useRowKeys(body);
  useKeys({ c: () => setAdding(true) }, may);
  const { status, of } = search;
  const kept = { ...(of && { of }), ...(status && { status }) };
  const entries = page.data?.data;
  const isFiltered = Boolean(of || status || search.after || search.before);
  return (
    <>
      <SheetBar>
        <ScopeField store={store} of={of} onChoose={(next) => onSearch({ ...(status && { status }), of: next })} />
        <Chip
          name="Status"
          value={status}
          choices={entryStatuses.map((value) => ({ value, label: statusWords[value], word: statusWords[value] }))}
          onChange={(next) => onSearch({ ...(of && { of }), ...(next && { status: next }) })}
        />
        {may && (
          <Button className="ml-auto" onClick={() => setAdding(true)}>
            <Plus aria-hidden className="size-4" strokeWidth={1.5} />
            Add entry
          </Button>
        )}
      </SheetBar>
      <div ref={body} className="relative min-h-0 flex-1 overflow-y-auto">
        {page.error && (
          <div className="px-4 pt-3 rail:px-5">
            <ErrorNote title="The entries cannot be shown" error={page.error} onRetry={() => void page.refetch()} />
          </div>
        )}
        {page.isPending && <TableSkeleton />}
        {entries && entries.length > 0 && (
          <Table label="Entries" columns={columns}>
            {entries.map((entry) => (
              <EntryRow key={entry.id} entry={entry} may={may} onDelete={() => setDeleting(entry)} />
            ))}
          </Table>
        )}
        {entries?.length === 0 && isFiltered && (
          <EmptyState icon={ListFilter} title="No entry matches these filters">
            <Button onClick={() => onSearch({})}>Clear filters</Button>
          </EmptyState>
        )}
        {entries?.length === 0 && !isFiltered && (
          <EmptyState icon={FileText} title="Nothing is in this store yet">
            <p className="max-w-[46ch] text-muted">
              Add a text or a file, or give the store its files with the upload. Agents with leave to write add their
              own.
            </p>
          </EmptyState>
        )}
      </div>
      <Paging noun="entry" page={page.data} search={search} onPage={(next) => onSearch({ ...kept, ...next })} />
      {adding && <AddEntry store={store} of={of} onClose={() => setAdding(false)} />}
      {deleting && <DeleteEntry store={store} entry={deleting} onClose={() => setDeleting(null)} />}
    </>
  );
}

function EntryRow({ entry, may, onDelete }: { entry: Entry; may: boolean; onDelete: () => void }) {
  const name = nameOf(entry);
  const metadata = Object.entries(entry.metadata);
  return (
    <Row stops>
      <Cell main>
        <span className="cut block" title={entry.text ?? entry.filename ?? undefined}>
          {name}
        </span>
        {entry.error ? (
          <SecondLine tone={entry.status === "failed" ? "text-bad" : "text-warn"} title={entry.error.message}>
            {entry.error.message}
          </SecondLine>
        ) : (
          <span className="flex min-w-0 flex-wrap items-center gap-1 text-xs text-muted">
            {entry.file_id ? "File" : "Text"}
            {entry.scope_id && ` of ${entry.scope_id}`}
            {metadata.map(([key, value]) => (
              <Badge key={key}>
                {key}: {String(value)}
              </Badge>
            ))}
          </span>
        )}
      </Cell>
      <Cell>
        <EntryState entry={entry} name={name} />
      </Cell>
      <Cell right>
        {formatCount(entry.chunks)}
        <span className="rail:hidden"> {entry.chunks === 1 ? "chunk" : "chunks"}</span>
      </Cell>
      <Cell folds className="whitespace-nowrap">
        {entry.expires_at ? <Until at={entry.expires_at} /> : <span className="max-rail:hidden">Never</span>}
      </Cell>
      <Cell className="whitespace-nowrap rail:text-muted">
        <Time at={entry.created_at} />
      </Cell>
      <Cell right className="max-rail:ml-auto">
        {may && (
          <RowActs>
            <Button kind="ghost" size="sm" aria-label={`Delete ${name.slice(0, 40)}`} onClick={onDelete}>
              Delete
            </Button>
          </RowActs>
        )}
      </Cell>
    </Row>
  );
}

const nameOf = ({ text, filename, file_id }: Entry): string => text ?? filename ?? `Deleted file ${file_id}`;

function EntryState({ entry, name }: { entry: Entry; name: string }) {
  if (entry.status === "ready")
    return (
      <Pill tone="ok" icon={Check}>
        Ready
      </Pill>
    );
  if (entry.status === "failed")
    return (
      <Pill tone="bad" icon={X}>
        Failed
      </Pill>
    );
  return (
    <span className="inline-flex flex-col gap-1">
      <Pill tone="info" icon={LoaderCircle} spin>
        {entry.total ? `${formatCount(entry.processed)} of ${formatCount(entry.total)}` : "Processing"}
      </Pill>
      <Progress label={`Progress of ${name.slice(0, 40)}`} share={entry.total ? entry.processed / entry.total : null} />
    </span>
  );
}

function DeleteEntry({ store, entry, onClose }: { store: Store; entry: Entry; onClose: () => void }) {
  const at = useWorkspace();
  return (
    <DeleteDialog
      noun="entry"
      name={entry.filename ?? "this text"}
      told=""
      remove={() => deleteEntry(at, store.id, entry.id)}
      stale={[storeApi.all(at)]}
      onClose={onClose}
    >
      <p>
        From now on no search of {store.name} finds it.
        {entry.file_id && " The file itself stays."}
      </p>
    </DeleteDialog>
  );
}
