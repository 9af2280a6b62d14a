import type { ApiKey } from "../../../../server/wire/key.ts";
import { Table } from "../../ui/table.tsx";
import { KeyRow } from "./key-row.tsx";
import { keyRows } from "./key-rows.ts";
import type { KeyAct } from "./use-key-acts.ts";

const columns = [
  { label: "Name" },
  { label: "Key" },
  { label: "Scope" },
  { label: "Status" },
  { label: "Last used" },
  { label: "Expires", folds: true },
  { label: "Created", folds: true },
  { label: "Acts", silent: true },
];

/** The keys, each pair of a rotation together. */
export function KeysTable({
  keys,
  all,
  lastAdmins,
  now,
  mayChange,
  onAct,
}: {
  keys: readonly ApiKey[];
  /** Those that a filter hides too: one of them may be a predecessor. */
  all: readonly ApiKey[];
  lastAdmins: ReadonlySet<string>;
  now: number;
  mayChange: boolean;
  onAct: (act: KeyAct) => void;
}) {
  return (
    <Table label="API keys" columns={columns}>
      {keyRows(keys, now).map((entry) => (
        <KeyRow
          key={entry.key.id}
          entry={entry}
          before={all.find(({ id }) => id === entry.key.rotated_from)}
          isLastAdmin={lastAdmins.has(entry.key.id)}
          now={now}
          mayChange={mayChange}
          onAct={onAct}
        />
      ))}
    </Table>
  );
}
