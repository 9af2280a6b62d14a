import type { LucideIcon } from "lucide-react";
import { several } from "../lib/format.ts";
import { Button } from "./button.tsx";
import { EmptyState } from "./empty-state.tsx";

/** A later page of a list, with nothing on it any more: there may well be something on the first. */
export function EmptiedPage({ icon, noun, onFirst }: { icon: LucideIcon; noun: string; onFirst: () => void }) {
  return (
    <EmptyState icon={icon} title={`No ${several(noun)} on this page`}>
      <p className="max-w-[60ch] text-muted">What stood on this page was deleted, or the address is old.</p>
      <Button onClick={onFirst}>Show the newest</Button>
    </EmptyState>
  );
}
