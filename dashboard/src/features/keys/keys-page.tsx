import { useQuery } from "@tanstack/react-query";
import { KeyRound, ListFilter } from "lucide-react";
import { useMemo, useState } from "react";
import { keyScopes, keysQuery } from "../../entities/key/key-api.ts";
import { CreateAct, ListHead } from "../../entities/resource/list-head.tsx";
import { useMay } from "../../entities/session/use-may.ts";
import { plural } from "../../lib/format.ts";
import { useNow } from "../../lib/use-now.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Button } from "../../ui/button.tsx";
import { Chip, choicesOf } from "../../ui/chip.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { ListBody } from "../../ui/list-body.tsx";
import { SearchField } from "../../ui/search-field.tsx";
import { SheetBar, SheetFoot } from "../../ui/sheet.tsx";
import { TimeSwitch } from "../../ui/time-switch.tsx";
import { ExposureNotes } from "./exposure-notes.tsx";
import { findKeys, type KeyFilter, type KeysSearch } from "./find-keys.ts";
import { isLastAdmin } from "./is-last-admin.ts";
import { KeyDialogs } from "./key-dialogs.tsx";
import { KeyRow } from "./key-row.tsx";
import { keyRows } from "./key-rows.ts";
import type { KeyAct } from "./use-key-acts.ts";
import { useOverlapEnds } from "./use-overlap-ends.ts";

const columns = [
  { label: "Name" },
  { label: "Key" },
  { label: "Scope" },
  { label: "Status" },
  { label: "Last used" },
  { label: "Expires", folds: true },
  { label: "Created", folds: true },
  { label: "Actions", silent: true },
];
const statuses = choicesOf<KeyFilter>({
  usable: "Usable",
  ended: "Revoked and expired",
  rotating: "Rotating",
  exposed: "Exposed",
  expiring: "Expiring within 7 days",
});
const scopes = keyScopes.map((value) => ({ value, label: value, word: value }));

/** The keys of a project and mode: made, swapped and ended without fear. */
export function KeysPage({ search, onSearch }: { search: KeysSearch; onSearch: (search: KeysSearch) => void }) {
  const at = useWorkspace();
  const mayChange = useMay("member");
  const list = useQuery(keysQuery(at));
  const now = useNow();
  const [act, setAct] = useState<KeyAct | null>(null);
  const create = { act: "Create key", onCreate: () => setAct({ kind: "create" }) };
  const keys = list.data?.keys;
  const ended = useOverlapEnds(keys);
  const found = keys && findKeys(keys, search, now);
  const lastAdmins = useMemo(
    () => new Set(keys?.filter((key) => isLastAdmin(key, keys, Date.now())).map(({ id }) => id)),
    [keys],
  );
  return (
    <>
      <ListHead title="API keys" create={create} />
      <SheetBar>
        <SearchField
          label="Search keys"
          placeholder="Name, prefix or last 4"
          value={search.q ?? ""}
          onSearch={(q) => onSearch({ ...search, q: q || undefined })}
        />
        <Chip
          name="Status"
          value={search.status}
          choices={statuses}
          onChange={(status) => onSearch({ ...search, status })}
        />
        <Chip name="Scope" value={search.scope} choices={scopes} onChange={(scope) => onSearch({ ...search, scope })} />
        <span className="ml-auto text-xs whitespace-nowrap text-muted max-rail:sr-only" aria-live="polite">
          {found && plural(found.length, "key")}
        </span>
      </SheetBar>
      <ListBody
        label="API keys"
        list={{ ...list, data: found && { data: keyRows(found, now) } }}
        columns={columns}
        notes={
          keys && <ExposureNotes keys={keys} now={now} lastAdmins={lastAdmins} mayChange={mayChange} onAct={setAct} />
        }
        row={(entry) => (
          <KeyRow
            key={entry.key.id}
            entry={entry}
            // Also one that a filter hides.
            before={keys?.find(({ id }) => id === entry.key.rotated_from)}
            isLastAdmin={lastAdmins.has(entry.key.id)}
            now={now}
            onAct={setAct}
          />
        )}
        none={
          keys?.length === 0 ? (
            <EmptyState icon={KeyRound} title={`No ${at.mode} keys yet`}>
              <p className="max-w-[52ch] text-muted">
                Your server uses a key to create runs. Create one key per service, so you can rotate each on its own.
              </p>
              {mayChange && <CreateAct create={create}>Create key</CreateAct>}
            </EmptyState>
          ) : (
            <EmptyState icon={ListFilter} title="No key matches these filters">
              <p className="text-muted">Searched names, prefixes, last four characters, ids and IP addresses.</p>
              <Button onClick={() => onSearch({})}>Clear filters</Button>
            </EmptyState>
          )
        }
      />
      <SheetFoot>
        <TimeSwitch />
        <span className="ml-auto">
          {keys && keys.length >= 1000 && "The newest 1,000 keys. "}
          Keys work only in <b>{at.mode} data</b> of this project. Secrets are stored as a hash and cannot be shown
          again.
        </span>
      </SheetFoot>
      <p role="status" className="sr-only">
        {ended}
      </p>
      <KeyDialogs act={act} keys={keys ?? []} mayChange={mayChange} onAct={setAct} />
    </>
  );
}
