import { useQuery, useQueryClient } from "@tanstack/react-query";
import { KeyRound, ListFilter } from "lucide-react";
import { useEffect, useMemo, useState } from "react";
import type { ApiKey } from "../../../../server/domain/api-types/key.ts";
import { CreateAct, ListHead } from "../../entities/crud/list-head.tsx";
import { keyApi, keyScopes, keysQuery } from "../../entities/key/key-api.ts";
import { usePermission } from "../../entities/session/use-may.ts";
import { useNow } from "../../hooks/use-now.ts";
import { plural } from "../../lib/format.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { ListBody } from "../../ui/data/list-body.tsx";
import { SheetBar, SheetFoot } from "../../ui/dialogs/sheet.tsx";
import { EmptyState } from "../../ui/feedback/empty-state.tsx";
import { Button } from "../../ui/forms/button.tsx";
import { Chip, choicesOf } from "../../ui/forms/chip.tsx";
import { SearchField } from "../../ui/forms/search-field.tsx";
import { TimeSwitch } from "../../ui/forms/time-switch.tsx";
import { ExposureNotes } from "./exposure-notes.tsx";
import { findKeys, type KeyFilter, type KeysSearch } from "./find-keys.ts";
import { isLastAdmin } from "./is-last-admin.ts";
import { KeyDialogs } from "./key-dialogs.tsx";
import { KeyRow } from "./key-row.tsx";
import { keyRows } from "./key-rows.ts";
import type { KeyAction } from "./use-key-acts.ts";

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

/** The API keys of a project and mode: create, rotate, revoke. */
export function KeysPage({ search, onSearch }: { search: KeysSearch; onSearch: (search: KeysSearch) => void }) {
  const at = useWorkspace();
  const mayChange = usePermission("member");
  const list = useQuery(keysQuery(at));
  const now = useNow();
  const [act, setAct] = useState<KeyAction | null>(null);
  const create = { act: "Create key", onCreate: () => setAct({ kind: "create" }) };
  const keys = list.data?.keys;
  const overlapAnnouncement = useOverlapEnds(keys);
  const matchingKeys = keys && findKeys(keys, search, now);
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
          {matchingKeys && plural(matchingKeys.length, "key")}
        </span>
      </SheetBar>
      <ListBody
        label="API keys"
        list={{ ...list, data: matchingKeys && { data: keyRows(matchingKeys, now) } }}
        columns={columns}
        notes={
          keys && <ExposureNotes keys={keys} now={now} lastAdmins={lastAdmins} mayChange={mayChange} onAct={setAct} />
        }
        row={(entry) => (
          <KeyRow
            key={entry.key.id}
            entry={entry}
            // Search all keys, because a filter may hide the predecessor.
            predecessor={keys?.find(({ id }) => id === entry.key.rotated_from)}
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
        {overlapAnnouncement}
      </p>
      <KeyDialogs act={act} keys={keys ?? []} mayChange={mayChange} onAct={setAct} />
    </>
  );
}

const maxTimeout_ms = 2 ** 31 - 1;

/** Refetches the list when the next overlap ends. Returns an announcement of the last overlap that ended. */
function useOverlapEnds(keys: readonly ApiKey[] | undefined): string {
  const at = useWorkspace();
  const client = useQueryClient();
  const [announcement, setSaid] = useState("");
  const next = keys
    ?.filter(({ status, revoked_at }) => status === "rotating" && !revoked_at)
    .sort((one, other) => ((one.expires_at ?? "") < (other.expires_at ?? "") ? -1 : 1))[0];
  const [id, end, words] = [next?.id, next?.expires_at, next && `The overlap of ${next.name} ended.`];
  useEffect(() => {
    if (!id || !end || !words) return;
    const remaining_ms = Date.parse(end) - Date.now();
    if (remaining_ms > maxTimeout_ms) return;
    const timer = setTimeout(() => {
      setSaid(words);
      void client.invalidateQueries(keyApi.all(at));
    }, Math.max(remaining_ms, 0) + 500);
    return () => clearTimeout(timer);
  }, [id, end, words, client, at]);
  return announcement;
}
