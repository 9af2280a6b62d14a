import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { ScrollText } from "lucide-react";
import { keysQuery } from "../../entities/key/key-api.ts";
import { auditQuery, peopleQuery } from "../../entities/server/server-api.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Pagination } from "../../ui/data/pagination.tsx";
import { Table } from "../../ui/data/table.tsx";
import { EmptyState } from "../../ui/feedback/empty-state.tsx";
import { Button } from "../../ui/forms/button.tsx";
import { Chip, SetChip } from "../../ui/forms/chip.tsx";
import { actionWord, auditActions } from "./audit-actions.ts";
import { AuditRow } from "./audit-row.tsx";
import type { SettingsSearch } from "./read-settings-search.ts";
import { TabTable } from "./tab-table.tsx";

const columns = [
  { label: "What happened" },
  { label: "By" },
  { label: "Target" },
  { label: "Where", folds: true },
  { label: "Time", right: true },
];
const choices = auditActions
  .map((action) => ({ value: action, label: actionWord(action), word: actionWord(action) }))
  .sort((a, b) => a.word.localeCompare(b.word));

interface AuditTabProps {
  search: SettingsSearch;
  onSearch: (search: SettingsSearch) => void;
}

/** The audit log of this workspace; owners also see the server's entries. */
export function AuditTab({ search, onSearch }: AuditTabProps) {
  const at = useWorkspace();
  const { tab: _, q: __, ...filters } = search;
  const { action, actor, target, request } = filters;
  const list = useQuery({ ...auditQuery(at, filters), placeholderData: keepPreviousData });
  const people = useQuery(peopleQuery);
  const keys = useQuery(keysQuery(at));
  const nameOf = (id: string) => emailOf(id) ?? keys.data?.keys.find((key) => key.id === id)?.name;
  const emailOf = (id: string) => people.data?.find((person) => person.id === id)?.email;
  const filter = (change: Partial<SettingsSearch>) =>
    onSearch({ tab: "audit", action, actor, target, request, ...change, after: undefined, before: undefined });
  const isFiltered = Boolean(action || actor || target || request);
  return (
    <TabTable
      bar={
        <>
          <Chip name="Action" value={action} choices={choices} onChange={(next) => filter({ action: next })} />
          {actor && <SetChip name="By" word={nameOf(actor) ?? actor} onClear={() => filter({ actor: undefined })} />}
          {target && <SetChip name="Target" word={target} onClear={() => filter({ target: undefined })} />}
          {request && <SetChip name="Request" word={request} onClear={() => filter({ request: undefined })} />}
        </>
      }
      hint={"Click a name or a target to filter by it."}
      pending={list.isPending}
      error={list.error}
      onRetry={() => void list.refetch()}
      failed="The audit log cannot be shown"
      foot={
        <Pagination
          noun="change"
          page={list.data}
          search={filters}
          onPage={(page) => onSearch({ tab: "audit", action, actor, target, request, ...page })}
        />
      }
    >
      {list.data?.data.length === 0 && (
        <EmptyState icon={ScrollText} title={isFiltered ? "No results" : "No changes yet"}>
          <p className="text-muted">Every change made by a person, an API key or the command line is listed here.</p>
          {isFiltered && <Button onClick={() => onSearch({ tab: "audit" })}>Clear filters</Button>}
        </EmptyState>
      )}
      {list.data && list.data.data.length > 0 && (
        <Table label="Audit log" columns={columns}>
          {list.data.data.map((entry) => (
            <AuditRow
              key={entry.id}
              entry={entry}
              name={nameOf(entry.actor.id)}
              targetName={entry.target && nameOf(entry.target.id)}
              onActor={() => filter({ actor: entry.actor.id })}
              onTarget={() => filter({ target: entry.target?.id })}
            />
          ))}
        </Table>
      )}
    </TabTable>
  );
}
