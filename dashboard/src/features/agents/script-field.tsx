import { useQuery } from "@tanstack/react-query";
import { toolApi } from "../../entities/tool/tool-api.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Button } from "../../ui/button.tsx";
import { JsonField, type JsonFieldProps } from "../../ui/json-field.tsx";
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
      <JsonField
        label="Script"
        optional
        rows={5}
        hint="What test/script says, one entry for each model call: text, tool_calls, error, delay_ms."
        {...field}
      />
      {field.value.trim() === "" && (
        <div>
          <Button size="sm" onClick={() => field.onText(exampleScript(picked))}>
            {picked.length > 0 ? "Write one that calls the picked tools" : "Write an example"}
          </Button>
        </div>
      )}
    </>
  );
}
