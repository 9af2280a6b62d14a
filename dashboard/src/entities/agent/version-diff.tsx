import type { AgentVersion } from "../../../../server/resources/agents/schema.ts";
import { jsonText } from "../../lib/json-text.ts";
import { type DiffPart, diffLines, diffWords } from "../../lib/text-diff.ts";
import { DiffText } from "../../ui/data/diff-text.tsx";
import { changedFields } from "./agent-draft.ts";
import { type DefinitionField, formFieldNames, formFields } from "./agent-fields.ts";

const prose: readonly DefinitionField[] = ["name", "description", "instructions", "model"];

/** Differences between two versions: prose by words, other fields by lines. Without `before`, all fields. */
export function VersionDiff({ before, after }: { before: AgentVersion | null; after: AgentVersion }) {
  const fields = before ? changedFields(before, after) : formFieldNames.filter((field) => isSaid(after[field]));
  if (fields.length === 0) return <p className="text-muted">The versions are identical.</p>;
  return (
    <div className="flex flex-col gap-4">
      {fields.map((field) => {
        const now = shownText(after, field);
        const parts: DiffPart[] = before
          ? (prose.includes(field) ? diffWords : diffLines)(shownText(before, field), now)
          : [{ kind: "same", text: now }];
        return (
          <section key={field} aria-label={formFields[field].word} className="min-w-0">
            <h3 className="mb-1 text-xs font-strong text-muted">{formFields[field].word}</h3>
            <DiffText parts={parts} mono={!prose.includes(field) || field === "model"} />
          </section>
        );
      })}
    </div>
  );
}

const isSaid = (value: unknown): boolean => value !== null && !["{}", "[]", '""'].includes(JSON.stringify(value));

function shownText(version: AgentVersion, field: DefinitionField): string {
  if (field === "tools") return version.tools.map(({ name, id }) => name || id).join("\n");
  const value = version[field];
  if (value === null) return "";
  return typeof value === "string" ? value : jsonText(value);
}
