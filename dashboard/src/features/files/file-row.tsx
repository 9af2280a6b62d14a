import { useMutation } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Check, Clock, Download, LoaderCircle, Trash2, X } from "lucide-react";
import { useState } from "react";
import type { File as StoredFile } from "../../../../server/domain/api-types/file.ts";
import { useRefresh } from "../../entities/crud/use-refresh.ts";
import { contentUrl, fileApi, retryFile } from "../../entities/file/file-api.ts";
import { usePermission } from "../../entities/session/use-may.ts";
import { downloadUrl } from "../../lib/download.ts";
import { formatBytes, formatCount, plural } from "../../lib/format.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { type Look, LookPill, labelsOf, Pill } from "../../ui/data/pill.tsx";
import { RelativeTime } from "../../ui/data/relative-time.tsx";
import { Cell, Row, RowActs, SecondLine } from "../../ui/data/table.tsx";
import { Time } from "../../ui/data/time.tsx";
import { ActionsMenu } from "../../ui/dialogs/actions-menu.tsx";
import { DeleteDialog } from "../../ui/dialogs/delete-dialog.tsx";
import { Progress } from "../../ui/feedback/progress.tsx";
import { toast, toastFailure } from "../../ui/feedback/toast.ts";
import { Button } from "../../ui/forms/button.tsx";
import { failureWords, processedShare, progressWords, purposeWords } from "./file-words.ts";

/** A file in the list: its name, status, purpose and the memory stores that use it. */
export function FileRow({ file, storeName }: { file: StoredFile; storeName: (id: string) => string }) {
  const stores = file.memory_ids.map(storeName);
  const failed = file.status === "failed";
  return (
    <Row stops>
      <Cell main>
        <span className="cut block font-medium" title={file.filename}>
          {file.chunks > 0 ? (
            <Link to="/files/$fileId" params={{ fileId: file.id }} className="cut block hover:underline">
              {file.filename}
            </Link>
          ) : (
            file.filename
          )}
        </span>
        {failed ? (
          <span className="block text-xs text-bad wrap-anywhere">
            {failureWords(file)} <code className="text-muted">{file.error?.code}</code>
          </span>
        ) : (
          <SecondLine title={file.error?.message ?? file.mime_type} tone={file.error ? "text-warn" : "text-muted"}>
            {file.error ? `Queued: ${file.error.message}` : detailOf(file)}
          </SecondLine>
        )}
      </Cell>
      <Cell>
        <FileState file={file} />
      </Cell>
      <Cell right>{formatBytes(file.bytes)}</Cell>
      <Cell className="whitespace-nowrap">
        {file.run_id ? (
          <Link to="/runs/$runId" params={{ runId: file.run_id }} className="text-accent hover:underline">
            {purposeWords[file.purpose]}
          </Link>
        ) : (
          purposeWords[file.purpose]
        )}
      </Cell>
      <Cell className={stores.length === 0 ? "max-rail:hidden" : undefined}>
        <span className="cut block rail:max-w-40" title={stores.join(", ")}>
          {stores.join(", ") || "–"}
        </span>
      </Cell>
      <Cell className={file.expires_at ? "whitespace-nowrap" : "whitespace-nowrap max-rail:hidden"}>
        {file.expires_at ? (
          <>
            <span className="rail:hidden">Expires </span>
            <RelativeTime at={file.expires_at} />
          </>
        ) : (
          "Never"
        )}
      </Cell>
      <Cell folds className="whitespace-nowrap text-muted">
        <Time at={file.created_at} />
      </Cell>
      <Cell right className="max-rail:ml-auto">
        <FileActs file={file} stores={stores} />
      </Cell>
    </Row>
  );
}

function detailOf({ mime_type, pages, chunks, warnings, id }: StoredFile): string {
  const facts = [
    mime_type,
    pages && plural(pages, "page"),
    chunks && plural(chunks, "chunk"),
    warnings.length > 0 && plural(warnings.length, "warning"),
  ];
  return [...facts.filter(Boolean), id].join(" · ");
}

const looks: Record<StoredFile["status"], Look> = {
  uploaded: ["plain", Clock, "Queued"],
  processing: ["info", LoaderCircle, "Processing"],
  ready: ["ok", Check, "Ready"],
  failed: ["bad", X, "Failed"],
};

export const statusWords = labelsOf(looks);

function FileState({ file }: { file: StoredFile }) {
  if (file.status !== "processing") return <LookPill look={looks[file.status]} />;
  return (
    <span className="inline-flex flex-col gap-1">
      <Pill tone="info" icon={LoaderCircle} spin>
        {progressWords(file) || "Processing"}
      </Pill>
      <Progress label={`Processing ${file.filename}`} share={processedShare(file)} />
    </span>
  );
}

function FileActs({ file, stores }: { file: StoredFile; stores: readonly string[] }) {
  const at = useWorkspace();
  const may = usePermission("member");
  const [deleting, setDeleting] = useState(false);
  const refresh = useRefresh(fileApi);
  const retry = useMutation({
    mutationFn: () => retryFile(at, file.id),
    onSuccess: () => toast("Retrying", file.filename),
    onError: (error) => toastFailure("Not retried", error.message),
    onSettled: refresh,
  });
  const download = () => downloadUrl(contentUrl(at, file.id), file.filename);
  return (
    <RowActs>
      {file.status === "failed" && may ? (
        <Button
          size="sm"
          aria-label={`Retry: ${file.filename}`}
          disabled={retry.isPending}
          onClick={() => retry.mutate()}
        >
          Retry
        </Button>
      ) : (
        <Button
          kind="ghost"
          size="sm"
          className="max-rail:hidden"
          aria-label={`Download ${file.filename}`}
          onClick={download}
        >
          Download
        </Button>
      )}
      {may && (
        <ActionsMenu
          of={file.filename}
          acts={[
            { icon: Download, word: "Download", onDo: download },
            { icon: Trash2, word: "Delete file", danger: true, onDo: () => setDeleting(true) },
          ]}
        />
      )}
      {deleting && (
        <DeleteDialog
          noun="file"
          name={file.filename}
          remove={() => fileApi.remove(at, file.id)}
          stale={[fileApi.all(at)]}
          onClose={() => setDeleting(false)}
        >
          {effectOf(file, stores)}
        </DeleteDialog>
      )}
    </RowActs>
  );
}

function effectOf({ chunks }: StoredFile, stores: readonly string[]): string {
  if (stores.length === 0)
    return "Its content is deleted, and new runs and programs cannot use it. Traces keep what runs have read of it.";
  const what = chunks > 1 ? `its ${formatCount(chunks)} chunks` : "it";
  return `Its content is deleted, and searches of ${stores.join(", ")} no longer find ${what}. Traces keep what runs have read of it.`;
}
