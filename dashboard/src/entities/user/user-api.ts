import type { Erasure } from "../../../../server/domain/api-types/user.ts";
import { remove, resourceUrl } from "../../lib/api.ts";
import type { WorkspaceKey } from "../crud/resource.ts";

const wait_s = 30;

/** Deletes all data of a user; returns the progress. */
export const eraseUser = (at: WorkspaceKey, userId: string): Promise<Erasure> =>
  remove(resourceUrl(at, `/users/${encodeURIComponent(userId)}/data?wait=${wait_s}`));
