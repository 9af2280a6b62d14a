import { useQueryClient } from "@tanstack/react-query";
import { MessageSquarePlus } from "lucide-react";
import { useState } from "react";
import type { AnyRun as Run } from "../../../../server/domain/api-types/run.ts";
import { isOver } from "../../../../server/domain/run-state.ts";
import { runQuery } from "../../entities/run/run-api.ts";
import { useForm } from "../../hooks/use-form.ts";
import { useKeys } from "../../hooks/use-keys.ts";
import { resourceUrl } from "../../lib/api.ts";
import { createPostOnce } from "../../lib/post-once.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { FormDialog } from "../../ui/dialogs/form-dialog.tsx";
import { toast } from "../../ui/feedback/toast.ts";
import { Button } from "../../ui/forms/button.tsx";
import { TextArea } from "../../ui/forms/text-area.tsx";

/** Sends a message to a run that is under way. Renders nothing for an ended run. */
export function SteerRun({ run }: { run: Run }) {
  const [isOpen, setOpen] = useState(false);
  const canSteer = !isOver(run.status);
  useKeys({ m: () => setOpen(true) }, canSteer);
  if (!canSteer) return null;
  return (
    <>
      <Button onClick={() => setOpen(true)} title="Send a message to the run (m)">
        <MessageSquarePlus aria-hidden className="size-4" strokeWidth={1.5} />
        Message
      </Button>
      {isOpen && <SteerDialog run={run} onClose={() => setOpen(false)} />}
    </>
  );
}

function SteerDialog({ run, onClose }: { run: Run; onClose: () => void }) {
  const at = useWorkspace();
  const client = useQueryClient();
  const [postOnce] = useState(createPostOnce);
  const form = useForm({
    first: { content: "", interrupt: false },
    send: (draft) => postOnce<Run>(resourceUrl(at, `/runs/${encodeURIComponent(run.id)}/messages`), bodyOf(draft)),
    onSent: (steered) => {
      client.setQueryData(runQuery(at, run.id).queryKey, steered);
      toast("Message sent", "The next model call has it.");
      onClose();
    },
  });
  const { draft, text, set } = form;
  return (
    <FormDialog
      form={form}
      onClose={onClose}
      title="Send a message"
      about="The run reads it as a message of the user, with its next model call."
      act="Send message"
      acting="Sending"
      ready={draft.content.trim() !== ""}
      failed="The message was not sent"
      request={{ method: "POST", path: `/v1/runs/${run.id}/messages`, body: bodyOf(draft) }}
    >
      <TextArea label="Message" rows={4} placeholder="In kilograms, please." {...text("content")} />
      <label className="flex items-start gap-2">
        <input
          type="checkbox"
          className="mt-0.5"
          checked={draft.interrupt}
          onChange={({ target }) => set({ interrupt: target.checked })}
        />
        <span>
          Interrupt the answer in progress
          <span className="block text-xs text-muted">
            Its text so far is kept, and none of its tool calls is made. Tools that are running go on.
          </span>
        </span>
      </label>
    </FormDialog>
  );
}

const bodyOf = ({ content, interrupt }: { content: string; interrupt: boolean }) => ({
  role: "user",
  content,
  ...(interrupt && { interrupt }),
});
