import type { ReactNode } from "react";
import { Logo } from "../../ui/data/logo.tsx";

/** The page layout of forms outside the dashboard: sign-in, set-up, invitation, password reset. */
export function EntryCard({ title, lead, children }: { title: string; lead?: ReactNode; children?: ReactNode }) {
  return (
    <div className="flex min-h-dvh flex-col">
      <header className="flex items-center gap-3 px-5 py-3.5">
        <Logo />
        <span className="ml-auto hidden text-xs text-muted rail:block">
          {window.location.origin}. Nothing leaves this machine unless you connect a model.
        </span>
      </header>
      <main className="grid flex-1 place-items-start justify-items-center px-4 pt-[4vh] pb-10">
        <div className="flex w-full max-w-110 flex-col gap-4 rounded-xl border border-mode-line bg-surface p-5 shadow-2 rail:p-8">
          <h1 className="text-xl">{title}</h1>
          {lead && <p className="text-muted">{lead}</p>}
          {children}
        </div>
      </main>
    </div>
  );
}
