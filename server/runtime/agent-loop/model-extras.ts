import type { ModelSettings } from "../../domain/model-call.ts";
import { type Model, type ModelError, unknownUsage } from "../models/model.ts";
import { parseModel } from "../models/registry.ts";
import type { Ask, RunStart } from "./messages.ts";

/**
 * Adds an agent's headers, body fields and options to all requests of a model, also to those of its judges and
 * summaries. Named secrets are read for each request and are hidden in the answer.
 */
export function withExtras(model: Model, settings: ModelSettings, ask: Ask): Model {
  const { headers, extra_body, provider_options } = settings;
  if (!headers && !extra_body && !provider_options) return model;
  return {
    async *stream(request, signal, observer) {
      const resolved = headers ? await ask("model_headers", { headers }) : null;
      const [missing] = resolved?.named?.missing ?? [];
      const fault =
        missing === undefined
          ? resolved?.fault
          : `The model's headers name the secret ${missing}, which does not exist.`;
      if (fault) return yield { type: "error", error: unsent(fault), usage: unknownUsage };
      const extras = {
        headers: resolved?.headers ?? {},
        secrets: resolved?.named?.values ?? [],
        body: extra_body ?? {},
        options: provider_options ?? {},
      };
      // Not `yield*`, which costs several promises per token.
      for await (const event of model.stream({ ...request, extras }, signal, observer)) yield event;
    },
  };
}

/**
 * Returns the settings with additions to requests for a model of the run. Fields and options suit only the agent's own
 * model; headers, which may have secrets, go only to the server of that model, also if it is no longer connected.
 */
export function extraSettings(
  { model, connection }: Pick<RunStart, "model" | "connection">,
  { agent }: Pick<RunStart, "agent">,
): ModelSettings {
  const own = parseModel(agent.model);
  if (connection.provider !== own?.provider || connection.name !== own.connection) return {};
  return model === own.model ? agent.settings : { headers: agent.settings.headers };
}

const unsent = (message: string): ModelError => ({
  code: "model_not_available",
  message,
  retryable: false,
  retry_after_ms: null,
  aborted: false,
  request: "not_sent",
});
