import type { ApiClient } from "../commands/api-client.ts";
import type { Thing } from "./kinds.ts";
import type { PlannedTexts } from "./planned-texts.ts";
import type { StoredThings } from "./stored-things.ts";

export type Outcome = "created" | "updated" | "unchanged";

/** A step of the plan: the work on one thing. */
export interface Change extends Pick<Thing, "kind" | "name"> {
  outcome: Outcome;
  /** Names of the fields that differ, or of the files of a skill; empty for a new thing. */
  fields: string[];
  path: string;
}

/** A change with the secret of a new thing, which the server shows only once. */
export interface Done extends Change {
  secret?: string;
  /** Where the sender posts, if the server has chosen that. */
  url?: string;
}

export interface SetOptions {
  client: ApiClient;
  stored: StoredThings;
  /** True: nothing is stored, and things that are still to be created are left out of those that name them. */
  isDry: boolean;
  planned: PlannedTexts;
}
