import type { ReactNode } from "react";

/** Body of an automation's page: its rule beside its past outcomes; a narrow page shows the rule first. */
export const AutomationBody = ({ children }: { children: ReactNode }) => (
  <div className="flex min-h-0 flex-1 flex-col overflow-y-auto wide:flex-row-reverse wide:overflow-hidden">
    {children}
  </div>
);

/** Rule of an automation: when its runs start, and with which input. */
export const AutomationRule = ({ label, children }: { label: string; children: ReactNode }) => (
  <section
    aria-label={label}
    className="flex shrink-0 flex-col gap-4 border-b border-line px-4 py-4 rail:px-5 wide:w-90 wide:overflow-y-auto wide:border-b-0 wide:border-l"
  >
    {children}
  </section>
);
