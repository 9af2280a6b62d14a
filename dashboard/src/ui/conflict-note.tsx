import { Button } from "./button.tsx";
import { Note } from "./note.tsx";

/** Somebody else saved another version meanwhile: what changed, and what is to be done with what stands here. */
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
  /** What they changed, in words. */
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
    <Note tone="warn" role="alert">
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
    </Note>
  );
}
