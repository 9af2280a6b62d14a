import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { agentApi } from "../../entities/agent/agent-api.ts";
import { connectedModelsQuery } from "../../entities/model/model-api.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { ErrorNote } from "../../ui/feedback/error-note.tsx";
import { Button } from "../../ui/forms/button.tsx";
import { Field } from "../../ui/forms/field.tsx";
import { TextArea } from "../../ui/forms/text-area.tsx";
import { agentBody, createFirstAgent, guideTool, scriptModel } from "./first-run-api.ts";
import { Code } from "./key-step.tsx";
import { Pane } from "./pane.tsx";

/** The step that creates an agent with one tool, using the built-in model or a connected one. */
export function AgentStep({ onMade, onSkip }: { onMade: (agentId: string) => void; onSkip: () => void }) {
  const at = useWorkspace();
  const client = useQueryClient();
  const [name, setName] = useState("Order desk");
  const [instructions, setInstructions] = useState(
    "You answer questions about orders. Look each order up first. Be brief.",
  );
  const [model, setModel] = useState(scriptModel);
  const draft = { name: name.trim(), instructions, model };
  const creation = useMutation({
    mutationFn: () => createFirstAgent(at, draft),
    onSuccess: ({ id }) => {
      void client.invalidateQueries(agentApi.all(at));
      onMade(id);
    },
  });
  return (
    <Pane
      title="Create an agent"
      go={
        <>
          <Button
            kind="primary"
            disabled={creation.isPending || !draft.name || !instructions.trim()}
            onClick={() => creation.mutate()}
          >
            Create agent
          </Button>
          <Button kind="ghost" onClick={onSkip}>
            Skip
          </Button>
        </>
      }
    >
      <p className="text-md text-muted">
        An agent is a model with instructions and tools. This one may use <code>{guideTool.name}</code>, which is your
        own code: a run waits until it responds.
      </p>
      <Field label="Name" value={name} onChange={(event) => setName(event.target.value)} />
      <ModelChoice model={model} onModel={setModel} />
      <TextArea
        label="Instructions"
        value={instructions}
        onChange={(event) => setInstructions(event.target.value)}
        rows={2}
      />
      <ErrorNote title="The agent was not created" error={creation.error} />
      <Code
        name="agent"
        title="The same from your server, with an admin key"
        request={[
          { method: "POST", path: "/v1/tools", body: guideTool, note: "The tool; its id goes into the agent." },
          { method: "POST", path: "/v1/agents", body: agentBody(draft, "tool_…"), note: "The agent." },
        ]}
      />
    </Pane>
  );
}

function ModelChoice({ model, onModel }: { model: string; onModel: (model: string) => void }) {
  const { data: connected = [] } = useQuery(connectedModelsQuery(useWorkspace()));
  const box =
    "flex cursor-pointer gap-2.5 rounded-md border border-line-control p-3 hover:border-muted has-checked:border-accent has-checked:bg-accent-soft has-focus-visible:shadow-(--focus)";
  const isScript = model === scriptModel;
  return (
    <fieldset className="grid gap-2 wide:grid-cols-2">
      <legend className="pb-1.5 font-medium">Model</legend>
      <label className={box}>
        <input
          type="radio"
          name="first model"
          className="mt-0.5"
          checked={isScript}
          onChange={() => onModel(scriptModel)}
        />
        <span>
          <b className="block font-medium">{scriptModel}</b>
          <span className="text-xs text-muted">Built in: plays a script with one tool call. Free and offline.</span>
        </span>
      </label>
      {connected.length > 0 ? (
        <label className={box}>
          <input
            type="radio"
            name="first model"
            className="mt-0.5"
            checked={!isScript}
            onChange={() => onModel(connected[0]!)}
          />
          <span className="min-w-0">
            <b className="cut block font-medium">{isScript ? connected[0] : model}</b>
            <span className="text-xs text-muted">From a connection. The provider charges for the run.</span>
          </span>
        </label>
      ) : (
        <p className="rounded-md border border-dashed border-line-control p-3">
          <b className="block font-medium">A provider's model</b>
          <span className="text-xs text-muted">
            None is connected.{" "}
            <Link to="/settings" search={{ tab: "connections" }} className="text-accent underline underline-offset-2">
              Connect one
            </Link>{" "}
            now or later.
          </span>
        </p>
      )}
    </fieldset>
  );
}
