import { ListFilter, type LucideIcon } from "lucide-react";
import type { ReactNode } from "react";
import { capital, pluralNoun } from "../../lib/format.ts";
import type { WholeList } from "../../lib/get-all.ts";
import type { NamedSearch } from "../../lib/page-search.ts";
import { ListBody, type ListRead } from "../../ui/data/list-body.tsx";
import { Pagination } from "../../ui/data/pagination.tsx";
import type { Column } from "../../ui/data/table.tsx";
import { SheetBar } from "../../ui/dialogs/sheet.tsx";
import { EmptyState } from "../../ui/feedback/empty-state.tsx";
import { NoResults } from "../../ui/feedback/no-results.tsx";
import { Button } from "../../ui/forms/button.tsx";
import { SearchField } from "../../ui/forms/search-field.tsx";
import { usePermission } from "../session/use-may.ts";
import { CreateAct, type Creation, ListHead } from "./list-head.tsx";

interface Listing<Item, Search> {
  /** Singular name: “store”. */
  noun: string;
  /** Accessible name: “Memory stores”. */
  label: string;
  list: ListRead<WholeList<Item>>;
  columns: readonly Column[];
  row: (item: Item) => ReactNode;
  search: Search;
  onSearch: (search: Search) => void;
  /** Content above the rows. */
  notes?: ReactNode;
  create?: Creation;
  /** Empty state: the purpose of the objects. */
  empty: { icon: LucideIcon; title: string; about: ReactNode };
  /** Field that the search matches: “name”. Without it there is no search. */
  searchBy?: string;
  /** Active search as the end of a sentence: `with user “ada”`. */
  searchWords?: string;
  /** Filters that stay when the others are cleared. */
  keeps?: Partial<Search>;
}

/** List of one resource type: head, filters, rows and pagination. */
export function ListPage<Item extends { id: string }, Search extends NamedSearch>({
  title,
  searchBy,
  filters: chips,
  acts,
  above,
  ...listing
}: Omit<Listing<Item, Search>, "label"> & {
  title: string;
  label?: string;
  filters?: ReactNode;
  /** Buttons in the head beside the create button. */
  acts?: ReactNode;
  /** Content below the filters. */
  above?: ReactNode;
}) {
  const { after, before, q, ...filters } = listing.search;
  return (
    <>
      <ListHead title={title} create={listing.create}>
        {acts}
      </ListHead>
      {(searchBy || chips) && (
        <SheetBar>
          {searchBy && (
            <SearchField
              label={`Search ${pluralNoun(listing.noun)} by ${searchBy}`}
              placeholder={capital(searchBy)}
              value={q ?? ""}
              onSearch={(text) => listing.onSearch({ ...filters, q: text || undefined } as Search)}
            />
          )}
          {chips}
        </SheetBar>
      )}
      {above}
      <ListRows label={title} searchWords={q && `with “${q}” in its ${searchBy}`} {...listing} />
    </>
  );
}

/** Rows of a list, its empty state and its pagination. */
export function ListRows<Item extends { id: string }, Search extends NamedSearch>({
  noun,
  label,
  list,
  columns,
  row,
  search,
  onSearch,
  notes,
  create,
  empty,
  searchWords: sought,
  keeps,
}: Listing<Item, Search>) {
  const may = usePermission("member");
  const { after, before, ...filters } = search;
  const show = (next: object) => onSearch({ ...keeps, ...next } as Search);
  const set = Object.entries(filters).filter(([name, value]) => value && !(keeps && name in keeps));
  const isOnlySought = set.every(([name]) => name === "q");
  const none =
    set.length > 0 && isOnlySought ? (
      <NoResults onClear={() => show({})}>{`No ${noun} ${sought}.`}</NoResults>
    ) : set.length > 0 ? (
      <EmptyState icon={ListFilter} title={`No ${noun} matches these filters`}>
        {sought && <p className="max-w-[60ch] text-muted wrap-anywhere">{`No ${noun} ${sought}.`}</p>}
        <Button onClick={() => show({})}>Clear filters</Button>
      </EmptyState>
    ) : after || before ? (
      // The first page may have rows.
      <EmptyState icon={empty.icon} title={`No ${pluralNoun(noun)} on this page`}>
        <p className="max-w-[60ch] text-muted">The items on this page were deleted, or the address is out of date.</p>
        <Button onClick={() => show({})}>Show the newest</Button>
      </EmptyState>
    ) : (
      <EmptyState icon={empty.icon} title={empty.title}>
        <p className="max-w-[52ch] text-muted">{empty.about}</p>
        {may && create && <CreateAct create={create}>{create.first ?? create.act}</CreateAct>}
      </EmptyState>
    );
  return (
    <>
      <ListBody
        label={label}
        list={list}
        columns={columns}
        row={row}
        none={none}
        notes={
          <>
            {notes}
            {list.data?.is_cut && (
              <p className="px-4 py-2 text-xs text-muted rail:px-5">Searched the newest 1,000 {pluralNoun(noun)}.</p>
            )}
          </>
        }
      />
      <Pagination noun={noun} page={list.data} search={search} onPage={(place) => show({ ...filters, ...place })} />
    </>
  );
}
