import { useQuery } from "@tanstack/react-query";
import { ScriptEditor } from "../../entities/agent/script-editor.tsx";
import { toolApi } from "../../entities/tool/tool-api.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Button } from "../../ui/button.tsx";
import type { JsonFieldProps } from "../../ui/json-field.tsx";
import { exampleScript } from "./test-model.ts";

/** What `test/script` says. An example is made of the tools that were picked. */
export function ScriptField({
  tools,
  ...field
}: JsonFieldProps & {
  /** The ids of the tools that the agent has. */
  tools: readonly string[];
}) {
  const all = useQuery(toolApi.every(useWorkspace()));
  const picked = (all.data ?? []).filter(({ id, type }) => tools.includes(id) && type !== "mcp");
  return (
    <>
      <ScriptEditor tools={picked} {...field} />
      {field.value.trim() === "" && (
        <div>
          <Button size="sm" onClick={() => field.onText(exampleScript(picked))}>
            {picked.length > 0 ? "Generate an example with the selected tools" : "Generate an example"}
          </Button>
        </div>
      )}
    </>
  );
}
