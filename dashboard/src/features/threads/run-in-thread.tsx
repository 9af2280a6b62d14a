import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type KeyboardEvent, useId, useState } from "react";
import type { AnyRun as Run } from "../../../../server/domain/api-types/run.ts";
import type { Thread } from "../../../../server/domain/api-types/thread.ts";
import type { AgentListItem as Agent } from "../../../../server/resources/agents/schema.ts";
import { newestAgentsQuery } from "../../entities/agent/agent-api.ts";
import { chosenFields } from "../../entities/agent/version-choice.ts";
import { useVersionOptions } from "../../entities/agent/version-select.tsx";
import { useDraftText } from "../../entities/session/use-kept-text.ts";
import { threadApi } from "../../entities/thread/thread-api.ts";
import { post, resourceUrl } from "../../lib/api.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { ErrorNote } from "../../ui/feedback/error-note.tsx";
import { Button } from "../../ui/forms/button.tsx";
import { SegmentedControl } from "../../ui/forms/segmented-control.tsx";
import { SelectOptions } from "../../ui/forms/select.tsx";
import { removeSentText } from "./conversation.ts";

type WithMemory = Agent & { memory?: { history?: { mode?: string } } | null };

const whenBusyChoices = [
  { value: "queue", label: "After the run" },
  { value: "steer", label: "To the run now" },
] as const;

/** Form that sends a message to an agent in a thread. ⌘↵ starts the run. */
export function RunInThread({
  thread,
  lastAgent,
  isBusy,
  workingAgent,
}: {
  thread: Thread;
  /** Agent of the newest run, used as the default. */
  lastAgent: string | undefined;
  /** True if a run is in progress; the next one waits for it. */
  isBusy: boolean;
  /** Agent of that run: a message to it may also go to the run itself. */
  workingAgent: string | undefined;
}) {
  const at = useWorkspace();
  const client = useQueryClient();
  const id = useId();
  const { data: agents } = useQuery(newestAgentsQuery(at));
  const [chosen, setChosen] = useState<string | null>(null);
  const [whenBusy, setWhenBusy] = useState<"queue" | "steer">("queue");
  const [choice, setChoice] = useState("");
  const [text, setText] = useDraftText(`thread.${thread.id}`);
  const listed: WithMemory[] = agents?.data ?? [];
  const agent = listed.find((each) => each.id === (chosen ?? lastAgent)) ?? listed[0];
  const canSteer = agent !== undefined && agent.id === workingAgent;
  const forgets = agent && agent.memory?.history?.mode !== "thread" && thread.message_count > 0;
  const start = useMutation({
    mutationFn: (input: string) =>
      post<Run>(resourceUrl(at, "/runs"), {
        agent_id: agent?.id,
        ...chosenFields(choice),
        thread_id: thread.id,
        input,
        if_thread_busy: canSteer ? whenBusy : "queue",
      }),
    onSuccess: (_, sentText) => {
      setText((now) => removeSentText(now, sentText));
      void client.invalidateQueries(threadApi.of(at, thread.id));
    },
  });
  const isReady = agent !== undefined && text.trim() !== "" && !start.isPending;
  const send = () => isReady && start.mutate(text);
  const onKey = (event: KeyboardEvent) => {
    if (event.key === "Enter" && (event.metaKey || event.ctrlKey)) send();
  };
  if (agents && listed.length === 0)
    return (
      <p className="border-t border-line px-4 py-3 text-muted rail:px-5">
        A run needs an agent.{" "}
        <Link to="/agents" className="text-accent hover:underline">
          Create the first one
        </Link>
        .
      </p>
    );
  return (
    <form
      aria-label="Run in this thread"
      className="shrink-0 border-t border-line px-4 py-3 rail:px-5"
      onKeyDown={onKey}
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <div className="mx-auto flex max-w-180 flex-col gap-2">
        <ErrorNote title="No run was started" error={start.error} />
        <label htmlFor={`${id}-text`} className="sr-only">
          Message
        </label>
        <textarea
          id={`${id}-text`}
          rows={2}
          value={text}
          placeholder={agent ? `Write to ${agent.name}` : "Write to an agent"}
          onChange={(event) => setText(event.target.value)}
          className="field-sizing-content max-h-60 min-h-14 w-full resize-none rounded-md border border-line-control bg-surface px-2.5 py-1.5 text-md text-ink hover:border-muted"
        />
        <div className="flex flex-wrap items-center gap-2">
          <label htmlFor={`${id}-agent`} className="text-muted">
            Agent
          </label>
          <select
            id={`${id}-agent`}
            value={agent?.id ?? ""}
            onChange={(event) => {
              setChosen(event.target.value);
              setChoice("");
            }}
            className="h-(--control) max-w-60 min-w-0 rounded-md border border-line-control bg-surface px-2 text-ink hover:border-muted"
          >
            {listed.map((each) => (
              <option key={each.id} value={each.id}>
                {each.name}
              </option>
            ))}
          </select>
          {canSteer && (
            <SegmentedControl
              name="when busy"
              label="While the run works"
              choices={whenBusyChoices}
              chosen={whenBusy}
              onChoose={setWhenBusy}
            />
          )}
          {agent && <VersionChoice agentId={agent.id} value={choice} onChoose={setChoice} />}
          <span className="min-w-0 flex-1 text-xs text-muted max-rail:order-last max-rail:basis-full">
            {isBusy
              ? canSteer && whenBusy === "steer"
                ? "The run that is in progress reads it with its next model call."
                : "Another run is in progress. This one waits for it."
              : forgets
                ? "This agent does not read earlier messages of the conversation."
                : ""}
          </span>
          <Button type="submit" kind="primary" disabled={!isReady} className="max-rail:ml-auto">
            {start.isPending ? "Sending" : "Send"}
          </Button>
        </div>
      </div>
    </form>
  );
}

/** Picker for the agent's version, in the line of the form. */
function VersionChoice({
  agentId,
  value,
  onChoose,
}: {
  agentId: string;
  value: string;
  onChoose: (value: string) => void;
}) {
  const { options } = useVersionOptions(agentId, value);
  return (
    <select
      aria-label="Version"
      value={value}
      onChange={(event) => onChoose(event.target.value)}
      className="h-(--control) max-w-48 min-w-0 rounded-md border border-line-control bg-surface px-2 text-ink hover:border-muted"
    >
      <SelectOptions choices={options} />
    </select>
  );
}
