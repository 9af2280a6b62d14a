import { useQuery } from "@tanstack/react-query";
import { useRef } from "react";
import { flushSync } from "react-dom";
import { ScriptEditor } from "../../entities/agent/script-editor.tsx";
import { toolApi } from "../../entities/tool/tool-api.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Button } from "../../ui/forms/button.tsx";
import type { JsonFieldProps } from "../../ui/forms/json-field.tsx";
import { exampleScript } from "./test-model.ts";

/** The script of `test/script`. The generated example calls the selected tools. */
export function ScriptField({
  tools,
  ...field
}: JsonFieldProps & {
  /** Ids of the agent's tools. */
  tools: readonly string[];
}) {
  const all = useQuery(toolApi.every(useWorkspace()));
  const picked = (all.data ?? []).filter(({ id, type }) => tools.includes(id) && type !== "mcp");
  const place = useRef<HTMLDivElement>(null);
  // The button disappears when it is used, so move the focus to the generated script.
  const generate = () => {
    flushSync(() => field.onText(exampleScript(picked)));
    place.current?.querySelector<HTMLElement>("textarea,[contenteditable]")?.focus();
  };
  return (
    <div ref={place} className="contents">
      <ScriptEditor tools={picked} {...field} />
      {field.value.trim() === "" && (
        <div>
          <Button size="sm" onClick={generate}>
            {picked.length > 0 ? "Generate an example with the selected tools" : "Generate an example"}
          </Button>
        </div>
      )}
    </div>
  );
}
