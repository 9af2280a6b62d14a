import type { Connection } from "../../../../server/domain/api-types/console.ts";
import { connectionsQuery, pricesQuery, removeConnection } from "../../entities/server/server-api.ts";
import { RemoveButton } from "./remove-button.tsx";

/** Removes a stored connection after explaining the effects. */
export function RemoveConnection({ connection: { name, prefix }, may }: { connection: Connection; may: boolean }) {
  return (
    <RemoveButton
      noun="connection"
      name={name}
      disabled={!may}
      remove={() => removeConnection(name)}
      stale={[connectionsQuery, pricesQuery]}
    >
      Runs of agents with a model <code>{prefix}/…</code> fail at their next model call, unless the environment has a
      connection of this name. The stored key is deleted.
    </RemoveButton>
  );
}
