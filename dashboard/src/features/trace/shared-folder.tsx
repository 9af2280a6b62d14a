import type { TraceStep } from "../../../../server/domain/api-types/trace.ts";
import { formatBytes, formatCount } from "../../lib/format.ts";
import { Block } from "../../ui/data/value.tsx";

type Folder = NonNullable<TraceStep["workspace"]>;

/** Part of a program in the folder that it shares with others: files in and out, and the folder after it. */
export function SharedFolder({ folder }: { folder: Folder }) {
  const { shared_by, given = [], changed, removed, dropped, variables, variables_lost = [], files, ...all } = folder;
  const rows: [title: string, files: readonly { path: string; bytes?: number }[]][] = [
    ["Given", given],
    ["Written", changed],
    ["Removed", removed.map((path) => ({ path }))],
  ];
  return (
    <Block title={shared_by === "thread" ? "Workspace of the thread" : "Workspace of the run"}>
      {rows.map(([title, rowFiles]) => rowFiles.length > 0 && <FileList key={title} title={title} files={rowFiles} />)}
      {dropped !== undefined && <p className="text-muted">{formatCount(dropped)} files were not kept.</p>}
      {variables && <p className="text-muted">Variables were saved: {formatBytes(variables.bytes)}.</p>}
      {variables === null && <p className="text-muted">No variables were saved.</p>}
      {variables_lost.length > 0 && (
        <p className="wrap-anywhere text-muted">Variables that could not be saved: {variables_lost.join(", ")}.</p>
      )}
      <details>
        <summary className="cursor-pointer text-muted">
          {formatCount(all.file_count)} {all.file_count === 1 ? "file" : "files"} in the folder,{" "}
          {formatBytes(all.bytes)}
        </summary>
        <FileList files={files} />
      </details>
    </Block>
  );
}

function FileList({ title, files }: { title?: string; files: readonly { path: string; bytes?: number }[] }) {
  return (
    <div className="min-w-0">
      {title && <p className="text-xs text-muted">{title}</p>}
      <ul>
        {files.map(({ path, bytes }) => (
          <li key={path} className="flex min-w-0 gap-2">
            <code className="min-w-0 wrap-anywhere">{path}</code>
            {bytes !== undefined && <span className="shrink-0 text-xs text-muted">{formatBytes(bytes)}</span>}
          </li>
        ))}
      </ul>
    </div>
  );
}
