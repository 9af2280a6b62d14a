import { useMutation } from "@tanstack/react-query";
import { useRef } from "react";
import { useWorkspace } from "../../lib/workspace.ts";
import { CopyButton } from "../../ui/data/copy-button.tsx";
import { Callout } from "../../ui/feedback/callout.tsx";
import { ErrorNote } from "../../ui/feedback/error-note.tsx";
import { Button } from "../../ui/forms/button.tsx";
import { Field } from "../../ui/forms/field.tsx";
import { ShowCode } from "../../ui/forms/show-code.tsx";
import { type CreatedKey, createFirstKey } from "./first-run-api.ts";
import { Pane } from "./pane.tsx";

/** The step that creates a key for the person's own server and shows its secret once. */
export function KeyStep({
  made,
  onMade,
  onStored,
  onNext,
}: {
  /** The key created earlier in this guide. */
  made: CreatedKey | null;
  onMade: (key: CreatedKey) => void;
  onStored: () => void;
  onNext: () => void;
}) {
  const at = useWorkspace();
  const name = useRef<HTMLInputElement>(null);
  const creation = useMutation({
    mutationFn: () => createFirstKey(at, name.current?.value.trim() || "First steps"),
    onSuccess: onMade,
  });
  if (made) return <StoreKey made={made} onStored={onStored} />;
  return (
    <Pane
      title="Create a test key"
      go={
        <>
          <Button kind="primary" disabled={creation.isPending} onClick={() => creation.mutate()}>
            Create test key
          </Button>
          <Button kind="ghost" onClick={onNext}>
            Skip
          </Button>
        </>
      }
    >
      <p className="text-md text-muted">
        Your server sends it with each request. It can start runs and read, for 90 days, in test data only. Create keys
        for live data or with more permissions later, under API keys.
      </p>
      <Field ref={name} label="Name" defaultValue="First steps" hint="Where the key will be used." />
      <ErrorNote title="The key was not created" error={creation.error} />
      <Code name="key" title="Its first request" request={{ method: "GET", path: "/v1/me" }} />
    </Pane>
  );
}

function StoreKey({ made, onStored }: { made: CreatedKey; onStored: () => void }) {
  return (
    <Pane
      title="Save your test key"
      go={
        <Button kind="primary" onClick={onStored}>
          I've saved it
        </Button>
      }
    >
      <div className="flex min-w-0 items-center gap-2 rounded-md border border-line-control bg-subtle py-1.5 pr-1.5 pl-3">
        <code className="min-w-0 flex-1 wrap-anywhere select-all" data-secret>
          {made.secret}
        </code>
        <CopyButton text={made.secret} what="key" />
      </div>
      <Callout tone="warn">You will not see it again. If you lose it, create a new one.</Callout>
      <Code name="key" title="Its first request" request={{ method: "GET", path: "/v1/me" }} secret={made.secret} />
    </Pane>
  );
}

/** The same request as code for the person's own server. */
export function Code({
  title = "The same from your server",
  ...props
}: Parameters<typeof ShowCode>[0] & { title?: string }) {
  return (
    <div className="flex min-w-0 flex-col gap-1.5">
      <h3 className="font-medium text-muted">{title}</h3>
      <ShowCode {...props} />
    </div>
  );
}
