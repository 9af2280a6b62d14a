import type { ConnectionModels } from "../../../../server/domain/api-types/console.ts";
import { post } from "../../lib/api.ts";

/** Reads the list of a connection's models now; a connection is named by its name or by its models' prefix. */
export const refreshModels = (connection: string): Promise<ConnectionModels> =>
  post(`/console/api/connections/${connection.split("/").at(-1)}/models`);
