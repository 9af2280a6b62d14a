import { ListFilter, type LucideIcon } from "lucide-react";
import type { ReactNode } from "react";
import { capital, several } from "../../lib/format.ts";
import type { WholeList } from "../../lib/get-all.ts";
import type { NamedSearch } from "../../lib/page-search.ts";
import { Button } from "../../ui/button.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { ListBody, type ListRead } from "../../ui/list-body.tsx";
import { NoResults } from "../../ui/no-results.tsx";
import { Paging } from "../../ui/paging.tsx";
import { SearchField } from "../../ui/search-field.tsx";
import { SheetBar } from "../../ui/sheet.tsx";
import type { Column } from "../../ui/table.tsx";
import { useMay } from "../session/use-may.ts";
import { CreateAct, type Creation, ListHead } from "./list-head.tsx";

interface Listing<Item, Search> {
  /** “store”. */
  noun: string;
  /** “Memory stores”. */
  label: string;
  list: ListRead<WholeList<Item>>;
  columns: readonly Column[];
  row: (item: Item) => ReactNode;
  search: Search;
  onSearch: (search: Search) => void;
  /** What stands above the rows. */
  notes?: ReactNode;
  create?: Creation;
  /** Where nothing is yet: what the thing is for. */
  empty: { icon: LucideIcon; title: string; about: ReactNode };
  /** What the search looks at: “name”. Without it there is none. */
  searchBy?: string;
  /** What is sought, as the end of a sentence: `with user “ada”`. */
  sought?: string;
  /** Filters that stay as they are when another one is cleared. */
  keeps?: Partial<Search>;
}

/** The list of one kind of thing: its head, its filters, its rows, and the way to older ones. */
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
  /** In the head, beside the act that makes one. */
  acts?: ReactNode;
  /** Below the filters. */
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
              label={`Search ${several(listing.noun)} by ${searchBy}`}
              placeholder={capital(searchBy)}
              value={q ?? ""}
              onSearch={(text) => listing.onSearch({ ...filters, q: text || undefined } as Search)}
            />
          )}
          {chips}
        </SheetBar>
      )}
      {above}
      <Listed label={title} sought={q && `with “${q}” in its ${searchBy}`} {...listing} />
    </>
  );
}

/** The rows of a list, its empty state, and the button that loads older rows. */
export function Listed<Item extends { id: string }, Search extends NamedSearch>({
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
  sought,
  keeps,
}: Listing<Item, Search>) {
  const may = useMay("member");
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
      // There may well be something on the first page.
      <EmptyState icon={empty.icon} title={`No ${several(noun)} on this page`}>
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
        {...{ label, list, columns, row, none }}
        notes={
          <>
            {notes}
            {list.data?.is_cut && (
              <p className="px-4 py-2 text-xs text-muted rail:px-5">Searched the newest 1,000 {several(noun)}.</p>
            )}
          </>
        }
      />
      <Paging noun={noun} page={list.data} search={search} onPage={(place) => show({ ...filters, ...place })} />
    </>
  );
}
