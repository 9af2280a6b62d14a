import type { ApprovalsSearch } from "../../entities/call/approval-api.ts";
import { readChoice, readPageSearch } from "../../lib/page-search.ts";

const allNeeds = ["approval", "output", "reconcile"] as const;

/** What the address of the inbox says. */
export function readApprovalsSearch(search: Record<string, unknown>): ApprovalsSearch {
  const needs = readChoice(search.needs, allNeeds);
  return { ...(needs && { needs }), ...readPageSearch(search, "call") };
}
