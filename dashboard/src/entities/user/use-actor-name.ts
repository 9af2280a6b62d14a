import { useQuery } from "@tanstack/react-query";
import { useWorkspace } from "../../lib/workspace.ts";
import { keysQuery } from "../key/key-api.ts";
import { peopleQuery } from "../server/server-api.ts";

/** Display name of an actor: a person's email or a key's name; otherwise null. */
export function useActorName(actor: { type: string; id: string | null } | null): string | null {
  const people = useQuery({ ...peopleQuery, enabled: actor?.type === "user", staleTime: 60_000 });
  const keys = useQuery({ ...keysQuery(useWorkspace()), enabled: actor?.type === "api_key", refetchInterval: false });
  if (!actor?.id) return null;
  if (actor.type === "user") return people.data?.find(({ id }) => id === actor.id)?.email ?? null;
  return keys.data?.keys.find(({ id }) => id === actor.id)?.name ?? null;
}
