import { isId } from "../../domain/ids.ts";
import type { ApiClient } from "./api-client.ts";
import { CliError } from "./exit-code.ts";

/** Returns the id of an agent that is given by its id or its name. Throws if there is none of this name. */
export async function findAgent(client: ApiClient, agent: string): Promise<string> {
  if (isId("agent", agent)) return agent;
  for await (const { id, name } of client.all<{ id: string; name: string }>("/agents")) if (name === agent) return id;
  throw new CliError(`There is no agent "${agent}".`);
}
