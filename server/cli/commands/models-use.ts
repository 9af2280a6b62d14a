import { Command } from "commander";
import { type ClientFlags, clientOptions, openClient } from "./client-options.ts";
import { findAgent } from "./find-agent.ts";
import { option } from "./option.ts";
import { print } from "./print.ts";

interface UseOptions extends ClientFlags {
  agent: string;
}

/** `runnel models use`: the model of an agent. */
export function modelsUseCommand(): Command {
  const command = new Command("use")
    .description("give an agent another model, in a new version of it; a script for test/script is removed")
    .argument("<model>", "a model, as `models list` shows it")
    .addOption(option("--agent <agent>", "the agent's id (agt_…), or its name", { required: true }))
    .addHelpText("after", "\nExample:\n  $ runnel models use ollama/llama3.2 --agent guide")
    .action(use);
  for (const each of clientOptions()) command.addOption(each);
  return command;
}

interface Agent {
  id: string;
  name: string;
  model: string;
  version: number;
  model_settings: Record<string, unknown>;
}

async function use(model: string, { agent, ...flags }: UseOptions): Promise<void> {
  const client = await openClient(flags);
  const path = `/agents/${await findAgent(client, agent)}`;
  const { model_settings, version } = await client.get<Agent>(path);
  const { script: _, ...kept } = model_settings;
  const changed = await client.patch<Agent>(path, { model, model_settings: kept, expected_version: version });
  print(flags.json, changed, () => `${changed.name} uses ${changed.model} from version ${changed.version} on.`);
}
