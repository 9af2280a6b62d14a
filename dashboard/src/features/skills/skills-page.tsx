import { useMutation, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { BookOpen, FileUp } from "lucide-react";
import { useRef } from "react";
import type { Skill } from "../../../../server/domain/api-types/skill.ts";
import { ListPage } from "../../entities/crud/list-page.tsx";
import { useRefresh } from "../../entities/crud/use-refresh.ts";
import { usePermission } from "../../entities/session/use-may.ts";
import { skillApi, skillsQuery, uploadSkill } from "../../entities/skill/skill-api.ts";
import { useFileDrop } from "../../hooks/use-file-drop.ts";
import { formatBytes, formatCount } from "../../lib/format.ts";
import type { NamedSearch } from "../../lib/page-search.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Cell, Row, RowActs, SecondLine } from "../../ui/data/table.tsx";
import { Time } from "../../ui/data/time.tsx";
import { ErrorNote } from "../../ui/feedback/error-note.tsx";
import { toast } from "../../ui/feedback/toast.ts";
import { SkillActs } from "./skill-acts.tsx";

const columns = [
  { label: "Name" },
  { label: "Version", right: true },
  { label: "Files", right: true },
  { label: "Size", right: true },
  { label: "Changed", folds: true },
  { label: "Actions", silent: true },
];

/** All skills of a project and mode. Archives dropped anywhere on the page are uploaded. */
export function SkillsPage({ search, onSearch }: { search: NamedSearch; onSearch: (search: NamedSearch) => void }) {
  const at = useWorkspace();
  const list = useQuery(skillsQuery(at, search));
  const input = useRef<HTMLInputElement>(null);
  const refresh = useRefresh(skillApi);
  const upload = useMutation({
    mutationFn: async (archives: readonly File[]) => {
      for (const archive of archives) {
        const { name, version } = await uploadSkill(at, archive);
        toast("Skill uploaded", `${name}, version ${version}`);
      }
    },
    onSettled: refresh,
  });
  const { over, ...drop } = useFileDrop(usePermission("member"), (files) => upload.mutate(files));
  return (
    <div className="relative flex min-h-0 flex-1 flex-col" {...drop}>
      <ListPage
        title="Skills"
        noun="skill"
        list={list}
        columns={columns}
        search={search}
        onSearch={onSearch}
        row={(skill) => <SkillRow key={skill.id} skill={skill} />}
        searchBy="name"
        above={<ErrorNote inset title="The skill was not uploaded" error={upload.error} />}
        create={{
          act: "Upload skill",
          first: "Upload the first skill",
          icon: FileUp,
          onCreate: () => input.current?.click(),
        }}
        empty={{
          icon: BookOpen,
          title: "No skills yet",
          about:
            "A skill is a folder with a SKILL.md and files, which agents load when a task needs them. Drop one here as a zip, a tar or a tar.gz.",
        }}
      />
      <input
        ref={input}
        type="file"
        accept=".zip,.skill,.tar,.gz,.tgz"
        aria-label="Archive of the skill"
        className="hidden"
        multiple
        onChange={({ target }) => {
          upload.mutate([...(target.files ?? [])]);
          target.value = "";
        }}
      />
      {over && (
        <div className="pointer-events-none absolute inset-2 z-(--z-sticky) grid place-items-center rounded-md border-2 border-dashed border-accent bg-accent-soft text-md font-medium text-accent">
          Drop the skill to upload it
        </div>
      )}
    </div>
  );
}

function SkillRow({ skill }: { skill: Skill }) {
  const may = usePermission("member");
  return (
    <Row stops>
      <Cell main>
        <Link to="/skills/$skillId" params={{ skillId: skill.id }} className="cut block font-medium hover:underline">
          {skill.name}
        </Link>
        <SecondLine title={skill.description}>{skill.description}</SecondLine>
      </Cell>
      <Cell right>{skill.version}</Cell>
      <Cell right>{formatCount(skill.files)}</Cell>
      <Cell right>{formatBytes(skill.bytes)}</Cell>
      <Cell folds className="whitespace-nowrap text-muted">
        <Time at={skill.updated_at} />
      </Cell>
      <Cell right className="max-rail:ml-auto">
        {may && (
          <RowActs>
            <SkillActs skill={skill} />
          </RowActs>
        )}
      </Cell>
    </Row>
  );
}
