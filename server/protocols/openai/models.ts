import { AppError, isRefusal } from "../../domain/errors.ts";
import { isId } from "../../domain/ids.ts";
import { limits } from "../../domain/limits.ts";
import { nameOf, permissions } from "../../domain/scope.ts";
import { agentConditions } from "../../http/auth.ts";
import type { Page } from "../../http/page.ts";
import type { Principal } from "../../http/principal.ts";
import { requireValue } from "../../lib/require-value.ts";
import { textBefore } from "../../lib/text-before.ts";
import type { AgentStore } from "../../resources/agents/store.ts";
import type { AgentResolver } from "../../resources/labels/module.ts";
import type { ModelCatalog } from "../../resources/model-connections/model-catalog.ts";
import type { PriceStore } from "../../resources/model-connections/prices.ts";
import type { ConnectionStore } from "../../resources/model-connections/store.ts";
import { type NamedAgent, readNamedAgent } from "../named-agent.ts";
import type { ApiCalls } from "./api-calls.ts";
import { noModel } from "./errors.ts";
import { embedderId } from "./stores/embeddings.ts";

/** Dependencies of the models: agents and connections. */
export interface ModelDeps {
  agents: AgentStore;
  resolver: AgentResolver;
  connections: ConnectionStore;
  prices: PriceStore;
  catalog: ModelCatalog;
  /** Agents that are being created, by model, so that concurrent requests create one. */
  making: Map<string, Promise<string>>;
}

/** Metadata key of an agent's name for OpenAI's clients. */
const nameKey = "openai.model";

interface Model {
  id: string;
  object: "model";
  created: number;
  owned_by: string;
}

/**
 * Models of OpenAI's clients: agents, by their ids and by a name in their metadata, and models of connections. For the
 * latter an agent is created at the first request by a key that may create agents, so that a budget and guardrails can
 * be set for it.
 */
export function createModels({
  agents,
  resolver,
  connections,
  prices,
  catalog,
  making,
  must,
}: ModelDeps & { must: ApiCalls["must"] }) {
  /** Returns the agents that have a name; the oldest of several with the same one. */
  const agentsByName = (principal: Principal) =>
    new Map(
      agents
        .withMetadata(principal, nameKey)
        .map((agent) => [requireValue(agent.metadata[nameKey], nameKey), agent] as const)
        .toReversed(),
    );

  function make(request: Request, principal: Principal, model: string): Promise<string> {
    const place = `${nameOf(principal)} ${model}`;
    const body = { name: model.slice(0, limits.name_length), instructions: "", model, metadata: { [nameKey]: model } };
    const creation =
      making.get(place) ??
      must(request, "POST", "/v1/agents", body, null)
        .then(({ id }) => String(id))
        .finally(() => making.delete(place));
    making.set(place, creation);
    return creation;
  }

  /** Returns the agent of a name, perhaps with a label or a version. Throws for a name that none has, or several. */
  function requireNamed(principal: Principal, model: string): NamedAgent {
    if (isId("agent", model)) throw noModel(model);
    try {
      return readNamedAgent(resolver, principal, model);
    } catch (error) {
      throw isRefusal(error, "resource_not_found") ? noModel(model) : error;
    }
  }

  return {
    /** Returns the agent of a model name, and creates it if needed. Throws `resource_not_found`. */
    async agentOf(request: Request, principal: Principal, model: string): Promise<NamedAgent> {
      if (agents.has(principal, model)) return { id: model, reference: model };
      const existingAgent = agentsByName(principal).get(model);
      if (existingAgent) return { id: existingAgent.id, reference: existingAgent.id };
      if (!mayMake(principal) || !connections.isAvailable(model, principal.environment))
        return requireNamed(principal, model);
      const id = await make(request, principal, model);
      return { id, reference: id };
    },

    async list(principal: Principal): Promise<Model[]> {
      requireUse(principal);
      const found: Model[] = [];
      for (let starting_after: string | null = null; ; ) {
        const list = await agents.list(principal, { ...firstPage, starting_after }, agentConditions(principal, "id"));
        found.push(...list.data.map((agent) => modelOf(agent)));
        starting_after = list.last_id;
        if (!list.has_more) break;
      }
      const names = [...agentsByName(principal)].map(([name, agent]) => modelOf(agent, name));
      const withoutAgent = (await ofConnections(principal)).filter(({ id }) => names.every((one) => one.id !== id));
      return [...found, ...names, ...withoutAgent, embedder];
    },

    /** Throws `resource_not_found`. */
    retrieve(principal: Principal, id: string): Model {
      requireUse(principal);
      if (id === embedderId) return embedder;
      if (agents.has(principal, id)) return modelOf(agents.get(principal, id));
      const there = agentsByName(principal).get(id);
      if (there) return modelOf(there, id);
      if (!mayMake(principal) || !connections.isAvailable(id, principal.environment))
        return modelOf(agents.get(principal, requireNamed(principal, id).id), id);
      return unmadeOf(id);
    },
  };

  /** Returns the listed and known models of connections, for a key that may use them. */
  async function ofConnections(principal: Principal): Promise<Model[]> {
    if (!mayMake(principal)) return [];
    const known = await catalog.models(principal.environment, prices, { available: true });
    return known.flatMap(({ id, provider }) => (provider === "test" ? [] : [unmadeOf(id)]));
  }
}

const firstPage: Page = {
  limit: 100,
  order: "desc",
  starting_after: null,
  ending_before: null,
  created_at: [],
  metadata: [],
  filters: {},
};

/** Throws if a key may neither read nor run. A client token always sees its own agent. */
function requireUse({ scopes, token }: Principal): void {
  if (!token && !permissions.some((scope) => scopes.has(scope)))
    throw new AppError("insufficient_scope", 'This needs the scope "read".');
}

/** True if the key could create an agent with any model, so that this route grants no extra rights. */
const mayMake = ({ scopes, token, agent_ids }: Principal): boolean =>
  !token && agent_ids === null && scopes.has("admin");

const modelOf = ({ id, created_at }: { id: string; created_at: string }, name = id): Model => ({
  id: name,
  object: "model",
  created: Math.floor(Date.parse(created_at) / 1000),
  owned_by: "runnel",
});

/** A model of a connection without an agent yet. */
const unmadeOf = (id: string): Model => ({ id, object: "model", created: 0, owned_by: textBefore(id, "/") });

/** The built-in embedding model, which has no creation time. */
const embedder: Model = { id: embedderId, object: "model", created: 0, owned_by: "runnel" };
