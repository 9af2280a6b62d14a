import { ListFilter, type LucideIcon } from "lucide-react";
import type { ReactNode } from "react";
import type { List } from "../../../../server/wire/schema.ts";
import { several } from "../../lib/format.ts";
import type { PageSearch } from "../../lib/page-search.ts";
import { Button } from "../../ui/button.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { ListBody, type ListRead } from "../../ui/list-body.tsx";
import { Paging } from "../../ui/paging.tsx";
import { SheetBar } from "../../ui/sheet.tsx";
import type { Column } from "../../ui/table.tsx";
import { useMay } from "../session/use-may.ts";
import { CreateAct, type Creation, ListHead } from "./list-head.tsx";

interface Listing<Item, Search> {
  /** “store”. */
  noun: string;
  /** “Memory stores”. */
  label: string;
  list: ListRead<List<Item>>;
  columns: readonly Column[];
  row: (item: Item) => ReactNode;
  search: Search;
  onSearch: (search: Search) => void;
  /** What stands above the rows. */
  notes?: ReactNode;
  create?: Creation;
  /** Where nothing is yet: what the thing is for. */
  empty: { icon: LucideIcon; title: string; about: ReactNode };
  /** “No agent has this in its name”. */
  noMatch?: string;
  /** What is sought, as the end of a sentence: `is named “desk” here`. */
  sought?: string;
  /** The word on what takes the filters away. */
  clear?: string;
  /** Filters that stay as they are when another one is cleared. */
  keeps?: Partial<Search>;
}

/** The list of one kind of thing: its head, its filters, its rows, and the way to older ones. */
export function ListPage<Item extends { id: string }, Search extends PageSearch>({
  title,
  filters,
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
  return (
    <>
      <ListHead title={title} create={listing.create}>
        {acts}
      </ListHead>
      {filters && <SheetBar>{filters}</SheetBar>}
      {above}
      <Listed label={title} {...listing} />
    </>
  );
}

/** The rows of a list, its empty state, and the button that loads older rows. */
export function Listed<Item extends { id: string }, Search extends PageSearch>({
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
  noMatch = `No ${noun} matches these filters`,
  sought,
  clear = "Clear filters",
  keeps,
}: Listing<Item, Search>) {
  const may = useMay("member");
  const { after, before, ...filters } = search;
  const show = (next: object) => onSearch({ ...keeps, ...next } as Search);
  const isFiltered = Object.entries(filters).some(([name, value]) => value && !(keeps && name in keeps));
  const none = isFiltered ? (
    <EmptyState icon={ListFilter} title={noMatch}>
      {sought && <p className="max-w-[60ch] text-muted wrap-anywhere">Nothing {sought}.</p>}
      <Button onClick={() => show({})}>{clear}</Button>
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
      <ListBody label={label} list={list} columns={columns} row={row} notes={notes} none={none} />
      <Paging noun={noun} page={list.data} search={search} onPage={(place) => show({ ...filters, ...place })} />
    </>
  );
}
