import { clsx } from "clsx";
import type { Change } from "../../entities/run/diff-api.ts";

const signs: Record<Change, string> = { equal: "=", changed: "≠", only_a: "−", only_b: "+" };
const looks: Record<Change, string> = {
  equal: "bg-subtle text-faint",
  changed: "bg-warn-soft text-warn",
  only_a: "bg-bad-soft text-bad",
  only_b: "bg-ok-soft text-ok",
};

/** The sign between two steps; the row says it in words. */
export function Gutter({ change }: { change: Change }) {
  return (
    <span
      aria-hidden
      className={clsx("border-x border-line-soft pt-2 text-center font-strong max-rail:hidden", looks[change])}
    >
      {signs[change]}
    </span>
  );
}
