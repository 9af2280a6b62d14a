import { type ChatSettings, defaultChatLimits } from "../../../../server/domain/chat-page.ts";
import { readChoiceText, textOfChoice } from "../../entities/agent/version-choice.ts";
import type { FieldErrors } from "../../lib/field-errors.ts";

/** A chat page's settings as the form holds them, before they are saved. */
interface ChatDraft {
  access: ChatSettings["access"];
  title: string;
  /** The label in the form of `version-choice.ts`; empty: the newest version. */
  choice: string;
  files: "none" | "files";
  visitor_minute: string;
  visitor_day: string;
  page_minute: string;
  page_day: string;
  max_cost_usd: string;
}

/** Returns the form's initial values: those of the page, or the defaults of a new page. */
export function chatDraftOf(page: ChatSettings | null): ChatDraft {
  const { limits, visitor_limits } = page ?? defaultChatLimits;
  return {
    access: page?.access ?? "link",
    title: page?.title ?? "",
    choice: textOfChoice({ label: page?.label ?? null }),
    files: page?.files ? "files" : "none",
    visitor_minute: String(visitor_limits.runs_per_minute),
    visitor_day: String(visitor_limits.runs_per_day),
    page_minute: String(limits.runs_per_minute),
    page_day: String(limits.runs_per_day),
    max_cost_usd: String(page?.budget?.max_cost_usd ?? ""),
  };
}

/** Returns the settings to send. Keeps the parts of the budget that the form has no field for. */
export function chatPageOf(draft: ChatDraft, budget: ChatSettings["budget"]): ChatSettings {
  const { max_cost_usd: _, ...others } = budget ?? {};
  const { label } = readChoiceText(draft.choice);
  const all = { ...others, ...(draft.max_cost_usd.trim() !== "" && { max_cost_usd: Number(draft.max_cost_usd) }) };
  return {
    access: draft.access,
    title: draft.title.trim() || null,
    ...(label !== null && { label }),
    files: draft.files === "files",
    limits: { runs_per_minute: Number(draft.page_minute), runs_per_day: Number(draft.page_day) },
    visitor_limits: { runs_per_minute: Number(draft.visitor_minute), runs_per_day: Number(draft.visitor_day) },
    budget: Object.keys(all).length === 0 ? null : all,
  };
}

const counts = ["visitor_minute", "visitor_day", "page_minute", "page_day"] as const;

export function chatFaults(draft: ChatDraft): FieldErrors<ChatDraft> {
  const wrong = counts.filter((field) => !/^[1-9]\d{0,5}$/.test(draft[field].trim()));
  const cost = draft.max_cost_usd.trim();
  return {
    ...Object.fromEntries(wrong.map((field) => [field, "Enter a whole number, 1 or more."])),
    ...(cost !== "" && !(Number(cost) > 0) && { max_cost_usd: "Enter an amount above 0, or leave it empty." }),
  };
}
