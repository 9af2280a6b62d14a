import type { ApprovalsSearch } from "../../entities/call/approval-api.ts";
import { given, readChoice, readPageSearch } from "../../lib/page-search.ts";

const allNeeds = ["approval", "output", "reconcile"] as const;

/** What the address of the inbox says. */
export const readApprovalsSearch = (search: Record<string, unknown>): ApprovalsSearch =>
  given({ needs: readChoice(search.needs, allNeeds), ...readPageSearch(search, "call") });
