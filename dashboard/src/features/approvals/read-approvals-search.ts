import type { AnswerableNeeds } from "../../../../server/domain/run-event.ts";
import type { ApprovalsSearch } from "../../entities/tool-call/approval-api.ts";
import { omitUndefined, readChoice, readPageSearch } from "../../lib/page-search.ts";

const allNeeds: readonly AnswerableNeeds[] = ["approval", "output", "reconcile"];

/** Reads the query parameters of the inbox. */
export const readApprovalsSearch = (search: Record<string, unknown>): ApprovalsSearch =>
  omitUndefined({ needs: readChoice(search.needs, allNeeds), ...readPageSearch(search, "call") });
