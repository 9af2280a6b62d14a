import type { Filters } from "../http/page.ts";

/** Who did what to which thing. */
export const auditFilters: Filters = {
  action: /^[a-z_]{1,64}\.[a-z_]{1,64}$/,
  actor_id: /^[\s\S]{1,255}$/,
  target_id: /^[\s\S]{1,255}$/,
  request_id: /^[\s\S]{1,255}$/,
};
