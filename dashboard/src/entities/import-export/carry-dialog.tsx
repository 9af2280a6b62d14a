import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useRouter } from "@tanstack/react-router";
import { environments } from "../../../../server/domain/scope.ts";
import { useForm } from "../../hooks/use-form.ts";
import { joinFacts } from "../../lib/format.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { formatWorkspace, parseWorkspace } from "../../lib/workspace-address.ts";
import { FormDialog } from "../../ui/dialogs/form-dialog.tsx";
import { Callout } from "../../ui/feedback/callout.tsx";
import { ErrorNote } from "../../ui/feedback/error-note.tsx";
import { Skeleton } from "../../ui/feedback/skeleton.tsx";
import { toast } from "../../ui/feedback/toast.ts";
import { RadioCards } from "../../ui/forms/radio-cards.tsx";
import { Select } from "../../ui/forms/select.tsx";
import { agentApi } from "../agent/agent-api.ts";
import { sessionQuery } from "../session/session.ts";
import { toolApi } from "../tool/tool-api.ts";
import { type Bundle, planOf, type Step, type Target } from "./bundle.ts";
import { copyBundle, readTarget } from "./transfer-api.ts";

const toolChoices = [
  { value: "keep", label: "Keep them", hint: "The agent uses the tools of the destination unchanged." },
  { value: "change", label: "Update them", hint: "Other agents of the destination that use them change too." },
] as const;

/** Copies a bundle to live, to another project or into this one, after showing the differences. */
export function CopyDialog({
  bundle,
  isImport = false,
  onClose,
}: {
  bundle: Bundle;
  isImport?: boolean;
  onClose: () => void;
}) {
  const here = formatWorkspace(useWorkspace());
  const places = usePlaces().filter(({ value }) => isImport || value !== here);
  const client = useQueryClient();
  const { history } = useRouter();
  const form = useForm({
    first: () => ({ to: isImport ? here : (firstOf(places, here) ?? here), tools: "keep" as "keep" | "change" }),
    send: async ({ to, tools }): Promise<string> => {
      const place = parseWorkspace(to);
      const target = client.getQueryData<Target>(targetKey(to, bundle));
      if (!place || !target) throw new Error("Choose a destination.");
      return copyBundle(place, planOf(bundle, target), target, tools === "change");
    },
    onSent: async (path, { to }) => {
      const place = parseWorkspace(to);
      if (place) for (const api of [agentApi, toolApi]) await client.invalidateQueries(api.all(place));
      toast(isImport ? "Imported" : "Copied", placeName(places, to));
      onClose();
      history.push(`/dashboard/${to}${path}`);
    },
  });
  const { to } = form.draft;
  const targetResult = useQuery({
    queryKey: targetKey(to, bundle),
    queryFn: ({ signal }) => readTarget(parseWorkspace(to)!, bundle, signal),
    enabled: parseWorkspace(to) !== null,
    gcTime: 0,
  });
  const plan = targetResult.data && planOf(bundle, targetResult.data);
  const name = bundle.agent?.name ?? bundle.tools[0]?.name ?? "";
  const isNothing = plan !== undefined && [plan.agent, ...plan.tools].every((step) => !step || step.state === "same");
  return (
    <FormDialog
      form={{ ...form, isUnsaved: false }}
      onClose={onClose}
      title={`${isImport ? "Import" : "Copy"} ${name}`}
      about={bundle.agent && bundle.tools.length > 0 ? "The tools of the agent are included." : undefined}
      act={isImport ? "Import" : "Copy"}
      acting={isImport ? "Importing" : "Copying"}
      ready={plan !== undefined && !isNothing && plan.missing.length === 0}
      failed={isImport ? "The import was not completed" : "The copy was not completed"}
    >
      {!isImport && <Select label="Copy to" choices={places} {...form.pick("to")} />}
      <ErrorNote
        title="The destination cannot be read"
        error={targetResult.error}
        onRetry={() => void targetResult.refetch()}
      />
      {!plan && !targetResult.error && <Skeleton className="w-2/3" />}
      {plan && (
        <ul aria-label="What changes" className="flex flex-col gap-2">
          {plan.agent && <PlanLine noun="Agent" step={plan.agent} />}
          {plan.tools.map((step) => (
            <PlanLine key={step.part.name} noun="Tool" step={step} />
          ))}
        </ul>
      )}
      {isNothing && <Callout tone="info">The destination already has all of this, unchanged.</Callout>}
      {plan?.tools.some(({ state }) => state === "differs") && (
        <RadioCards label="Tools that differ" choices={toolChoices} {...form.choose("tools")} />
      )}
      {plan && plan.missing.length > 0 && (
        <Callout tone="warn">
          Secrets are not copied. First set these in the destination, under Tools, Secrets:{" "}
          <code>{plan.missing.join(", ")}</code>
        </Callout>
      )}
      {bundle.withheld.length > 0 && plan?.tools.some(({ state }) => state === "new") && (
        <Callout tone="warn">
          Values of headers are not copied. Set them afterwards: <code>{bundle.withheld.join(", ")}</code>
        </Callout>
      )}
      {bundle.agent && <p className="text-xs text-muted">Memory stores and files are not copied.</p>}
    </FormDialog>
  );
}

const targetKey = (to: string, bundle: Bundle) => ["transfer", to, bundle];

const states: Record<Step["state"], string> = {
  new: "new",
  same: "the same",
  differs: "differs in",
  left: "not copied: it calls another agent. Copy that agent first, then add this tool.",
};

function PlanLine({ noun, step: { part, state, fields } }: { noun: "Agent" | "Tool"; step: Step }) {
  const words = state === "differs" ? `${states.differs} ${fields.join(", ").replaceAll("_", " ")}` : states[state];
  return (
    <li className="flex min-w-0 flex-wrap gap-x-2">
      <span className="text-muted">{noun}</span>
      <b className="min-w-0 font-medium wrap-anywhere">{part.name}</b>
      <span className="min-w-0 text-muted wrap-anywhere">
        {joinFacts(words, noun === "Agent" && state === "differs" && "becomes a new version")}
      </span>
    </li>
  );
}

/** All projects of this person, in both modes. */
function usePlaces(): { value: string; label: string }[] {
  const { data } = useQuery({ ...sessionQuery, enabled: false });
  const projects = data?.signedIn ? data.session.projects : [];
  return projects.flatMap(({ id, name }) =>
    environments.map((mode) => ({
      value: formatWorkspace({ projectId: id, mode }),
      label: `${name}, ${mode}`,
    })),
  );
}

/** The default target is the other mode of the same project. */
const firstOf = (places: readonly { value: string }[], here: string): string | undefined =>
  (places.find(({ value }) => value.split("/")[0] === here.split("/")[0]) ?? places[0])?.value;

const placeName = (places: readonly { value: string; label: string }[], to: string): string | undefined =>
  places.find(({ value }) => value === to)?.label;
