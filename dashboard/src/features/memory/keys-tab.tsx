import { useQuery } from "@tanstack/react-query";
import { KeyRound, Plus, UserRound } from "lucide-react";
import { useState } from "react";
import type { MemoryKey as KeyValue, Memory as Store } from "../../../../server/domain/api-types/memory.ts";
import { ListRows } from "../../entities/crud/list-page.tsx";
import { deleteKey, keysQuery, storeApi } from "../../entities/memory/memory-api.ts";
import { usePermission } from "../../entities/session/use-may.ts";
import { useKeys } from "../../hooks/use-keys.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { RelativeTime } from "../../ui/data/relative-time.tsx";
import { Cell, Row, RowActs, rowLink, SecondLine } from "../../ui/data/table.tsx";
import { Time } from "../../ui/data/time.tsx";
import { DeleteDialog } from "../../ui/dialogs/delete-dialog.tsx";
import { SheetBar } from "../../ui/dialogs/sheet.tsx";
import { EmptyState } from "../../ui/feedback/empty-state.tsx";
import { Button } from "../../ui/forms/button.tsx";
import { SearchField } from "../../ui/forms/search-field.tsx";
import type { TabProps } from "./entries-tab.tsx";
import { KeyDialog } from "./key-dialog.tsx";
import { ScopeField } from "./scope-field.tsx";

const columns = [
  { label: "Key and value" },
  { label: "Version", right: true },
  { label: "Expires", folds: true },
  { label: "Updated" },
  { label: "Actions", silent: true },
];

/** The keys and values of a key-value store. */
export function KeysTab({ store, search, onSearch }: TabProps) {
  const may = usePermission("member");
  const { of, q = "", after, before } = search;
  const isReady = store.scope === "project" || Boolean(of);
  const list = useQuery({ ...keysQuery(useWorkspace(), store.id, search), enabled: isReady });
  const [editing, setEditing] = useState<KeyValue | "new" | null>(null);
  const [deleting, setDeleting] = useState<KeyValue | null>(null);
  useKeys({ c: () => setEditing("new") }, may && isReady);
  const scopeFilter = of ? { of } : {};
  return (
    <>
      <SheetBar wraps>
        <ScopeField store={store} of={of} onChoose={(next) => onSearch({ of: next })} />
        {isReady && (
          <SearchField
            label="Search keys by prefix"
            placeholder="Key prefix"
            value={q}
            onSearch={(text) => onSearch({ ...scopeFilter, ...(text && { q: text }) })}
          />
        )}
        {may && isReady && (
          <Button className="ml-auto" onClick={() => setEditing("new")}>
            <Plus aria-hidden className="size-4" strokeWidth={1.5} />
            Set key
          </Button>
        )}
      </SheetBar>
      <ListRows
        noun="key"
        label="Keys"
        list={list}
        columns={columns}
        onSearch={onSearch}
        search={{ of, q, after, before }}
        searchWords={`begins with “${q}”`}
        keeps={scopeFilter}
        row={(each) => (
          <KeyRow key={each.key} value={each} onEdit={() => setEditing(each)} onDelete={() => setDeleting(each)} />
        )}
        notes={
          !isReady && (
            <EmptyState icon={UserRound} title={store.scope === "user" ? "Enter a user id" : "Enter a session id"}>
              <p className="max-w-[46ch] text-muted">
                Keys are kept per {store.scope}. Enter a {store.scope} id above to see its keys.
              </p>
            </EmptyState>
          )
        }
        empty={{
          icon: KeyRound,
          title: "No keys here yet",
          about: "Agents and applications store values here and read them by key.",
        }}
      />
      {editing && (
        <KeyDialog store={store} of={of} value={editing === "new" ? null : editing} onClose={() => setEditing(null)} />
      )}
      {deleting && <DeleteKey store={store} of={of} value={deleting} onClose={() => setDeleting(null)} />}
    </>
  );
}

function KeyRow({
  value: { key, value, version, expires_at, updated_at },
  onEdit,
  onDelete,
}: {
  value: KeyValue;
  onEdit: () => void;
  onDelete: () => void;
}) {
  const may = usePermission("member");
  return (
    <Row>
      <Cell main>
        <button
          type="button"
          data-row
          title={key}
          onClick={onEdit}
          className={`${rowLink} w-full text-left font-medium`}
        >
          {key}
        </button>
        <SecondLine>
          <code>{JSON.stringify(value)}</code>
        </SecondLine>
      </Cell>
      <Cell right>v{version}</Cell>
      <Cell folds className="whitespace-nowrap">
        {expires_at ? <RelativeTime at={expires_at} /> : <span className="max-rail:hidden">Never</span>}
      </Cell>
      <Cell className="whitespace-nowrap rail:text-muted">
        <Time at={updated_at} />
      </Cell>
      <Cell right className="max-rail:ml-auto">
        {may && (
          <RowActs>
            <Button kind="ghost" size="sm" aria-label={`Delete ${key}`} onClick={onDelete}>
              Delete
            </Button>
          </RowActs>
        )}
      </Cell>
    </Row>
  );
}

function DeleteKey({ store, of, value, onClose }: { store: Store; of?: string; value: KeyValue; onClose: () => void }) {
  const at = useWorkspace();
  return (
    <DeleteDialog
      noun="key"
      name={value.key}
      remove={() => deleteKey(at, { store: store.id, key: value.key, of }, value.version)}
      stale={[storeApi.all(at)]}
      onClose={onClose}
    >
      Deletes version {value.version}. If the key has a newer version by then, nothing is deleted.
    </DeleteDialog>
  );
}
