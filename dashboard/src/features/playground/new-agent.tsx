import { useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { limits } from "../../../../server/domain/limits.ts";
import type { Agent as FullAgent } from "../../../../server/resources/agents/schema.ts";
import type { Tool } from "../../../../server/resources/tools/schema.ts";
import { agentApi } from "../../entities/agent/agent-api.ts";
import { toolApi } from "../../entities/tool/tool-api.ts";
import { useForm } from "../../hooks/use-form.ts";
import { ApiError, post, resourceUrl } from "../../lib/api.ts";
import { getAll } from "../../lib/get-all.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { CodeEditor } from "../../ui/editor/code-editor.tsx";
import { ErrorNote } from "../../ui/feedback/error-note.tsx";
import { toast } from "../../ui/feedback/toast.ts";
import { Button } from "../../ui/forms/button.tsx";
import { Field } from "../../ui/forms/field.tsx";
import { Form } from "../../ui/forms/form.tsx";
import { RadioCards } from "../../ui/forms/radio-cards.tsx";
import { FoldedCode } from "../../ui/forms/show-code.tsx";
import { ModelField } from "./model-field.tsx";

const words: Record<Preset, { label: string; hint: string; name: string; instructions: string }> = {
  tool: {
    label: "With a client tool",
    hint: "A test model calls a client tool, get_weather, and you return its output. Free, no provider needed.",
    name: "Weather desk",
    instructions: "Use the tool to look up the weather, then report it.",
  },
  echo: {
    label: "Echo",
    hint: "A test model repeats its input. Free, no provider needed.",
    name: "Echo",
    instructions: "Repeat the input.",
  },
  model: {
    label: "With your own model",
    hint: "Any model this server can reach, with conversation memory.",
    name: "Assistant",
    instructions: "You are a helpful assistant. Answer briefly.",
  },
};

/** Creates an agent to try: the first one of a project, or another. */
export function NewAgent({ onCreated }: { onCreated: (id: string) => void }) {
  const at = useWorkspace();
  const client = useQueryClient();
  const create = useCreateAgent();
  const form = useForm({
    first: (): NewAgentDraft => {
      const preset: Preset = at.mode === "test" ? "tool" : "model";
      return { preset, name: words[preset].name, instructions: words[preset].instructions, model: "" };
    },
    send: create,
    onSent: async (agent) => {
      await Promise.all([agentApi, toolApi].map((api) => client.invalidateQueries(api.all(at))));
      toast("Agent created");
      onCreated(agent.id);
    },
  });
  const { draft, text, code, set } = form;
  const choose = (preset: Preset) => {
    // Keep text that a person has written.
    const [was, is] = [words[draft.preset], words[preset]];
    set({
      preset,
      ...(draft.name === was.name && { name: is.name }),
      ...(draft.instructions === was.instructions && { instructions: is.instructions }),
    });
  };
  const isReady = draft.name.trim() !== "" && (draft.preset !== "model" || draft.model.trim() !== "");
  return (
    <Form
      form={{ ...form, isUnsaved: false }}
      ready={isReady}
      className="mx-auto flex w-full max-w-135 min-w-0 flex-col gap-4 py-6"
    >
      <div>
        <h2 className="text-lg">Create an agent to try</h2>
        <p className="text-muted">An agent is a model with instructions and tools. You can change all of it later.</p>
      </div>
      <ErrorNote title="The agent was not created" error={form.failure} />
      {at.mode === "test" && (
        <RadioCards
          label="Kind"
          choices={[...presets].reverse().map((value) => ({ value, ...words[value] }))}
          chosen={draft.preset}
          onChoose={choose}
        />
      )}
      <Field label="Name" maxLength={limits.name_length} {...text("name")} />
      <CodeEditor label="Instructions" language="markdown" {...code("instructions")} />
      {draft.preset === "model" && (
        <>
          <ModelField
            hint="A name like openai/gpt-4.1, of a connection."
            value={draft.model}
            onModel={(model) => set({ model })}
          />
          <p className="text-xs text-muted">
            No provider yet?{" "}
            <Link to="/settings" search={{ tab: "connections" }} className="text-accent underline underline-offset-2">
              Connect a model
            </Link>
          </p>
        </>
      )}
      <div>
        <Button type="submit" kind="primary" disabled={!isReady || form.isPending}>
          Create agent
        </Button>
      </div>
      <FoldedCode
        name="new agent"
        request={{ method: "POST", path: "/v1/agents", body: presetAgent(draft.preset, writtenOf(draft), "tool_…") }}
      />
    </Form>
  );
}

interface NewAgentDraft {
  preset: Preset;
  name: string;
  instructions: string;
  model: string;
}

const writtenOf = ({ name, instructions, model }: NewAgentDraft) => ({
  name: name.trim(),
  instructions,
  model: model.trim(),
});

function useCreateAgent() {
  const at = useWorkspace();
  return async (draft: NewAgentDraft): Promise<FullAgent> => {
    const toolId = draft.preset === "tool" ? await weatherToolId() : null;
    return await post<FullAgent>(resourceUrl(at, "/agents"), presetAgent(draft.preset, writtenOf(draft), toolId));
  };

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

/** Presets for a new agent. */
export const presets = ["model", "tool", "echo"] as const;
type Preset = (typeof presets)[number];

/** A client tool, answered by the reader, for agents that are created to be tried. */
const weatherTool = {
  name: "get_weather",
  type: "client",
  description: "Returns the weather of a city. Your own code answers the call.",
  parameters: {
    type: "object",
    properties: { city: { type: "string", description: "Name of the city" } },
    required: ["city"],
  },
};

/** Body of `POST /v1/agents` for a preset; `model` uses the written fields. */
export function presetAgent(
  preset: Preset,
  written: { name: string; instructions: string; model: string },
  toolId: string | null,
): Record<string, unknown> {
  if (preset === "model") return written;
  const { name, instructions } = written;
  if (preset === "echo") return { name, instructions, model: "test/echo" };
  return { name, instructions, model: "test/script", tools: toolId ? [toolId] : [], model_settings: { script } };
}

const script = [
  {
    reasoning: "The weather is not something that I know. There is a tool for it.",
    text: "I am asking your code for the weather in Oslo.",
    tool_calls: [{ name: weatherTool.name, arguments: { city: "Oslo" } }],
    delta_ms: 25,
  },
  {
    text: "Thank you. **Your code has answered**, and I have read it:\n\n- the run waited for you, and cost nothing meanwhile\n- its trace holds every step, to be replayed and forked",
    delta_ms: 25,
  },
];
