import { Link } from "@tanstack/react-router";
import { GitFork, History } from "lucide-react";
import { useMay } from "../../entities/session/use-may.ts";
import type { OriginLine } from "./origin-line.ts";

/** Where one of the runs left the other, and by what. */
export function OriginRow({ origin: { text, again } }: { origin: OriginLine }) {
  const may = useMay("member");
  const Icon = again ? GitFork : History;
  return (
    <li className="flex items-center gap-2.5 border-y border-accent-line bg-accent-soft px-4 py-1.5 font-medium text-accent rail:px-5">
      <Icon aria-hidden className="size-4 shrink-0" strokeWidth={1.5} />
      <span className="min-w-0 wrap-anywhere">{text}</span>
      {again && again.step >= 0 && may && (
        <Link
          to="/runs/$runId"
          params={{ runId: again.runId }}
          search={{ step: again.step, fork: true }}
          className="ml-auto shrink-0 text-xs underline underline-offset-2 max-rail:hidden"
        >
          Fork again
        </Link>
      )}
    </li>
  );
}
