import { useQuery } from "@tanstack/react-query";
import type { ApiKey } from "../../../../server/domain/api-types/key.ts";
import { type KeyWithSecret, keysQuery } from "../../entities/key/key-api.ts";
import { useSessionUser } from "../../entities/session/use-may.ts";
import { useWorkspace } from "../../lib/workspace.ts";

/** An action on a key whose dialog is open. */
export type KeyAction =
  | { kind: "create" }
  | { kind: "reveal"; made: KeyWithSecret }
  | { kind: "details" | "rotate" | "overlap" | "end" | "revoke"; key: ApiKey };

/** Returns a name for the creator of a key: you, another person, another key, or the command line. */
export function useKeyMaker({ created_by }: ApiKey): string {
  const user = useSessionUser();
  const at = useWorkspace();
  const { data } = useQuery({ ...keysQuery(at), enabled: created_by.startsWith("key_") });
  if (created_by === "cli") return "command line";
  if (created_by === user?.id) return "you";
  if (created_by.startsWith("usr_")) return "another person";
  const key = data?.keys.find(({ id }) => id === created_by);
  return key ? `key …${key.last4}` : "another key";
}
