import { Type } from "@sinclair/typebox";
import { Subject } from "../http/schemas.ts";

/** Who did what to which thing. */
export const auditFilters = {
  action: Type.String({ pattern: "^[a-z_]{1,64}\\.[a-z_]{1,64}$" }),
  actor_id: Subject,
  target_id: Subject,
  request_id: Subject,
};
