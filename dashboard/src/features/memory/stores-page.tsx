import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { BrainCircuit, Check, LoaderCircle, TriangleAlert } from "lucide-react";
import { useState } from "react";
import type { Memory as Store } from "../../../../server/domain/api-types/memory.ts";
import { ListPage } from "../../entities/crud/list-page.tsx";
import { storesQuery } from "../../entities/memory/memory-api.ts";
import type { StoresSearch } from "../../entities/memory/memory-search.ts";
import { kindWords, scopeWords } from "../../entities/memory/store-words.ts";
import { formatCount } from "../../lib/format.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Badge } from "../../ui/data/badge.tsx";
import { Pill } from "../../ui/data/pill.tsx";
import { Cell, Row, rowLink, SecondLine } from "../../ui/data/table.tsx";
import { Time } from "../../ui/data/time.tsx";
import { Progress } from "../../ui/feedback/progress.tsx";
import { Chip, choicesOf } from "../../ui/forms/chip.tsx";
import { CreateStore } from "./create-store.tsx";
import { embeddingWords, sizeWords } from "./memory-words.ts";

const columns = [
  { label: "Name" },
  { label: "Kind" },
  { label: "Scope" },
  { label: "Items", right: true },
  { label: "State" },
  { label: "Created" },
];

interface StoresPageProps {
  search: StoresSearch;
  onSearch: (search: StoresSearch) => void;
  onOpen: (id: string) => void;
}

/** All memory stores of a project and mode. */
export function StoresPage({ search, onSearch, onOpen }: StoresPageProps) {
  const list = useQuery(storesQuery(useWorkspace(), search));
  const [creating, setCreating] = useState(false);
  return (
    <>
      <ListPage
        title="Memory"
        label="Memory stores"
        noun="store"
        list={list}
        columns={columns}
        search={search}
        onSearch={onSearch}
        row={(store) => <StoreRow key={store.id} store={store} />}
        searchBy="name"
        filters={
          <Chip
            name="Kind"
            value={search.kind}
            choices={choicesOf(kindWords)}
            onChange={(kind) => onSearch({ q: search.q, kind })}
          />
        }
        create={{ act: "Create store", first: "Create the first store", onCreate: () => setCreating(true) }}
        empty={{
          icon: BrainCircuit,
          title: "No memory stores yet",
          about:
            "A store keeps what agents need to find again: passages of texts and files, by meaning and words, or values by key.",
        }}
      />
      {creating && <CreateStore onClose={() => setCreating(false)} onCreated={onOpen} />}
    </>
  );
}

function StoreRow({ store }: { store: Store }) {
  const { id, name, kind, scope, created_at } = store;
  return (
    <Row>
      <Cell main>
        <Link to="/memory/$memoryId" params={{ memoryId: id }} data-row title={name} className={rowLink}>
          {name}
        </Link>
        <SecondLine>{kind === "vector" ? embeddingWords(store) : id}</SecondLine>
      </Cell>
      <Cell>
        <Badge>{kindWords[kind]}</Badge>
      </Cell>
      <Cell className="whitespace-nowrap">{scopeWords[scope]}</Cell>
      <Cell right>{sizeWords(store)}</Cell>
      <Cell className="whitespace-nowrap">
        <IndexingState store={store} />
      </Cell>
      <Cell className="whitespace-nowrap rail:text-muted">
        <Time at={created_at} />
      </Cell>
    </Row>
  );
}

/** Shows that a store is ready, or the progress of its reindexing. */
function IndexingState({ store: { indexing, name } }: { store: Pick<Store, "indexing" | "name"> }) {
  if (!indexing)
    return (
      <Pill tone="ok" icon={Check}>
        Ready
      </Pill>
    );
  const { processed, total, error, model } = indexing;
  const words = `${formatCount(processed)} of ${formatCount(total)}`;
  return (
    <span className="inline-flex flex-col gap-1" title={error?.message ?? `Reindexing with ${model}`}>
      <Pill tone={error ? "warn" : "info"} icon={error ? TriangleAlert : LoaderCircle} spin={!error}>
        {error ? `Stopped at ${words}` : `Indexing ${words}`}
      </Pill>
      <Progress label={`Indexing of ${name}`} share={total ? processed / total : null} />
    </span>
  );
}
