import type { DocumentWarning, WarningCode } from "../../domain/document-report.ts";

export const warningBounds = { count: 50, message: 300 } as const;

/** Collects warnings. Repeated ones count once, and the last one of too many says how many were left out. */
export function openWarnings() {
  const warnings = new Map<string, DocumentWarning>();
  let extra = 0;
  return {
    add(code: WarningCode, message: string, page: number | null): void {
      const text = message.toWellFormed().replaceAll("\0", "").slice(0, warningBounds.message).toWellFormed();
      const key = JSON.stringify([code, text, page]);
      if (warnings.has(key)) return;
      if (warnings.size < warningBounds.count - 1) warnings.set(key, { code, message: text, page });
      else extra++;
    },
    list(): DocumentWarning[] {
      const rest = `${extra} more warnings are not listed.`;
      return [
        ...warnings.values(),
        ...(extra > 0 ? [{ code: "more_warnings" as const, message: rest, page: null }] : []),
      ];
    },
  };
}
