import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Trigger } from "../../../../server/domain/api-types/trigger.ts";
import { AgentLink } from "../../entities/agent/agent-link.tsx";
import { AutomationBody, AutomationRule } from "../../entities/automation/automation-body.tsx";
import { OutcomeList, OutcomeRow } from "../../entities/automation/outcome-list.tsx";
import { SwitchButton } from "../../entities/automation/switch-automation.tsx";
import { ObjectHead } from "../../entities/crud/object-head.tsx";
import { ObjectPage, type ObjectPageProps } from "../../entities/crud/object-page.tsx";
import { usePermission } from "../../entities/session/use-may.ts";
import type { TriggerSearch } from "../../entities/trigger/read-trigger-search.ts";
import { triggerDeliveriesQuery, triggerQuery } from "../../entities/trigger/trigger-api.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { CopyButton } from "../../ui/data/copy-button.tsx";
import { Description, IdDescription } from "../../ui/data/description-list.tsx";
import { RelativeTime } from "../../ui/data/relative-time.tsx";
import { Time } from "../../ui/data/time.tsx";
import { Callout } from "../../ui/feedback/callout.tsx";
import { Button } from "../../ui/forms/button.tsx";
import { choicesOf } from "../../ui/forms/chip.tsx";
import { type TriggerAct, TriggerDialogs, TriggerMenu, useSwitchTrigger } from "./trigger-acts.tsx";
import { outcomeWords, senderNames, TriggerOutcomePill, TriggerPill } from "./trigger-words.tsx";

const columns = [{ label: "Outcome" }, { label: "Run" }, { label: "Status" }, { label: "Arrived" }];
const choices = choicesOf(outcomeWords, (value) => <TriggerOutcomePill outcome={value} />);

/** Page of one trigger: its address, how it makes runs, and its last events. */
export function TriggerPage({ id, search, onSearch, onLookIn, onLeave }: ObjectPageProps<TriggerSearch>) {
  const read = useQuery(triggerQuery(useWorkspace(), id));
  const [act, setAct] = useState<TriggerAct | null>(null);
  return (
    <ObjectPage object={read} noun="trigger" list="/triggers" id={id} onLookIn={onLookIn}>
      {(trigger, stale) => (
        <>
          <TriggerHead trigger={trigger} onAct={setAct} />
          {stale}
          <AutomationBody>
            <TriggerRule trigger={trigger} />
            <Events id={id} search={search} onSearch={onSearch} />
          </AutomationBody>
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
  return (
    <>
      <ObjectHead
        list="/triggers"
        name={name}
        pills={<TriggerPill trigger={trigger} />}
        acts={
          <>
            <SwitchButton automation={trigger} switching={switching} />
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
        {(trigger.label ?? trigger.version) !== null && (
          <Description name={trigger.label === null ? "Version" : "Label"}>
            <span className="cut" title={trigger.label ?? undefined}>
              {trigger.label ?? trigger.version}
            </span>
          </Description>
        )}
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
  const { input, variables, filter, dedupe, thread, user, rate_limit_per_minute } = trigger;
  const places = Object.entries({ "Id of an event": dedupe, Thread: thread, User: user });
  return (
    <AutomationRule label="Rule">
      <div>
        <h2 className="mb-1 text-xs font-medium text-muted">Input</h2>
        <p className="max-h-60 overflow-y-auto wrap-anywhere whitespace-pre-wrap">
          {input ?? "The whole event, marked as untrusted"}
        </p>
      </div>
      {variables && (
        <div>
          <h2 className="mb-1 text-xs font-medium text-muted">Variables</h2>
          {Object.entries(variables).map(([name, value]) => (
            <p key={name} className="wrap-anywhere">
              <code>{name}</code> is {String(value)}
            </p>
          ))}
        </div>
      )}
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
    </AutomationRule>
  );
}

function Events({ id, ...place }: Pick<ObjectPageProps<TriggerSearch>, "id" | "search" | "onSearch">) {
  return (
    <OutcomeList
      label="Events"
      noun="event"
      list={useQuery(triggerDeliveriesQuery(useWorkspace(), id, place.search))}
      columns={columns}
      choices={choices}
      row={({ id, run_id, outcome, status, reason, created_at }) => (
        <OutcomeRow
          key={id}
          pill={<TriggerOutcomePill outcome={outcome} />}
          runId={run_id}
          reason={reason}
          isFailed={outcome === "failed"}
          note={status}
          at={created_at}
        />
      )}
      {...place}
      empty={{ title: "No events yet", about: "Each event at the address is listed here with its outcome." }}
    />
  );
}
