import { readChoice, readText } from "../../lib/page-search.ts";
import { traceTabs } from "./tabs-of.ts";

/** What the address of a trace says; what is none of it is left out. */
export function readTraceSearch(search: Record<string, unknown>) {
  const step = readStep(search.step);
  const tab = readChoice(search.tab, traceTabs);
  const q = readText(search.q);
  return {
    ...(step !== undefined && { step }),
    ...(tab && { tab }),
    ...(search.view === "detail" && { view: "detail" as const }),
    ...(q && { q }),
    ...(search.fold === "off" && { fold: "off" as const }),
    ...(typeof search.t === "number" && search.t >= 0 && { t: Math.round(search.t) }),
    ...(search.fork === true && { fork: true }),
  };
}

/** A step by its number, one of a run below by the way to it, a restart, or the run itself. */
function readStep(value: unknown): number | string | undefined {
  if (typeof value === "number") return Number.isInteger(value) && value >= 0 ? value : undefined;
  return typeof value === "string" && /^(run|r\d{1,4}|\d{1,6}(-\d{1,6}){0,30}(-r\d{1,4})?)$/.test(value)
    ? value
    : undefined;
}
