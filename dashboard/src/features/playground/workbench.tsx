import { useMutation } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { clsx } from "clsx";
import { useRef, useState, useSyncExternalStore } from "react";
import type { RunInput } from "../../../../server/domain/run-input.ts";
import type { Variable } from "../../../../server/domain/variable.ts";
import type { Agent as FullAgent } from "../../../../server/resources/agents/schema.ts";
import { DeclaredVariables } from "../../entities/agent/declared-variables.tsx";
import { useTeamVariables } from "../../entities/agent/team-variables.ts";
import { missingVariable, typedValues } from "../../entities/agent/variable-rows.ts";
import { chosenFields } from "../../entities/agent/version-choice.ts";
import { useDraftText } from "../../entities/session/use-kept-text.ts";
import { usePermission } from "../../entities/session/use-may.ts";
import { findCall } from "../../entities/tool-call/next-call.ts";
import { fieldsOf } from "../../hooks/use-form.ts";
import { useTitle } from "../../hooks/use-title.ts";
import { post, resourceUrl } from "../../lib/api.ts";
import { formatCount } from "../../lib/format.ts";
import { createPostOnce } from "../../lib/post-once.ts";
import type { ApiRequest } from "../../lib/request-code.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Field } from "../../ui/forms/field.tsx";
import { SegmentedControl } from "../../ui/forms/segmented-control.tsx";
import { ShowCode } from "../../ui/forms/show-code.tsx";
import { AgentPanel, type TriedVersion } from "./agent-panel.tsx";
import { Composer } from "./composer.tsx";
import { agentChanges, faultsOf, readsThreadHistory, runParts, unsavedChangeLabels } from "./draft.ts";
import { ChatNotes, ConversationView, TryAgent } from "./lane-view.tsx";
import { ModelField } from "./model-field.tsx";
import { fillVariables, parseStoredValues, variablesIn, variableValue } from "./prompt-variables.ts";
import { type PlaygroundSearch, withAgent } from "./read-playground-search.ts";
import { contentOf, isOpen, type RunBody, requestsOf, type Turn } from "./turn.ts";
import { useAttachments } from "./use-attachments.ts";
import { useDraft } from "./use-draft.ts";
import { useConversation } from "./use-lane.ts";
import { WorkbenchHead } from "./workbench-head.tsx";

