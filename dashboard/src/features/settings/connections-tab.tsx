import { useQuery } from "@tanstack/react-query";
import { Plug, Plus } from "lucide-react";
import { useState } from "react";
import type { Connection } from "../../../../server/domain/api-types/console.ts";
import { connectionsQuery, pricesQuery, removeConnection } from "../../entities/server/server-api.ts";
import { usePermission } from "../../entities/session/use-may.ts";
import { useKeys } from "../../hooks/use-keys.ts";
import { formatLocal } from "../../lib/format.ts";
import { matchesQuery } from "../../lib/matches-query.ts";
import { Badge } from "../../ui/data/badge.tsx";
import { Cell, Row, RowActs, SecondLine, Table } from "../../ui/data/table.tsx";
import { Time } from "../../ui/data/time.tsx";
import { EmptyState } from "../../ui/feedback/empty-state.tsx";
import { NoResults } from "../../ui/feedback/no-results.tsx";
import { Button } from "../../ui/forms/button.tsx";
import { SearchField } from "../../ui/forms/search-field.tsx";
import { AddConnection } from "./add-connection.tsx";
import { RemoveButton } from "./remove-button.tsx";
import { type TabProps, TabTable } from "./tab-table.tsx";
import { TestConnection } from "./test-connection.tsx";

const columns = [
  { label: "Connection" },
  { label: "From" },
  { label: "Added", folds: true },
  { label: "Actions", silent: true },
];

/** Model connections, shared by all projects. */
export function ConnectionsTab({ search: { q = "" }, onSearch }: TabProps) {
  const list = useQuery(connectionsQuery);
  const found = list.data?.filter(({ name, base_url }) => matchesQuery(`${name} ${base_url ?? ""}`, q)) ?? [];
  const may = usePermission("owner");
  const [adding, setAdding] = useState(false);
  const [tested, setTested] = useState<string | null>(null);
  useKeys({ c: () => setAdding(true) }, may);
  return (
    <TabTable
      bar={
        <>
          <SearchField
            label="Search connections by name or URL"
            placeholder="Name or URL"
            value={q}
            onSearch={(text) => onSearch({ tab: "connections", q: text || undefined })}
          />
          <Button kind="primary" size="sm" disabled={!may} onClick={() => setAdding(true)}>
            <Plus aria-hidden className="size-3.5" strokeWidth={1.5} />
            Add connection
          </Button>
        </>
      }
      hint={
        may
          ? "Keys are stored encrypted and never shown again."
          : "Only owners can change connections: their keys cost money."
      }
      pending={list.isPending}
      error={list.error}
      onRetry={() => void list.refetch()}
      failed="The connections cannot be shown"
    >
      {list.data?.length === 0 && (
        <EmptyState icon={Plug} title="No connections">
          <p className="text-muted">A connection gives agents access to a model provider. Test models need none.</p>
        </EmptyState>
      )}
      {list.data && list.data.length > 0 && found.length === 0 && (
        <NoResults onClear={() => onSearch({ tab: "connections" })}>
          No connection has “{q}” in its name or URL.
        </NoResults>
      )}
      {found.length > 0 && (
        <Table label="Model connections" columns={columns}>
          {found.map((connection) => (
            <ConnectionRow
              key={`${connection.name} ${connection.source}`}
              connection={connection}
              may={may}
              onTest={() => setTested(connection.name)}
            />
          ))}
        </Table>
      )}
      {adding && <AddConnection onClose={() => setAdding(false)} onAdded={setTested} />}
      {tested && (
        <TestConnection
          connection={list.data?.find(({ name, used }) => used && name === tested)}
          onClose={() => setTested(null)}
        />
      )}
    </TabTable>
  );
}

const outageText = ({ model, since, error }: Connection["outages"][number]): string =>
  `${model} has not answered since ${formatLocal(since)}: ${error.message}`;

interface ConnectionRowProps {
  connection: Connection;
  may: boolean;
  onTest: () => void;
}

function ConnectionRow({ connection, may, onTest }: ConnectionRowProps) {
  const { name, prefix, base_url, max_concurrent, idle_timeout_ms, fallbacks, outages, source, used, created_at } =
    connection;
  return (
    <Row stops>
      <Cell main>
        <span className="flex min-w-0 items-center gap-2">
          <span className="cut font-medium">{name}</span>
          {!used && <Badge title="A stored connection of this name takes precedence.">not used</Badge>}
          {outages.length > 0 && <Badge title={outages.map(outageText).join("\n")}>not answering</Badge>}
        </span>
        <SecondLine title={base_url ?? undefined}>
          Models <code>{prefix}/…</code>
          {base_url && <> · {base_url}</>}
          {max_concurrent !== null && <> · at most {max_concurrent} at once</>}
          {idle_timeout_ms !== null && <> · idle timeout {idle_timeout_ms / 1000} s</>}
          {fallbacks.length > 0 && <> · then {fallbacks.join(", ")}</>}
          {outages.map((outage) => (
            <span key={outage.model}> · {outageText(outage)}</span>
          ))}
        </SecondLine>
      </Cell>
      <Cell className="whitespace-nowrap">{source === "stored" ? "Stored here" : "Environment"}</Cell>
      <Cell folds className="whitespace-nowrap max-rail:hidden">
        {created_at ? <Time at={created_at} /> : "–"}
      </Cell>
      <Cell right>
        {used && (
          <RowActs>
            <Button size="sm" disabled={!may} aria-label={`Test ${name}`} onClick={onTest}>
              Test
            </Button>
            {source === "stored" ? (
              <RemoveConnection connection={connection} may={may} />
            ) : (
              <span className="hidden text-xs text-muted rail:inline" title="It is set by the server's environment.">
                Set by environment
              </span>
            )}
          </RowActs>
        )}
      </Cell>
    </Row>
  );
}

/** Removes a stored connection after explaining the effects. */
function RemoveConnection({ connection: { name, prefix }, may }: { connection: Connection; may: boolean }) {
  return (
    <RemoveButton
      noun="connection"
      name={name}
      disabled={!may}
      remove={() => removeConnection(name)}
      stale={[connectionsQuery, pricesQuery]}
    >
      Runs of agents with a model <code>{prefix}/…</code> fail at their next model call, unless the environment has a
      connection of this name. The stored key is deleted.
    </RemoveButton>
  );
}
