import { useQuery } from "@tanstack/react-query";
import { FileText, FileUp } from "lucide-react";
import { useState } from "react";
import { ListPage } from "../../entities/crud/list-page.tsx";
import { type FilesSearch, filesQuery } from "../../entities/file/file-api.ts";
import { storeApi } from "../../entities/memory/memory-api.ts";
import { usePermission } from "../../entities/session/use-may.ts";
import { useFileDrop } from "../../hooks/use-file-drop.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Chip, choicesOf, SetChip } from "../../ui/forms/chip.tsx";
import { FileRow, statusWords } from "./file-row.tsx";
import { purposeWords } from "./file-words.ts";
import { UploadDialog } from "./upload-dialog.tsx";
import { UploadList } from "./upload-list.tsx";
import { useUploads } from "./use-uploads.ts";

const columns = [
  { label: "Name" },
  { label: "Status" },
  { label: "Size", right: true },
  { label: "Purpose" },
  { label: "Used by" },
  { label: "Expires" },
  { label: "Created", folds: true },
  { label: "Actions", silent: true },
];
const statuses = choicesOf(statusWords);
const purposes = choicesOf(purposeWords);

/** All files of a project and mode. Files dropped anywhere on the page open the upload dialog. */
export function FilesPage({ search, onSearch }: { search: FilesSearch; onSearch: (search: FilesSearch) => void }) {
  const at = useWorkspace();
  const list = useQuery(filesQuery(at, search));
  const stores = useQuery(storeApi.every(at)).data ?? [];
  const [asking, setAsking] = useState<readonly File[] | null>(null);
  const { uploads, add, again, cancel } = useUploads();
  const { over, ...drop } = useFileDrop(usePermission("member"), setAsking);
  const { q, status, purpose, file } = search;
  const storeName = (id: string) => stores.find((store) => store.id === id)?.name ?? id;
  return (
    <div className="relative flex min-h-0 flex-1 flex-col" {...drop}>
      <ListPage
        title="Files"
        noun="file"
        list={list}
        columns={columns}
        search={search}
        onSearch={onSearch}
        row={(file) => <FileRow key={file.id} file={file} storeName={storeName} />}
        searchBy="name"
        filters={
          <>
            <Chip
              name="Status"
              value={status}
              choices={statuses}
              onChange={(next) => onSearch({ q, purpose, status: next })}
            />
            <Chip
              name="Purpose"
              value={purpose}
              choices={purposes}
              onChange={(next) => onSearch({ q, status, purpose: next })}
            />
            {file && <SetChip name="File" word={file} onClear={() => onSearch({})} />}
          </>
        }
        above={<UploadList uploads={uploads} onAgain={again} onCancel={cancel} />}
        create={{ act: "Upload files", first: "Upload the first file", icon: FileUp, onCreate: () => setAsking([]) }}
        empty={{
          icon: FileText,
          title: "No files yet",
          about:
            "Files are searched by memory, read by runs or opened by code tools. Drop files here, up to 100 MB each.",
        }}
      />
      {over && (
        <div className="pointer-events-none absolute inset-2 z-(--z-sticky) grid place-items-center rounded-md border-2 border-dashed border-accent bg-accent-soft text-md font-medium text-accent">
          Drop the files to upload them
        </div>
      )}
      {asking && <UploadDialog given={asking} onClose={() => setAsking(null)} onUpload={add} />}
    </div>
  );
}
