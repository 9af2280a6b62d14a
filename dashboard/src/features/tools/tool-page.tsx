import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Ellipsis, Trash2 } from "lucide-react";
import { useState } from "react";
import type { Environment as Mode } from "../../../../server/core/scope.ts";
import type { Tool } from "../../../../server/wire/tool.ts";
import { ObjectPage } from "../../entities/resource/object-page.tsx";
import { useMay } from "../../entities/session/use-may.ts";
import { toolApi } from "../../entities/tool/tool-api.ts";
import type { ToolSearch } from "../../entities/tool/tools-search.ts";
import { useTitle } from "../../lib/use-title.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Badge } from "../../ui/badge.tsx";
import { Breadcrumb } from "../../ui/breadcrumb.tsx";
import { buttonClass } from "../../ui/button.tsx";
import { CopyButton } from "../../ui/copy-button.tsx";
import { Menu } from "../../ui/menu.tsx";
import { ModePill } from "../../ui/mode-pill.tsx";
import { SheetHead } from "../../ui/sheet.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { ViewOnly } from "../../ui/view-only.tsx";
import { DeleteTool } from "./delete-tool.tsx";
import { ToolDefinition } from "./tool-definition.tsx";
import { ToolTest } from "./tool-test.tsx";
import { ToolUsers } from "./tool-users.tsx";
import { toolParts } from "./types/tool-parts.ts";

interface ToolPageProps {
  id: string;
  search: ToolSearch;
  onSearch: (search: ToolSearch) => void;
  onLookIn: (mode: Mode) => void;
  onLeave: () => void;
}

/** One tool: what it is, who uses it, and what a call comes to. */
export function ToolPage(props: ToolPageProps) {
  const { id, onLookIn } = props;
  const at = useWorkspace();
  const tool = useQuery(toolApi.one(at, id));
  return (
    <ObjectPage
      object={tool}
      noun="tool"
      keepsOpen
      id={id}
      path={`/tools/${encodeURIComponent(id)}`}
      list={
        <Link to="/tools" className={buttonClass()}>
          Go to tools
        </Link>
      }
      onLookIn={onLookIn}
    >
      {(tool) => <FoundTool {...props} tool={tool} />}
    </ObjectPage>
  );
}

function FoundTool({ tool, search, onSearch, onLeave }: ToolPageProps & { tool: Tool }) {
  const { tab = "definition" } = search;
  useTitle(tool.name, "Tools");
  return (
    <>
      <ToolHead tool={tool} onLeave={onLeave} />
      <Tabs
        label="Tool"
        value={tab}
        tabs={[
          { value: "definition", label: "Definition" },
          { value: "test", label: "Test" },
        ]}
        onChange={(next) => onSearch(next === "definition" ? {} : { tab: next })}
      >
        {tab === "definition" && <ToolDefinition key={tool.id} tool={tool} />}
        {tab === "test" && (
          <ToolTest
            key={`${tool.id} ${search.tool}`}
            tool={tool}
            serverTool={search.tool}
            onServerTool={(name) => onSearch({ tab: "test", tool: name })}
          />
        )}
      </Tabs>
    </>
  );
}

function ToolHead({ tool, onLeave }: { tool: Tool; onLeave: () => void }) {
  const may = useMay("member");
  const [deleting, setDeleting] = useState(false);
  return (
    <SheetHead>
      <Breadcrumb>
        <Link to="/tools">Tools</Link>
      </Breadcrumb>
      <h1 className="cut text-lg max-rail:grow max-rail:basis-2/5" title={tool.name}>
        {tool.name}
      </h1>
      <Badge>{toolParts[tool.type].word}</Badge>
      {!tool.enabled && <Badge>off</Badge>}
      <ModePill />
      <CopyButton text={tool.id} what="tool id" />
      <div className="ml-auto flex items-center gap-2">
        <ToolUsers tool={tool} />
        {!may && <ViewOnly />}
        {may && (
          <Menu
            align="end"
            trigger={
              <button type="button" aria-label="More acts" className={buttonClass({ kind: "ghost", size: "icon" })}>
                <Ellipsis aria-hidden className="size-4" strokeWidth={1.5} />
              </button>
            }
          >
            {({ MenuItem }) => (
              <MenuItem onClick={() => setDeleting(true)}>
                <Trash2 aria-hidden className="size-4" strokeWidth={1.5} />
                Delete tool
              </MenuItem>
            )}
          </Menu>
        )}
      </div>
      {deleting && <DeleteTool tool={tool} onClose={() => setDeleting(false)} onDeleted={onLeave} />}
    </SheetHead>
  );
}
