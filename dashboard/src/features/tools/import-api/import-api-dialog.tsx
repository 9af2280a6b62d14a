import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { ImportTools, ToolImport } from "../../../../../server/resources/tools/import/schema.ts";
import { importTools, toolApi } from "../../../entities/tool/tool-api.ts";
import { useWorkspace } from "../../../lib/workspace.ts";
import { DocumentDialog, type DocumentDraft, firstDocument } from "./document-dialog.tsx";
import { firstChoice, stillChosen } from "./operation-groups.ts";
import { OperationsDialog } from "./operations-dialog.tsx";
import { ResultDialog } from "./result-dialog.tsx";
import { needsSettings, type Settings, SettingsDialog } from "./settings-dialog.tsx";

type Step = "document" | "settings" | "operations";

/** Imports operations of an OpenAPI document in steps. Going back keeps everything that was entered. */
export function ImportApiDialog({ onClose }: { onClose: () => void }) {
  const at = useWorkspace();
  const client = useQueryClient();
  const [step, setStep] = useState<Step>("document");
  const [draft, setDraft] = useState<DocumentDraft>(firstDocument);
  const [order, setOrder] = useState<ImportTools>({});
  /** Preview without settings. */
  const [first, setFirst] = useState<ToolImport | null>(null);
  const [plan, setPlan] = useState<ToolImport | null>(null);
  const [settings, setSettings] = useState<Settings>({});
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const importing = useMutation({
    mutationFn: (shown: ToolImport) => importTools(at, { ...order, operations: [...chosen], sha256: shown.sha256 }),
    onSettled: () => client.invalidateQueries(toolApi.all(at)),
  });
  /** Previews the operations again, with the same settings. */
  const reading = useMutation({
    mutationFn: (_: { keepsChoice: boolean }) => importTools(at, { ...order, dry_run: true }),
    onSuccess: (next, { keepsChoice }) => choose(next, keepsChoice),
  });

  const choose = (next: ToolImport, keepsChoice: boolean) => {
    const kept = keepsChoice ? stillChosen(chosen, next.operations) : new Set<string>();
    setChosen(kept.size > 0 ? kept : firstChoice(next.operations));
    setPlan(next);
    importing.reset();
  };

  if (importing.data)
    return (
      <ResultDialog
        result={importing.data}
        isReading={reading.isPending}
        error={reading.error}
        onMore={() => reading.mutate({ keepsChoice: false })}
        onClose={onClose}
      />
    );
  if (step === "document" || !plan || !first)
    return (
      <DocumentDialog
        first={draft}
        hasPlan={plan !== null}
        onRead={(read, next, source) => {
          setDraft(read);
          setOrder(source);
          setFirst(next);
          const isSame = next.sha256 === plan?.sha256;
          const kept = isSame ? settings : {};
          setSettings(kept);
          choose(next, isSame);
          setStep(needsSettings(next) || Object.keys(kept).length > 0 ? "settings" : "operations");
        }}
        onClose={onClose}
      />
    );
  if (step === "settings")
    return (
      <SettingsDialog
        plan={first}
        source={order}
        first={settings}
        onBack={() => setStep("document")}
        onRead={(entered, next, changed) => {
          setSettings(entered);
          setOrder(changed);
          choose(next, true);
          setStep("operations");
        }}
      />
    );
  return (
    <OperationsDialog
      plan={plan}
      chosen={chosen}
      onChosen={(next) => {
        setChosen(next);
        if (importing.isError) importing.reset();
        if (reading.isError) reading.reset();
      }}
      isImporting={importing.isPending}
      isReading={reading.isPending}
      error={importing.error}
      readError={reading.error}
      onImport={() => importing.mutate(plan)}
      onReadAgain={() => reading.mutate({ keepsChoice: true })}
      onSettings={() => setStep("settings")}
      onBack={() => setStep("document")}
    />
  );
}
