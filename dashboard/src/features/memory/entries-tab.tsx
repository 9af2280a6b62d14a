import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Check, FileText, LoaderCircle, Plus, X } from "lucide-react";
import { useState } from "react";
import type { MemoryEntry as Entry, Memory as Store } from "../../../../server/domain/api-types/memory.ts";
import { ListRows } from "../../entities/crud/list-page.tsx";
import { deleteEntry, entriesQuery, storeApi } from "../../entities/memory/memory-api.ts";
import type { StoreSearch } from "../../entities/memory/memory-search.ts";
import { usePermission } from "../../entities/session/use-may.ts";
import { useKeys } from "../../hooks/use-keys.ts";
import { formatCount } from "../../lib/format.ts";
import { markdownToText } from "../../lib/markdown-to-text.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Badge } from "../../ui/data/badge.tsx";
import { type Look, LookPill, labelsOf, Pill } from "../../ui/data/pill.tsx";
import { RelativeTime } from "../../ui/data/relative-time.tsx";
import { Cell, Row, RowActs, SecondLine } from "../../ui/data/table.tsx";
import { Time } from "../../ui/data/time.tsx";
import { DeleteDialog } from "../../ui/dialogs/delete-dialog.tsx";
import { SheetBar } from "../../ui/dialogs/sheet.tsx";
import { Progress } from "../../ui/feedback/progress.tsx";
import { Button } from "../../ui/forms/button.tsx";
import { Chip, choicesOf } from "../../ui/forms/chip.tsx";
import { AddEntry } from "./add-entry.tsx";
import { EditEntry } from "./edit-entry.tsx";
import { ScopeField } from "./scope-field.tsx";

const columns = [
  { label: "Text or file" },
  { label: "Status" },
  { label: "Chunks", right: true },
  { label: "Expires", folds: true },
  { label: "Added" },
  { label: "Actions", silent: true },
];

const looks: Record<Entry["status"], Look> = {
  processing: ["info", LoaderCircle, "Processing"],
  ready: ["ok", Check, "Ready"],
  failed: ["bad", X, "Failed"],
};
const statusChoices = choicesOf(labelsOf(looks));

export interface TabProps {
  store: Store;
  search: StoreSearch;
  onSearch: (search: StoreSearch) => void;
}

/** The entries of a vector store. */
export function EntriesTab({ store, search, onSearch }: TabProps) {
  const may = usePermission("member");
  const list = useQuery(entriesQuery(useWorkspace(), store.id, search));
  const [adding, setAdding] = useState(false);
  const [openDialog, setAsks] = useState<{ what: "edit" | "delete"; entry: Entry } | null>(null);
  useKeys({ c: () => setAdding(true) }, may);
  const { status, of, after, before } = search;
  return (
    <>
      <SheetBar wraps>
        <ScopeField store={store} of={of} onChoose={(next) => onSearch({ ...(status && { status }), of: next })} />
        <Chip
          name="Status"
          value={status}
          choices={statusChoices}
          onChange={(next) => onSearch({ ...(of && { of }), ...(next && { status: next }) })}
        />
        {may && (
          <Button className="ml-auto" onClick={() => setAdding(true)}>
            <Plus aria-hidden className="size-4" strokeWidth={1.5} />
            Add entry
          </Button>
        )}
      </SheetBar>
      <ListRows
        noun="entry"
        label="Entries"
        list={list}
        columns={columns}
        onSearch={onSearch}
        search={{ of, status, after, before }}
        row={(entry) => <EntryRow key={entry.id} entry={entry} onAsk={(what) => setAsks({ what, entry })} />}
        empty={{
          icon: FileText,
          title: "No entries yet",
          about:
            "Add a text or a file, or choose this store when you upload files. Agents with write access add their own entries.",
        }}
      />
      {adding && <AddEntry store={store} of={of} onClose={() => setAdding(false)} />}
      {openDialog?.what === "edit" && (
        <EditEntry store={store} entry={openDialog.entry} onClose={() => setAsks(null)} />
      )}
      {openDialog?.what === "delete" && (
        <DeleteEntry store={store} entry={openDialog.entry} onClose={() => setAsks(null)} />
      )}
    </>
  );
}

function EntryRow({ entry, onAsk }: { entry: Entry; onAsk: (what: "edit" | "delete") => void }) {
  const { text, filename, file_id, scope_id, error, chunks, expires_at } = entry;
  const name = text === null ? (filename ?? `Deleted file ${file_id}`) : markdownToText(text);
  const may = usePermission("member");
  return (
    <Row stops>
      <Cell main>
        <span className="cut block" title={text ?? filename ?? undefined}>
          {filename && file_id ? (
            <Link to="/files/$fileId" params={{ fileId: file_id }} className="hover:underline">
              {name}
            </Link>
          ) : (
            name
          )}
        </span>
        {error ? (
          <SecondLine tone={entry.status === "failed" ? "text-bad" : "text-warn"} title={error.message}>
            {error.message}
          </SecondLine>
        ) : (
          <span className="flex min-w-0 flex-wrap items-center gap-x-2 gap-y-1 text-xs text-muted">
            {file_id ? "File" : "Text"}
            {scope_id && ` of ${scope_id}`}
            {Object.entries(entry.metadata).map(([key, value]) =>
              key === "run_id" && text !== null ? (
                <Link
                  key={key}
                  to="/runs/$runId"
                  params={{ runId: String(value) }}
                  className="text-accent hover:underline"
                >
                  Learned from a run
                </Link>
              ) : (
                <Badge key={key}>
                  {key}: {String(value)}
                </Badge>
              ),
            )}
          </span>
        )}
      </Cell>
      <Cell>
        <EntryState entry={entry} name={name} />
      </Cell>
      <Cell right>
        {formatCount(chunks)}
        <span className="rail:hidden"> {chunks === 1 ? "chunk" : "chunks"}</span>
      </Cell>
      <Cell folds className="whitespace-nowrap">
        {expires_at ? <RelativeTime at={expires_at} /> : <span className="max-rail:hidden">Never</span>}
      </Cell>
      <Cell className="whitespace-nowrap rail:text-muted">
        <Time at={entry.created_at} />
      </Cell>
      <Cell right className="max-rail:ml-auto">
        {may && (
          <RowActs>
            <Button kind="ghost" size="sm" aria-label={`Edit ${name.slice(0, 40)}`} onClick={() => onAsk("edit")}>
              Edit
            </Button>
            <Button kind="ghost" size="sm" aria-label={`Delete ${name.slice(0, 40)}`} onClick={() => onAsk("delete")}>
              Delete
            </Button>
          </RowActs>
        )}
      </Cell>
    </Row>
  );
}

function EntryState({ entry: { status, processed, total }, name }: { entry: Entry; name: string }) {
  if (status !== "processing") return <LookPill look={looks[status]} />;
  return (
    <span className="inline-flex flex-col gap-1">
      <Pill tone="info" icon={LoaderCircle} spin>
        {total ? `${formatCount(processed)} of ${formatCount(total)}` : "Processing"}
      </Pill>
      <Progress label={`Progress of ${name.slice(0, 40)}`} share={total ? processed / total : null} />
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
      Searches of {store.name} no longer find it.
      {entry.file_id && " The file itself stays."}
    </DeleteDialog>
  );
}
