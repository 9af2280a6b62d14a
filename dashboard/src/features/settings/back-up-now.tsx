import { useMutation } from "@tanstack/react-query";
import { Download } from "lucide-react";
import type { Backup } from "../../../../server/domain/api-types/console.ts";
import { backupUrl, makeBackup } from "../../entities/server/server-api.ts";
import { usePermission } from "../../entities/session/use-may.ts";
import { downloadUrl } from "../../lib/download.ts";
import { formatBytes } from "../../lib/format.ts";
import { RelativeTime } from "../../ui/data/relative-time.tsx";
import { Callout } from "../../ui/feedback/callout.tsx";
import { ErrorNote } from "../../ui/feedback/error-note.tsx";
import { Button, buttonClass } from "../../ui/forms/button.tsx";

/** Creates a backup of the database and downloads it. */
export function BackUpNow({ databaseBytes }: { databaseBytes: number | null }) {
  const may = usePermission("owner");
  const making = useMutation({
    mutationFn: makeBackup,
    onSuccess: ({ id, filename }) => downloadUrl(backupUrl(id), filename),
  });
  return (
    <div className="flex flex-col items-start gap-3">
      <p className="max-w-[68ch] text-muted">
        The backup does not contain the master key: keep <code>master.key</code> of the data directory in another place.
        Without it, stored secrets cannot be read. Restore the file with <code>runnel restore</code>. From a terminal,
        back up with <code>runnel backup</code>.
      </p>
      <Button disabled={!may || making.isPending} onClick={() => making.mutate()}>
        <Download aria-hidden className="size-4" strokeWidth={1.5} />
        {making.isPending ? "Backing up" : "Back up now"}
      </Button>
      {!may && <p className="text-xs text-muted">Only owners can make backups: they contain everything.</p>}
      {making.isPending && (
        <p role="status" className="text-xs text-muted">
          Copying {databaseBytes === null ? "the database" : formatBytes(databaseBytes)}.
        </p>
      )}
      <ErrorNote title="No backup was made" error={making.error} />
      {making.data && !making.isPending && <Made backup={making.data} />}
    </div>
  );
}

function Made({ backup: { id, filename, bytes, expires_at } }: { backup: Backup }) {
  return (
    <Callout tone="ok" role="status">
      <b>Backup made.</b>
      <p>
        {filename}, {formatBytes(bytes)}. The download has begun; the server deletes its copy{" "}
        <RelativeTime at={expires_at} />.
      </p>
      <a href={backupUrl(id)} download={filename} className={`${buttonClass({ size: "sm" })} mt-2`}>
        Download again
      </a>
    </Callout>
  );
}
