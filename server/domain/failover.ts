/** Failures after which a run asks its next model. */
export const failoverReasons = ["rate_limit", "outage", "overflow", "content_filter"] as const;
export type FailoverReason = (typeof failoverReasons)[number];

/** A content filter's decision is the model's answer, so it is no reason unless the agent says so. */
export const defaultFailover: readonly FailoverReason[] = ["rate_limit", "outage", "overflow"];
