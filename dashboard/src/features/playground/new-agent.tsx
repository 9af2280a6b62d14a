import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import type { Agent as FullAgent } from "../../../../server/wire/agent.ts";
import type { Tool } from "../../../../server/wire/tool.ts";
import { agentApi } from "../../entities/agent/agent-api.ts";
import { toolApi } from "../../entities/tool/tool-api.ts";
import { ApiError, post, resourceUrl } from "../../lib/api.ts";
import { getAll } from "../../lib/get-all.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Button } from "../../ui/button.tsx";
import { ChoiceCards } from "../../ui/choice-cards.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Field } from "../../ui/field.tsx";
import { FoldedCode } from "../../ui/show-code.tsx";
import { TextArea } from "../../ui/text-area.tsx";
import { toast } from "../../ui/toast.ts";
import { ModelField } from "./model-field.tsx";
import { type Preset, presetAgent, presets, weatherTool } from "./presets.ts";

const words: Record<Preset, { label: string; hint: string; name: string; instructions: string }> = {
  tool: {
    label: "One that asks you",
    hint: "A test model calls a client tool, get_weather, and you answer it. Free, and needs no provider.",
    name: "Weather desk",
    instructions: "Ask the tool for the weather, and tell it.",
  },
  echo: {
    label: "One that echoes",
    hint: "A test model says what it is told. Free, and needs no provider.",
    name: "Echo",
    instructions: "Say what you are told.",
  },
  model: {
    label: "One with a model of yours",
    hint: "Any model that this server can reach. It reads the conversation so far.",
    name: "Assistant",
    instructions: "You are a helpful assistant. Answer briefly.",
  },
};

/** Makes an agent to try: the first one of a project, or another. */
export function NewAgent({ onCreated }: { onCreated: (id: string) => void }) {
  const at = useWorkspace();
  const [preset, setPreset] = useState<Preset>(at.mode === "test" ? "tool" : "model");
  const [name, setName] = useState(words[preset].name);
  const [instructions, setInstructions] = useState(words[preset].instructions);
  const [model, setModel] = useState("");
  const create = useCreateAgent(onCreated);
  const choose = (next: Preset) => {
    // What somebody wrote stays.
    if (name === words[preset].name) setName(words[next].name);
    if (instructions === words[preset].instructions) setInstructions(words[next].instructions);
    setPreset(next);
  };
  const written = { name: name.trim(), instructions, model: model.trim() };
  const isReady = written.name !== "" && (preset !== "model" || written.model !== "");
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isReady && !create.isPending) create.mutate({ preset, written });
  };
  return (
    <form onSubmit={submit} noValidate className="mx-auto flex w-full max-w-135 min-w-0 flex-col gap-4 py-6">
      <div>
        <h2 className="text-lg">Make an agent to try</h2>
        <p className="text-muted">An agent is instructions, a model and tools. All of it can be changed afterwards.</p>
      </div>
      {create.error && <ErrorNote title="The agent was not created" error={create.error} />}
      {at.mode === "test" && (
        <ChoiceCards
          label="Kind"
          choices={[...presets].reverse().map((value) => ({ value, ...words[value] }))}
          chosen={preset}
          onChoose={choose}
        />
      )}
      <Field label="Name" value={name} maxLength={128} onChange={(event) => setName(event.target.value)} />
      <TextArea
        label="Instructions"
        rows={3}
        value={instructions}
        onChange={(event) => setInstructions(event.target.value)}
      />
      {preset === "model" && (
        <>
          <ModelField hint="A name like openai/gpt-4.1, of a connection." value={model} onModel={setModel} />
          <p className="text-xs text-muted">
            No provider yet?{" "}
            <Link to="/settings" search={{ tab: "connections" }} className="text-accent underline underline-offset-2">
              Connect a model
            </Link>
          </p>
        </>
      )}
      <div>
        <Button type="submit" kind="primary" disabled={!isReady || create.isPending}>
          Create agent
        </Button>
      </div>
      <FoldedCode
        name="new agent"
        request={{ method: "POST", path: "/v1/agents", body: presetAgent(preset, written, "tool_…") }}
      />
    </form>
  );
}

interface NewAgentInput {
  preset: Preset;
  written: { name: string; instructions: string; model: string };
}

function useCreateAgent(onCreated: (id: string) => void) {
  const at = useWorkspace();
  const client = useQueryClient();
  return useMutation({
    mutationFn: async ({ preset, written }: NewAgentInput) => {
      const toolId = preset === "tool" ? await weatherToolId() : null;
      return post<FullAgent>(resourceUrl(at, "/agents"), presetAgent(preset, written, toolId));
    },
    onSuccess: async (agent) => {
      await Promise.all([agentApi, toolApi].map((api) => client.invalidateQueries(api.all(at))));
      toast("Agent created");
      onCreated(agent.id);
    },
  });

  async function weatherToolId(): Promise<string> {
    try {
      return (await post<Tool>(resourceUrl(at, "/tools"), weatherTool)).id;
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== "name_taken") throw error;
      const known = (await getAll<Tool>(at, "/tools")).find(({ name }) => name === weatherTool.name);
      if (!known) throw error;
      return known.id;
    }
  }
}
