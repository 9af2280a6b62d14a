import type { ModelSettings } from "./model-call.ts";
import type { Provider } from "./providers.ts";

type SettingName = Exclude<keyof ModelSettings, "script" | "script_at">;

/**
 * Settings for which a provider's API has no field. An agent that is saved with one is refused. A run that is given one
 * by its client, or has it from an older agent, names it in the trace.
 */
const withoutField: Partial<Record<Provider, readonly SettingName[]>> = {
  openai: ["seed", "stop"],
  anthropic: ["seed"],
  bedrock: ["seed"],
  google: ["parallel_tool_calls"],
  deepseek: ["seed", "parallel_tool_calls"],
};

/** Returns the settings that a provider cannot take. */
export const unsupportedSettings = (provider: Provider, settings: ModelSettings): SettingName[] =>
  (withoutField[provider] ?? []).filter((name) => settings[name] !== undefined && !isDefault(name, settings));

/** Parallel calls are what models make without the setting. */
const isDefault = (name: SettingName, { parallel_tool_calls }: ModelSettings): boolean =>
  name === "parallel_tool_calls" && parallel_tool_calls === true;
