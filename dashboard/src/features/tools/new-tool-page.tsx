import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { ToolType } from "../../../../server/core/agent-snapshot.ts";
import { useMay } from "../../entities/session/use-may.ts";
import { toolApi } from "../../entities/tool/tool-api.ts";
import type { NewToolSearch } from "../../entities/tool/tools-search.ts";
import { ApiError } from "../../lib/api.ts";
import { useChanged } from "../../lib/use-changed.ts";
import { useTitle } from "../../lib/use-title.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Breadcrumb } from "../../ui/breadcrumb.tsx";
import { Button, buttonClass } from "../../ui/button.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { FormSection } from "../../ui/form-section.tsx";
import { ModePill } from "../../ui/mode-pill.tsx";
import { SecretDialog } from "../../ui/secret-dialog.tsx";
import { SheetHead } from "../../ui/sheet.tsx";
import { SheetForm, SheetFormActs } from "../../ui/sheet-form.tsx";
import { FoldedCode } from "../../ui/show-code.tsx";
import { toast } from "../../ui/toast.ts";
import { ViewOnly } from "../../ui/view-only.tsx";
import { readToolDraft, toolCreation, toolDraftOf, toolFaults } from "./tool-draft.ts";
import { ToolForm } from "./tool-form.tsx";
import { shownTypes, type ToolDraft, toolParts } from "./types/tool-parts.ts";

/** Makes a tool. One that signs its calls shows its signing secret, once. */
export function NewToolPage({
  search: { type = "client" },
  onSearch,
  onCreated,
}: {
  search: NewToolSearch;
  onSearch: (search: NewToolSearch) => void;
  onCreated: (id: string) => void;
}) {
  const at = useWorkspace();
  const may = useMay("member");
  const client = useQueryClient();
  const [draft, setDraft] = useState<ToolDraft>(() => toolDraftOf());
  const [tried, setTried] = useState(false);
  const isChanged = useChanged(draft);
  const creation = useMutation({
    mutationFn: () => toolApi.create(at, toolCreation(type, draft)),
    onSuccess: (tool) => {
      toast("Tool created", tool.name);
      void client.invalidateQueries(toolApi.all(at));
      if (!tool.signing_secret) onCreated(tool.id);
    },
  });
  useTitle("Create tool", "Tools");
  const refused = creation.error instanceof ApiError ? toolFaults(creation.error.faults) : { faults: {}, rest: [] };
  const faults = { ...refused.faults, ...(tried ? readToolDraft(type, draft).faults : {}) };
  const submit = () => {
    setTried(true);
    if (Object.keys(readToolDraft(type, draft).faults).length > 0) return false;
    if (may && !creation.isPending) creation.mutate();
    return true;
  };
  const made = creation.data;
  return (
    <>
      <SheetHead>
        <Breadcrumb>
          <Link to="/tools">Tools</Link>
        </Breadcrumb>
        <h1 className="text-lg">Create tool</h1>
        <ModePill />
        {!may && <ViewOnly />}
      </SheetHead>
      <SheetForm
        legend="The new tool"
        disabled={!may}
        unsaved={isChanged && (creation.isIdle || creation.isError)}
        error={creation.error}
        onSubmit={submit}
        code={
          <FoldedCode
            name="new tool"
            request={{ method: "POST", path: "/v1/tools", body: toolCreation(type, draft) }}
          />
        }
        foot={
          <>
            {creation.error && (refused.rest.length > 0 || Object.keys(refused.faults).length === 0) && (
              <ErrorNote title="The tool was not created" error={creation.error} />
            )}
            <SheetFormActs>
              <Button type="submit" kind="primary" disabled={!may || creation.isPending}>
                {creation.isPending ? "Creating tool" : "Create tool"}
              </Button>
              <Link to="/tools" ignoreBlocker className={buttonClass({ kind: "ghost" })}>
                Discard
              </Link>
            </SheetFormActs>
          </>
        }
      >
        <FormSection title="Type" about="It cannot be changed later.">
          <TypeChoice
            type={type}
            onType={(next) => {
              creation.reset();
              setTried(false);
              onSearch({ type: next });
            }}
          />
        </FormSection>
        <ToolForm
          type={type}
          draft={draft}
          faults={faults}
          onChange={(change) => {
            setDraft((before) => ({ ...before, ...change }));
            if (creation.isError) creation.reset();
          }}
        />
      </SheetForm>
      {made?.signing_secret && (
        <SecretDialog
          title="Store this signing secret now"
          about={`Whoever gets the calls of ${made.name} checks with it that they come from here.`}
          secret={made.signing_secret}
          variable="RUNNEL_SIGNING_SECRET"
          onStored={() => onCreated(made.id)}
        >
          <p className="text-muted">
            Each call carries webhook-id, webhook-timestamp and webhook-signature. Check the signature before anything
            is done, over the body as raw bytes.
          </p>
        </SecretDialog>
      )}
    </>
  );
}

function TypeChoice({ type, onType }: { type: ToolType; onType: (type: ToolType) => void }) {
  return (
    <fieldset className="grid min-w-0 gap-2 rail:grid-cols-2 wide:grid-cols-3">
      <legend className="sr-only">Type of the tool</legend>
      {shownTypes.map((value) => (
        <label
          key={value}
          className="flex cursor-pointer items-start gap-2.5 rounded-md border border-line-button px-3 py-2 hover:bg-hover has-checked:border-accent has-checked:bg-accent-soft has-focus-visible:shadow-(--focus)"
        >
          <input
            type="radio"
            name="tool-type"
            checked={type === value}
            onChange={() => onType(value)}
            className="mt-0.5 focus-visible:shadow-none"
          />
          <span className="min-w-0">
            <span className="block font-strong">{toolParts[value].word}</span>
            <span className="block text-xs text-muted">{toolParts[value].hint}</span>
          </span>
        </label>
      ))}
    </fieldset>
  );
}
