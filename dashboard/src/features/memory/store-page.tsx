import { useQuery } from "@tanstack/react-query";
import type { Memory as Store } from "../../../../server/domain/api-types/memory.ts";
import type { Environment as Mode } from "../../../../server/domain/scope.ts";
import { ObjectHead } from "../../entities/crud/object-head.tsx";
import { ObjectPage } from "../../entities/crud/object-page.tsx";
import { storeQuery } from "../../entities/memory/memory-api.ts";
import type { MemoryTab, StoreSearch } from "../../entities/memory/memory-search.ts";
import { kindWords, scopeWords } from "../../entities/memory/store-words.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Badge } from "../../ui/data/badge.tsx";
import { Description, IdDescription } from "../../ui/data/description-list.tsx";
import { Tabs } from "../../ui/data/tabs.tsx";
import { Time } from "../../ui/data/time.tsx";
import { EntriesTab } from "./entries-tab.tsx";
import { KeysTab } from "./keys-tab.tsx";
import { sizeWords } from "./memory-words.ts";
import { SearchTab } from "./search-tab.tsx";
import { StoreSettings } from "./store-settings.tsx";

interface StorePageProps {
  id: string;
  search: StoreSearch;
  onSearch: (search: StoreSearch) => void;
  onLookIn: (mode: Mode) => void;
  onLeave: () => void;
}

const tabsOf: Record<Store["kind"], readonly [Tab, ...Tab[]]> = {
  vector: [
    { value: "entries", label: "Entries" },
    { value: "search", label: "Search" },
    { value: "settings", label: "Settings" },
  ],
  kv: [
    { value: "keys", label: "Keys" },
    { value: "settings", label: "Settings" },
  ],
};
interface Tab {
  value: MemoryTab;
  label: string;
}

/** One memory store: its content, a search, and its settings. */
export function StorePage({ onLookIn, ...rest }: StorePageProps) {
  const read = useQuery(storeQuery(useWorkspace(), rest.id));
  return (
    <ObjectPage object={read} noun="store" title="Memory store" list="/memory" id={rest.id} onLookIn={onLookIn}>
      {(store) => <StoreContent {...rest} store={store} />}
    </ObjectPage>
  );
}

function StoreContent({
  store,
  search,
  onSearch,
  onLeave,
}: Omit<StorePageProps, "id" | "onLookIn"> & { store: Store }) {
  const tabs = tabsOf[store.kind];
  const tab = tabs.find(({ value }) => value === search.tab)?.value ?? tabs[0].value;
  const parts = { store, search: { ...search, tab }, onSearch };
  return (
    <>
      <ObjectHead
        list="/memory"
        name={store.name}
        pills={
          <>
            <Badge>{kindWords[store.kind]}</Badge>
            <Badge>{scopeWords[store.scope]}</Badge>
          </>
        }
      >
        <IdDescription noun="store" id={store.id} />
        <Description name="Items">{sizeWords(store)}</Description>
        <Description name="Created">
          <Time at={store.created_at} />
        </Description>
      </ObjectHead>
      <Tabs
        label="Store"
        value={tab}
        tabs={tabs}
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
