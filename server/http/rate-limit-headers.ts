import type { Standing } from "./rate-limit.ts";

/** The headers of section 13 for the bucket that applied. A limit that is off has none. */
export const rateLimitHeaders = (standing: Standing | null): Record<string, string> =>
  standing === null
    ? {}
    : {
        "x-ratelimit-limit": String(standing.limit),
        "x-ratelimit-remaining": String(standing.remaining),
        "x-ratelimit-reset": String(standing.reset),
      };
