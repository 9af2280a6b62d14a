import { useQuery } from "@tanstack/react-query";
import { FileText, FileUp, ListFilter } from "lucide-react";
import { type DragEvent, useRef, useState } from "react";
import { filePurposes, fileStatuses } from "../../../../server/wire/names.ts";
import { type FilesSearch, filesQuery } from "../../entities/file/file-api.ts";
import { storeApi } from "../../entities/memory/memory-api.ts";
import { useMay } from "../../entities/session/use-may.ts";
import { useKeys } from "../../lib/use-keys.ts";
import { useRowKeys } from "../../lib/use-row-keys.ts";
import { useTitle } from "../../lib/use-title.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Button } from "../../ui/button.tsx";
import { Chip, SetChip } from "../../ui/chip.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { ModePill } from "../../ui/mode-pill.tsx";
import { Paging } from "../../ui/paging.tsx";
import { SheetBar, SheetHead } from "../../ui/sheet.tsx";
import { Table, TableSkeleton } from "../../ui/table.tsx";
import { ViewOnly } from "../../ui/view-only.tsx";
import { FileRow } from "./file-row.tsx";
import { purposeWords } from "./file-words.ts";
import { UploadDialog } from "./upload-dialog.tsx";
import { UploadList } from "./upload-list.tsx";
import { useUploads } from "./use-uploads.ts";

const columns = [
  { label: "Name" },
  { label: "Status" },
  { label: "Size", right: true },
  { label: "For" },
  { label: "Used by" },
  { label: "Expires" },
  { label: "Created", folds: true },
  { label: "Acts", silent: true },
];

const statusWords = { uploaded: "Waiting", processing: "Being read", ready: "Ready", failed: "Failed" };

/** All files of a project and mode. Files that are dropped anywhere on the page are uploaded. */
export function FilesPage({ search, onSearch }: { search: FilesSearch; onSearch: (search: FilesSearch) => void }) {
  const at = useWorkspace();
  const may = useMay("member");
  const page = useQuery(filesQuery(at, search));
  const stores = useQuery(storeApi.every(at)).data ?? [];
  const [asking, setAsking] = useState<readonly File[] | null>(null);
  const { uploads, add, again, cancel } = useUploads();
  const { over, ...drop } = useDrop(may, setAsking);
  useTitle("Files", at.project.name);
  const body = useRef<HTMLElement>(null);
  useRowKeys(body);
  useKeys({ c: () => setAsking([]) }, may);
  const { status, purpose, file } = search;
  const files = page.data?.data;
  const storeName = (id: string) => stores.find((store) => store.id === id)?.name ?? id;
  return (
    <div className="relative flex min-h-0 flex-1 flex-col" {...drop}>
      <SheetHead>
        <h1 className="text-lg">Files</h1>
        <ModePill />
        <div className="ml-auto flex items-center gap-2">
          {may ? (
            <Button kind="primary" onClick={() => setAsking([])}>
              <FileUp aria-hidden className="size-4" strokeWidth={1.5} />
              Upload files
            </Button>
          ) : (
            <ViewOnly />
          )}
        </div>
      </SheetHead>
      <SheetBar>
        <Chip
          name="Status"
          value={status}
          choices={fileStatuses.map((value) => ({ value, label: statusWords[value], word: statusWords[value] }))}
          onChange={(next) => onSearch({ purpose, ...(next && { status: next }) })}
        />
        <Chip
          name="For"
          value={purpose}
          choices={filePurposes.map((value) => ({ value, label: purposeWords[value], word: purposeWords[value] }))}
          onChange={(next) => onSearch({ status, ...(next && { purpose: next }) })}
        />
        {file && <SetChip name="File" word={file} onClear={() => onSearch({})} />}
      </SheetBar>
      <UploadList uploads={uploads} onAgain={again} onCancel={cancel} />
      {page.error && (
        <div className="px-4 pt-3 rail:px-5">
          <ErrorNote title="The files cannot be shown" error={page.error} onRetry={() => void page.refetch()} />
        </div>
      )}
      <section ref={body} aria-label="Files" className="relative min-h-0 flex-1 overflow-y-auto">
        {page.isPending && <TableSkeleton />}
        {files && files.length > 0 && (
          <Table label="Files" columns={columns}>
            {files.map((file) => (
              <FileRow key={file.id} file={file} storeName={storeName} />
            ))}
          </Table>
        )}
        {files?.length === 0 && (
          <NoFiles
            filtered={Boolean(status || purpose || file || search.after || search.before)}
            may={may}
            onClear={() => onSearch({})}
            onUpload={() => setAsking([])}
          />
        )}
      </section>
      <Paging noun="file" page={page.data} search={search} onPage={(next) => onSearch({ status, purpose, ...next })} />
      {over && (
        <div className="pointer-events-none absolute inset-2 z-(--z-sticky) grid place-items-center rounded-md border-2 border-dashed border-accent bg-accent-soft text-md font-medium text-accent">
          Drop the files to upload them
        </div>
      )}
      {asking && <UploadDialog given={asking} onClose={() => setAsking(null)} onUpload={add} />}
    </div>
  );
}

function NoFiles({
  filtered,
  may,
  onClear,
  onUpload,
}: {
  filtered: boolean;
  may: boolean;
  onClear: () => void;
  onUpload: () => void;
}) {
  if (filtered)
    return (
      <EmptyState icon={ListFilter} title="No file matches these filters">
        <Button onClick={onClear}>Clear filters</Button>
      </EmptyState>
    );
  return (
    <EmptyState icon={FileText} title="No files yet">
      <p className="max-w-[46ch] text-muted">
        Files are searched by memory, read by runs, or opened by code. Drop some here, up to 100 MB each.
      </p>
      {may && (
        <Button kind="primary" onClick={onUpload}>
          Upload the first
        </Button>
      )}
    </EmptyState>
  );
}

/** Files that are dragged over an element, and dropped on it. */
function useDrop(active: boolean, onFiles: (files: readonly File[]) => void) {
  const [over, setOver] = useState(false);
  const depth = useRef(0);
  const hasFiles = ({ dataTransfer }: DragEvent) => active && dataTransfer.types.includes("Files");
  const move = (event: DragEvent, by: 1 | -1) => {
    if (!hasFiles(event)) return;
    depth.current += by;
    setOver(depth.current > 0);
  };
  return {
    over,
    onDragEnter: (event: DragEvent) => move(event, 1),
    onDragLeave: (event: DragEvent) => move(event, -1),
    onDragOver: (event: DragEvent) => {
      if (hasFiles(event)) event.preventDefault();
    },
    onDrop: (event: DragEvent) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      depth.current = 0;
      setOver(false);
      onFiles([...event.dataTransfer.files]);
    },
  };
}
