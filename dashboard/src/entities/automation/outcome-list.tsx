import { Link } from "@tanstack/react-router";
import { History, ListFilter } from "lucide-react";
import type { ReactNode } from "react";
import type { List } from "../../../../server/domain/api-types/schema.ts";
import { ListBody, type ListRead } from "../../ui/data/list-body.tsx";
import { Pagination } from "../../ui/data/pagination.tsx";
import { Cell, type Column, Row, rowLink, SecondLine } from "../../ui/data/table.tsx";
import { Time } from "../../ui/data/time.tsx";
import { SheetBar } from "../../ui/dialogs/sheet.tsx";
import { EmptyState } from "../../ui/feedback/empty-state.tsx";
import { Button } from "../../ui/forms/button.tsx";
import { Chip, type ChipChoice } from "../../ui/forms/chip.tsx";
import type { OutcomeSearch } from "./outcome-search.ts";

/** Past times or events of an automation and their outcomes, which a chip filters. */
export function OutcomeList<Item extends { id: string }, Outcome extends string>({
  label,
  noun,
  list,
  columns,
  choices,
  row,
  search,
  onSearch,
  empty,
}: {
  /** Accessible name: “Past runs”. */
  label: string;
  /** Singular name of a row: “time”. */
  noun: string;
  list: ListRead<List<Item>>;
  columns: readonly Column[];
  choices: readonly ChipChoice<Outcome>[];
  row: (item: Item) => ReactNode;
  search: OutcomeSearch<Outcome>;
  onSearch: (search: OutcomeSearch<Outcome>) => void;
  empty: { title: string; about: string };
}) {
  const { outcome, after, before } = search;
  return (
    <div className="flex min-w-0 flex-1 flex-col wide:min-h-0">
      <SheetBar>
        <Chip name="Outcome" value={outcome} choices={choices} onChange={(next) => onSearch({ outcome: next })} />
      </SheetBar>
      <ListBody
        label={label}
        list={list}
        columns={columns}
        scroll="wide:overflow-y-auto"
        row={row}
        none={
          outcome || after || before ? (
            <EmptyState icon={ListFilter} title="No results">
              <Button onClick={() => onSearch({})}>Clear filter</Button>
            </EmptyState>
          ) : (
            <EmptyState icon={History} title={empty.title}>
              <p className="max-w-[46ch] text-muted">{empty.about}</p>
            </EmptyState>
          )
        }
      />
      <Pagination noun={noun} page={list.data} search={search} onPage={(place) => onSearch({ outcome, ...place })} />
    </div>
  );
}

/** A past time or event and its outcome; links to the run. */
export function OutcomeRow({
  pill,
  runId,
  reason,
  isFailed,
  note,
  at,
}: {
  pill: ReactNode;
  runId: string | null;
  /** Explanation of the outcome. */
  reason: string | null | undefined;
  isFailed: boolean;
  /** Text of the third column. */
  note: ReactNode;
  at: string;
}) {
  return (
    <Row stops={!runId}>
      <Cell className="rail:w-px">{pill}</Cell>
      <Cell main>
        {runId ? (
          <Link to="/runs/$runId" params={{ runId }} data-row title={runId} className={rowLink}>
            <code>{runId}</code>
          </Link>
        ) : (
          <span className="text-muted">No run</span>
        )}
        {reason && (
          <SecondLine title={reason} tone={isFailed ? "text-bad" : "text-muted"}>
            {reason.replaceAll("`", "")}
          </SecondLine>
        )}
      </Cell>
      <Cell className="whitespace-nowrap text-muted">{note}</Cell>
      <Cell className="whitespace-nowrap">
        <Time at={at} />
      </Cell>
    </Row>
  );
}
