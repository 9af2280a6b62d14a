import { useQuery } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import { useMemo, useRef, useState } from "react";
import { keysQuery } from "../../entities/key/key-api.ts";
import { useMay } from "../../entities/session/use-may.ts";
import { plural } from "../../lib/format.ts";
import { useKeys } from "../../lib/use-keys.ts";
import { useNow } from "../../lib/use-now.ts";
import { useRowKeys } from "../../lib/use-row-keys.ts";
import { useTitle } from "../../lib/use-title.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Button } from "../../ui/button.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { ModePill } from "../../ui/mode-pill.tsx";
import { SheetFoot, SheetHead } from "../../ui/sheet.tsx";
import { TableSkeleton } from "../../ui/table.tsx";
import { TimeSwitch } from "../../ui/time-switch.tsx";
import { ViewOnly } from "../../ui/view-only.tsx";
import { ExposureNotes } from "./exposure-notes.tsx";
import { findKeys, type KeysSearch } from "./find-keys.ts";
import { isLastAdmin } from "./is-last-admin.ts";
import { KeyDialogs } from "./key-dialogs.tsx";
import { KeyFilters } from "./key-filters.tsx";
import { KeysTable } from "./keys-table.tsx";
import { NoKeyMatches, NoKeys } from "./no-keys.tsx";
import type { KeyAct } from "./use-key-acts.ts";
import { useOverlapEnds } from "./use-overlap-ends.ts";

/** The keys of a project and mode: made, swapped and ended without fear. */
export function KeysPage({ search, onSearch }: { search: KeysSearch; onSearch: (search: KeysSearch) => void }) {
  const at = useWorkspace();
  const mayChange = useMay("member");
  const list = useQuery(keysQuery(at));
  const now = useNow();
  const body = useRef<HTMLDivElement>(null);
  const [act, setAct] = useState<KeyAct | null>(null);
  const create = mayChange ? () => setAct({ kind: "create" }) : undefined;
  useTitle("API keys", at.project.name);
  useRowKeys(body);
  useKeys({ c: () => create?.() });
  const keys = list.data?.keys;
  const ended = useOverlapEnds(keys);
  const found = keys && findKeys(keys, search, now);
  const lastAdmins = useMemo(
    () => new Set(keys?.filter((key) => isLastAdmin(key, keys, Date.now())).map(({ id }) => id)),
    [keys],
  );
  const isFiltered = Boolean(search.q || search.status || search.scope);

  return (
    <>
      <SheetHead>
        <h1 className="text-lg">API keys</h1>
        <ModePill />
        <div className="ml-auto flex items-center gap-2">
          {create ? (
            <Button kind="primary" onClick={create} title="Create key (c)">
              <Plus aria-hidden className="size-4" strokeWidth={1.5} />
              Create key
            </Button>
          ) : (
            <ViewOnly />
          )}
        </div>
      </SheetHead>
      <KeyFilters search={search} onSearch={onSearch} count={found && plural(found.length, "key")} />
      <section ref={body} aria-label="API keys" className="relative min-h-0 flex-1 overflow-y-auto">
        {list.error && (
          <div className="px-4 pt-3 rail:px-5">
            <ErrorNote
              title={keys ? "The list is not up to date" : "The keys cannot be shown"}
              error={list.error}
              onRetry={() => void list.refetch()}
            />
          </div>
        )}
        {list.isPending && (
          <div role="status" aria-label="Loading keys">
            <TableSkeleton />
          </div>
        )}
        {keys && <ExposureNotes keys={keys} now={now} lastAdmins={lastAdmins} mayChange={mayChange} onAct={setAct} />}
        {keys && found && found.length > 0 && (
          <KeysTable keys={found} all={keys} lastAdmins={lastAdmins} now={now} mayChange={mayChange} onAct={setAct} />
        )}
        {keys?.length === 0 && <NoKeys mode={at.mode} onCreate={create} />}
        {isFiltered && keys && keys.length > 0 && found?.length === 0 && <NoKeyMatches onClear={() => onSearch({})} />}
      </section>
      <SheetFoot>
        <TimeSwitch />
        <span className="ml-auto">
          {keys && keys.length >= 1000 && "The newest 1,000 keys. "}
          Keys work only in <b>{at.mode} data</b> of this project. Secrets are stored as a hash: nobody can show one
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
