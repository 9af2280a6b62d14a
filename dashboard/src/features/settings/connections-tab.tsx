import { useQuery } from "@tanstack/react-query";
import { Check, Plug, Plus, TriangleAlert, X } from "lucide-react";
import { useCallback, useState } from "react";
import type { Connection } from "../../../../server/domain/api-types/console.ts";
import { providerWords } from "../../../../server/domain/providers.ts";
import { modelQueries } from "../../entities/model/model-api.ts";
import { connectionsQuery, pricesQuery, removeConnection } from "../../entities/server/server-api.ts";
import { usePermission } from "../../entities/session/use-may.ts";
import { useKeys } from "../../hooks/use-keys.ts";
import { formatLocal, plural } from "../../lib/format.ts";
import { matchesQuery } from "../../lib/matches-query.ts";
import { Badge } from "../../ui/data/badge.tsx";
import { Cell, Row, RowActs, SecondLine, Table } from "../../ui/data/table.tsx";
import { Time } from "../../ui/data/time.tsx";
import { EmptyState } from "../../ui/feedback/empty-state.tsx";
import { NoResults } from "../../ui/feedback/no-results.tsx";
import { Button } from "../../ui/forms/button.tsx";
import { SearchField } from "../../ui/forms/search-field.tsx";
import { AddConnection } from "./add-connection.tsx";
import { ConnectConnection } from "./connect-connection.tsx";
import { ConnectionModels } from "./connection-models.tsx";
import { EditConnection } from "./edit-connection.tsx";
import { RemoveButton } from "./remove-button.tsx";
import { type TabProps, TabTable } from "./tab-table.tsx";
import { TestConnection } from "./test-connection.tsx";

const columns = [
  { label: "Connection" },
  { label: "Provider", folds: true },
  { label: "Models" },
  { label: "Last test" },
  { label: "Actions", silent: true },
];

/** Model connections, shared by all projects. */
export function ConnectionsTab({ search: { q = "" }, onSearch }: TabProps) {
  const list = useQuery(connectionsQuery);
  const found = list.data?.filter(({ name, base_url }) => matchesQuery(`${name} ${base_url ?? ""}`, q)) ?? [];
  const may = usePermission("owner");
  const [adding, setAdding] = useState(false);
  const [tested, setTested] = useState<string | null>(null);
  const [edited, setEdited] = useState<Connection | null>(null);
  const [opened, setOpened] = useState<string | null>(null);
  const [connected, setConnected] = useState<Connection | null>(null);
  const closeConnected = useCallback(() => setConnected(null), []);
  const usedOf = (name: string | null) => list.data?.find((each) => each.used && each.name === name);
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
          <Button kind="primary" disabled={!may} onClick={() => setAdding(true)}>
            Add connection
          </Button>
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
              onEdit={() => setEdited(connection)}
              onModels={() => setOpened(connection.name)}
              onConnect={() => setConnected(connection)}
            />
          ))}
        </Table>
      )}
      {adding && <AddConnection onClose={() => setAdding(false)} onAdded={setTested} />}
      {connected && <ConnectConnection connection={connected} onClose={closeConnected} />}
      {edited && <EditConnection connection={edited} onClose={() => setEdited(null)} />}
      {tested && <TestConnection key={tested} connection={usedOf(tested)} onClose={() => setTested(null)} />}
      <OpenedModels connection={usedOf(opened)} onClose={() => setOpened(null)} />
    </TabTable>
  );
}

function OpenedModels({ connection, onClose }: { connection: Connection | undefined; onClose: () => void }) {
  return connection ? <ConnectionModels connection={connection} onClose={onClose} /> : null;
}

const outageText = ({ model, since, error }: Connection["outages"][number]): string =>
  `${model} has not answered since ${formatLocal(since)}: ${error.message}`;

interface ConnectionRowProps {
  connection: Connection;
  may: boolean;
  onTest: () => void;
  onEdit: () => void;
  onModels: () => void;
  onConnect: () => void;
}

type Consent = NonNullable<Connection["consent"]>;

/** Badges of consents without a token that can be used. */
const consentWords: Partial<Record<Consent["status"], string>> = {
  missing: "not connected",
  expired: "consent expired",
  failed: "consent failed",
};

const connectWord = ({ status }: Consent): string => (status === "active" ? "Reconnect" : "Connect");

const consentText = ({ status, connected_at, error }: Consent): string =>
  status === "failed" && error
    ? error.message
    : connected_at === null
      ? "no consent yet"
      : `connected ${formatLocal(connected_at)}`;

