import { useQuery } from "@tanstack/react-query";
import type { ApiKey } from "../../../../server/wire/key.ts";
import { keysQuery, type MadeKey } from "../../entities/key/key-api.ts";
import { useSessionUser } from "../../entities/session/use-may.ts";
import { useWorkspace } from "../../lib/workspace.ts";

/** What is being done to a key, in its dialog. */
export type KeyAct =
  | { kind: "create" }
  | { kind: "reveal"; made: MadeKey }
  | { kind: "details" | "rotate" | "overlap" | "end" | "revoke"; key: ApiKey };

/** Who made a key, as far as this page knows: you, another person, another key, or the command line. */
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
