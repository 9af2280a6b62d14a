type Approval = "never" | "always" | { when: object };

/** Who decides before a call, in words. */
export function approvalWords(approval: Approval): string {
  if (approval === "never") return "Nobody asked";
  return approval === "always" ? "A person approves" : "A person approves some";
}
