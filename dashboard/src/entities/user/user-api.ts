import type { Erasure } from "../../../../server/wire/user.ts";
import { remove, resourceUrl } from "../../lib/api.ts";
import type { At } from "../resource/resource.ts";

const wait_s = 30;

/** Deletes all that there is of a user; returns how far that has come. */
export const eraseUser = (at: At, userId: string): Promise<Erasure> =>
  remove(resourceUrl(at, `/users/${encodeURIComponent(userId)}/data?wait=${wait_s}`));
