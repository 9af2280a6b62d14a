import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Zap } from "lucide-react";
import { useState } from "react";
import type { Trigger } from "../../../../server/domain/api-types/trigger.ts";
import { useAgentName } from "../../entities/agent/use-agent-name.ts";
import { ListPage } from "../../entities/crud/list-page.tsx";
import { usePermission } from "../../entities/session/use-may.ts";
import { triggersQuery } from "../../entities/trigger/trigger-api.ts";
import type { NamedSearch } from "../../lib/page-search.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { CopyButton } from "../../ui/data/copy-button.tsx";
import { Cell, Row, RowActs, rowLink, SecondLine } from "../../ui/data/table.tsx";
import { Time } from "../../ui/data/time.tsx";
import { type TriggerAct, TriggerDialogs, TriggerMenu } from "./trigger-acts.tsx";
import { senderNames, TriggerPill } from "./trigger-words.tsx";

const columns = [
  { label: "Name and address" },
  { label: "Sender" },
  { label: "Status" },
  { label: "Last event", folds: true },
  { label: "Actions", silent: true },
];

/** List of triggers in a workspace. */
export function TriggersPage({ search, onSearch }: { search: NamedSearch; onSearch: (search: NamedSearch) => void }) {
  const at = useWorkspace();
  const list = useQuery(triggersQuery(at, search));
  const [act, setAct] = useState<TriggerAct | null>(null);
  return (
    <>
      <ListPage
        title="Triggers"
        noun="trigger"
        list={list}
        columns={columns}
        search={search}
        onSearch={onSearch}
        row={(trigger) => <TriggerRow key={trigger.id} trigger={trigger} onAct={setAct} />}
        searchBy="name"
        create={{ act: "Create trigger", onCreate: () => setAct({ kind: "create" }) }}
        empty={{
          icon: Zap,
          title: `No ${at.mode} triggers yet`,
          about: "A trigger has an address to which another system sends its events. Each verified event starts a run.",
        }}
      />
      <TriggerDialogs act={act} onAct={setAct} />
    </>
  );
}

/** A trigger's row: agent, address, sender and last event. A click opens it. */
function TriggerRow({ trigger, onAct }: { trigger: Trigger; onAct: (act: TriggerAct) => void }) {
  const { id, name, url, verification, last_event_at } = trigger;
  const may = usePermission("member");
  const agent = useAgentName(trigger.agent_id);
  return (
    <Row data-trigger={id}>
      <Cell main>
        <Link to="/triggers/$triggerId" params={{ triggerId: id }} data-row title={name} className={rowLink}>
          <span className="font-medium">{name}</span>
          <span className="text-muted"> · {agent}</span>
        </Link>
        <SecondLine title={url} tone="text-muted">
          {url}
        </SecondLine>
      </Cell>
      <Cell className="whitespace-nowrap">{senderNames[verification]}</Cell>
      <Cell>
        <TriggerPill trigger={trigger} />
      </Cell>
      <Cell folds className="whitespace-nowrap">
        {last_event_at ? <Time at={last_event_at} /> : <span className="text-muted">No events yet</span>}
      </Cell>
      <Cell right className="max-rail:ml-auto rail:w-px">
        <RowActs>
          <CopyButton text={url} what="address" />
          {may && <TriggerMenu trigger={trigger} onAct={onAct} />}
        </RowActs>
      </Cell>
    </Row>
  );
}
