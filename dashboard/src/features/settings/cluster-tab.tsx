import { useQuery } from "@tanstack/react-query";
import { CircleCheck, CircleX, Network, TriangleAlert } from "lucide-react";
import type { ReactNode } from "react";
import type { ClusterCell } from "../../../../server/domain/api-types/console.ts";
import { clusterQuery } from "../../entities/server/server-api.ts";
import { usePermission } from "../../entities/session/use-may.ts";
import { formatBytes, formatCount, formatDuration, unknownText } from "../../lib/format.ts";
import { Badge } from "../../ui/data/badge.tsx";
import { Pill } from "../../ui/data/pill.tsx";
import { Cell, Row, SecondLine, Table } from "../../ui/data/table.tsx";
import { Time } from "../../ui/data/time.tsx";
import { EmptyState } from "../../ui/feedback/empty-state.tsx";
import { TabTable } from "./tab-table.tsx";

const columns = [
  { label: "Cell" },
  { label: "State" },
  { label: "Spares" },
  { label: "Lease", right: true, folds: true },
  { label: "Epoch", right: true, folds: true },
  { label: "Pages", right: true, folds: true },
  { label: "Log", right: true },
];

/** Cells of the cluster with leader, followers and size. */
export function ClusterTab() {
  const may = usePermission("owner");
  const cluster = useQuery({ ...clusterQuery, enabled: may });
  if (!may)
    return (
      <EmptyState icon={Network} title="Only owners see the cluster">
        <p className="text-muted">The cluster belongs to the whole server.</p>
      </EmptyState>
    );
  const { data } = cluster;
  return (
    <TabTable
      bar={
        <span className="text-xs text-muted">
          Last failover:{" "}
          {data?.failover ? (
            <span title={data.failover.detail}>
              <Time at={data.failover.at} />
            </span>
          ) : (
            (data && "none in 30 days") || unknownText
          )}
        </span>
      }
      hint="Refreshes automatically. Sizes are those in Postgres."
      pending={cluster.isPending}
      error={cluster.error}
      onRetry={() => void cluster.refetch()}
      failed="The cluster cannot be shown"
    >
      {data && (
        <Table label="Cells" columns={columns}>
          {data.cells.map((cell) => (
            <CellRow key={cell.cell} cell={cell} isOwn={cell.cell === data.cell} />
          ))}
        </Table>
      )}
    </TabTable>
  );
}

function CellRow({ cell: { cell, leader, address, lease_ms, epoch, log, pages, spares }, isOwn }: CellRowProps) {
  return (
    <Row stops>
      <Cell main>
        <span className="flex min-w-0 items-center gap-2">
          <span className="cut font-medium">{cell}</span>
          {isOwn && <Badge title="The leader of this cell serves this dashboard.">this one</Badge>}
        </span>
        <SecondLine title={leader ? `${leader} at ${address}` : undefined}>
          {leader ? (
            <>
              {leader} · <code>{address}</code>
            </>
          ) : (
            "No leader: requests are refused until a node takes over."
          )}
        </SecondLine>
      </Cell>
      <Cell className="whitespace-nowrap">
        {leader ? (
          <Pill tone={spares.length > 0 ? "ok" : "warn"} icon={spares.length > 0 ? CircleCheck : TriangleAlert}>
            {spares.length > 0 ? "Healthy" : "At risk"}
          </Pill>
        ) : (
          <Pill tone="bad" icon={CircleX}>
            No leader
          </Pill>
        )}
      </Cell>
      <Cell>
        {spares.length === 0 && <span className="text-muted">No spare</span>}
        {spares.map(({ name, behind }) => (
          <span key={name} className="block whitespace-nowrap">
            {name} <span className="text-xs text-muted">{lagOf(behind)}</span>
          </span>
        ))}
      </Cell>
      <Fact name="Lease" folds>
        {lease_ms === null ? unknownText : formatDuration(lease_ms)}
      </Fact>
      <Fact name="Epoch" folds>
        {formatCount(epoch)}
      </Fact>
      <Fact name="Pages" folds>
        {formatBytes(pages.bytes)}
      </Fact>
      <Fact name="Log">
        {formatBytes(log.bytes)}
        <span className="text-xs text-muted"> in {formatCount(log.rows)} rows</span>
      </Fact>
    </Row>
  );
}

interface CellRowProps {
  cell: ClusterCell;
  /** True if this server leads the cell. */
  isOwn: boolean;
}

/** A value; on a phone, where the table has no head, with its label. */
function Fact({ name, folds, children }: { name: string; folds?: boolean; children: ReactNode }) {
  return (
    <Cell right folds={folds} className="tabular-nums">
      <span className="rail:hidden">{name} </span>
      {children}
    </Cell>
  );
}

const lagOf = (behind: number): string =>
  behind === 0 ? "up to date" : `${formatCount(behind)} ${behind === 1 ? "row" : "rows"} behind`;
