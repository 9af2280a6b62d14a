import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Environment as Mode } from "../../../../server/core/scope.ts";
import type { Memory as Store } from "../../../../server/wire/memory.ts";
import { storeQuery } from "../../entities/memory/memory-api.ts";
import type { MemoryTab, StoreSearch } from "../../entities/memory/memory-search.ts";
import { ObjectPage } from "../../entities/resource/object-page.tsx";
import { useMay } from "../../entities/session/use-may.ts";
import { useTitle } from "../../lib/use-title.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Badge } from "../../ui/badge.tsx";
import { Breadcrumb } from "../../ui/breadcrumb.tsx";
import { buttonClass } from "../../ui/button.tsx";
import { CopyButton } from "../../ui/copy-button.tsx";
import { ModePill } from "../../ui/mode-pill.tsx";
import { SheetHead } from "../../ui/sheet.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { ViewOnly } from "../../ui/view-only.tsx";
import { EntriesTab } from "./entries-tab.tsx";
import { KeysTab } from "./keys-tab.tsx";
import { kindWords, scopeWords, sizeWords } from "./memory-words.ts";
import { SearchTab } from "./search-tab.tsx";
import { StoreSettings } from "./store-settings.tsx";

interface StorePageProps {
  id: string;
  search: StoreSearch;
  onSearch: (search: StoreSearch) => void;
  onLookIn: (mode: Mode) => void;
  onLeave: () => void;
}

const tabsOf = {
  vector: [
    { value: "entries", label: "Entries" },
    { value: "search", label: "Search" },
    { value: "settings", label: "Settings" },
  ],
  kv: [
    { value: "keys", label: "Keys" },
    { value: "settings", label: "Settings" },
  ],
} as const satisfies Record<Store["kind"], readonly { value: MemoryTab; label: string }[]>;

/** One memory store: what it holds, what is found in it, and how it is set. */
export function StorePage(props: StorePageProps) {
  const { id, onLookIn } = props;
  const at = useWorkspace();
  const store = useQuery(storeQuery(at, id));
  return (
    <ObjectPage
      object={store}
      noun="store"
      title="Memory store"
      id={id}
      path={`/memory/${encodeURIComponent(id)}`}
      list={
        <Link to="/memory" className={buttonClass()}>
          Go to memory
        </Link>
      }
      onLookIn={onLookIn}
    >
      {(store) => <FoundStore {...props} store={store} />}
    </ObjectPage>
  );
}

function FoundStore({ store, search, onSearch, onLeave }: StorePageProps & { store: Store }) {
  const may = useMay("member");
  const tabs = tabsOf[store.kind];
  const tab = tabs.find(({ value }) => value === search.tab)?.value ?? tabs[0].value;
  useTitle(store.name, "Memory");
  const parts = { store, search: { ...search, tab }, onSearch };
  return (
    <>
      <SheetHead>
        <Breadcrumb>
          <Link to="/memory">Memory</Link>
        </Breadcrumb>
        <h1 className="cut text-lg max-rail:grow max-rail:basis-2/5" title={store.name}>
          {store.name}
        </h1>
        <Badge>{kindWords[store.kind]}</Badge>
        <Badge>{scopeWords[store.scope]}</Badge>
        <ModePill />
        <span className="ml-auto flex items-center text-xs text-muted">
          {sizeWords(store)}
          <CopyButton text={store.id} what="store id" />
        </span>
        {!may && <ViewOnly />}
      </SheetHead>
      <Tabs
        label="Store"
        value={tab}
        tabs={tabs as readonly { value: MemoryTab; label: string }[]}
        onChange={(next) =>
          onSearch({ ...(next !== tabs[0].value && { tab: next }), ...(search.of && { of: search.of }) })
        }
      >
        {tab === "entries" && <EntriesTab {...parts} />}
        {tab === "search" && <SearchTab {...parts} />}
        {tab === "keys" && <KeysTab {...parts} />}
        {tab === "settings" && <StoreSettings key={store.id} store={store} onDeleted={onLeave} />}
      </Tabs>
    </>
  );
}