function ConnectionRow({ connection, may, onTest, onEdit, onModels, onConnect }: ConnectionRowProps) {
  const {
    name,
    provider,
    prefix,
    base_url,
    max_concurrent,
    idle_timeout_ms,
    fallbacks,
    outages,
    refusals,
    consent,
    source,
    used,
  } = connection;
  return (
    <Row stops>
      <Cell main>
        <span className="flex min-w-0 items-center gap-2">
          <span className="cut font-medium">{name}</span>
          {!used && <Badge title="A stored connection of this name takes precedence.">not used</Badge>}
          {source === "environment" && <Badge title="It is set by the server's environment.">environment</Badge>}
          {consent && consentWords[consent.status] && (
            <Badge title={consentText(consent)}>{consentWords[consent.status]}</Badge>
          )}
          {outages.length > 0 && <Badge title={outages.map(outageText).join("\n")}>not answering</Badge>}
        </span>
        <SecondLine title={base_url ?? undefined}>
          Models <code>{prefix}/…</code>
          {base_url && <> · {hostOf(base_url)}</>}
          {max_concurrent !== null && <> · at most {max_concurrent} at once</>}
          {idle_timeout_ms !== null && <> · idle timeout {idle_timeout_ms / 1000} s</>}
          {fallbacks.length > 0 && <> · then {fallbacks.join(", ")}</>}
          {refusals.length > 0 && (
            <span title={refusals.map(({ model, fields }) => `${model}: ${fields.join(", ")}`).join("\n")}>
              {" "}
              · {plural(refusals.length, "model")} without refused fields
            </span>
          )}
          {consent && <> · {consentText(consent)}</>}
          {outages.map((outage) => (
            <span key={outage.model}> · {outageText(outage)}</span>
          ))}
        </SecondLine>
      </Cell>
      <Cell folds className="whitespace-nowrap max-rail:hidden">
        {(providerWords as Record<string, string>)[provider] ?? provider}
      </Cell>
      <Cell className="rail:whitespace-nowrap">
        {used && <ModelsState connection={connection} onOpen={onModels} />}
      </Cell>
      <Cell className="rail:whitespace-nowrap">
        <LastTest test={connection.last_test} />
      </Cell>
      <Cell right className="max-rail:ml-auto">
        {used && (
          <RowActs>
            {consent && (
              <Button size="sm" disabled={!may} aria-label={`${connectWord(consent)} ${name}`} onClick={onConnect}>
                {connectWord(consent)}
              </Button>
            )}
            <Button size="sm" disabled={!may} aria-label={`Test ${name}`} onClick={onTest}>
              Test
            </Button>
            {source === "stored" && (
              <>
                <Button size="sm" disabled={!may} aria-label={`Edit ${name}`} onClick={onEdit}>
                  Edit
                </Button>
                <RemoveConnection connection={connection} may={may} />
              </>
            )}
          </RowActs>
        )}
      </Cell>
    </Row>
  );
}

/** Host of an address; the whole one is in the title. */
const hostOf = (address: string): string => URL.parse(address)?.host ?? address;

/** Number of models that the server lists, or why they are not known. Opens the list. */
function ModelsState({ connection: { name, models }, onOpen }: { connection: Connection; onOpen: () => void }) {
  const text =
    models?.count != null
      ? plural(models.count, "model")
      : models?.reading
        ? "Reading"
        : models?.error
          ? "Not read"
          : "–";
  return (
    <span className="relative inline-flex items-center gap-1.5">
      <Button kind="ghost" size="sm" className="-ml-2.25" aria-label={`Models of ${name}: ${text}`} onClick={onOpen}>
        {text}
      </Button>
      {models?.error && (
        <span title={models.error.message} className="inline-flex">
          <TriangleAlert aria-hidden className="size-3.5 text-warn" strokeWidth={1.5} />
          <span className="sr-only">{models.error.message}</span>
        </span>
      )}
    </span>
  );
}

function LastTest({ test }: { test: Connection["last_test"] }) {
  if (!test) return <span className="text-muted max-rail:hidden">–</span>;
  const [Icon, tone, word] = test.ok ? [Check, "text-ok", "Worked"] : [X, "text-bad", "Failed"];
  return (
    <span className="inline-flex items-center gap-1.5" title={test.error?.message}>
      <Icon aria-hidden className={`size-3.5 shrink-0 ${tone}`} strokeWidth={1.5} />
      {word} <Time at={test.tested_at} />
    </span>
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
      stale={[connectionsQuery, pricesQuery, modelQueries]}
    >
      Runs of agents with a model <code>{prefix}/…</code> fail at their next model call, unless the environment has a
      connection of this name. The stored key is deleted.
    </RemoveButton>
  );
}
