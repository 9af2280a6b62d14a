import type { OAuthClient } from "../../../../server/domain/api-types/oauth.ts";
import { authorize } from "../../entities/oauth/oauth-api.ts";
import { useForm } from "../../hooks/use-form.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { CopyButton } from "../../ui/data/copy-button.tsx";
import { RelativeTime } from "../../ui/data/relative-time.tsx";
import { FormDialog } from "../../ui/dialogs/form-dialog.tsx";
import { Callout } from "../../ui/feedback/callout.tsx";
import { Field } from "../../ui/forms/field.tsx";

/** Makes the address at which a user consents. */
export function ConsentLink({ client: { id, name }, onClose }: { client: OAuthClient; onClose: () => void }) {
  const at = useWorkspace();
  const form = useForm({
    first: { user_id: "" },
    check: ({ user_id }) => ({ user_id: user_id.trim() === "" ? "Enter the id of the user." : null }),
    send: ({ user_id }) => authorize(at, id, { user_id: user_id.trim() }),
  });
  const { draft, result } = form;
  return (
    <FormDialog
      form={form}
      onClose={onClose}
      title={`Connect a user to ${name}`}
      about="Makes a link at which the user consents. Runs that wait show their own link."
      act={result ? "Make another link" : "Make link"}
      acting="Making link"
      keep="Close"
      failed="No link was made"
      request={{ method: "POST", path: `/v1/oauth_clients/${id}/authorize`, body: { user_id: draft.user_id.trim() } }}
    >
      <Field
        label="User"
        placeholder="ada"
        hint="The user_id of this user's runs."
        autoComplete="off"
        spellCheck={false}
        {...form.text("user_id")}
      />
      {result && (
        <Callout tone="ok" role="status">
          <p>Send this link to this user only: the account of the person who goes on there is connected.</p>
          <span className="flex min-w-0 items-center gap-0.5">
            <code className="cut" title={result.url}>
              {result.url}
            </code>
            <CopyButton text={result.url} what="the link" />
          </span>
          <p className="text-xs text-muted">
            It works once. Expires <RelativeTime at={result.expires_at} />.
          </p>
        </Callout>
      )}
    </FormDialog>
  );
}
