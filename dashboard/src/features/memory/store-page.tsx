import { useQuery } from "@tanstack/react-query";
import type { Environment as Mode } from "../../../../server/core/scope.ts";
import type { Memory as Store } from "../../../../server/wire/memory.ts";
import { storeQuery } from "../../entities/memory/memory-api.ts";
import type { MemoryTab, StoreSearch } from "../../entities/memory/memory-search.ts";
import { kindWords, scopeWords } from "../../entities/memory/store-words.ts";
import { ObjectHead } from "../../entities/resource/object-head.tsx";
import { ObjectPage } from "../../entities/resource/object-page.tsx";
import { useWorkspace } from "../../lib/workspace.ts";
import { Badge } from "../../ui/badge.tsx";
import { Fact, IdFact } from "../../ui/facts.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { Time } from "../../ui/time.tsx";
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

/** One memory store: what it holds, what is found in it, and how it is set. */
export function StorePage({ onLookIn, ...rest }: StorePageProps) {
  const read = useQuery(storeQuery(useWorkspace(), rest.id));
  return (
    <ObjectPage object={read} noun="store" title="Memory store" list="/memory" id={rest.id} onLookIn={onLookIn}>
      {(store) => <FoundStore {...rest} store={store} />}
    </ObjectPage>
  );
}

function FoundStore({ store, search, onSearch, onLeave }: Omit<StorePageProps, "id" | "onLookIn"> & { store: Store }) {
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
        <IdFact noun="store" id={store.id} />
        <Fact name="Items">{sizeWords(store)}</Fact>
        <Fact name="Created">
          <Time at={store.created_at} />
        </Fact>
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
