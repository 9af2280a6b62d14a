import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { ImportedOperation, ToolImport } from "../../../../../server/resources/tools/import/schema.ts";
import type { Tool } from "../../../../../server/resources/tools/schema.ts";
import { toolApi } from "../../../entities/tool/tool-api.ts";
import { jsonText } from "../../../lib/json-text.ts";
import { diffLines, diffWords } from "../../../lib/text-diff.ts";
import { useWorkspace } from "../../../lib/workspace.ts";
import { DiffText } from "../../../ui/data/diff-text.tsx";
import { Callout } from "../../../ui/feedback/callout.tsx";
import { ErrorNote } from "../../../ui/feedback/error-note.tsx";
import { argumentLines } from "./operation-groups.ts";

/** The tool that an operation becomes, and how it differs from the present one. */
export function OperationDetails({ plan, operation: each }: { plan: ToolImport; operation: ImportedOperation }) {
  const { operation, tool, refusal, notes, edited, difference, tool_id } = each;
  return (
    <div className="flex flex-col gap-3 px-3 pt-1 pb-4 rail:pl-14">
      {refusal && (
        <p className="wrap-anywhere">
          {operation}: {refusal.message}
        </p>
      )}
      {edited && <Callout tone="warn">The tool was edited after its import. An update replaces the edit.</Callout>}
      {tool && (
        <>
          {tool.description && (
            <p className="max-h-40 overflow-y-auto whitespace-pre-line wrap-anywhere">{tool.description}</p>
          )}
          <Part title="Request">
            <code className="text-xs wrap-anywhere">{`${tool.method} ${tool.url}`}</code>
          </Part>
          <Part title="Arguments">
            <Arguments operation={each} />
          </Part>
          <Part title="Authentication">
            <p className="wrap-anywhere">{authWords(each, plan)}</p>
          </Part>
        </>
      )}
      {notes.length > 0 && (
        <Part title="Simplified">
          <ul className="list-disc pl-4 text-muted">
            {notes.map((note) => (
              <li key={note} className="wrap-anywhere">
                {note}
              </li>
            ))}
          </ul>
        </Part>
      )}
      {difference === "changed" && tool_id !== null && (
        <Part title="Difference from the tool">
          <Difference id={tool_id} operation={each} />
        </Part>
      )}
    </div>
  );
}

const Part = ({ title, children }: { title: string; children: ReactNode }) => (
  <div className="flex min-w-0 flex-col gap-1">
    <h3 className="text-xs font-medium text-muted">{title}</h3>
    {children}
  </div>
);

function Arguments({ operation }: { operation: ImportedOperation }) {
  const lines = argumentLines(operation);
  if (!lines) return <p className="text-muted">The document is too large to show them here.</p>;
  if (lines.length === 0) return <p className="text-muted">None.</p>;
  return (
    <ul className="flex flex-col gap-1">
      {lines.map(({ name, place, type, isRequired, description }) => (
        <li key={name} className="wrap-anywhere">
          <code className="text-xs">{name}</code>{" "}
          <span className="text-xs text-muted">
            {[type, isRequired && "required", `in ${place}`].filter(Boolean).join(", ")}
          </span>
          {description && (
            <span className="cut block text-xs text-muted" title={description}>
              {description}
            </span>
          )}
        </li>
      ))}
    </ul>
  );
}

/** Says what a call sends, or which schemes have neither secret nor OAuth client. */
function authWords({ auth, security }: ImportedOperation, { security_schemes }: ToolImport): string {
  if (auth === null)
    return `It needs ${security.map((names) => names.join(" and ")).join(", or ")}, and nothing is chosen for it. Calls are sent without.`;
  if (auth.length === 0) return security.length === 0 ? "The document asks for none." : "None is sent.";
  return auth
    .map((name) => {
      const scheme = security_schemes.find((each) => each.name === name);
      return `${name}: ${scheme?.oauth_client_id ?? scheme?.secret ?? "no secret"}`;
    })
    .join(", ");
}

/** Fields that an update replaces, before and after. The tool is fetched once its details are open. */
function Difference({ id, operation: { tool, changes } }: { id: string; operation: ImportedOperation }) {
  const read = useQuery(toolApi.one(useWorkspace(), id));
  if (!read.data || !tool) return <ErrorNote title="The tool cannot be shown" error={read.error} />;
  const before = read.data;
  return (
    <dl className="flex flex-col gap-2">
      {changes.map((field) => (
        <div key={field} className="flex min-w-0 flex-col gap-1">
          <dt>
            <code className="text-xs">{field}</code>
          </dt>
          <dd>
            <Change field={field} before={before} tool={tool} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

type Planned = NonNullable<ImportedOperation["tool"]>;

function Change({ field, before, tool }: { field: string; before: Tool; tool: Planned }) {
  const [old, next] = [(before as Record<string, unknown>)[field], tool[field as keyof Planned]];
  if (field === "headers" || field === "query" || field === "auth")
    return <p className="text-muted">What a call sends to authenticate itself.</p>;
  if (next === null || next === undefined)
    return <p className="text-muted">The document is too large to show it here.</p>;
  return typeof next === "string" ? (
    <DiffText parts={diffWords(String(old ?? ""), next)} />
  ) : (
    <DiffText mono parts={diffLines(jsonText(old ?? null), jsonText(next))} />
  );
}
