import { Link } from "@tanstack/react-router";
import type { Environment as Mode } from "../../../../server/core/scope.ts";
import { ObjectNotFound } from "../../entities/resource/object-not-found.tsx";
import { buttonClass } from "../../ui/button.tsx";

/** No run has this id in this mode. Says so when the other mode has it. */
export function RunNotFound({ id, onLookIn }: { id: string; onLookIn: (mode: Mode) => void }) {
  return (
    <ObjectNotFound noun="run" id={id} path={`/runs/${encodeURIComponent(id)}`} onLookIn={onLookIn}>
      <Link to="/runs" className={buttonClass()}>
        Go to runs
      </Link>
    </ObjectNotFound>
  );
}
