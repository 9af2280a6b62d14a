import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { isId, siblingId } from "../../../../server/core/ids.ts";
import { origins as runOrigins } from "../../../../server/core/origin.ts";
import { runStatuses } from "../../../../server/core/run-state.ts";
import { newestAgentsQuery } from "../../entities/agent/agent-api.ts";
import { useAgentName } from "../../entities/agent/use-agent-name.ts";
import { filtersOf, isFiltered, type RunsSearch } from "../../entities/run/runs-search.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Button } from "../../ui/button.tsx";
import { Chip } from "../../ui/chip.tsx";
import { SearchField } from "../../ui/search-field.tsx";
import { SheetBar } from "../../ui/sheet.tsx";
import { StatusPill, statusWords } from "../../ui/status-pill.tsx";
import { TextChip } from "../../ui/text-chip.tsx";
import { originHints, originWords } from "./filter-words.ts";
import { TimeChip } from "./time-chip.tsx";

const statusChoices = runStatuses.map((value) => ({
  value,
  label: <StatusPill status={value} />,
  word: statusWords[value],
}));
const originChoices = runOrigins.map((value) => ({
  value,
  word: originWords[value],
  label: (
    <span>
      <span className="block font-medium">{originWords[value]}</span>
      <span className="block text-xs text-muted">{originHints[value]}</span>
    </span>
  ),
}));

/** What the list is narrowed by: each a chip, all of it in the address. */
export function RunsFilters({
  search,
  onFilter,
  onText,
  onOpenRun,
}: {
  search: RunsSearch;
  onFilter: (change: RunsSearch) => void;
  onText: (q: string) => void;
  onOpenRun: (runId: string) => void;
}) {
  const { status, since, until, user, thread, origin, q = "" } = search;
  // What was taken as a filter is no text any more: the field begins anew.
  const [pasted, setPasted] = useState(0);
  const write = (text: string) => {
    const id = pastedId(text);
    if (id?.kind === "run") onOpenRun(id.id);
    else if (id) {
      onFilter({ [id.kind]: id.id, q: undefined });
      setPasted((count) => count + 1);
    } else onText(text);
  };
  return (
    <SheetBar>
      <SearchField
        key={pasted}
        label="Search runs"
        placeholder="Id, input, output or agent"
        value={q}
        onSearch={write}
      />
      <Chip name="Status" value={status} choices={statusChoices} onChange={(next) => onFilter({ status: next })} />
      <AgentChip agent={search.agent} onChange={(next) => onFilter({ agent: next })} />
      <TimeChip
        since={since}
        until={until}
        onChange={(range) => onFilter({ since: range.since, until: range.until })}
      />
      <TextChip
        name="User"
        value={user}
        placeholder="ada"
        hint="The user_id that your application gave the run."
        onChange={(next) => onFilter({ user: next })}
      />
      <TextChip
        name="Thread"
        mono
        value={thread}
        placeholder="thr_…"
        hint="The id of a thread."
        check={(text) =>
          pastedId(text)?.kind === "thread" ? null : "The id of a thread begins with thr_ and has 30 characters."
        }
        onChange={(next) => onFilter({ thread: next })}
      />
      <Chip name="Origin" value={origin} choices={originChoices} onChange={(next) => onFilter({ origin: next })} />
      {(isFiltered(search) || q !== "") && (
        <Button kind="ghost" size="sm" className="ml-auto" onClick={() => onFilter({ ...filtersOf({}), q: undefined })}>
          Clear
        </Button>
      )}
    </SheetBar>
  );
}

function AgentChip({ agent, onChange }: { agent: string | undefined; onChange: (agent: string | undefined) => void }) {
  const { data } = useQuery(newestAgentsQuery(useWorkspace()));
  const name = useAgentName(agent ?? "");
  const listed = data?.data ?? [];
  // One that is older than those that are listed, or deleted.
  const old = agent && !listed.some(({ id }) => id === agent) ? [{ id: agent, name }] : [];
  const choices = [...listed, ...old].map(({ id, name }) => ({
    ...{ value: id, word: name },
    label: <span className="cut">{name}</span>,
  }));
  return <Chip name="Agent" value={agent} choices={choices} onChange={onChange} />;
}

/** What a text is, when it is the id of a thing that leads to runs: a run, or an agent or thread to filter by. */
export function pastedId(text: string): { kind: "run" | "agent" | "thread"; id: string } | null {
  const id = text.trim();
  const kind = (["run", "agent", "thread"] as const).find((kind) => isId(kind, id));
  if (kind) return { kind, id };
  return isId("trace", id) ? { kind: "run", id: siblingId(id, "run") } : null;
}