/** An agent, its conversation and the code. */
export function Workbench({
  agent,
  tried,
  search,
  onSearch,
}: {
  agent: FullAgent;
  /** The version or label that is tried; absent: the newest version, which can be edited. */
  tried?: TriedVersion;
  search: PlaygroundSearch;
  onSearch: (change: Partial<PlaygroundSearch>) => void;
}) {
  const readOnly = !usePermission("member");
  const edited = useDraft(agent, tried?.text);
  const { base, draft } = edited;
  const [text, setText] = useDraftText(`playground.${agent.id}.text`);
  const [keptText, setKeptText] = useDraftText(`playground.${agent.id}.variables`, "{}");
  const values = parseStoredValues(keptText);
  const left = useConversation(search.thread, (thread) => onSearch({ thread }));
  const right = useConversation(search.other, (other) => onSearch({ other }));
  const composer = useRef<HTMLTextAreaElement>(null);
  const stop = useStop();
  const steer = useSteer();
  const isWide = useWide();
  useTitle("Playground", agent.name);

  const compares = search.compare !== undefined;
  const rightModel = search.compare ?? draft.model;
  const showsCode = search.code ? search.code === "on" : isWide && !compares;
  const faults = faultsOf(draft);
  const changes = agentChanges(base, draft);
  const unsaved = unsavedChangeLabels(agent, draft);
  const lanes = compares ? [left, right] : [left];
  const openTurns = lanes.flatMap(({ turns }) => turns.filter(isOpen));
  const isBusy = openTurns.length > 0;
  const steeredIds = openTurns.flatMap(({ runId }) => runId ?? []);
  const declared = useTeamVariables(agent);
  const given = typedValues(declared, values);
  const missing = missingVariable(declared, given);
  const problem = readOnly
    ? "Your role is viewer: you cannot start runs."
    : lanes.some(({ error }) => error)
      ? "The conversation is still loading."
      : (Object.values(faults)[0] ??
        (rightModel.trim() === "" ? "Choose a model for the right side." : null) ??
        (missing !== null && !isBusy ? `The variable ${missing} needs a value.` : null));

  const attachments = useAttachments();
  // The server fills the variables that the agent declares; others are only of this page.
  const isDeclared = agent.variables.length > 0;
  const inputOf = (text: string): RunInput => {
    const filled = fillVariables(text, values);
    const parts = attachments.all.flatMap(({ type, file_id, filename }) =>
      file_id ? [{ type, file_id, ...(type === "file" && { filename }) }] : [],
    );
    if (parts.length === 0) return filled;
    return [{ role: "user", content: filled === "" ? parts : [{ type: "text", text: filled }, ...parts] }];
  };
  const bodyOf = (input: string, thread_id: string | undefined, model?: string): RunBody => ({
    agent_id: agent.id,
    ...chosenFields(tried?.text ?? ""),
    input: inputOf(input),
    stream: true,
    ...(thread_id && { thread_id }),
    ...(Object.keys(given).length > 0 && { variables: given }),
    ...runParts(
      agent,
      isDeclared || tried ? draft : { ...draft, instructions: fillVariables(draft.instructions, values) },
      model,
    ),
  });
  const sendLeft = (input: string) => left.send(bodyOf(input, search.thread, compares ? draft.model : undefined));
  const sendRight = (input: string) => right.send(bodyOf(input, search.other, rightModel));
  const send = (input: string) => {
    sendLeft(input);
    if (compares) sendRight(input);
    setText("");
    attachments.clear();
    composer.current?.focus();
  };
  /** Sends the message to the runs that are at work. */
  const sendMore = (input: string, interrupt = false) =>
    steer.mutate(
      { runIds: steeredIds, content: contentOf(inputOf(input)), interrupt },
      {
        onSuccess() {
          setText("");
          attachments.clear();
        },
      },
    );
  const clear = () => {
    for (const lane of lanes) lane.clear();
    onSearch({ thread: undefined, other: undefined });
    composer.current?.focus();
  };

  return (
    <>
      <WorkbenchHead
        edited={edited}
        changes={changes}
        hasFaults={Object.keys(faults).length > 0}
        readOnly={readOnly}
        isBusy={isBusy}
        compares={compares}
        showsCode={showsCode}
        onCompare={() => onSearch(compares ? { compare: undefined, other: undefined } : { compare: draft.model })}
        onCode={() => onSearch({ code: showsCode ? "off" : "on" })}
      />
      <PaneSwitch pane={search.pane} onPane={(pane) => onSearch({ pane })} />
      <div className={clsx("pg", showsCode && "pg-with-code")} data-pane={search.pane ?? "chat"}>
        <AgentPanel
          agent={base}
          fields={fieldsOf(draft, faults, edited.edit)}
          isEdited={changes !== null}
          unsaved={unsaved}
          tried={tried}
          readOnly={readOnly || tried !== undefined}
          compares={compares}
          variables={
            <VariableFields
              declared={declared}
              names={isDeclared || tried ? variablesIn(text) : variablesIn(draft.instructions, text)}
              values={values}
              onValues={(next) => setKeptText(JSON.stringify(next))}
              readOnly={readOnly}
            />
          }
          onAgent={(id) => onSearch(withAgent(id))}
          onVersion={(text) => onSearch({ choice: text.replace("@", "") || undefined })}
        />
        <div className="pg-chat">
          <div className={clsx("min-h-0 flex-1", compares ? "pg-duo" : "flex flex-col")}>
            <ConversationView
              lane={left}
              label={compares ? "Left conversation" : "Conversation"}
              narrow={compares}
              readOnly={readOnly}
              onAgain={(turn) => retryTurn(turn, left.again, sendLeft)}
              head={
                compares && (
                  <ModelField
                    label="Model on the left"
                    value={draft.model}
                    error={faults.model}
                    disabled={readOnly || isBusy || tried !== undefined}
                    onModel={(model) => edited.edit({ model })}
                  />
                )
              }
            >
              {compares ? (
                <p className="text-muted">Both sides get the same input.</p>
              ) : (
                <TryAgent name={agent.name} onInput={problem ? undefined : send} />
              )}
            </ConversationView>
            {compares && (
              <ConversationView
                lane={right}
                label="Right conversation"
                narrow
                readOnly={readOnly}
                onAgain={(turn) => retryTurn(turn, right.again, sendRight)}
                head={
                  <ModelField
                    label="Model on the right"
                    value={rightModel}
                    disabled={readOnly || isBusy}
                    onModel={(compare) => onSearch({ compare })}
                  />
                }
              />
            )}
          </div>
          <div className="flex shrink-0 flex-col gap-2 px-4 pb-4 rail:px-5">
            <ChatNotes
              hasTurns={left.turns.length > 0}
              unsaved={readOnly ? [] : unsaved}
              isForgetful={!readsThreadHistory(agent, draft) && left.turns.length > 0 && !isBusy}
              error={stop.error ?? steer.error}
            />
            <Composer
              ref={composer}
              text={text}
              placeholder={placeholderOf(agent, openTurns)}
              problem={problem}
              isBusy={isBusy}
              isSteering={steeredIds.length > 0 && !steer.isPending}
              isReading={lanes.some(({ isReading }) => isReading)}
              attachments={attachments}
              canClear={lanes.some(({ turns, error }) => turns.length > 0 || error)}
              onText={setText}
              onSend={() => (isBusy ? sendMore(text.trim()) : send(text.trim()))}
              onInterrupt={() => sendMore(text.trim(), true)}
              onUp={goToCall}
              onStop={() => {
                for (const { runId } of openTurns) if (runId) stop.mutate(runId);
              }}
              onClear={clear}
            />
          </div>
        </div>
        {showsCode && (
          <CodePane requests={requestsOf(bodyOf(text.trim(), search.thread), left.turns.at(-1), steeredIds[0])} />
        )}
      </div>
    </>
  );
}

