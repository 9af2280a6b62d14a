import type { Client, RequestOptions } from "./client.ts";
import { definitionOf, type FunctionTool } from "./tool.ts";

/** Base class of the generated resource `tools`. */
export abstract class ToolsBase<Synced> {
  constructor(protected readonly client: Client) {}

  /** Creates or changes a client tool for each function, one after the other. */
  protected async syncAll(
    tools: readonly FunctionTool[],
    query: object | undefined,
    options: RequestOptions | undefined,
  ): Promise<Synced[]> {
    const synced: Synced[] = [];
    for (const { name, ...body } of tools.map(definitionOf)) {
      const path = `/v1/tools/by-name/${encodeURIComponent(name)}`;
      synced.push(await this.client.json<Synced>("PUT", path, { ...options, query, body }));
    }
    return synced;
  }
}
