import { useQueryClient } from "@tanstack/react-query";
import type { Connection } from "../../../../server/wire/console.ts";
import { connectionsQuery, pricesQuery, removeConnection } from "../../entities/server/server-api.ts";
import { RemoveButton } from "./remove-button.tsx";

/** Removes a stored connection, after saying what that ends. */
export function RemoveConnection({ connection: { name, prefix }, may }: { connection: Connection; may: boolean }) {
  const client = useQueryClient();
  return (
    <RemoveButton
      noun="connection"
      name={name}
      keep="Keep it"
      disabled={!may}
      remove={() => removeConnection(name)}
      onRemoved={() => Promise.all([client.invalidateQueries(connectionsQuery), client.invalidateQueries(pricesQuery)])}
    >
      Runs of agents with a model <code>{prefix}/…</code> fail from their next model call on, unless the environment has
      a connection of this name. The stored key is deleted.
    </RemoveButton>
  );
}
