import { Eye } from "lucide-react";
import { Pill } from "./pill.tsx";

/** Tells a viewer why the page is read-only. */
export function ViewOnly() {
  return (
    <span title="Your role is viewer: you can read everything here and change nothing.">
      <Pill tone="plain" icon={Eye}>
        View only
      </Pill>
    </span>
  );
}
