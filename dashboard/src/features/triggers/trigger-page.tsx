import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { History, ListFilter, Pause, Play } from "lucide-react";
import { useState } from "react";
import type { Trigger, TriggerDelivery } from "../../../../server/domain/api-types/trigger.ts";
import type { Environment as Mode } from "../../../../server/domain/scope.ts";
import { AgentLink } from "../../entities/agent/agent-link.tsx";
import { ObjectHead } from "../../entities/crud/object-head.tsx";
import { ObjectPage } from "../../entities/crud/object-page.tsx";
import { usePermission } from "../../entities/session/use-may.ts";
import type { TriggerSearch } from "../../entities/trigger/read-trigger-search.ts";
import { triggerDeliveriesQuery, triggerQuery } from "../../entities/trigger/trigger-api.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { CopyButton } from "../../ui/data/copy-button.tsx";
import { Description, IdDescription } from "../../ui/data/description-list.tsx";
import { ListBody } from "../../ui/data/list-body.tsx";
import { Pagination } from "../../ui/data/pagination.tsx";
import { RelativeTime } from "../../ui/data/relative-time.tsx";
import { Cell, Row, rowLink, SecondLine } from "../../ui/data/table.tsx";
import { Time } from "../../ui/data/time.tsx";
import { SheetBar } from "../../ui/dialogs/sheet.tsx";
import { Callout } from "../../ui/feedback/callout.tsx";
import { EmptyState } from "../../ui/feedback/empty-state.tsx";
import { Button } from "../../ui/forms/button.tsx";
import { Chip, choicesOf } from "../../ui/forms/chip.tsx";
import { type TriggerAct, TriggerDialogs, TriggerMenu, useSwitchTrigger } from "./trigger-acts.tsx";
import { outcomeWords, senderNames, TriggerOutcomePill, TriggerPill } from "./trigger-words.tsx";

const columns = [{ label: "Outcome" }, { label: "Run" }, { label: "Status" }, { label: "Arrived" }];
const choices = choicesOf(outcomeWords, (value) => <TriggerOutcomePill outcome={value} />);

/** Page of one trigger: its address, how it makes runs, and its last events. */
export function TriggerPage({
  id,
  search,
  onSearch,
  onLookIn,
  onLeave,
}: {
  id: string;
  search: TriggerSearch;
  onSearch: (search: TriggerSearch) => void;
  onLookIn: (mode: Mode) => void;
  onLeave: () => void;
}) {
  const read = useQuery(triggerQuery(useWorkspace(), id));
  const [act, setAct] = useState<TriggerAct | null>(null);
  return (
    <ObjectPage object={read} noun="trigger" list="/triggers" id={id} onLookIn={onLookIn}>
      {(trigger, stale) => (
        <>
          <TriggerHead trigger={trigger} onAct={setAct} />
          {stale}
          <div className="flex min-h-0 flex-1 flex-col overflow-y-auto wide:flex-row-reverse wide:overflow-hidden">
            <TriggerRule trigger={trigger} />
            <Events id={id} search={search} onSearch={onSearch} />
          </div>
          <TriggerDialogs act={act} onAct={setAct} onDeleted={onLeave} />
        </>
      )}
    </ObjectPage>
  );
}

/** Head of a trigger's page: name, status and address. */
function TriggerHead({ trigger, onAct }: { trigger: Trigger; onAct: (act: TriggerAct) => void }) {
  const { id, name, url, verification, has_secret, previous_secret_expires_at: oldEnd } = trigger;
  const may = usePermission("member");
  const switching = useSwitchTrigger();
  const Switch = trigger.enabled ? Pause : Play;
  return (
    <>
      <ObjectHead
        list="/triggers"
        name={name}
        pills={<TriggerPill trigger={trigger} />}
        acts={
          <>
            <Button disabled={switching.isPending} onClick={() => switching.mutate(trigger)}>
              <Switch aria-hidden className="size-4" strokeWidth={1.5} />
              {trigger.enabled ? "Pause" : "Resume"}
            </Button>
            <TriggerMenu trigger={trigger} onAct={onAct} />
          </>
        }
      >
        <IdDescription noun="trigger" id={id} />
        <Description name="Address">
          <code className="cut" title={url}>
            {url}
          </code>
          <CopyButton text={url} what="address" />
        </Description>
        <Description name="Sender">{senderNames[verification]}</Description>
        <Description name="Agent">
          <AgentLink id={trigger.agent_id} className="cut block text-accent hover:underline" />
        </Description>
        {oldEnd && Date.parse(oldEnd) > Date.now() && (
          <Description name="Old secret valid until">
            <RelativeTime at={oldEnd} />
          </Description>
        )}
        <Description name="Created">
          <Time at={trigger.created_at} />
        </Description>
      </ObjectHead>
      {!has_secret && (
        <div className="border-b border-line px-4 py-3 rail:px-5">
          <Callout tone="warn">
            <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
              <p className="min-w-60 flex-1">
                Enter the address at {senderNames[verification]}, and then its secret here. Until then, every event is
                refused.
              </p>
              {may && (
                <Button size="sm" onClick={() => onAct({ kind: "rotate", trigger })}>
                  Set secret
                </Button>
              )}
            </div>
          </Callout>
        </div>
      )}
    </>
  );
}