/** Moves the focus from the message to the first pending call. Returns false if there is none. */
function goToCall(): boolean {
  const call = findCall(document);
  call?.focus();
  return call !== null;
}

/** Resends the same request if no run was created; otherwise starts a new run with the current draft. */
function retryTurn(turn: Turn, resend: (turn: Turn) => void, send: (input: string) => void): void {
  if (turn.error) resend(turn);
  else send(turn.input);
}

function placeholderOf(agent: FullAgent, open: readonly Turn[]): string {
  if (open.some(({ view }) => view.status === "requires_action"))
    return "Answer the open calls (↑ goes there), write a message, or stop the run";
  return open.length > 0 ? "Working… Write to steer the run" : `Write to ${agent.name}`;
}

/** Switch between conversation and agent on narrow screens. */
function PaneSwitch({ pane, onPane }: { pane: "agent" | undefined; onPane: (pane: "agent" | undefined) => void }) {
  return (
    <div className="pg-panes shrink-0 border-b border-line px-4 py-2">
      <SegmentedControl
        name="playground pane"
        label="Shown"
        choices={[
          { value: "chat", label: "Conversation" },
          { value: "agent", label: "Agent" },
        ]}
        chosen={pane ?? "chat"}
        onChoose={(next) => onPane(next === "agent" ? "agent" : undefined)}
      />
    </div>
  );
}

/** Requests of this page as application code. */
function CodePane({ requests }: { requests: readonly ApiRequest[] }) {
  const { mode } = useWorkspace();
  const mayCreate = usePermission("member");
  return (
    <aside aria-label="Code" className="pg-code flex min-h-0 flex-col gap-3 overflow-y-auto bg-subtle p-4">
      <ShowCode name="playground" request={requests} />
      <p className="mt-auto text-xs text-muted">
        This is what the playground sends. <code>$RUNNEL_API_KEY</code> is a {mode} key with the scope run.{" "}
        {mayCreate && (
          <Link to="/keys" className="text-accent underline underline-offset-2">
            Create one
          </Link>
        )}
      </p>
    </aside>
  );
}

/** Cancels a run; its stream reports the end. */
function useStop() {
  const at = useWorkspace();
  return useMutation({
    mutationFn: (runId: string) =>
      post(resourceUrl(at, `/runs/${encodeURIComponent(runId)}/cancel`), { reason: "Stopped in the playground" }),
  });
}

interface SteeringMessage {
  runIds: readonly string[];
  content: unknown;
  /** Ends the answers in progress. */
  interrupt: boolean;
}

/** Sends a message to runs; their streams show it. A retry sends none twice. */
function useSteer() {
  const at = useWorkspace();
  const [postOnce] = useState(createPostOnce);
  return useMutation({
    mutationFn: async ({ runIds, content, interrupt }: SteeringMessage) => {
      const body = { role: "user", content, ...(interrupt && { interrupt }) };
      for (const id of runIds) await postOnce(resourceUrl(at, `/runs/${encodeURIComponent(id)}/messages`), body, id);
    },
  });
}

const query = "(min-width: 1251px)";

/** True if the page is wide enough to show the code beside the conversation. */
function useWide(): boolean {
  return useSyncExternalStore(
    (listener) => {
      const media = matchMedia(query);
      media.addEventListener("change", listener);
      return () => media.removeEventListener("change", listener);
    },
    () => matchMedia(query).matches,
  );
}

/** Maximum number of fields, which a browser still renders quickly. */
const mostShown = 50;

/** A field for each variable of the prompt. */
function VariableFields({
  declared,
  names: written,
  values,
  onValues,
  readOnly,
}: {
  /** Variables of the agent and of those that it may hand over to, whose values each run gets. */
  declared: readonly Variable[];
  /** Names in the texts of this page. */
  names: readonly string[];
  values: Readonly<Record<string, string>>;
  onValues: (values: Record<string, string>) => void;
  readOnly: boolean;
}) {
  const names = written.filter((name) => !declared.some((variable) => variable.name === name));
  if (names.length === 0 && declared.length === 0) return null;
  const change = (name: string, value: string) => onValues({ ...values, [name]: value });
  return (
    <fieldset className="flex min-w-0 flex-col gap-3" disabled={readOnly}>
      <legend className="mb-1.5 font-medium">Variables</legend>
      <DeclaredVariables variables={declared} texts={values} onText={change} />
      {names.slice(0, mostShown).map((name) => (
        <Field
          key={name}
          label={name}
          hint={variableValue(values, name) ? undefined : `Empty: {{${name}}} is sent unchanged.`}
          autoComplete="off"
          value={variableValue(values, name)}
          onChange={({ target }) => change(name, target.value)}
        />
      ))}
      {names.length > mostShown && (
        <p className="text-xs text-muted">{formatCount(names.length - mostShown)} more are sent unchanged.</p>
      )}
      {names.length > 0 && (
        <p className="text-xs text-muted">Runs here use the values. Saved versions keep the variables.</p>
      )}
    </fieldset>
  );
}
