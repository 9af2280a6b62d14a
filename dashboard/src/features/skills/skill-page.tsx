import { useQuery } from "@tanstack/react-query";
import { clsx } from "clsx";
import { Download } from "lucide-react";
import type { Skill, SkillVersion } from "../../../../server/domain/api-types/skill.ts";
import type { Environment as Mode } from "../../../../server/domain/scope.ts";
import { skillFile } from "../../../../server/domain/skills.ts";
import { UsingAgents } from "../../entities/agent/using-agents.tsx";
import { ObjectHead } from "../../entities/crud/object-head.tsx";
import { ObjectPage } from "../../entities/crud/object-page.tsx";
import { fileTextQuery, skillApi, skillFileUrl, versionQuery } from "../../entities/skill/skill-api.ts";
import { downloadUrl } from "../../lib/download.ts";
import { formatBytes, formatCount } from "../../lib/format.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { CodeBlock } from "../../ui/data/code-block.tsx";
import { Description, IdDescription } from "../../ui/data/description-list.tsx";
import { FoldedText } from "../../ui/data/value.tsx";
import { ErrorNote } from "../../ui/feedback/error-note.tsx";
import { Button } from "../../ui/forms/button.tsx";
import { Select } from "../../ui/forms/select.tsx";
import type { SkillSearch } from "./read-skills-search.ts";
import { SkillActs } from "./skill-acts.tsx";

interface SkillPageProps {
  id: string;
  search: SkillSearch;
  onSearch: (search: SkillSearch, replace?: boolean) => void;
  onLookIn: (mode: Mode) => void;
  /** Called after the skill was deleted. */
  onLeave: () => void;
}

/** A skill with its versions, and the files of one of them. */
export function SkillPage({ id, search, onSearch, onLookIn, onLeave }: SkillPageProps) {
  const skill = useQuery(skillApi.one(useWorkspace(), id));
  return (
    <ObjectPage object={skill} noun="skill" list="/skills" id={id} onLookIn={onLookIn}>
      {(skill) => <Content skill={skill} search={search} onSearch={onSearch} onLeave={onLeave} />}
    </ObjectPage>
  );
}

function Content({
  skill,
  search,
  onSearch,
  onLeave,
}: { skill: Skill } & Pick<SkillPageProps, "search" | "onSearch" | "onLeave">) {
  const at = useWorkspace();
  const number = Math.min(search.version ?? skill.version, skill.version);
  const version = useQuery(versionQuery(at, skill.id, number));
  const file = version.data?.files.find(({ path }) => path === search.file)?.path ?? skillFile;
  return (
    <>
      <ObjectHead list="/skills" name={skill.name} acts={<SkillActs skill={skill} onDeleted={onLeave} />}>
        <IdDescription noun="skill" id={skill.id} />
        <Description name="Size">{formatBytes(version.data?.bytes ?? skill.bytes)}</Description>
        <Description name="Files">{formatCount(version.data?.files.length ?? skill.files)}</Description>
        <Description name="Agents">
          <UsingAgents uses={({ skills }) => skills.some(({ skill_id }) => skill_id === skill.id)} />
        </Description>
        {skill.license && <Description name="License">{skill.license}</Description>}
        {skill.compatibility && <Description name="Compatibility">{skill.compatibility}</Description>}
      </ObjectHead>
      <div className="flex flex-wrap items-start gap-x-6 gap-y-2 border-b border-line px-4 py-3 rail:px-5">
        <div className="min-w-60 max-w-(--read) flex-1">
          <FoldedText key={number} text={version.data?.description ?? skill.description} most={300} />
        </div>
        <Select
          label="Version"
          value={String(number)}
          choices={newestOf(skill.version).map((each) => ({ value: String(each), label: `Version ${each}` }))}
          onChoose={(each) => onSearch({ version: Number(each), file: search.file })}
        />
      </div>
      <ErrorNote inset title="The files cannot be shown" error={version.error} onRetry={() => void version.refetch()} />
      {version.data && (
        <div className="grid min-h-0 flex-1 grid-rows-[auto_1fr] rail:grid-cols-[16rem_minmax(0,1fr)] rail:grid-rows-1">
          <FileList
            files={version.data.files}
            chosen={file}
            onChoose={(path) => onSearch({ version: search.version, file: path }, true)}
          />
          <FileView key={`${number} ${file}`} id={skill.id} version={number} path={file} />
        </div>
      )}
    </>
  );
}

/** The newest hundred versions. */
const newestOf = (newest: number): number[] =>
  Array.from({ length: Math.min(newest, 100) }, (_, before) => newest - before);

function FileList({
  files,
  chosen,
  onChoose,
}: {
  files: SkillVersion["files"];
  chosen: string;
  onChoose: (path: string) => void;
}) {
  return (
    <nav
      aria-label="Files"
      className="max-h-60 overflow-y-auto border-line max-rail:border-b rail:max-h-none rail:border-r"
    >
      {files.map(({ path, bytes }) => (
        <button
          key={path}
          type="button"
          aria-current={path === chosen}
          className={clsx(
            "flex min-h-(--control) w-full items-center gap-2 px-4 py-1 text-left text-xs hover:bg-hover",
            path === chosen && "bg-accent-soft",
          )}
          onClick={() => onChoose(path)}
        >
          <span className="min-w-0 flex-1 font-mono wrap-anywhere">{path}</span>
          <span className="shrink-0 text-muted tabular-nums">{formatBytes(bytes)}</span>
        </button>
      ))}
    </nav>
  );
}

function FileView({ id, version, path }: { id: string; version: number; path: string }) {
  const at = useWorkspace();
  const text = useQuery(fileTextQuery(at, id, version, path));
  const download = () => downloadUrl(skillFileUrl(at, id, version, path), path.slice(path.lastIndexOf("/") + 1));
  return (
    <section
      aria-label={`Content of ${path}`}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable by keyboard.
      tabIndex={0}
      className="flex min-h-0 flex-col gap-3 overflow-y-auto p-4 rail:p-5"
    >
      <div className="flex items-center gap-3">
        <h2 className="min-w-0 flex-1 font-mono text-xs wrap-anywhere">{path}</h2>
        <Button size="sm" onClick={download}>
          <Download aria-hidden className="size-4" strokeWidth={1.5} />
          Download
        </Button>
      </div>
      <ErrorNote title="The file cannot be shown" error={text.error} onRetry={() => void text.refetch()} />
      {text.data === null && <p className="text-muted">This file is not a text.</p>}
      {typeof text.data === "string" && <CodeBlock code={text.data} label={path} />}
    </section>
  );
}