/** How events become runs. */
function TriggerRule({ trigger }: { trigger: Trigger }) {
  const { input, filter, dedupe, thread, user, rate_limit_per_minute } = trigger;
  const places = Object.entries({ "Id of an event": dedupe, Thread: thread, User: user });
  return (
    <section
      aria-label="Rule"
      className="flex shrink-0 flex-col gap-4 border-b border-line px-4 py-4 rail:px-5 wide:w-90 wide:overflow-y-auto wide:border-b-0 wide:border-l"
    >
      <div>
        <h2 className="mb-1 text-xs font-medium text-muted">Input</h2>
        <p className="max-h-60 overflow-y-auto wrap-anywhere whitespace-pre-wrap">
          {input ?? "The whole event, marked as untrusted"}
        </p>
      </div>
      {filter.length > 0 && (
        <div>
          <h2 className="mb-1 text-xs font-medium text-muted">Filter</h2>
          {filter.map(({ path, in: wanted, not_in }) => (
            <p key={path} className="wrap-anywhere">
              <code>{path}</code> {wanted ? "is" : "is not"} {(wanted ?? not_in ?? []).map(String).join(", ")}
            </p>
          ))}
        </div>
      )}
      {places.map(
        ([name, path]) =>
          path !== null && (
            <div key={name}>
              <h2 className="mb-1 text-xs font-medium text-muted">{name}</h2>
              <code className="wrap-anywhere">{path}</code>
            </div>
          ),
      )}
      <p className="text-xs text-muted">At most {rate_limit_per_minute} events per minute.</p>
    </section>
  );
}

function Events({
  id,
  search,
  onSearch,
}: {
  id: string;
  search: TriggerSearch;
  onSearch: (search: TriggerSearch) => void;
}) {
  const list = useQuery(triggerDeliveriesQuery(useWorkspace(), id, search));
  const { outcome, after, before } = search;
  return (
    <div className="flex min-w-0 flex-1 flex-col wide:min-h-0">
      <SheetBar>
        <Chip name="Outcome" value={outcome} choices={choices} onChange={(next) => onSearch({ outcome: next })} />
      </SheetBar>
      <ListBody
        label="Events"
        list={list}
        columns={columns}
        scroll="wide:overflow-y-auto"
        row={(delivery) => <EventRow key={delivery.id} delivery={delivery} />}
        none={
          outcome || after || before ? (
            <EmptyState icon={ListFilter} title="No results">
              <Button onClick={() => onSearch({})}>Clear filter</Button>
            </EmptyState>
          ) : (
            <EmptyState icon={History} title="No events yet">
              <p className="max-w-[46ch] text-muted">Each event at the address is listed here with its outcome.</p>
            </EmptyState>
          )
        }
      />
      <Pagination noun="event" page={list.data} search={search} onPage={(place) => onSearch({ outcome, ...place })} />
    </div>
  );
}

/** An event and its outcome; links to the run. */
function EventRow({ delivery: { run_id, outcome, status, reason, created_at } }: { delivery: TriggerDelivery }) {
  return (
    <Row stops={!run_id}>
      <Cell className="rail:w-px">
        <TriggerOutcomePill outcome={outcome} />
      </Cell>
      <Cell main>
        {run_id ? (
          <Link to="/runs/$runId" params={{ runId: run_id }} data-row title={run_id} className={rowLink}>
            <code>{run_id}</code>
          </Link>
        ) : (
          <span className="text-muted">No run</span>
        )}
        {reason && (
          <SecondLine title={reason} tone={outcome === "failed" ? "text-bad" : "text-muted"}>
            {reason.replaceAll("`", "")}
          </SecondLine>
        )}
      </Cell>
      <Cell className="whitespace-nowrap text-muted">{status}</Cell>
      <Cell className="whitespace-nowrap">
        <Time at={created_at} />
      </Cell>
    </Row>
  );
}
