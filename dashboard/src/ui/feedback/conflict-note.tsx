import { Button } from "../forms/button.tsx";
import { Callout } from "./callout.tsx";

/** Notice that another person saved a newer version, with its changes and the choice between both. */
export function ConflictNote({
  title,
  theirs,
  mine,
  mineAct,
  theirsAct,
  busy,
  onMine,
  onTheirs,
}: {
  title: string;
  /** Their changed fields, in words. */
  theirs: readonly string[];
  mine: readonly string[];
  mineAct: string;
  theirsAct: string;
  busy: boolean;
  onMine: () => void;
  onTheirs: () => void;
}) {
  const both = theirs.filter((field) => mine.includes(field));
  return (
    <Callout tone="warn" role="alert">
      <b>{title}</b>
      <p>
        {theirs.length === 0 ? "It now matches what was there." : `They changed: ${theirs.join(", ")}.`} You changed:{" "}
        {mine.join(", ") || "nothing"}.{" "}
        {both.length > 0
          ? `Your changes would replace theirs in: ${both.join(", ")}.`
          : "Both can be saved: no field was changed by both."}
      </p>
      <div className="mt-2 flex flex-wrap gap-2">
        <Button kind="primary" size="sm" disabled={busy} onClick={onMine}>
          {mineAct}
        </Button>
        <Button size="sm" disabled={busy} onClick={onTheirs}>
          {theirsAct}
        </Button>
      </div>
    </Callout>
  );
}
